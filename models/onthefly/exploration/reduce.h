/* SPDX-License-Identifier: MIT
 *
 * The successors of a state for a search, with less interleaving than the model has.
 *
 * REDUCE_NONE   every step of the model.
 * REDUCE_LOCAL  a macro step is: choices and local steps of one process, one step that others can
 *               see, and then local steps again, as far as they leave no choice.  Local are tests
 *               and assignments, appends to the own buffer, loads of the collector from its own
 *               variables.  The CAS (lock, look, store, flush, unlock, work-list) is one step.
 * REDUCE_FULL   besides: roots are kept as long as they can matter.  A mutator loads whatever it
 *               can load, and discards only when it is about to mark its roots.  A state with more
 *               roots can do all that one with fewer can, and breaks every invariant that the
 *               other breaks, except garbage.  Loads of a mutator that nobody can disturb are
 * local.
 *
 * docs/on-the-fly.md says why no verdict changes; tests compare the three.  What the last two need
 * of the collector is looked at in every step (assume.h).
 */
#ifndef ISOHEAP_ONTHEFLY_REDUCE_H
#define ISOHEAP_ONTHEFLY_REDUCE_H

#include "models/onthefly/model.h"

enum reduction { REDUCE_NONE, REDUCE_LOCAL, REDUCE_FULL };

enum { PATH_MAX_STEPS = 256 };

/* A macro step under way. */
struct walk {
    const struct model *model;
    enum reduction reduction;
    bool stable_loads;
    const char *unsound; /* NULL, or what the reduction assumes and a step did not keep to */
    unsigned events;     /* of all its steps */
    unsigned pending;    /* stores of the process when it began */
    unsigned n;
    struct action path[PATH_MAX_STEPS];
    void (*visit)(struct walk *, const struct state *successor);
    void (*step)(struct walk *, const struct state *); /* NULL, or sees what every step led to */
    void *context;
};

/* Fills in model, the reduction (or a weaker one that the collector allows), and what goes with
 * them. */
void walk_begin(struct walk *, const struct model *, enum reduction);
/* Calls visit for every successor; path, n and events say how it was reached. */
void walk_successors(struct walk *, const struct state *);

#endif
