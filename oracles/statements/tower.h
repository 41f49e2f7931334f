/* SPDX-License-Identifier: MIT
 *
 * The statements of Myreen's "Reusable verification of a copying collector", for the tower.
 *
 * tower_holds judges one state that a collection goes through: the premises of the step relation's
 * rules before a step and the invariant of Figure 1 after it, mem_inv of Figure 3 at the top of
 * L3's loop, `ref` of Figure 5 after each step of L3 and L4, the relations between the levels and
 * the definition of a collection (L1) when it is done.  Statements about all addresses are checked
 * at every address as long as the run's budget lasts, at the start and at the end of every
 * collection in any case, and otherwise at the addresses that the step touched: elsewhere it
 * changed nothing that they speak of.
 */
#ifndef ISOHEAP_STATEMENTS_TOWER_H
#define ISOHEAP_STATEMENTS_TOWER_H

#include "collectors/tower/levels.h"

/* Zeroed once; belongs to one collector. */
struct tower_oracle {
    /* the first statement that does not hold, and where */
    const char *broken; /* NULL: all do */
    enum tower_level level;
    uint32_t where; /* an address of that level; TOWER_NONE: nowhere in particular */
    /* scratch */
    uint8_t marks[TOWER_ADDRESSES];
    uint16_t work[TOWER_ADDRESSES];
    uint32_t n_reached;
    uint16_t used[TOWER_ADDRESSES]; /* addresses of the collection: domain h0, and where f leads */
    uint32_t n_used;
};

enum { TOWER_REACHED = 1, TOWER_ROOT = 2, TOWER_LISTED = 4, TOWER_POINTED = 8 }; /* marks */

/* False: oracle->broken says what does not hold. */
bool tower_holds(struct tower_oracle *, struct tower_view *);

/* ---- the parts of it, for tests; all return true if the statement holds ------------------------
 */

/* Figure 1 at one address, and at all of them.  TOWER_START must have been judged before: it finds
 * reach(h0, roots). */
bool tower_inv_at(struct tower_oracle *, const struct tower_l2 *, uint32_t a);
bool tower_inv(struct tower_oracle *, const struct tower_l2 *);
/* (h0, roots0) -gc-> (h, roots), with the function f of the state for a witness. */
bool tower_gc(struct tower_oracle *, const struct tower_l2 *);
/* ok_heap (h, roots). */
bool tower_ok_heap(struct tower_oracle *, const struct tower_l2 *);
/* Figure 3; false for `full`: what the last turn of the loop touched. */
bool tower_mem_inv(struct tower_oracle *, const struct tower_view *, bool full);
/* ok_mem_heap; exact: `precise` too, as after a collection. */
bool tower_ok_mem_heap(struct tower_oracle *, const struct tower_view *, bool exact);
/* Figure 5, `ref` over both halves and the roots, and ok_memory. */
bool tower_ok_mc_heap(struct tower_oracle *, const struct tower_view *);
/* A step of L4 and one of L3; false for `full`: `ref` where the step was, not everywhere. */
bool tower_same_step(struct tower_oracle *, const struct tower_view *, bool full);
/* The guarantee of section 4: true unless the roots' s-expressions are smaller than the heap has
 * room for and a cons is refused all the same. */
bool tower_may_refuse(struct tower_oracle *, const struct tower_view *);

/* Records what is broken; returns false. */
static inline bool tower_broken(struct tower_oracle *o, enum tower_level level, uint32_t where,
                                const char *statement) {
    o->broken = statement;
    o->level = level;
    o->where = where;
    return false;
}

#endif
