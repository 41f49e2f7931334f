/* SPDX-License-Identifier: MIT
 *
 * The statements of Sandberg Ericsson, Myreen and Åman Pohjala's "A Verified Generational Garbage
 * Collector for CakeML", for the collector cakeml.
 *
 * cakeml_holds judges one state: the invariants on heap, roots and generations before and after
 * every collection (Figures 4 and 5), the relation between machine words and heap elements before,
 * after and at every move (Figure 6, section 4.3), gc_related and completeness of what a collection
 * did (section 3.4), and that a partial collection is a full one of the pretend-heap (section 3.4).
 * What is not shown is not judged, so that the order of the states and their number are judged too.
 */
#ifndef ISOHEAP_STATEMENTS_CAKEML_H
#define ISOHEAP_STATEMENTS_CAKEML_H

#include "collectors/cakeml/levels.h"
#include "views/violation.h"

/* Zeroed once; belongs to one collector. */
struct cakeml_oracle {
    /* the first statement that does not hold, and where */
    enum violation violation; /* VIOLATION_none: all do */
    const char *broken;
    uint32_t where; /* an address of the heap; CAKEML_NONE: nowhere in particular */
    /* the state before the collection */
    struct cakeml_heap before;
    cakeml_value roots[CAKEML_ROOTS];
    uint32_t a, refs_start;
    uint32_t starts[CAKEML_GENERATIONS];
    uint32_t request;
    uint64_t budget; /* for simulations */
    uint32_t space;  /* words that the collection may fill */
    /* what has been shown: the stage of the last state, + 1, or 0; words that were copied in this
     * collection; the levels are done; the pretend-heap was collected */
    unsigned shown;
    uint32_t copied;
    bool over, simulated;
    /* reachable_addresses roots before: of a full collection */
    uint32_t n_reached, reached_words;
    uint16_t work[CAKEML_LIMIT];
    uint8_t marks[CAKEML_LIMIT + 1];
};

/* A run begins, whatever the last one has left unfinished. */
void cakeml_begin(struct cakeml_oracle *);
/* False: oracle->broken says what does not hold. */
bool cakeml_holds(struct cakeml_oracle *, struct cakeml_view *);

/* ---- the parts of it, for tests; all return true if the statement holds ------------------------
 */

/* heap_ok but for pointers, data_up_to, unused_space_inv, gc_kind_inv but for gen_state_ok. */
bool cakeml_layout(struct cakeml_oracle *, const struct cakeml_view *);
/* roots_ok; heap_ok's pointers, with the bits of v_inv; gen_state_ok. */
bool cakeml_pointers(struct cakeml_oracle *, const struct cakeml_view *);
/* gc_related, with the forwarding pointers as its witness f, and addr_map f roots; for full
 * collections domain f = reachable_addresses, and the completeness of lengths. */
bool cakeml_gc_related(struct cakeml_oracle *, const struct cakeml_view *);
/* The states come in order, and none is left out (cakeml_order.c): before a state is judged, and
 * when it holds. */
bool cakeml_order(struct cakeml_oracle *, const struct cakeml_view *);
bool cakeml_whole(struct cakeml_oracle *, const struct cakeml_view *);
/* Which generation is collected, and where generations start afterwards (cakeml_order.c). */
bool cakeml_choice(struct cakeml_oracle *, const struct cakeml_view *);
bool cakeml_aged(struct cakeml_oracle *, const struct cakeml_view *);
/* word_heap for the whole heap (cakeml_words.c). */
bool cakeml_word_heap(struct cakeml_oracle *, const struct cakeml_view *);
/* One move on both levels (cakeml_words.c). */
bool cakeml_same_move(struct cakeml_oracle *, const struct cakeml_view *);
/* The results of both levels agree in all else (cakeml_words.c). */
bool cakeml_same_result(struct cakeml_oracle *, const struct cakeml_view *);
/* to_gen of the partial collection's result is the full collection's (cakeml_words.c). */
bool cakeml_simulates(struct cakeml_oracle *, const struct cakeml_view *);

/* Records what is broken; returns false. */
static inline bool cakeml_broken(struct cakeml_oracle *o, enum violation violation, uint32_t where,
                                 const char *statement) {
    o->violation = violation;
    o->where = where;
    o->broken = statement;
    return false;
}

static inline uint32_t cakeml_refs_start(const struct cakeml_view *v) {
    return v->a + v->sp + v->sp1;
}
/* Two elements, but for what a forwarding pointer overwrites. */
static inline bool cakeml_same_element(const struct cakeml_element *a,
                                       const struct cakeml_element *b) {
    return a->length == b->length && a->tag == b->tag && a->ref == b->ref && a->raw == b->raw;
}

#endif
