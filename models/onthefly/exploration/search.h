/* SPDX-License-Identifier: MIT
 *
 * What the files of the exploration share.  Private to them.
 */
#ifndef ISOHEAP_ONTHEFLY_SEARCH_H
#define ISOHEAP_ONTHEFLY_SEARCH_H

#include "models/onthefly/exploration/explore.h"
#include "models/onthefly/exploration/pack.h"
#include "models/onthefly/exploration/store.h"

/* What ended a search, and where: in a state, or in a macro step from it. */
struct finding {
    enum explore_end end; /* EXPLORE_COMPLETE: nothing yet */
    uint64_t state;
    unsigned broken;
    const char *unsound;
    bool by_step;
    unsigned step_length;
    struct action step[PATH_MAX_STEPS];
};

struct search {
    const struct explore_options *o;
    enum reduction reduction;
    struct packing packing;
    struct store store;
    uint64_t
        *level; /* the number of the first state of each level, and of the one after the last */
    unsigned levels;
    uint64_t transitions;
    const struct state *from; /* where it began, or NULL: in initial states */
    struct finding found;
};

/* trace.c: the schedule from an initial state to what was found, into the result; NULL there if
 * there is no memory. */
void search_trace(const struct search *, struct explore_result *);

/* The same along a way that is known: the numbers of n states, the last of which is found.state. */
void search_follow(const struct search *, const uint64_t *way, unsigned n, struct explore_result *);

/* Whether what a state breaks is what the search is for. */
static inline bool search_wants(const struct explore_options *o, unsigned broken) {
    return broken && (!o->first || o->first >> invariant_first(broken) & 1);
}

/* initial.c: calls add for all initial states. */
void search_begin(struct search *, void (*add)(struct search *, const struct state *));

#endif
