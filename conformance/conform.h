/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: does a collector keep the contract of collectors/collector.h?
 *
 * Where a run of the fuzzer judges whole programs, this calls one function after the other on heaps
 * that grow, and says in the words of the interface which promise is broken.  Each step is a check
 * of its own from a fresh reset, so a step may be run alone, and in a process of its own: a
 * collector that is being ported crashes and hangs.
 */
#ifndef ISOHEAP_CONFORM_H
#define ISOHEAP_CONFORM_H

#include "collectors/collector.h"

enum { CONFORM_TEXT = 600 };

enum conform_result { CONFORM_KEPT, CONFORM_BROKEN, CONFORM_NOT_PROMISED };

struct conform_answer {
    enum conform_result result;
    char text[CONFORM_TEXT];   /* broken: what was expected and found; not promised: why */
    char remark[CONFORM_TEXT]; /* not a promise, but good to know; or "" */
    unsigned words;            /* of the heap when it broke */
    unsigned variant;
};

/* The steps in the order in which they build on each other. */
unsigned conform_steps(void);
const char *conform_name(unsigned step);    /* "roots" */
const char *conform_promise(unsigned step); /* one sentence */

/* Words of the heap of step `large`, or fewer if a collector has none of that size; 2^18 at first.
 */
void conform_large(size_t words);

/* Runs a step, on every variant that the collector lists, and fills *answer in.  Opens the
 * collector and closes it again, except when a promise is broken: nobody knows then what close
 * would do. */
void conform_run(const struct collector *, unsigned step, struct conform_answer *);

#endif
