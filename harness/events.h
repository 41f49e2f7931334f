/* SPDX-License-Identifier: MIT
 *
 * The dispatcher: tells the oracles of a run what happens (oracles/judge.h).
 *
 * It alone knows who judges whom: which oracles a collector lacks something for, which are left out
 * of the run, in which order they are asked, who judges in the place of whom.  It counts what each
 * of them judged and puts its name into the verdict.
 */
#ifndef ISOHEAP_HARNESS_EVENTS_H
#define ISOHEAP_HARNESS_EVENTS_H

#include "harness/internal.h"

/* Opens and closes the panel of a side: the memory of its oracles. */
void panel_open(struct runner *, enum party);
void panel_close(struct panel *);
/* A run begins: chooses who judges, and tells them. */
void panel_begin(struct side *);
/* The initial heap stands. */
void panel_built(struct side *);
/* An operation of the program has ended. */
void panel_operated(struct side *);
/* The run has ended, with whatever verdict. */
void panel_ended(struct side *);
/* A collector's traits have changed: chooses again. */
void panel_choose(struct side *);

static inline struct judge *judge_of(struct side *s) {
    return &runner_of(s)->panel[s->party].judge;
}

/* Raise an event.  Nothing is heard of a collector whose initial heap does not stand yet, but
 * reset, emptied, walked, inspected, compared, broken, stuck, exhausted; nor of `called` and
 * `worked` once the script has ended.
 */
#define X(name, parameters, arguments) void event_##name parameters;
ORACLE_EVENTS(X)
#undef X

bool event_is_heard(struct side *, enum oracle_event_code);

/* HEAP_* checks that the oracles want of a walk. */
unsigned checks_wanted(struct side *, enum occasion);

/* All heaps have been walked: raises `inspected` and `compared` for every side, and marks the model
 * on the way. */
void compare_all(struct runner *, enum occasion);

/* ---- hooks.c ----------------------------------------------------------------------------------
 */

/* Lends the collector what it gets pointers to, with side.hooks filled in for all runs.  False if
 * the system refuses. */
bool hooks_open(struct side *, enum memory_fill, bool tight);
/* For a run: what is shown to nobody need not be made. */
void hooks_begin(struct side *);
/* In this run what the collector tells is to be heard, by the event `told`. */
void hooks_listen(struct side *);

#endif
