/* SPDX-License-Identifier: MIT
 *
 * Deterministic threads behind the plug-in interface: what an adapter hands from the one to the
 * other (docs/threads.md).
 */
#ifndef ISOHEAP_THREADS_PLUG_H
#define ISOHEAP_THREADS_PLUG_H

#include "collectors/collector.h"
#include "collectors/threads/threads.h"

#include <string.h>

static inline void threads_tell_hooks(void *hooks, uint64_t decision, uint64_t thread) {
    struct gc_hooks *h = (struct gc_hooks *)hooks;
    h->switched(h, decision, thread);
}

/* The schedule of a config, for threads_reset; fuel as there. */
static inline struct threads_schedule threads_schedule_of(const struct gc_config *config,
                                                          uint64_t fuel) {
    struct threads_schedule schedule;
    memset(&schedule, 0, sizeof schedule);
    schedule.seed = config->schedule;
    schedule.decisions = config->decisions;
    schedule.n_decisions = config->n_decisions;
    schedule.gap = config->preempt;
    schedule.fuel = fuel;
    schedule.switched = config->hooks->switched ? threads_tell_hooks : NULL;
    schedule.context = config->hooks;
    return schedule;
}

/* Tells the harness why an operation is not done; it returns if the operation is. */
static inline void threads_tell_answer(struct gc_hooks *hooks, enum threads_answer answer) {
    char why[240];
    if (answer == THREADS_DONE)
        return;
    threads_why(why, sizeof why);
    if (answer == THREADS_MISUSED)
        hooks->broken(hooks, why);
    hooks->stuck(hooks, answer == THREADS_LIVELOCK, why);
}

#endif
