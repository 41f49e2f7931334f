/* SPDX-License-Identifier: MIT
 *
 * The tower's statements on L1 and L2: what a collection is, the step relation, Figure 1 (tower.h).
 */
#include "oracles/statements/tower.h"

#include <string.h>

static bool fails(struct tower_oracle *o, uint32_t a, const char *statement) {
    return tower_broken(o, TOWER_L2, a, statement);
}

static bool in(const struct tower_l2 *s, uint32_t a, unsigned sets) {
    return s->sets[a] & sets;
}

/* The addresses of a block, as a list; *n of them and null addresses. */
static const tower_value *pointers(const struct tower_l2 *s, tower_ref ref, uint32_t *n) {
    const struct tower_block *block = tower_block(s, ref);
    *n = block->addresses ? block->length : 0;
    return tower_words(s, ref);
}

static bool valid(const struct tower_l2 *s, tower_value v) {
    return tower_address(v) < s->addresses;
}

/* ---- reach ------------------------------------------------------------------------------------
 */

static void mark(struct tower_oracle *o, uint32_t a, unsigned marks) {
    if (!(o->marks[a] & TOWER_REACHED))
        o->work[o->n_reached++] = (uint16_t)a;
    o->marks[a] |= (uint8_t)(TOWER_REACHED | marks);
}

static void list(struct tower_oracle *o, uint32_t a) {
    if (!(o->marks[a] & TOWER_LISTED))
        o->used[o->n_used++] = (uint16_t)a;
    o->marks[a] |= TOWER_LISTED;
}

/* domain h */
static void find_used(struct tower_oracle *o, const struct tower_l2 *s) {
    memset(o->marks, 0, s->addresses);
    o->n_used = 0;
    uint32_t a = 0;
    for (; a + 8 <= s->addresses; a += 8) { /* most addresses are in no domain */
        uint64_t eight[2];
        memcpy(eight, s->h + a, sizeof eight);
        for (uint32_t k = a; (eight[0] | eight[1]) != 0 && k < a + 8; k++)
            if (s->h[k])
                list(o, k);
    }
    for (; a < s->addresses; a++)
        if (s->h[a])
            list(o, a);
}

/* The inductive definition of reach(h, roots); ok_heap holds. */
static void find_reach(struct tower_oracle *o, const struct tower_l2 *s) {
    o->n_reached = 0;
    for (unsigned k = 0; k < s->n_roots; k++)
        if (tower_is_address(s->roots[k]))
            mark(o, tower_address(s->roots[k]), TOWER_ROOT);
    for (uint32_t at = 0; at < o->n_reached; at++) {
        uint32_t n;
        const tower_value *as = pointers(s, s->h[o->work[at]], &n);
        TOWER_FOR_ADDRESSES (k, as, n)
            mark(o, tower_address(as[k]), 0);
    }
}

bool tower_ok_heap(struct tower_oracle *o, const struct tower_l2 *s) {
    for (unsigned k = 0; k < s->n_roots; k++)
        if (tower_is_address(s->roots[k]) &&
            (!valid(s, s->roots[k]) || !s->h[tower_address(s->roots[k])]))
            return fails(o, tower_address(s->roots[k]), "ok_heap: a root leads to no block");
    for (uint32_t u = 0; u < o->n_used; u++) {
        uint32_t n, a = o->used[u];
        if (!s->h[a])
            continue;
        const tower_value *as = pointers(s, s->h[a], &n);
        TOWER_FOR_ADDRESSES (k, as, n)
            if (!valid(s, as[k]) || !s->h[tower_address(as[k])])
                return fails(o, a, "ok_heap: a pointer leads to no block");
    }
    return true;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* Is the block `to` = (map f as, d) where `from` is (as, d)? */
static bool renamed(const struct tower_l2 *s, tower_ref from, tower_ref to) {
    const struct tower_block *a = tower_block(s, from), *b = tower_block(s, to);
    if (a->length != b->length || a->tag != b->tag || a->addresses != b->addresses)
        return false;
    const tower_value *as = tower_words(s, from), *bs = tower_words(s, to);
    uint32_t n = a->addresses ? a->length : 0, different = 0;
    for (uint32_t k = 0; k < a->length; k++)
        different += as[k] != bs[k];
    TOWER_FOR_ADDRESSES (k, as, n) {
        if (!valid(s, as[k]) || bs[k] != tower_lhs(tower_f(s, tower_address(as[k]))))
            return false;
        different -= as[k] != bs[k];
    }
    return different == 0;
}

/* ---- L1: (h0, roots0) -gc-> (h, roots) --------------------------------------------------------
 */

static bool own_inverse(struct tower_oracle *o, const struct tower_l2 *s) {
    for (uint32_t a = 0; a < s->addresses; a++)
        if (s->moved[a] && tower_f(s, tower_f(s, a)) != a)
            return fails(o, a, "translate: f o f is not id");
    return true;
}

bool tower_gc(struct tower_oracle *o, const struct tower_l2 *s) {
    for (uint32_t k = 0; k < o->n_reached; k++) {
        uint32_t a = o->work[k], fa = tower_f(s, a);
        if (!s->h[fa])
            return fails(o, a, "filter: a reachable block is not in the new heap");
        if (!renamed(s, s->h0[a], s->h[fa]))
            return fails(o, a, "rename: a block is not (map f as, d) in the new heap");
        list(o, fa);
    }
    uint32_t blocks = 0;
    for (uint32_t a = 0; a < s->addresses; a++)
        blocks += s->h[a] != 0;
    if (blocks != o->n_reached)
        return fails(o, TOWER_NONE, "filter: the new heap has a block that is not reachable");
    for (unsigned k = 0; k < s->n_roots; k++) {
        tower_value v = s->roots0[k];
        if (s->roots[k] != (tower_is_address(v) ? tower_lhs(tower_f(s, tower_address(v))) : v))
            return fails(o, TOWER_NONE, "translate: the new roots are not map f roots");
    }
    return true;
}

/* ---- L2: the premises of the three rules ------------------------------------------------------
 */

static bool may_move(struct tower_oracle *o, const struct tower_l2 *s, uint32_t a, uint32_t b) {
    if (b >= s->addresses)
        return fails(o, b, "rule 1: b is no address");
    if (!in(s, a, TOWER_Z))
        return fails(o, a, "rule 1: a is not in z");
    if (s->h[b])
        return fails(o, b, "rule 1: b is in domain h");
    if (s->moved[a] && tower_f(s, a) != a)
        return fails(o, a, "rule 1: a has been moved, f(a) is not a");
    if (s->moved[b] && tower_f(s, b) != b)
        return fails(o, b, "rule 1: b has been used, f(b) is not b");
    return s->h[a] || fails(o, a, "rule 1: a is not in domain h");
}

static bool may_drop(struct tower_oracle *o, const struct tower_l2 *s, uint32_t a) {
    if (!in(s, a, TOWER_Z))
        return fails(o, a, "rule 2: a is not in z");
    return tower_f(s, a) != a || fails(o, a, "rule 2: a has not been moved, f(a) is a");
}

static bool may_finish(struct tower_oracle *o, const struct tower_l2 *s, uint32_t a) {
    if (!in(s, a, TOWER_Y))
        return fails(o, a, "rule 3: a is not in y");
    if (!s->h[a])
        return fails(o, a, "rule 3: a is not in domain h");
    uint32_t n;
    const tower_value *as = pointers(s, s->h[a], &n);
    TOWER_FOR_ADDRESSES (k, as, n)
        if (in(s, tower_address(as[k]), TOWER_Z))
            return fails(o, tower_address(as[k]), "rule 3: an address of as is in z");
    return true;
}

static bool may_step(struct tower_oracle *o, const struct tower_view *v) {
    switch (v->rule) {
    case TOWER_MOVE:
        return may_move(o, v->l2, v->a, v->b);
    case TOWER_DROP:
        return may_drop(o, v->l2, v->a);
    default:
        return may_finish(o, v->l2, v->a);
    }
}

/* ---- Figure 1 ---------------------------------------------------------------------------------
 */

static bool xy(const struct tower_l2 *s, uint32_t a) {
    return in(s, a, TOWER_X | TOWER_Y);
}
/* line 0 */
static bool old(const struct tower_l2 *s, uint32_t a) {
    return (s->h[a] || tower_f(s, a) != a) && !xy(s, a);
}
/* image f (x u y), by f o f = id */
static bool in_image(const struct tower_l2 *s, uint32_t a) {
    return xy(s, tower_f(s, a));
}

/* Lines 2, 3 and 4, for the pointers of the block at a. */
static bool inv_pointers(struct tower_oracle *o, const struct tower_l2 *s, uint32_t a) {
    bool in_x = in(s, a, TOWER_X), in_y = in(s, a, TOWER_Y);
    uint32_t n;
    const tower_value *as = pointers(s, s->h[a], &n);
    TOWER_FOR_ADDRESSES (k, as, n) {
        uint32_t p = tower_address(as[k]);
        if (p >= s->addresses)
            return fails(o, a, "Figure 1: a pointer is no address");
        if (in_x && !xy(s, p))
            return fails(o, a, "Figure 1, line 2: a pointer of x leads out of x and y");
        if (!in_x && !old(s, p))
            return fails(o, a, "Figure 1, line 3: a pointer outside x is not old");
        if (in_y && !in_image(s, p) && !in(s, p, TOWER_Z))
            return fails(o, a, "Figure 1, line 4: a pointer of y is neither moved nor in z");
    }
    return true;
}

/* Line 9: h relates to h0 by f. */
static bool inv_content(struct tower_oracle *o, const struct tower_l2 *s, uint32_t a) {
    uint32_t fa = tower_f(s, a);
    tower_ref now = s->h[fa], before = s->h0[a];
    if (!now)
        return true;
    if (!before)
        return fails(o, a, "Figure 1, line 8: domain h is not image f (domain h0)");
    if (in(s, fa, TOWER_X) ? !renamed(s, now, before) : now != before)
        return fails(o, a, "Figure 1, line 9: a block is not what it was in h0");
    return true;
}

/* What Figure 1 says of f and the sets at one address. */
static bool inv_sets_at(struct tower_oracle *o, const struct tower_l2 *s, uint32_t a) {
    uint32_t fa = tower_f(s, a);
    bool z = in(s, a, TOWER_Z), xy_a = xy(s, a), xy_fa = xy(s, fa);
    if (in(s, a, TOWER_X) && in(s, a, TOWER_Y))
        return fails(o, a, "Figure 1, line 1: x and y are not disjoint");
    if (tower_f(s, fa) != a)
        return fails(o, a, "Figure 1, line 1: f o f is not id");
    if (o->marks[a] & TOWER_ROOT && !xy_fa && !z)
        return fails(o, a, "Figure 1, line 4: a root is neither moved nor in z");
    if ((xy_fa || z) && !(o->marks[a] & TOWER_REACHED))
        return fails(o, a, "Figure 1, line 4: what is moved or in z is not reachable");
    if (z && (fa == a ? !old(s, a) : !xy_fa))
        return fails(o, a, "Figure 1, line 5: an address in z is neither old nor moved");
    if (fa != a && xy_a == xy_fa)
        return fails(o, a, "Figure 1, line 6: not exactly one of a and f(a) is in x and y");
    if (xy_a != (fa != a && s->h[a]))
        return fails(o, a, "Figure 1, line 7: x and y are not the new addresses");
    if ((s->h[a] != 0) != (s->h0[fa] != 0))
        return fails(o, a, "Figure 1, line 8: domain h is not image f (domain h0)");
    return true;
}

bool tower_inv_at(struct tower_oracle *o, const struct tower_l2 *s, uint32_t a) {
    return inv_sets_at(o, s, a) && (!s->h[a] || inv_pointers(o, s, a)) && inv_content(o, s, a);
}

/* What there is at the address: a block, now or before, a move, a set; 0: nothing. */
static uint32_t content(const struct tower_l2 *s, uint32_t a) {
    return UINT32_C(0) + s->h[a] + s->h0[a] + s->moved[a] + s->sets[a];
}

/* At the addresses in use, and nothing is anywhere else: then sums over both are the same. */
bool tower_inv(struct tower_oracle *o, const struct tower_l2 *s) {
    uint32_t known = 0, all = 0;
    for (uint32_t k = 0; k < o->n_used; k++) {
        if (!tower_inv_at(o, s, o->used[k]))
            return false;
        known += content(s, o->used[k]);
    }
    for (uint32_t a = 0; a < s->addresses; a++)
        all += content(s, a);
    if (known == all)
        return true;
    for (uint32_t a = 0; a < s->addresses; a++)
        if (!tower_inv_at(o, s, a))
            return false;
    return fails(o, TOWER_NONE, "Figure 1: something is at an address that no step has used");
}

/* Takes a full check out of a budget, if it is in there. */
static bool afford(const struct tower_oracle *o, uint64_t *budget) {
    if (*budget < o->n_used)
        return false;
    *budget -= o->n_used;
    return true;
}

static bool after_step(struct tower_oracle *o, struct tower_view *v) {
    const struct tower_l2 *s = v->l2;
    if ((s->n_y == 0 && s->n_z == 0) || afford(o, &v->budget))
        return tower_inv(o, s);
    uint32_t fa = tower_f(s, v->a);
    if (v->rule == TOWER_DROP) /* no block and no f is another one, z alone has lost a */
        return inv_sets_at(o, s, v->a);
    if (!tower_inv_at(o, s, v->a) || (fa != v->a && !tower_inv_at(o, s, fa)))
        return false;
    return v->b == v->a || v->b == fa || tower_inv_at(o, s, v->b);
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static bool at_start(struct tower_oracle *o, const struct tower_view *v) {
    find_used(o, v->l2);
    if (!tower_ok_heap(o, v->l2))
        return false;
    if (v->level <= TOWER_L3 && !tower_ok_mem_heap(o, v, false))
        return false;
    if (v->level == TOWER_L4 && !tower_ok_mc_heap(o, v))
        return false;
    find_reach(o, v->l2);
    return true;
}

static bool when_done(struct tower_oracle *o, const struct tower_view *v) {
    if (v->l2->n_y || v->l2->n_z)
        return fails(o, TOWER_NONE, "the collection ended with y or z not empty");
    if (v->level == TOWER_L1 && !own_inverse(o, v->l2)) /* else Figure 1, line 1 */
        return false;
    if (!tower_gc(o, v->l2) || !tower_ok_heap(o, v->l2))
        return false;
    if (v->level <= TOWER_L3 && !tower_ok_mem_heap(o, v, true))
        return false;
    return v->level != TOWER_L4 || tower_ok_mc_heap(o, v);
}

bool tower_holds(struct tower_oracle *o, struct tower_view *v) {
    o->broken = NULL;
    switch (v->stage) {
    case TOWER_START:
        return at_start(o, v);
    case TOWER_RULE:
        return may_step(o, v);
    case TOWER_STEP:
        if (v->rule == TOWER_MOVE)
            list(o, v->b);
        return after_step(o, v);
    case TOWER_LOOP:
        return tower_mem_inv(o, v, v->l3->i == v->l3->j || afford(o, &v->budget));
    case TOWER_WORDS:
        return tower_same_step(o, v, afford(o, &v->words_budget));
    case TOWER_DONE:
        return when_done(o, v);
    default:
        return tower_may_refuse(o, v);
    }
}
