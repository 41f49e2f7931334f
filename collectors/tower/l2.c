/* SPDX-License-Identifier: MIT
 *
 * The tower, L2: a copying collection as steps of a relation on (h, x, y, z, f) (section 3.2).
 *
 * Held by this level, the heap is collected by rules that the generator picks among those that
 * apply; under L3 and L4, L3 says which step it has taken.  Both go through the same three rules.
 */
#include "collectors/tower/internal.h"

#include <string.h>

/* ---- sets -------------------------------------------------------------------------------------
 */

static void insert(struct tower_l2 *s, unsigned set, uint32_t a) {
    if (s->sets[a] & set)
        return;
    s->sets[a] |= (uint8_t)set;
    if (set == TOWER_X) {
        s->x[s->n_x++] = (uint16_t)a;
        return;
    }
    uint16_t *list = set == TOWER_Y ? s->y : s->z;
    uint32_t *n = set == TOWER_Y ? &s->n_y : &s->n_z;
    s->at[a] = (uint16_t)*n;
    list[(*n)++] = (uint16_t)a;
}

static void delete (struct tower_l2 *s, unsigned set, uint32_t a) {
    if (!(s->sets[a] & set))
        return;
    uint16_t *list = set == TOWER_Y ? s->y : s->z;
    uint32_t *n = set == TOWER_Y ? &s->n_y : &s->n_z;
    s->sets[a] &= (uint8_t)~set;
    uint16_t last = list[--*n];
    list[s->at[a]] = last;
    s->at[last] = s->at[a];
}

/* set as: the addresses in a list. */
static void insert_all(struct tower_l2 *s, unsigned set, const tower_value *list, uint32_t n) {
    TOWER_FOR_ADDRESSES (k, list, n)
        insert(s, set, tower_address(list[k]));
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* A block with room for its words. */
static tower_ref new_block(struct tower_l2 *s, unsigned half, uint32_t length, unsigned tag) {
    struct tower_store *store = &s->stores[half];
    uint32_t number = ++store->n_blocks;
    store->blocks[number] = (struct tower_block){.first = store->n_words,
                                                 .length = length,
                                                 .tag = (uint8_t)tag,
                                                 .addresses = tag < TAG_NO_SCAN};
    store->n_words += length;
    return (tower_ref)(2 * number + half);
}

static tower_value *new_words(struct tower_l2 *s, tower_ref ref) {
    return s->stores[ref & 1].words + tower_block(s, ref)->first;
}

void l2_add(struct tower_l2 *s, uint32_t a, uint32_t length, unsigned tag,
            const tower_value *words) {
    s->h[a] = new_block(s, s->half, length, tag);
    memcpy(new_words(s, s->h[a]), words, length * sizeof *words);
}

/* ---- the rules --------------------------------------------------------------------------------
 */

static void judge_rule(struct gc *g, enum tower_rule rule, uint32_t a, uint32_t b) {
    tower_tick(g);
    g->view.rule = rule;
    g->view.a = a;
    g->view.b = b;
    tower_judge(g, TOWER_RULE);
}

/* Rule 1: a is moved to the unused address b. */
void l2_move(struct gc *g, uint32_t a, uint32_t b) {
    struct tower_l2 *s = &g->l2;
    judge_rule(g, TOWER_MOVE, a, b);
    tower_ref ref = s->h[a];
    const struct tower_block *block = tower_block(s, ref);
    s->h[b] = ref;
    if (!FAULTY(l2_keeps_source))
        s->h[a] = 0;
    insert(s, TOWER_Y, b);
    if (block->addresses && !(FAULTY(l2_forgets_pointers) && block->length > 2))
        insert_all(s, TOWER_Z, tower_words(s, ref), block->length);
    s->moved[a] = (uint16_t)(b + 1);
    if (!FAULTY(l2_one_way))
        s->moved[b] = (uint16_t)(a + 1);
    tower_judge(g, TOWER_STEP);
}

/* Rule 2: a has been moved. */
void l2_drop(struct gc *g, uint32_t a) {
    judge_rule(g, TOWER_DROP, a, a);
    delete (&g->l2, TOWER_Z, a);
    tower_judge(g, TOWER_STEP);
}

/* Rule 3: everything that a points at has been moved. */
void l2_finish(struct gc *g, uint32_t a) {
    struct tower_l2 *s = &g->l2;
    judge_rule(g, TOWER_FINISH, a, a);
    const struct tower_block *old = tower_block(s, s->h[a]);
    tower_ref ref = new_block(s, 1 - s->half, old->length, old->tag);
    const tower_value *from = tower_words(s, s->h[a]);
    tower_value *to = new_words(s, ref);
    uint32_t n = old->addresses ? old->length : 0;
    memcpy(to, from, old->length * sizeof *to);
    TOWER_FOR_ADDRESSES (k, from, n)
        to[k] = tower_lhs(tower_f(s, tower_address(from[k])));
    if (FAULTY(l2_changes_data) && !old->addresses)
        to[0] = 0;
    s->h[a] = ref;
    insert(s, TOWER_X, a);
    delete (s, TOWER_Y, a);
    tower_judge(g, TOWER_STEP);
}

void l2_begin(struct tower_l2 *s) {
    memcpy(s->h0, s->h, s->addresses * sizeof *s->h);
    for (uint32_t k = 0; k < s->n_x; k++) { /* what the last collection left */
        uint32_t a = s->x[k];
        s->moved[tower_f(s, a)] = 0;
        s->moved[a] = 0;
        s->sets[a] = 0;
    }
    s->n_x = s->n_y = s->n_z = 0;
    s->stores[1 - s->half].n_blocks = s->stores[1 - s->half].n_words = 0;
    memcpy(s->roots0, s->roots, s->n_roots * sizeof *s->roots);
    insert_all(s, TOWER_Z, s->roots, s->n_roots);
}

void l2_end(struct tower_l2 *s) {
    for (uint32_t k = 0; k < s->n_x; k++)
        s->kept[k] = s->h[s->x[k]];
    memset(s->h, 0, s->addresses * sizeof *s->h);
    for (uint32_t k = 0; k < s->n_x; k++)
        s->h[s->x[k]] = s->kept[k];
    for (unsigned k = 0; k < s->n_roots; k++)
        if (tower_is_address(s->roots[k]))
            s->roots[k] = tower_lhs(tower_f(s, tower_address(s->roots[k])));
    s->half = 1 - s->half;
}

/* ---- the generator's choice -------------------------------------------------------------------
 */

/* An address that rule 1 may move to. */
static uint32_t unused(struct gc *g) {
    const struct tower_l2 *s = &g->l2;
    uint32_t b = choose(g, s->addresses);
    while (FAULTY(l2_occupied) ? s->moved[b] : s->h[b] || s->moved[b])
        b = (b + 1) % s->addresses;
    return b;
}

/* Is set as disjoint from z? */
static bool may_finish(const struct tower_l2 *s, uint32_t a) {
    const struct tower_block *block = tower_block(s, s->h[a]);
    const tower_value *words = tower_words(s, s->h[a]);
    uint32_t n = block->addresses ? block->length : 0;
    TOWER_FOR_ADDRESSES (k, words, n)
        if (s->sets[tower_address(words[k])] & TOWER_Z)
            return FAULTY(l2_finishes_early) && k > 0;
    return true;
}

/* One step by the rule that an element of z calls for; a moved one may stay in z for a while. */
static void step_z(struct gc *g) {
    uint32_t a = g->l2.z[choose(g, g->l2.n_z)];
    if (g->l2.moved[a])
        l2_drop(g, a);
    else if (FAULTY(l2_drops_unmoved) && choose(g, 8) == 0)
        l2_drop(g, a);
    else
        l2_move(g, a, unused(g));
}

/* Tries rule 3 on an element of y. */
static bool step_y(struct gc *g) {
    uint32_t a = g->l2.y[choose(g, g->l2.n_y)];
    if (!may_finish(&g->l2, a))
        return false;
    l2_finish(g, a);
    return true;
}

static bool have_roots_moved(const struct tower_l2 *s) {
    TOWER_FOR_ADDRESSES (k, s->roots0, s->n_roots)
        if (!s->moved[tower_address(s->roots0[k])])
            return false;
    return true;
}

void l2_collect(struct gc *g) {
    struct tower_l2 *s = &g->l2;
    bool darkened = false;
    l2_begin(s);
    while (s->n_y || s->n_z) {
        if (!darkened && have_roots_moved(s)) {
            darkened = true;
            tower_phase_ended(g, GC_DARKENED);
        }
        if (FAULTY(l2_never_done) && s->n_z == 0 && s->n_x > 2) {
            gc_tick(g->config.hooks);
            continue;
        }
        bool finished = s->n_y && (!s->n_z || choose(g, 2)) && step_y(g);
        if (!finished && s->n_z)
            step_z(g);
    }
    if (!darkened)
        tower_phase_ended(g, GC_DARKENED);
    tower_phase_ended(g, GC_MARKED_ALL);
    l2_end(s);
    tower_phase_ended(g, GC_SWEPT_ALL);
}
