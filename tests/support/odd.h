/* SPDX-License-Identifier: MIT
 *
 * Odd collectors, which are sound: what tests of legal cases share.
 */
#ifndef ISOHEAP_TESTS_ODD_H
#define ISOHEAP_TESTS_ODD_H

#include "conformance/conform.h"
#include "harness/harness.h"
#include "program/program.h"

/* The seeds of mark_sweep and generational and programs at random pass beside cheney, and no step
 * of the conformance kit is broken.  Returns the counts of all runs. */
struct run_counts odd_must_pass(const struct collector *);

/* The program passes beside cheney. */
void odd_program_passes(const struct collector *, struct program *, const char *source);

/* The result of one step of the conformance kit. */
enum conform_result odd_step(const struct collector *, const char *name);

#endif
