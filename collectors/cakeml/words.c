/* SPDX-License-Identifier: MIT
 *
 * CakeML's collectors on machine words: word_gen_gc_partial_move of Figure 8 and, in the same way,
 * the full and the simple collection.
 *
 * Memory is the two heaps of struct cakeml_words; addresses count words.  An access outside them
 * clears `ok`, as the condition on dm does in the paper, and reads 0.  Pointers are relative to the
 * heap that they point into.
 */
#include "collectors/cakeml/internal.h"

#include <string.h>

/* ---- memory -----------------------------------------------------------------------------------
 */

/* The n words from a on are in dm: both heaps lie side by side, from 0 on. */
static bool in_domain(struct cakeml_words *w, uint64_t a, uint64_t n) {
    uint64_t end = (uint64_t)2 * w->limit;
    bool in = a <= end && n <= end - a;
    w->ok &= in;
    return in;
}
static uint64_t get(struct cakeml_words *w, uint64_t a) {
    return in_domain(w, a, 1) ? w->m[a] : 0;
}
static void set(struct cakeml_words *w, uint64_t a, uint64_t v) {
    if (in_domain(w, a, 1))
        w->m[a] = v;
}

/* memcpy (section 4.3): n words from a to b. */
static void copy_words(struct cakeml_words *w, uint64_t n, uint64_t a, uint64_t b) {
    if (FAULTY(ck_short_copy) && n > 2)
        n--;
    if (in_domain(w, a, n) && in_domain(w, b, n))
        memcpy(w->m + b, w->m + a, n * sizeof *w->m);
}

/* ---- move -------------------------------------------------------------------------------------
 */

/* Where the element of so many words goes: its address in the new heap, and in memory. */
static uint32_t allocate(struct cakeml_words *w, uint64_t header, uint32_t words, uint32_t *at) {
    uint32_t i = w->i;
    if (w->apart && cakeml_header_is(header, CAKEML_REF_BIT)) { /* to the end of unused space */
        w->ib -= words;
        w->pb -= words;
        *at = w->pb;
        return w->ib;
    }
    *at = w->pa;
    w->i += words;
    w->pa += words;
    return i;
}

/* Does a partial collection leave this address alone? */
static bool outside(const struct cakeml_words *w, uint64_t tmp) {
    if (FAULTY(ck_unbounded))
        return w->partial && tmp < w->gs;
    return w->partial && (tmp < w->gs || w->rs <= tmp);
}

static uint64_t move(struct gc *g, uint64_t x) {
    const struct cakeml_rep *c = &g->view.rep;
    struct cakeml_words *w = &g->words;
    uint64_t tmp = cakeml_ptr_to_addr(c, x), header_addr = w->curr + tmp;
    if (outside(w, tmp))
        return x;
    uint64_t v = get(w, header_addr);
    if (cakeml_is_fwd_ptr(v))
        return cakeml_update_addr(c, v >> 2, FAULTY(ck_bare_pointer) ? 1 : x);
    uint64_t words = cakeml_decode_length(c, v) + 1;
    if (words > w->limit) {
        w->ok = false;
        return x;
    }
    uint32_t at, to = allocate(w, v, (uint32_t)words, &at);
    copy_words(w, words, header_addr, at);
    set(w, header_addr, cakeml_word(c, (uint64_t)(FAULTY(ck_absolute_forward) ? at : to) << 2));
    return cakeml_update_addr(c, to, x);
}

/* The word at *x, a pointer, moved; the algorithm level moves one too. */
static void move_at(struct gc *g, uint64_t *x) {
    uint64_t before = *x;
    *x = move(g, before);
    collection_step(g, before, *x);
}

/* The fields of the element at address a of memory; returns its words. */
static uint32_t move_fields(struct gc *g, uint32_t a) {
    struct cakeml_words *w = &g->words;
    uint64_t header = get(w, a), length = cakeml_decode_length(&g->view.rep, header);
    gc_tick(g->config.hooks);
    if (!in_domain(w, a, length + 1))
        return w->limit;
    if (!cakeml_header_is(header, CAKEML_RAW_BIT))
        for (uint64_t *x = w->m + a + 1, *end = x + length; x < end; x++)
            if (*x & 1)
                move_at(g, x);
    return (uint32_t)length + 1;
}

/* ---- collections ------------------------------------------------------------------------------
 */

/* New data from pb1 on, new references above it, in turns until there are none. */
static void move_loop(struct gc *g, uint32_t pb1, uint32_t refs_end) {
    struct cakeml_words *w = &g->words;
    for (;;) {
        while (pb1 < w->pa)
            pb1 += move_fields(g, pb1);
        if (w->pb >= refs_end)
            return;
        uint32_t at = w->pb, end = refs_end; /* r2 becomes r4 */
        refs_end = FAULTY(ck_never_done) ? end : at;
        while (at < end)
            at += move_fields(g, at);
    }
}

static void move_roots(struct gc *g) {
    for (uint32_t k = 0; k < g->words.n_roots; k++)
        if (g->words.roots[k] & 1)
            move_at(g, &g->words.roots[k]);
}

static void collect_partial(struct gc *g) {
    struct cakeml_words *w = &g->words;
    w->i = w->gs;
    w->pa = w->other;
    move_roots(g);
    for (uint32_t a = w->curr + w->rs; a < w->curr + w->limit && !FAULTY(ck_refs_no_roots);)
        a += move_fields(g, a);
    w->pb = w->ib = 0;
    move_loop(g, w->other, 0);
}

static void collect_full(struct gc *g) {
    struct cakeml_words *w = &g->words;
    w->i = 0;
    w->pa = w->other;
    w->ib = w->limit;
    w->pb = w->other + w->limit;
    move_roots(g);
    move_loop(g, w->other, w->other + w->limit);
}

/* The heaps change places, or the new segment goes back to where the old one was. */
static void finish(struct cakeml_words *w) {
    if (w->partial) {
        copy_words(w, w->pa - w->other, w->other, w->curr + w->gs);
        return;
    }
    uint32_t curr = w->curr;
    w->curr = w->other;
    w->other = curr;
}

void words_collect(struct gc *g) {
    g->words.ok = true;
    if (g->words.partial)
        collect_partial(g);
    else
        collect_full(g);
    if (g->view.lists)
        collection_step(g, 0, 0); /* the algorithm level is done too */
    finish(&g->words);
}
