/* SPDX-License-Identifier: MIT
 *
 * Sweep, one step at a time: sweep_body of the long OCaml paper's Figure 11 (no coalescing) or of
 * the short one's Figure 5 (coalescing).
 *
 * The free list is whole and in address order after every step: first the free blocks that the
 * sweep has made so far, then the older ones that lie above the cursor.
 */
#ifndef ISOHEAP_SWEEP_H
#define ISOHEAP_SWEEP_H

#include "collectors/space/space.h"

static inline void sweep_begin(struct space *g) {
    g->sweep = (struct sweep){.cursor = g->heap.base, .link = &g->first_free};
}

/* Poisons what has become free.  At the end of a run, of a slice, of the sweep. */
static inline void sweep_poison(struct space *g) {
    struct sweep *s = &g->sweep;
    if (s->run && s->dirty && s->run_words > 2)
        g->config.hooks->poison(s->run + 2, s->run_words - 2);
    s->dirty = false;
}

/* Makes the run a blue block and puts it on the free list, after the last swept one. */
static inline void sweep_emit(struct sweep *s) {
    *s->run = header_make(s->run_words - 1, BLUE, 0);
    if (s->linked)
        return;
    word rest = *s->link;
    *s->link = pointer_word(s->run + 1);
    s->link = s->run + 1;
    if (!FAULTY(open_list))
        *s->link = rest;
    s->linked = true;
}

/* A white, blue or fragment extent: joins the run before it or starts one. */
static inline void sweep_free(struct space *g, word *hp, size_t words, bool was_blue) {
    struct sweep *s = &g->sweep;
    bool adjacent = g->coalesce && s->run && s->run + s->run_words == hp;
    if (was_blue)
        *s->link = hp[1]; /* off the list: it was the first one that is not swept */
    if (adjacent) {
        if (!FAULTY(stale_next_fit) && g->rover == pointer_word(hp + 1))
            g->rover = s->linked ? pointer_word(s->run + 1) : 0;
        s->run_words += words;
        s->dirty = true;
    } else {
        sweep_poison(g);
        s->run = hp;
        s->run_words = words;
        s->dirty = !was_blue;
        s->linked = false;
    }
    if (s->run_words > 1)
        sweep_emit(s);
}

/* A fragment is no block. */
static inline void tell_swept(const struct space *g, const word *hp, size_t words) {
    if (words > 1 && !(FAULTY(swept_untold) && words == 2))
        gc_tell(g->config.hooks, GC_SWEPT, pointer_word(hp + !FAULTY(swept_beside)), NULL, 0);
}

/* sweep_body: black turns white, the rest is free. */
static inline void sweep_block(struct space *g, word *hp, size_t words) {
    unsigned colour = header_colour(*hp);
    if (words == 1 && (!g->coalesce || FAULTY(lost_fragments)))
        return;
    if (colour == BLACK || (FAULTY(small_retained) && words == 2 && colour == WHITE)) {
        if (!(FAULTY(raw_stays_black) && header_tag(*hp) >= TAG_NO_SCAN))
            *hp = header_recolour(*hp, WHITE);
        return;
    }
    if (colour != BLUE || FAULTY(swept_again))
        tell_swept(g, hp, words);
    sweep_free(g, hp, words, colour == BLUE && words > 1);
}

/* One step of sweep, a block.  Returns its words; 0: the sweep is over. */
static inline size_t sweep_step(struct space *g) {
    word *hp = g->sweep.cursor;
    if (hp >= g->end)
        return 0;
    size_t words = header_wosize(*hp) + 1; /* before the header changes */
    if (FAULTY(stale_cursor) && hp == g->sweep.remembered)
        words = g->sweep.remembered_words;
    g->sweep.cursor = hp + words;
    gc_tick(g->config.hooks);
    sweep_block(g, hp, words);
    return words;
}

/* All the steps that are left, with the cursor in a register. */
static inline void sweep_to_end(struct space *g) {
    word *const end = g->end;
    size_t words;
    for (word *hp = g->sweep.cursor; hp < end; hp += words) {
        words = header_wosize(*hp) + 1;
        gc_tick(g->config.hooks);
        sweep_block(g, hp, words);
    }
    g->sweep.cursor = end;
}

/* FAULT_stale_cursor: at the end of a slice, the size of the free block that is swept next. */
static inline void sweep_remember(struct space *g) {
    word next = g->sweep.link ? *g->sweep.link : 0;
    g->sweep.remembered = next ? word_pointer(next) - 1 : NULL;
    g->sweep.remembered_words = next ? header_wosize(header_of(next)) + 1 : 0;
}

/* An allocation between two steps has taken the high end of the free block v, all of it if `gone`;
 * prev is the one before v on the list. */
static inline void sweep_allocated(struct space *g, word prev, word v, bool gone) {
    struct sweep *s = &g->sweep;
    if (!FAULTY(run_kept) && s->run && pointer_word(s->run + 1) == v)
        s->run = NULL; /* it does not reach the cursor any more */
    if (gone && s->link == word_pointer(v))
        s->link = prev ? word_pointer(prev) : &g->first_free;
}

#endif
