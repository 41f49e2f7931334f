/* SPDX-License-Identifier: MIT
 *
 * Exhaustive exploration of the on-the-fly model, breadth first, so that the first violation is one
 * of the nearest.
 */
#ifndef ISOHEAP_ONTHEFLY_EXPLORE_H
#define ISOHEAP_ONTHEFLY_EXPLORE_H

#include "models/onthefly/exploration/reduce.h"
#include "models/onthefly/invariants.h"

struct explore_figures {
    uint64_t states, expanded, transitions, bytes;
    unsigned depth;       /* macro steps from an initial state */
    unsigned state_bytes; /* of a packed state, without its share of the table */
    uint64_t steps;       /* of the model, that a directed search took */
};

struct explore_options {
    struct model model;
    enum reduction reduction;
    bool symmetry;
    bool between;        /* look at the states inside macro steps too */
    bool fair;           /* from every state, a fair schedule completes the handshake */
    unsigned invariants; /* a sum of INVARIANT(name) */
    /* A sum of INVARIANT(name): one of these is to be the first that a state breaks, and states
     * that break another one first are not followed.  0: whatever breaks ends the search. */
    unsigned first;
    unsigned jobs;   /* threads; 0 is 1.  Results do not depend on it */
    uint64_t memory; /* bytes at most */
    uint64_t states; /* states at most; 0: no bound */
    /* Called now and then; false stops the search. */
    bool (*progress)(const struct explore_figures *, void *context);
    void *context;
};

enum explore_end {
    EXPLORE_COMPLETE, /* every reachable state was seen, and none is bad */
    EXPLORE_VIOLATION,
    EXPLORE_DEADLOCK, /* a state without successors */
    EXPLORE_UNFAIR,   /* a state from which a handshake does not complete */
    EXPLORE_LASSO,    /* a cycle of the collector that never ends */
    EXPLORE_UNSOUND,  /* the collector does what the reduction rules out: see unsound */
    EXPLORE_STATES,   /* a bound ended it */
    EXPLORE_MEMORY,
    EXPLORE_STOPPED
};

struct explore_result {
    enum explore_end end;
    struct explore_figures figures;
    enum reduction reduction; /* that was used: not more than the collector allows */
    const char *unsound;      /* EXPLORE_UNSOUND: what it did */
    unsigned broken;          /* EXPLORE_VIOLATION: the invariants */
    struct state start;       /* the schedule that leads there, from an initial state; see trace */
    struct action *trace;     /* malloc'ed; NULL if there is none */
    size_t trace_length;
    size_t loop; /* EXPLORE_LASSO: from this step on the trace comes back to where it was */
};

struct explore_result explore(const struct explore_options *);

/* Visits the same states in another order (directed.c): first those that resemble few states seen
 * so far, and those in which something reachable is neither marked nor grey-protected.  Finds a
 * violation after far fewer states than breadth first, though seldom a nearest one; if it ends with
 * none, there is none.  from: a state to begin with, in place of the initial ones, or NULL.  jobs
 * and between are not looked at. */
struct explore_result explore_directed(const struct explore_options *, const struct state *from);

/* Whether every cycle of the collector that is begun ends, however the steps of all are
 * interleaved, as long as each process that could go on, and each store buffer that could commit,
 * does so now and then, and a mutator that could answer does (lasso.c).  Takes every step and keeps
 * all names apart; of the options it takes model, memory (of the states; there are some 30 bytes
 * besides for each), states, and progress.  Ends with EXPLORE_LASSO, EXPLORE_COMPLETE, or a bound.
 */
struct explore_result explore_lasso(const struct explore_options *);

/* A fair round-robin run from a state: whether the handshake that the collector is in, or the next
 * one, completes.  Implements the liveness half of section 2.2: no handshake blocks forever. */
bool fair_run_completes(const struct model *, const struct state *);

#endif
