/* SPDX-License-Identifier: MIT
 *
 * The tower: one copying collector on four levels of abstraction, each the oracle of the next.
 *
 * Myreen, "Reusable verification of a copying collector".  The variant chooses the level that holds
 * the heap; the levels above it run in lockstep.  levels.h has the states of the levels,
 * oracles/statements/tower.h the paper's invariants and the relations between the levels.
 */
#ifndef ISOHEAP_TOWER_H
#define ISOHEAP_TOWER_H

#include "collectors/collector.h"

extern const struct collector tower;

#endif
