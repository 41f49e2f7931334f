/* SPDX-License-Identifier: MIT
 *
 * Sweep as the OCaml papers print it: sweep_body of the long one's Figure 11, and of the short
 * one's Figure 5, which coalesces; and the glue that it needs before a list comes out of it.
 *
 * The free pointer is the last free block so far: where the list begins is nobody's business there,
 * and so is its end.  The glue has a block in front of the heap for the free pointer to begin with,
 * whose link is the head in the end, and ends the list by hand.  What is gray turns white, as what
 * is black does.  Extents of one word stay as they are, and no block is merged across them: a heap
 * wears out by them (sweep.h has what this project does about it).
 */
#ifndef ISOHEAP_PRINTED_H
#define ISOHEAP_PRINTED_H

#include "collectors/space/sweep.h"

/* Figure 5: the block joins the last free one if that ends where it begins. */
static inline bool printed_joins(struct space *g, word fp, word v) {
    word *last = word_pointer(fp) - 1, *hp = word_pointer(v) - 1;
    if (!g->coalesce || last + header_wosize(*last) + 1 != hp)
        return false;
    *last = header_make(header_wosize(*last) + header_wosize(*hp) + 1, BLUE, 0);
    return true;
}

/* What an earlier sweep has freed is poisoned, but for the first two words. */
static inline void printed_poison(struct space *g, word *hp, size_t words, bool joined) {
    size_t kept = joined ? 0 : 2;
    if (words > kept)
        g->config.hooks->poison(hp + kept, words - kept);
}

/* sweep_body; fp is the free pointer. */
static inline word printed_body(struct space *g, word *hp, word fp) {
    unsigned colour = header_colour(*hp);
    size_t words = header_wosize(*hp) + 1;
    word v = pointer_word(hp + 1);
    if (words == 1 && !FAULTY(printed_fragment))
        return fp;
    if (colour != WHITE && colour != BLUE) {
        *hp = header_recolour(*hp, WHITE);
        return fp;
    }
    if (colour == WHITE)
        tell_swept(g, hp, words);
    *hp = header_recolour(*hp, BLUE);
    bool joined = printed_joins(g, fp, v);
    printed_poison(g, hp, words, joined);
    if (joined)
        return fp;
    *word_pointer(fp) = v;
    return v;
}

static inline void sweep_as_printed(struct space *g) {
    word front[2] = {header_make(1, BLUE, 0), 0}, fp = pointer_word(front + 1);
    size_t words;
    for (word *hp = g->heap.base; hp < g->end; hp += words) {
        words = header_wosize(*hp) + 1;
        gc_tick(g->config.hooks);
        fp = printed_body(g, hp, fp);
    }
    if (!FAULTY(printed_open_end))
        *word_pointer(fp) = 0;
    g->first_free = FAULTY(printed_head) && front[1] ? fp : front[1];
    if (g->coalesce)
        g->rover = 0; /* the block where the search would begin may be a part of another one */
}

#endif
