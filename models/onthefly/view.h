/* SPDX-License-Identifier: MIT
 *
 * What the files of the invariants share: a state with its colours.  Private to them.
 */
#ifndef ISOHEAP_ONTHEFLY_VIEW_H
#define ISOHEAP_ONTHEFLY_VIEW_H

#include "models/onthefly/invariants.h"

struct view {
    const struct model *m;
    const struct state *s;
    unsigned marked, white, grey, black;
    unsigned grey_protected;  /* greys, and what they reach by white targets */
    unsigned roots;           /* of all mutators, with buffers and the deletion barrier */
    unsigned snapshot_roots;  /* those of mutators in hp_IdleMarkSweep */
    refset targets[REFS_MAX]; /* what the fields of an object lead to, as they are in memory */
};

static inline bool view_null_or_marked(const struct view *v, oref r) {
    return r == 0 || (v->marked >> (r - 1) & 1);
}

/* The same for a mutator, which has n stores in its buffer before: pools, a flag that is behind
 * those of an unborn object. */
static inline bool view_marked_before(const struct view *v, unsigned p, unsigned n, oref r) {
    if (view_null_or_marked(v, r))
        return true;
    for (unsigned i = n; i-- > 0 && v->s->agent[p].unborn >> (r - 1) & 1;)
        if (v->s->tso.buffer[p][i].cell == cell_mark(r - 1U))
            return v->s->tso.buffer[p][i].value == state_fM(v->s);
    return false;
}

/* phase := Idle is in the collector's buffer. */
static inline bool view_pending_idle(const struct state *s) {
    for (unsigned i = 0; i < s->tso.count[GC]; i++)
        if (s->tso.buffer[GC][i].cell == CELL_PHASE && s->tso.buffer[GC][i].value == PHASE_IDLE)
            return true;
    return false;
}

/* relations.c: the broken ones among the invariants that relations.c has. */
unsigned relations_broken(const struct view *);

#endif
