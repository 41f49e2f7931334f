/* SPDX-License-Identifier: MIT
 *
 * CakeML's collectors: none, copying ("simple"), and generational with nested generations, on one
 * heap, with a switch between them at any time.
 *
 * Sandberg Ericsson, Myreen, Åman Pohjala, "A Verified Generational Garbage Collector for CakeML".
 * There are two implementations, one on lists of heap elements and one on machine words; they run
 * in lockstep while someone looks.  levels.h has the states of both, oracles/statements/cakeml.h
 * the paper's invariants and the relation between them.
 *
 * Blocks with an odd tag are references (mutable); all others are immutable once initialised.
 */
#ifndef ISOHEAP_CAKEML_H
#define ISOHEAP_CAKEML_H

#include "collectors/collector.h"

extern const struct collector cakeml;

#endif
