/* SPDX-License-Identifier: MIT
 *
 * The tower, L1: what a collection is (section 3.1), carried out as it is written: filter by reach,
 * then rename by a swap f, f o f = id.  Any f will do; the generator picks one.
 */
#include "collectors/tower/internal.h"

#include <string.h>

/* reach(h, roots), in the set X and the list y. */
static void reach(struct tower_l2 *s, const tower_value *list, uint32_t n) {
    TOWER_FOR_ADDRESSES (k, list, n) {
        uint32_t a = tower_address(list[k]);
        if (s->sets[a] & TOWER_X)
            continue;
        s->sets[a] |= TOWER_X;
        s->y[s->n_y++] = (uint16_t)a;
    }
}

static void reach_all(struct gc *g) {
    struct tower_l2 *s = &g->l2;
    reach(s, s->roots, s->n_roots);
    for (uint32_t k = 0; k < s->n_y; k++) {
        gc_tick(g->config.hooks);
        tower_ref ref = s->h[s->y[k]];
        if (tower_block(s, ref)->addresses)
            reach(s, tower_words(s, ref), tower_block(s, ref)->length);
    }
}

/* A swap of every reachable address with some address that is not swapped yet, or with itself. */
static void choose_f(struct gc *g) {
    struct tower_l2 *s = &g->l2;
    for (uint32_t k = 0; k < s->n_y; k++) {
        uint32_t a = s->y[k], b = choose(g, s->addresses);
        if (s->moved[a] || s->moved[b])
            continue;
        s->moved[a] = (uint16_t)(b + 1);
        s->moved[b] = (uint16_t)(FAULTY(l1_one_way) && k > 2 ? 0 : a + 1);
    }
}

static tower_value rename_value(const struct tower_l2 *s, tower_value v) {
    return tower_is_address(v) ? tower_lhs(tower_f(s, tower_address(v))) : v;
}

/* rename f (filter h): the same blocks at new addresses, with new addresses in them. */
static void rename_all(struct tower_l2 *s) {
    if (!FAULTY(l1_keeps_garbage))
        memset(s->h, 0, s->addresses * sizeof *s->h);
    for (uint32_t k = 0; k < s->n_y; k++) {
        uint32_t a = s->y[k];
        const struct tower_block *block = tower_block(s, s->h0[a]);
        const tower_value *from = tower_words(s, s->h0[a]);
        struct tower_store *to = &s->stores[1 - s->half];
        uint32_t number = ++to->n_blocks;
        to->blocks[number] = *block;
        to->blocks[number].first = to->n_words;
        uint32_t n = block->addresses ? block->length : 0;
        memcpy(to->words + to->n_words, from, block->length * sizeof *from);
        TOWER_FOR_ADDRESSES (w, from, n)
            to->words[to->n_words + w] = rename_value(s, from[w]);
        to->n_words += block->length;
        s->h[tower_f(s, a)] = (tower_ref)(2 * number + 1 - s->half);
    }
    for (unsigned k = 0; k < s->n_roots; k++)
        s->roots[k] = rename_value(s, s->roots[k]);
}

/* The set X ends as L2 leaves it, the new addresses. */
void l1_collect(struct gc *g) {
    struct tower_l2 *s = &g->l2;
    l2_begin(s);
    s->n_y = s->n_z = 0;
    memset(s->sets, 0, s->addresses);
    reach_all(g);
    choose_f(g);
    rename_all(s);
    for (uint32_t k = 0; k < s->n_y; k++)
        s->sets[s->y[k]] = 0;
    for (uint32_t k = 0; k < s->n_y; k++) {
        s->x[k] = (uint16_t)tower_f(s, s->y[k]);
        s->sets[s->x[k]] = TOWER_X;
    }
    s->n_x = s->n_y;
    s->n_y = 0;
    s->half = 1 - s->half;
}
