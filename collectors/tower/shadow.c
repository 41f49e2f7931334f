/* SPDX-License-Identifier: MIT
 *
 * The tower: the heap of the level that holds it, as OCaml blocks.
 *
 * Slots and oracles speak of blocks of 64-bit words.  The shadow has the same blocks in the same
 * order; it is written from the true heap whenever someone looks, so it is the abstraction relation
 * between the collector's own representation and OCaml's.  A place in it is a number of words from
 * its start.
 */
#include "collectors/tower/internal.h"

#include <string.h>

static bool placed(const struct gc *g) {
    return g->view.level >= TOWER_L2; /* else places are addresses, counted from b */
}
static uint32_t start(const struct gc *g) {
    return g->view.level == TOWER_L4 ? g->l4.b : g->l3.b;
}

word shadow_own(const struct gc *g, uint32_t a) {
    return g->view.level == TOWER_L4 ? tower_ref_heap_addr(tower_lhs(a)) : tower_lhs(a);
}

word shadow_free(const struct gc *g) {
    uint32_t a = placed(g) ? 0 : start(g) + g->used;
    while (placed(g) && a < g->l2.addresses && g->l2.h[a])
        a++;
    return a < g->l2.addresses ? shadow_own(g, a) : 0;
}

uint32_t shadow_address(const struct gc *g, word v) {
    word at = v - pointer_word(g->shadow.base);
    if (is_immediate(v) || at >= g->config.heap_words * sizeof(word))
        return TOWER_NONE;
    uint32_t place = (uint32_t)(at / sizeof(word)) - 1;
    if (!placed(g))
        return start(g) + place;
    return place < g->config.heap_words ? g->owner[place] - UINT32_C(1) : TOWER_NONE;
}

tower_value shadow_encode(struct gc *g, word v) {
    uint32_t a = shadow_address(g, v);
    return a == TOWER_NONE ? 2 * (tower_value)literal_of_value(&g->literals, v, 31) + 1
                           : tower_lhs(a);
}

word shadow_decode(const struct gc *g, tower_value v) {
    if (!tower_is_address(v))
        return literal_value(&g->literals, v >> 1, 31);
    uint32_t a = tower_address(v);
    if (a >= g->l2.addresses) /* of a damaged heap */
        return outside_pointer(a);
    uint32_t place = placed(g) ? g->place[a] : a - start(g);
    return pointer_word(g->shadow.base) + ((word)place + 1) * sizeof(word);
}

static void own(struct gc *g, uint32_t place, uint32_t a) {
    g->place[a] = (uint16_t)place;
    g->owner[place] = (uint16_t)(a + 1);
}

/* Any unused address will do for L1 and L2: the next one. */
uint32_t shadow_place(struct gc *g, uint32_t place) {
    if (!placed(g))
        return start(g) + place;
    do
        g->cursor = (g->cursor + 1) % g->l2.addresses;
    while (g->l2.h[g->cursor]);
    own(g, place, g->cursor);
    return g->cursor;
}

void shadow_compact(struct gc *g) {
    const struct tower_l2 *s = &g->l2;
    memset(g->owner, 0, g->used * sizeof *g->owner);
    g->used = 0;
    for (uint32_t k = 0; k < s->n_x; k++) {
        uint32_t a = s->x[k];
        own(g, g->used, a);
        g->used += tower_block(s, s->h[a])->length + 1;
    }
}

/* ---- the walk ---------------------------------------------------------------------------------
 */

struct piece {
    uint32_t length;
    unsigned tag;
    bool addresses;
    const uint32_t *words;
};

/* The block at a place of each level; false: no block starts there. */
static bool l2_piece(const struct gc *g, uint32_t place, struct piece *p) {
    uint32_t a = g->owner[place] - UINT32_C(1);
    if (a == TOWER_NONE || !g->l2.h[a])
        return false;
    const struct tower_block *block = tower_block(&g->l2, g->l2.h[a]);
    *p = (struct piece){block->length, block->tag, block->addresses,
                        tower_words(&g->l2, g->l2.h[a])};
    return true;
}
static bool l3_piece(const struct gc *g, uint32_t place, struct piece *p) {
    uint32_t a = g->l3.b + place;
    const struct tower_cell *cell = &g->l3.m[a];
    *p = (struct piece){cell->n, cell->tag, cell->addresses, g->l3.list + a + 1};
    return cell->kind == TOWER_BLOCK;
}
static bool l4_piece(const struct gc *g, uint32_t place, struct piece *p) {
    const uint32_t *at = g->l4.g + g->l4.b + place;
    *p = (struct piece){*at >> 10, *at >> 2 & 255, *at & 1, at + 1};
    return *at & 2;
}
static bool piece_at(const struct gc *g, uint32_t place, struct piece *p) {
    switch (g->view.level) {
    case TOWER_L4:
        return l4_piece(g, place, p);
    case TOWER_L3:
        return l3_piece(g, place, p);
    default:
        return l2_piece(g, place, p);
    }
}

/* A payload word of any level, as a word of OCaml. */
static word decode(const struct gc *g, bool addresses, uint32_t w) {
    if (!addresses)
        return literal_raw(&g->literals, w, 32);
    if (g->view.level == TOWER_L4 && !(w & 1))
        w = tower_lhs(w / 4);
    return shadow_decode(g, w);
}

/* The words of most blocks are unit, which is the same on every level. */
static void write_block(const struct gc *g, struct piece p, word *hp) {
    *hp++ = header_make(p.length, WHITE, p.tag);
    tower_value unit = p.addresses ? TOWER_UNIT : 0; /* 0 is its own literal */
    word unit_word = p.addresses ? WORD_UNIT : 0;
    for (const uint32_t *w = p.words, *end = w + p.length; w < end; w++, hp++)
        *hp = *w == unit ? unit_word : decode(g, p.addresses, *w);
}

/* ---- in the middle of a collection ------------------------------------------------------------
 *
 * The heap is h0 of L2, which runs along with every level; where its blocks were is known, since
 * places are not given out anew before the end.
 */

/* The half of L3 and L4 that is being left. */
static uint32_t start_before(const struct gc *g) {
    return g->l3.b2;
}
static uint32_t address_before(const struct gc *g, uint32_t place) {
    return placed(g) ? g->owner[place] - UINT32_C(1) : start_before(g) + place;
}
static uint32_t place_before(const struct gc *g, uint32_t a) {
    return placed(g) ? g->place[a] : a - start_before(g);
}

static word decode_before(const struct gc *g, tower_value v) {
    if (!tower_is_address(v) || tower_address(v) >= g->l2.addresses)
        return shadow_decode(g, v);
    return pointer_word(g->shadow.base) +
           ((word)place_before(g, tower_address(v)) + 1) * sizeof(word);
}

static unsigned colour_before(const struct gc *g, uint32_t a) {
    const struct tower_l2 *s = &g->l2;
    if (!s->moved[a])
        return WHITE;
    return s->sets[tower_f(s, a)] & TOWER_X ? BLACK : GRAY;
}

/* A block of h0 at that place; false: there is none. */
static bool write_before(const struct gc *g, uint32_t place, enum gc_extent *kind) {
    uint32_t a = address_before(g, place);
    word *hp = g->shadow.base + place;
    if (a >= g->l2.addresses || !g->l2.h0[a])
        return false;
    const struct tower_block *block = tower_block(&g->l2, g->l2.h0[a]);
    const tower_value *words = tower_words(&g->l2, g->l2.h0[a]);
    unsigned colour = colour_before(g, a);
    if (block->length >= g->used - place)
        return false;
    *kind = g->under_way == TOWER_COPIED && colour == WHITE ? GC_UNUSED : GC_LIVE;
    hp[0] = header_make(block->length, g->under_way == TOWER_COPIED ? WHITE : colour, block->tag);
    for (uint32_t k = 0; k < block->length; k++)
        hp[k + 1] =
            block->addresses ? decode_before(g, words[k]) : literal_raw(&g->literals, words[k], 32);
    return true;
}

static void walk_before(struct gc *g, gc_visit *visit, void *context) {
    word *base = g->shadow.base;
    for (uint32_t place = 0; place < g->used;) {
        enum gc_extent kind = GC_FRAGMENT;
        if (!write_before(g, place, &kind))
            base[place] = header_make(0, WHITE, 0);
        uint32_t words = (uint32_t)header_wosize(base[place]) + 1;
        visit(context, kind, base + place, words);
        place += words;
    }
    if (g->used < g->config.heap_words)
        visit(context, GC_UNUSED, base + g->used, g->config.heap_words - g->used);
}

void shadow_visit_gray(struct gc *g, gc_visit_gray *visit, void *context) {
    const struct tower_l2 *s = &g->l2;
    for (uint32_t k = 0; g->under_way == TOWER_COPYING && k < s->n_y; k++)
        visit(context, g->shadow.base + place_before(g, tower_f(s, s->y[k])), NULL);
}

/* ---- between collections ----------------------------------------------------------------------
 */

void shadow_walk(struct gc *g, gc_visit *visit, void *context) {
    word *base = g->shadow.base;
    if (g->under_way != TOWER_NOTHING) {
        walk_before(g, visit, context);
        return;
    }
    for (uint32_t place = 0; place < g->used;) {
        struct piece p;
        enum gc_extent kind = GC_LIVE;
        if (!piece_at(g, place, &p)) { /* a gap of the program's heap, word by word */
            p.length = 0;
            kind = GC_FRAGMENT;
            base[place] = header_make(0, WHITE, 0);
        } else if (p.length < g->used - place) {
            write_block(g, p, base + place);
        }
        visit(context, kind, base + place, p.length + 1);
        place += p.length + 1;
    }
    if (g->used < g->config.heap_words)
        visit(context, GC_UNUSED, base + g->used, g->config.heap_words - g->used);
}
