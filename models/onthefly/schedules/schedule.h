/* SPDX-License-Identifier: MIT
 *
 * A schedule of the on-the-fly model: a model, an initial heap and roots, and steps to take.  Its
 * text form, its run, its reduction, and its picture in columns.
 */
#ifndef ISOHEAP_ONTHEFLY_SCHEDULE_H
#define ISOHEAP_ONTHEFLY_SCHEDULE_H

#include "models/onthefly/exploration/explore.h"

#include <stdio.h>

enum { SCHEDULE_VERSION = 1, SCHEDULE_STEPS_MAX = 1 << 16 };

/* Besides the steps of the model (enum step_kind) a schedule has directives, which stand for
 * several. */
enum {
    /* run P until handshake: the process ends what it is doing, committing its own stores where it
     * must; a mutator then answers, if it is asked; the collector goes on until it waits. */
    DO_RUN = DO_COUNT,
    /* park M for HP: all but mutator M take turns until the collector has begun the handshake phase
     * (a: enum handshake_phase), or nothing moves it any more. */
    DO_PARK,
    /* gc: all take turns until the collector has ended a cycle, or nothing moves it any more. */
    DO_CYCLE
};

struct schedule {
    struct model model;
    unsigned invariants; /* what a run checks, a sum of INVARIANT(name) */
    refset alloc;
    oref fields[REFS_MAX * FIELDS_MAX];
    refset roots[MUTATORS_MAX];
    struct action *steps; /* malloc'ed */
    size_t n, capacity;
};

void schedule_free(struct schedule *);
/* False: no memory, or SCHEDULE_STEPS_MAX reached. */
bool schedule_append(struct schedule *, const struct action *);
/* Makes *s a schedule without steps that begins in this state, an initial one, and checks all
 * invariants. */
void schedule_start_from(struct schedule *, const struct model *, const struct state *);
/* Fills in the state that a schedule begins in. */
void schedule_start(const struct schedule *, struct state *);

/* ---- text -------------------------------------------------------------------------------------
 */

struct schedule_error {
    unsigned line, column;
    char message[120];
};

/* Whether the version line says that this is a schedule. */
bool schedule_looks_like_text(const void *data, size_t size);
/* *s must be zero, or a schedule that may be freed.  False: see the error. */
bool schedule_parse(struct schedule *s, const char *text, size_t size, struct schedule_error *);
/* The comment of each step is its label.  Parsing what has been printed gives the same schedule. */
void schedule_print(const struct schedule *, FILE *);
/* Writes one step in its text form into out; cuts it and returns its length as snprintf does. */
int schedule_step_text(const struct action *, char *out, size_t size);

/* ---- runs -------------------------------------------------------------------------------------
 */

enum schedule_end {
    SCHEDULE_DONE,
    SCHEDULE_VIOLATION,
    SCHEDULE_STUCK /* a step is not possible */
};

struct schedule_result {
    enum schedule_end end;
    size_t step;        /* the item of the schedule that it ended in */
    uint64_t steps;     /* of the model */
    unsigned broken;    /* invariants */
    struct state state; /* the last one */
};

/* Sees every step of the model: what it was, and the states before and after. */
typedef void schedule_observer(void *context, const struct action *, const struct state *before,
                               const struct state *after);

/* Checks the schedule's invariants after every step. */
struct schedule_result schedule_run(const struct schedule *, schedule_observer *, void *context);

/* Leaves steps out as long as the run still ends in a violation of one of the invariants that the
 * run breaks now, and replaces directives by the steps that they stand for.  Deterministic. */
void schedule_reduce(struct schedule *);

/* The interleaving, a row for each step and a column for each process, with store buffers. */
void schedule_columns(const struct schedule *, FILE *);

#endif
