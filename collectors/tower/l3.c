/* SPDX-License-Identifier: MIT
 *
 * The tower, L3: move, move_list, loop and collector of Figure 2, on a memory of blocks, references
 * and empty places.
 *
 * L2 runs along: the memory is a refinement of its (h, f), and what Figure 2 does between two looks
 * at it are steps of the relation (Figure 3, lines 5 and 6).  The recursion of move_list and loop
 * is cut into steps, so that this level can run along with L4 in the same way.
 */
#include "collectors/tower/internal.h"

#include <string.h>

void l3_add(struct tower_l3 *s, uint32_t length, unsigned tag) {
    s->m[s->i] = (struct tower_cell){
        .kind = TOWER_BLOCK, .tag = (uint8_t)tag, .addresses = tag < TAG_NO_SCAN, .n = length};
    s->i += length + 1;
}

/* Block (as, l, d) goes from a to j. */
static void copy_block(struct tower_l3 *s, uint32_t a) {
    struct tower_cell cell = s->m[a];
    if (FAULTY(l3_changes_tag) && cell.tag == TAG_OBJECT)
        cell.tag = 0;
    s->m[s->j] = cell;
    memcpy(s->list + s->j + 1, s->list + a + 1, cell.n * sizeof *s->list);
    if (!(FAULTY(l3_leaves_block) && !cell.addresses))
        s->m[a] = (struct tower_cell){.kind = TOWER_REF, .n = s->j};
    s->j += cell.n + 1;
    if (FAULTY(l3_leaves_gap) && cell.n == 3 && s->j < s->e)
        s->j++;
}

static tower_value move(struct gc *g, tower_value v) {
    struct tower_l3 *s = &g->l3;
    uint32_t a = tower_address(v), j = s->j;
    g->view.source = a;
    g->view.copy = TOWER_NONE;
    if (s->m[a].kind == TOWER_REF)
        return tower_lhs(FAULTY(l3_stale_ref) ? a : s->m[a].n);
    copy_block(s, a);
    g->view.copy = j;
    l2_move(g, a, j);
    return tower_lhs(j);
}

/* The list that is under way: of the roots, or of the block at i. */
static tower_value *list_of(struct tower_l3 *s) {
    return s->where == TOWER_IN_ROOTS ? s->roots : s->list + s->i + 1;
}

/* move_list, up to its next address, which is moved; false: there is none.  A null address is its
 * own image. */
static bool move_next(struct gc *g) {
    struct tower_l3 *s = &g->l3;
    tower_value *list = list_of(s);
    uint32_t k = tower_next(list, s->next, s->n);
    if (k >= s->n)
        return false;
    g->view.place = k + (s->where == TOWER_IN_ROOTS ? g->l4.roots : s->i + 1);
    list[k] = move(g, list[k]);
    s->next = k + 1;
    return true;
}

/* L2 takes the addresses of a list, all moved by now, out of z. */
static void drop_list(struct gc *g, const tower_value *list, uint32_t n) {
    TOWER_FOR_ADDRESSES (k, list, n)
        if (g->l2.sets[tower_address(list[k])] & TOWER_Z)
            l2_drop(g, tower_address(list[k]));
}

/* The block at i is done.  A move of a block that points back may have put an address into z again,
 * so they are taken out only now. */
static void finish(struct gc *g, uint32_t i) {
    struct tower_l2 *s = &g->l2;
    if (!s->h[i])
        return; /* the memory is no refinement of h any more: the judge of the loop will say so */
    if (tower_block(s, s->h[i])->addresses)
        drop_list(g, tower_words(s, s->h[i]), tower_block(s, s->h[i])->length);
    l2_finish(g, i);
}

static void enter(struct tower_l3 *s, enum tower_where where, uint32_t n) {
    s->where = where;
    s->next = 0;
    s->n = n;
}

static void enter_block(struct gc *g) {
    struct tower_l3 *s = &g->l3;
    const struct tower_cell *cell = &s->m[s->i];
    tower_tick(g);
    uint32_t n = FAULTY(l3_last_field) && cell->addresses ? cell->n - 1u : cell->n;
    enter(s, TOWER_IN_BLOCK, cell->addresses ? n : 0);
}

/* All of a list has been moved: to the top of `loop`. */
static void leave_list(struct gc *g) {
    struct tower_l3 *s = &g->l3;
    if (s->where == TOWER_IN_ROOTS) {
        drop_list(g, g->l2.roots0, g->l2.n_roots);
        tower_phase_ended(g, GC_DARKENED);
        g->view.from_i = g->view.from_j = s->b;
    } else {
        g->view.from_i = s->i;
        finish(g, s->i);
        s->i += s->m[s->i].n + 1;
    }
    s->where = TOWER_IN_LOOP;
    tower_judge(g, TOWER_LOOP);
    g->view.from_j = s->j; /* of the next turn */
}

static void flip(struct tower_l3 *s) {
    uint32_t b = s->b, e = s->e;
    s->b = s->b2;
    s->e = s->e2;
    s->b2 = b;
    s->e2 = e;
}

void l3_begin(struct gc *g) {
    struct tower_l3 *s = &g->l3;
    l2_begin(&g->l2);
    flip(s);
    s->i = s->j = s->b;
    enter(s, TOWER_IN_ROOTS, s->n_roots);
}

static void end(struct gc *g) {
    struct tower_l3 *s = &g->l3;
    tower_phase_ended(g, GC_MARKED_ALL);
    uint32_t cut = FAULTY(l3_no_cut) ? (s->e2 - s->b2) / 2 : 0;
    memset(s->m + s->b2 + cut, 0, (s->e2 - s->b2 - cut) * sizeof *s->m); /* cut (b, i) m */
    l2_end(&g->l2);
    tower_phase_ended(g, GC_SWEPT_ALL);
    s->where = TOWER_AT_REST;
}

enum tower_stride l3_step(struct gc *g) {
    struct tower_l3 *s = &g->l3;
    if (s->where == TOWER_IN_LOOP && s->i != s->j)
        enter_block(g);
    else if (s->where == TOWER_IN_LOOP)
        end(g);
    if (s->where == TOWER_AT_REST)
        return TOWER_ENDED;
    if (move_next(g))
        return TOWER_MOVED;
    leave_list(g);
    return TOWER_LISTED_ALL;
}

void l3_collect(struct gc *g) {
    l3_begin(g);
    while (l3_step(g) != TOWER_ENDED) {
    }
}
