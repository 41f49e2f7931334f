/* SPDX-License-Identifier: MIT
 *
 * A gate for the threads of models/onthefly_threads/: each waits at the label of its next step
 * until it is let through, and what it stores goes into a store buffer from which the test commits.
 * So a schedule of the model decides what the real threads do, and after every step the two can be
 * compared: labels, memory, store buffers, work-lists, handshake, roots.
 */
#ifndef ISOHEAP_TESTS_ONTHEFLY_GATE_H
#define ISOHEAP_TESTS_ONTHEFLY_GATE_H

#include "models/onthefly/schedules/driver.h"
#include "models/onthefly_threads/threads.h"

struct replay_result {
    bool agree;
    unsigned steps; /* taken; the last one is where they differ, if they do */
    char difference[160];
    uint64_t cycles;
    /* At the end: free blocks that roots and fields of reachable blocks lead to; and a store under
     * way into one. */
    unsigned dangling;
};

/* Takes the steps of a run of the model with real threads, and then lets these run freely to the
 * end of their cycle. */
struct replay_result gate_replay(const struct driver_result *);
/* The same without the free run: the threads stand where the last step has left them, for whoever
 * can end them (collectors/threads/threads.h) and then closes what it returns. */
struct otf *gate_stop(const struct driver_result *, struct replay_result *);

#endif
