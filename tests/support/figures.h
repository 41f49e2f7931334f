/* SPDX-License-Identifier: MIT
 *
 * Exact figures: what a test counts is compared with tests/golden/figures/TEST.txt, so that a fall
 * from 900 to 301 does not pass.
 *
 * ISOHEAP_UPDATE=1 writes the file instead (scripts/golden.sh); the difference shows what a change
 * has done to the figures.
 */
#ifndef ISOHEAP_TESTS_FIGURES_H
#define ISOHEAP_TESTS_FIGURES_H

#include "harness/harness.h"

/* Fails the test if the golden file has another number for `what`, or none.  A line of the file
 * that a test program has not asked for fails the program at its end. */
void figure(const char *what, uint64_t number);

/* A figure for each operation and oracle that has run at all, "WHAT: operation store", and for what
 * else a run counts. */
void figures_of_counts(const char *what, const struct run_counts *);

#endif
