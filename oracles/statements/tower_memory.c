/* SPDX-License-Identifier: MIT
 *
 * The tower's statements on L3 and L4: memory (sections 3.3, 3.4), and allocation (section 4)
 * (tower.h).
 */
#include "oracles/statements/tower.h"

#include <string.h>

static bool memory_fails(struct tower_oracle *o, uint32_t a, const char *statement) {
    return tower_broken(o, TOWER_L3, a, statement);
}

static bool within(uint32_t a, uint32_t from, uint32_t to) {
    return from <= a && a < to;
}

/* ---- part_heap --------------------------------------------------------------------------------
 */

/* Emp and nothing else, as an empty cell is written. */
static uint32_t bits(const struct tower_cell *cell) {
    uint32_t all;
    memcpy(&all, cell, sizeof all);
    return all;
}

static bool all_empty(const struct tower_l3 *s, uint32_t from, uint32_t to) {
    uint32_t all = 0;
    for (uint32_t a = from; a < to; a++)
        all |= bits(&s->m[a]);
    return all == 0;
}

static bool empty(const struct tower_l3 *s, uint32_t a, uint32_t l) {
    return all_empty(s, a + 1, a + 1 + l);
}

/* The first cell from a on that is not Emp, or b: rows of empty cells are most of the memory. */
static uint32_t next_cell(const struct tower_l3 *s, uint32_t a, uint32_t b) {
    for (uint64_t two[4]; a + 8 <= b; a += 8) {
        memcpy(two, s->m + a, sizeof two);
        if (two[0] | two[1] | two[2] | two[3])
            break;
    }
    while (a < b && bits(&s->m[a]) == 0)
        a++;
    return a;
}

/* part_heap (a, b) m k, or TOWER_NONE: for no k.  Adds to *cells how many are not Emp. */
static uint32_t part_heap(const struct tower_l3 *s, uint32_t a, uint32_t b, uint32_t *cells) {
    uint32_t k = 0;
    while (a < b) {
        const struct tower_cell *cell = &s->m[a];
        uint32_t words = cell->kind == TOWER_BLOCK ? cell->n + 1 : 1;
        if (bits(cell) == 0) {
            a = next_cell(s, a, b);
            continue;
        }
        if (words > b - a || (cell->kind == TOWER_BLOCK && !empty(s, a, cell->n)))
            return TOWER_NONE;
        k += cell->kind == TOWER_BLOCK ? words : 0;
        ++*cells;
        a += words;
    }
    return k;
}

/* ---- ref_mem ----------------------------------------------------------------------------------
 */

static bool same_words(const uint32_t *a, const uint32_t *b, uint32_t n) {
    uint32_t different = 0;
    for (uint32_t k = 0; k < n; k++)
        different |= a[k] ^ b[k];
    return different == 0;
}

static bool same_block(const struct tower_view *v, uint32_t a) {
    const struct tower_cell *cell = &v->l3->m[a];
    tower_ref ref = v->l2->h[a];
    const struct tower_block *block = tower_block(v->l2, ref);
    return cell->kind == TOWER_BLOCK && cell->n == block->length && cell->tag == block->tag &&
           cell->addresses == block->addresses &&
           same_words(v->l3->list + a + 1, tower_words(v->l2, ref), cell->n);
}

/* ref_mem (h, f) m at a; before and after a collection f is id. */
static bool ref_mem_at(struct tower_oracle *o, const struct tower_view *v, uint32_t a,
                       bool moving) {
    const struct tower_cell *cell = &v->l3->m[a];
    uint32_t fa = moving ? tower_f(v->l2, a) : a;
    if (v->l2->h[a])
        return same_block(v, a) || memory_fails(o, a, "ref_mem: m(a) is not Block (h(a))");
    if (fa != a)
        return (cell->kind == TOWER_REF && cell->n == fa) ||
               memory_fails(o, a, "ref_mem: m(a) is not Ref (f(a))");
    return cell->kind == TOWER_EMP || memory_fails(o, a, "ref_mem: m(a) is not Emp");
}

static bool ref_mem(struct tower_oracle *o, const struct tower_view *v, uint32_t from, uint32_t to,
                    bool moving) {
    for (uint32_t a = from; a < to; a++)
        if (!ref_mem_at(o, v, a, moving))
            return false;
    return true;
}

/* ref_mem (h, f) m at the addresses in use.  Of all cells so many are not Emp: if these are in use,
 * all others are Emp. */
static bool ref_mem_everywhere(struct tower_oracle *o, const struct tower_view *v, uint32_t cells,
                               bool moving) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < o->n_used; k++) {
        if (!ref_mem_at(o, v, o->used[k], moving))
            return false;
        n += bits(&v->l3->m[o->used[k]]) != 0;
    }
    return n == cells || ref_mem(o, v, 0, v->l2->addresses, moving);
}

static bool same_roots(const struct tower_view *v) {
    return same_words(v->l3->roots, v->l2->roots, v->l2->n_roots);
}

/* ---- ok_mem_heap ------------------------------------------------------------------------------
 */

static bool apart(const struct tower_l3 *s) {
    return s->e < s->b2 || s->e2 < s->b;
}

bool tower_ok_mem_heap(struct tower_oracle *o, const struct tower_view *v, bool exact) {
    const struct tower_l3 *s = v->l3;
    if (s->b > s->i || s->i > s->e || s->b2 > s->e2 || s->e2 - s->b2 != s->e - s->b || !apart(s))
        return memory_fails(o, s->i, "ok_mem_heap, line 1: the halves or the index i are wrong");
    uint32_t cells = 0, k = part_heap(s, s->b, s->i, &cells);
    if (k == TOWER_NONE)
        return memory_fails(o, s->b, "ok_mem_heap, line 2: b...i is no well-formed heap");
    if (!all_empty(s, 0, s->b) || !all_empty(s, s->i, v->l2->addresses))
        return memory_fails(o, s->i, "ok_mem_heap, line 2: memory outside b...i is not Emp");
    if (exact && k != s->i - s->b)
        return memory_fails(o, s->i, "precise: the heap has gaps after a collection");
    if (!same_roots(v))
        return memory_fails(o, TOWER_NONE, "ok_mem_heap: the roots of L2 and L3 differ");
    return ref_mem_everywhere(o, v, cells, false);
}

/* ---- Figure 3 ---------------------------------------------------------------------------------
 */

/* Line 6 for the address a: x and y are where the blocks are. */
static bool sets_at(struct tower_oracle *o, const struct tower_view *v, uint32_t a) {
    const struct tower_l3 *s = v->l3;
    bool x = v->l2->h[a] && within(a, s->b, s->i), y = v->l2->h[a] && within(a, s->i, s->j);
    if (x != ((v->l2->sets[a] & TOWER_X) != 0))
        return memory_fails(o, a, "Figure 3, line 6: x is not domain h in b...i");
    if (y != ((v->l2->sets[a] & TOWER_Y) != 0))
        return memory_fails(o, a, "Figure 3, line 6: y is not domain h in i...j");
    return true;
}

/* Line 6, z: as printed it is pointers (h | i...j).  An address that has been moved may be dropped
 * from z while a block in y still has it, and must be when another block with it is finished; so
 * what can hold is that z and the pointers have the same unmoved addresses, and no others are in
 * z. */
static bool z_is_pointers(struct tower_oracle *o, const struct tower_view *v) {
    const struct tower_l2 *s = v->l2;
    uint32_t n_unmoved = 0, z_unmoved = 0;
    bool held = true;
    for (uint32_t a = v->l3->i; a < v->l3->j; a++) {
        if (!s->h[a] || !tower_block(s, s->h[a])->addresses)
            continue;
        const tower_value *as = tower_words(s, s->h[a]);
        uint32_t n = tower_block(s, s->h[a])->length;
        TOWER_FOR_ADDRESSES (k, as, n) {
            uint32_t p = tower_address(as[k]);
            if (o->marks[p] & TOWER_POINTED)
                continue;
            o->marks[p] |= TOWER_POINTED;
            n_unmoved += tower_f(s, p) == p;
        }
    }
    for (uint32_t k = 0; k < s->n_z; k++) {
        held &= (o->marks[s->z[k]] & TOWER_POINTED) != 0;
        z_unmoved += tower_f(s, s->z[k]) == s->z[k];
    }
    for (uint32_t k = 0; k < o->n_used; k++)
        o->marks[o->used[k]] &= (uint8_t)~TOWER_POINTED;
    return (held && n_unmoved == z_unmoved) ||
           memory_fails(o, TOWER_NONE, "Figure 3, line 6: z is not what i...j points at");
}

/* cells: in to-space. */
static bool mem_inv_everywhere(struct tower_oracle *o, const struct tower_view *v, uint32_t cells) {
    const struct tower_l3 *s = v->l3;
    bool up = s->b < s->b2; /* to-space comes first */
    if (!all_empty(s, s->j, up ? s->b2 : v->l2->addresses) || (!up && !all_empty(s, s->e2, s->b)))
        return memory_fails(o, s->j,
                            "Figure 3, line 2: memory outside b2...e2 and b...j is not Emp");
    uint32_t k = part_heap(s, s->b2, s->e2, &cells);
    if (k == TOWER_NONE || k > s->e - s->j)
        return memory_fails(o, s->b2,
                            "Figure 3, line 4: from-space does not fit the rest of to-space");
    for (uint32_t u = 0; u < o->n_used; u++) /* elsewhere there is nothing: Figure 1 */
        if (!sets_at(o, v, o->used[u]))
            return false;
    return ref_mem_everywhere(o, v, cells, true) && z_is_pointers(o, v);
}

/* What one turn touched: the block at from_i, those moved to from_j ... j, and what they left.
 * That the words between are Emp is line 3. */
static bool mem_inv_nearby(struct tower_oracle *o, const struct tower_view *v) {
    const struct tower_l3 *s = v->l3;
    for (uint32_t a = v->from_j; a < s->j; a += s->m[a].n + 1)
        if (!sets_at(o, v, a) || !ref_mem_at(o, v, a, true) ||
            !ref_mem_at(o, v, tower_f(v->l2, a), true))
            return false;
    return sets_at(o, v, v->from_i) && ref_mem_at(o, v, v->from_i, true);
}

bool tower_mem_inv(struct tower_oracle *o, const struct tower_view *v, bool full) {
    const struct tower_l3 *s = v->l3;
    uint32_t i = full ? s->b : v->from_i, j = full ? s->i : v->from_j, cells = 0;
    if (s->b > s->i || s->i > s->j || s->j > s->e || !apart(s))
        return memory_fails(o, s->i, "Figure 3, line 1: b, i, j, e are not in order");
    if (part_heap(s, i, s->i, &cells) != s->i - i || part_heap(s, j, s->j, &cells) != s->j - j)
        return memory_fails(o, s->i, "Figure 3, line 3: to-space has gaps");
    return full ? mem_inv_everywhere(o, v, cells) : mem_inv_nearby(o, v);
}

/* ---- L4 ---------------------------------------------------------------------------------------
 */

static bool fails_l4(struct tower_oracle *o, uint32_t a, const char *statement) {
    return tower_broken(o, TOWER_L4, a, statement);
}

/* The payload of a Block at a: ref_heap_addr of its list, or its list. */
static bool ref_payload(struct tower_oracle *o, const struct tower_view *v, uint32_t a) {
    const struct tower_cell *cell = &v->l3->m[a];
    const uint32_t *g = v->l4->g + a + 1;
    const tower_value *list = v->l3->list + a + 1;
    uint32_t n = cell->n, different = 0;
    if (!cell->addresses)
        return same_words(g, list, n) ||
               fails_l4(o, a, "ref: a payload word is not that of the Block");
    for (uint32_t k = 0; k < n; k++) /* as ref_heap_addr: an address is doubled, 4a for 2a */
        different |= g[k] ^ (list[k] + (list[k] & ((list[k] & 1) - 1)));
    for (uint32_t k = 0; k < n && different; k++)
        if (g[k] != tower_ref_heap_addr(list[k]))
            return fails_l4(o, tower_is_address(list[k]) ? a + 1 + k : a,
                            "ref: a payload word is not that of the Block");
    return true;
}

/* Figure 5, ref_aux: the words of g at a are what m(a) says. */
static bool ref_aux(struct tower_oracle *o, const struct tower_view *v, uint32_t a) {
    const struct tower_cell *cell = &v->l3->m[a];
    uint32_t g = v->l4->g[a];
    if (cell->kind == TOWER_EMP)
        return true;
    if (cell->kind == TOWER_REF)
        return g == 4 * cell->n || fails_l4(o, a, "ref: a word is not the address of a Ref");
    if (g != 1024 * cell->n + 4u * cell->tag + 2 + cell->addresses)
        return fails_l4(o, a, "ref: a header is not n.tag.1.b of the Block");
    return ref_payload(o, v, a);
}

/* ok_memory: every block's length fits its header. */
_Static_assert(TOWER_HALF < INT32_C(1) << 22, "a header has 22 bits for the length");

/* Figure 5: ref (a, e) m. */
static bool ref(struct tower_oracle *o, const struct tower_view *v, uint32_t a, uint32_t e) {
    while (a < e) {
        const struct tower_cell *cell = &v->l3->m[a];
        if (bits(cell) == 0) { /* ref_aux a Emp holds for any word */
            a = next_cell(v->l3, a, e);
            continue;
        }
        if (!ref_aux(o, v, a))
            return false;
        a += cell->kind == TOWER_BLOCK ? cell->n + 1 : 1;
    }
    return a == e || fails_l4(o, a, "ref: a block reaches beyond the end of its half");
}

/* Both halves. */
static bool ref_everywhere(struct tower_oracle *o, const struct tower_view *v) {
    return ref(o, v, v->l3->b, v->l3->e) && ref(o, v, v->l3->b2, v->l3->e2);
}

/* Nobody has written the words that are no memory. */
static bool inside(struct tower_oracle *o, const struct tower_l4 *s) {
    if (s->bad)
        return fails_l4(o, s->bad - 1, "mc_collector_pre: an access outside the memory");
    if (s->g[s->gap] || s->g[s->roots - 1])
        return fails_l4(o, s->g[s->gap] ? s->gap : s->roots - 1,
                        "fun2set g: a word outside the memory has been written");
    return true;
}

bool tower_ok_mc_heap(struct tower_oracle *o, const struct tower_view *v) {
    const struct tower_l3 *m = v->l3;
    const struct tower_l4 *s = v->l4;
    if (!inside(o, s))
        return false;
    if (s->b != m->b || s->i != m->i || s->e != m->e || s->b2 != m->b2 || s->e2 != m->e2)
        return fails_l4(o, s->i, "ok_mc_heap: the indexes of L3 and L4 differ");
    for (unsigned k = 0; k < s->n_roots; k++)
        if (s->g[s->roots + k] != tower_ref_heap_addr(m->roots[k]))
            return fails_l4(o, s->roots + k, "ok_mc_heap: a root of L4 differs");
    return ref_everywhere(o, v);
}

/* ---- a step of L4 and one of L3 ---------------------------------------------------------------
 *
 * mc_move is move, mc_move_list and mc_loop go through the same lists in the same order; so each
 * move, each end of a list and the end of all have their counterpart, and ref holds after each.
 * The list that is under way is read as what has been moved and what has not.
 */

/* What a move touches: the word that it moves, what the word led to, and the copy. */
static bool same_move(struct tower_oracle *o, const struct tower_view *v) {
    const struct tower_l4 *s = v->l4;
    const struct tower_l3 *m = v->l3;
    if (s->r1 != 4 * v->place)
        return fails_l4(o, s->r1 / 4, "mc_move: levels 3 and 4 move different words");
    tower_value moved = v->place < s->roots ? m->list[v->place] : m->roots[v->place - s->roots];
    if (s->g[v->place] != tower_ref_heap_addr(moved))
        return fails_l4(o, v->place, "mc_move: r1 does not lead where move leads");
    if (s->r3 != 4 * m->j)
        return fails_l4(o, s->r3 / 4, "mc_move: r3 is not the j of move");
    return ref_aux(o, v, v->source) && (v->copy == TOWER_NONE || ref_aux(o, v, v->copy));
}

static bool same_turn(struct tower_oracle *o, const struct tower_view *v) {
    if (v->l4->r1 != 4 * v->l3->i || v->l4->r3 != 4 * v->l3->j)
        return fails_l4(o, v->l4->r1 / 4, "mc_loop: r1 and r3 are not the i and j of loop");
    return v->from_i == v->l3->i || ref_aux(o, v, v->from_i);
}

bool tower_same_step(struct tower_oracle *o, const struct tower_view *v, bool full) {
    if (!inside(o, v->l4))
        return false;
    if (v->l4_stride != v->l3_stride)
        return fails_l4(o, v->l4->r1 / 4, "mc_collector: levels 3 and 4 take different steps");
    if (v->l4_stride == TOWER_MOVED && !same_move(o, v))
        return false;
    if (v->l4_stride == TOWER_LISTED_ALL && !same_turn(o, v))
        return false;
    return !full || ref_everywhere(o, v);
}

/* ---- section 4 --------------------------------------------------------------------------------
 */

enum { CONS = 2, CONS_WORDS = 3 };

/* Pushes a value that is a pair; nothing of it is counted twice on purpose: sharing counts. */
static void push(struct tower_oracle *o, tower_value v, uint32_t *n) {
    if (tower_is_address(v))
        o->work[(*n)++] = tower_address(v);
}

/* size v1 + ... + size vn, cons cells of the roots' s-expressions, or `limit` if it is more.
 * TOWER_NONE: a root reaches something that is no cons. */
static uint32_t size_of_roots(struct tower_oracle *o, const struct tower_l2 *s, uint32_t limit) {
    uint32_t size = 0;
    for (unsigned k = 0; k < s->n_roots; k++) {
        uint32_t n = 0;
        push(o, s->roots[k], &n);
        while (n > 0 && size < limit) {
            tower_ref ref = s->h[o->work[--n]];
            const struct tower_block *block = tower_block(s, ref);
            if (block->length != CONS || !block->addresses)
                return TOWER_NONE;
            size++;
            push(o, tower_words(s, ref)[0], &n);
            push(o, tower_words(s, ref)[1], &n);
        }
    }
    return size;
}

bool tower_may_refuse(struct tower_oracle *o, const struct tower_view *v) {
    uint32_t capacity = v->half / CONS_WORDS;
    if (v->request != CONS)
        return true;
    uint32_t size = size_of_roots(o, v->l2, capacity);
    return size == TOWER_NONE || size >= capacity ||
           tower_broken(o, v->level, TOWER_NONE,
                        "cons: refused although the roots' sizes are less than the heap's limit");
}
