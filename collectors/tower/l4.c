/* SPDX-License-Identifier: MIT
 *
 * The tower, L4: the collector on words of 32 bits, addresses in bytes (section 3.4, Figure 4).
 *
 * A block is a header n.tag.1.b and its payload; a reference is an address in the header's place,
 * told apart by its low bits.  mc_collector's other parts are Figure 2 in the style of Figure 4.
 */
#include "collectors/tower/internal.h"

#include <string.h>

static bool holds_none(uint32_t gap, uint32_t first, uint32_t end) {
    return gap < first || gap >= end;
}

/* The n words from the byte address r on.  Memory is a partial function on aligned addresses, and
 * each half and the roots are an array of their own: the precondition mc_collector_pre says that no
 * access leaves its domain; NULL, and the collection ends, if one does. */
static uint32_t *at(struct tower_l4 *s, uint32_t r, uint32_t n) {
    uint32_t first = r / 4, end = first + n;
    if (!(r & 3) && n <= s->words && end <= s->words && holds_none(s->gap, first, end) &&
        holds_none(s->roots - 1, first, end))
        return s->g + first;
    s->bad = r / 4 + 1;
    return NULL;
}

static uint32_t header(uint32_t n, unsigned tag, bool b) {
    return 1024 * n + 4 * tag + 2 + b;
}

void l4_add(struct tower_l4 *s, uint32_t length, unsigned tag, const tower_value *words) {
    bool b = tag < TAG_NO_SCAN;
    s->g[s->i] = header(length, tag, b);
    memcpy(s->g + s->i + 1, words, length * sizeof *words);
    TOWER_FOR_ADDRESSES (k, words, b ? length : 0)
        s->g[s->i + 1 + k] = tower_ref_heap_addr(words[k]);
    s->i += length + 1;
}

/* Copies r4 words from r2 to r3; returns the next r3. */
static uint32_t mc_move_loop(struct tower_l4 *s, uint32_t r2, uint32_t r3, uint32_t r4) {
    const uint32_t *from = at(s, r2, r4);
    uint32_t *to = at(s, r3, r4);
    if (from && to)
        memmove(to, from, r4 * sizeof *to);
    return r3 + 4 * r4;
}

/* Figure 4: moves what *r1 points at to r3; returns the next r3.  r1 is not a null address. */
static uint32_t mc_move(struct tower_l4 *s, uint32_t *r1, uint32_t r3) {
    uint32_t r2 = *r1, *block = at(s, r2, 1), r4 = block ? *block : 0;
    if ((r4 & 3) == 0) {
        *r1 = r4;
        return r3;
    }
    uint32_t *copy = at(s, r3, 1);
    if (!copy)
        return r3;
    *r1 = r3;
    *copy = FAULTY(l4_header_tag) && r4 >> 2 == 1 << 8 ? r4 + 4 : r4;
    if (!(FAULTY(l4_leaves_block) && !(r4 & 1)))
        *block = r3;
    r4 = r4 >> 10;
    if (FAULTY(l4_short_copy) && r4 == 4)
        return mc_move_loop(s, r2 + 4, r3 + 4, r4 - 1) + 4;
    r3 = mc_move_loop(s, r2 + 4, r3 + 4, r4);
    uint32_t *behind = FAULTY(l4_word_behind) ? at(s, r3, 1) : NULL;
    if (behind)
        *behind = 0;
    return r3;
}

/* L4 has taken a step; L3 takes its next one. */
static void step_above(struct gc *g, enum tower_stride stride, uint32_t r1, uint32_t r3) {
    g->l4.r1 = r1;
    g->l4.r3 = r3;
    g->view.l4_stride = stride;
    g->view.l3_stride = l3_step(g);
    tower_judge(g, TOWER_WORDS);
}

/* The words r1 .. r1 + 4n, a list of values; mc_move would leave null addresses as they are. */
static uint32_t mc_move_list(struct gc *g, uint32_t r1, uint32_t n, uint32_t r3) {
    uint32_t *list = at(&g->l4, r1, n);
    TOWER_FOR_ADDRESSES (k, list, list ? n : 0) {
        r3 = mc_move(&g->l4, list + k, r3);
        step_above(g, TOWER_MOVED, r1 + 4 * k, r3);
    }
    return r3;
}

static uint32_t mc_loop(struct gc *g, uint32_t r1, uint32_t r3) {
    struct tower_l4 *s = &g->l4;
    while (r1 != r3 && !s->bad) {
        const uint32_t *block = at(s, r1, 1);
        uint32_t r4 = block ? *block : 0, n = r4 >> 10;
        if (r4 & 1 || FAULTY(l4_scans_data))
            r3 = mc_move_list(g, r1 + 4, n, r3);
        r1 += 4 * n + 4;
        step_above(g, TOWER_LISTED_ALL, r1, r3);
    }
    return r1;
}

void l4_collect(struct gc *g) {
    struct tower_l4 *s = &g->l4;
    uint32_t b = s->b, e = s->e;
    s->b = s->b2;
    s->e = s->e2;
    s->b2 = b;
    s->e2 = e;
    s->bad = 0;
    l3_begin(g);
    uint32_t r3 = mc_move_list(g, 4 * s->roots, s->n_roots, 4 * s->b);
    step_above(g, TOWER_LISTED_ALL, 4 * s->b, r3);
    uint32_t r1 = mc_loop(g, 4 * s->b, r3);
    s->i = r1 / 4;
    step_above(g, TOWER_ENDED, r1, r1);
    while (l3_step(g) != TOWER_ENDED) { /* if nobody judges what the levels do */
    }
}
