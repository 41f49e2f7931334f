/* SPDX-License-Identifier: MIT
 *
 * The allocator: next-fit over the free list, splitting from the high end (long OCaml paper, 7.2).
 * A rest of one word becomes a fragment, which a coalescing sweep absorbs again.
 */
#ifndef ISOHEAP_NEXT_FIT_H
#define ISOHEAP_NEXT_FIT_H

#include "collectors/space/space.h"

/* What next_fit found: header of the new block, which has no content yet; NULL: no block fits. */
struct fit {
    word *hp;
    word prev, block; /* the free block that it was cut off, and the one before on the list */
    bool gone;        /* nothing of it is left on the list */
};

static inline void set_next_free(struct space *g, word v, word next) {
    *(v ? word_pointer(v) : &g->first_free) = next;
}

/* Cuts a block of wosize fields off the high end of the free block v; prev is the one before v on
 * the free list. */
static inline struct fit split(struct space *g, word prev, word v, size_t wosize) {
    word *hp = word_pointer(v) - 1;
    size_t rest = header_wosize(*hp) - wosize; /* words left over, header included */
    if (rest < 2)
        set_next_free(g, prev, next_free(g, v));
    g->rover = prev;
    if (rest == 1)
        *hp = header_make(FAULTY(no_fragment) ? 1 : 0, WHITE, 0);
    else if (rest >= 2)
        *hp = header_make(rest - (FAULTY(short_split) ? 0 : 1), BLUE, 0);
    if (rest >= 2)
        g->rover = v;
    g->config.hooks->unpoison(hp + rest, wosize + 1);
    return (struct fit){hp + rest, prev, v, rest < 2};
}

/* From the rover once around the list. */
static inline struct fit next_fit(struct space *g, size_t wosize) {
    word start = g->rover, prev = start;
    do {
        gc_tick(g->config.hooks);
        word v = next_free(g, prev);
        if (v && header_wosize(header_of(v)) >= wosize)
            return split(g, prev, v, wosize);
        if (FAULTY(no_wrap) && !v)
            break;
        prev = v;
    } while (prev != start);
    return (struct fit){0};
}

#endif
