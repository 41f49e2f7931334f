/* SPDX-License-Identifier: MIT
 *
 * Bytes as schedules of the on-the-fly model, for fuzzers: the first ones choose the configuration,
 * the initial heap and a strategy, the rest the steps.  Where the bytes end, numbers drawn from a
 * generator that they seed go on, so that few bytes make a long run; the same bytes always make the
 * same run.
 *
 * Strategies: a free choice in every step; bursts, in which one process runs for a while; and
 * priorities, where the process of the highest priority runs and a few points are chosen at which
 * it falls to the lowest (PCT: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010).  The
 * store buffers take part in the schedule like processes of their own.
 *
 * The fourth strategy is that of reduce.h: few operations, roots that are kept until they are to be
 * marked, stores that stay in their buffers for long.  It finds faults that need a few operations
 * at the right moments and nothing in between.
 *
 * The fifth bounds preemptions (Musuvathi and Qadeer, PLDI 2007): a process goes on until it is
 * blocked or has ended its operation, and is only left before that at up to seven steps drawn.
 */
#ifndef ISOHEAP_ONTHEFLY_DRIVER_H
#define ISOHEAP_ONTHEFLY_DRIVER_H

#include "models/onthefly/schedules/schedule.h"

enum { DRIVER_HEADER = 14, DRIVER_HEAD = 3, DRIVER_STEPS_MAX = 4096, DRIVER_STRATEGIES = 5 };

/* Which strategy the byte DRIVER_HEAD of the input stands for. */
unsigned driver_strategy(unsigned head);

struct driver_options {
    uint64_t variant;
    unsigned invariants;
    unsigned steps; /* at most DRIVER_STEPS_MAX; 0: as the bytes say */
    /* Sees every state; NULL if nobody wants to (coverage of states). */
    void (*seen)(const struct model *, const struct state *);
};

struct driver_result {
    struct model model;
    struct state start, end;
    unsigned broken; /* invariants; 0 if none */
    bool unfair;     /* from the last state a fair schedule does not complete the handshake */
    unsigned n;      /* steps taken; those before the violation, and it */
    struct action steps[DRIVER_STEPS_MAX];
};

void driver_run(const struct driver_options *, const uint8_t *data, size_t size,
                struct driver_result *);
/* The run as a schedule; false: no memory. */
bool driver_schedule(const struct driver_options *, const struct driver_result *,
                     struct schedule *);

#endif
