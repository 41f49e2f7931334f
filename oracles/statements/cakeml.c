/* SPDX-License-Identifier: MIT
 *
 * CakeML's statements on lists of heap elements: the invariants of Figures 4 and 5, gc_related and
 * completeness (cakeml.h).
 */
#include "oracles/statements/cakeml.h"

#include <string.h>

/* for every element of a heap, by address; one of no kind is passed word by word */
#define FOR_ELEMENTS(at, heap, from, end)                                                          \
    for (uint32_t at = (from); at < (end); at += cakeml_el_length(&(heap)->el[at]))

static bool layout_fails(struct cakeml_oracle *o, uint32_t a, const char *statement) {
    return cakeml_broken(o, VIOLATION_layout_broken, a, statement);
}

/* ---- the layout -------------------------------------------------------------------------------
 */

/* heap_split at: an element starts there, or the heap ends. */
static bool is_boundary(const struct cakeml_view *v, uint32_t at) {
    return at == v->limit || (at < v->limit && v->heap->el[at].kind != CAKEML_NOTHING);
}

/* data_up_to a heap */
static bool data_up_to(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t at = 0;
    for (; at < v->a; at += cakeml_el_length(&v->heap->el[at]))
        if (v->heap->el[at].kind != CAKEML_DATA)
            return layout_fails(o, at, "data_up_to: below the unused space is something else");
    if (at != v->a)
        return layout_fails(o, v->a, "data_up_to: an element reaches into the unused space");
    return true;
}

static bool unused_space_inv(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t l = v->sp + v->sp1;
    if (v->a > v->limit || l > v->limit - v->a)
        return layout_fails(o, v->a, "unused_space_inv: a + sp + sp1 exceeds the heap");
    if (l != 0 && (v->heap->el[v->a].kind != CAKEML_UNUSED || v->heap->el[v->a].length != l - 1))
        return layout_fails(o, v->a, "unused_space_inv: no Unused of sp + sp1 words at a");
    return true;
}

/* heap_ok: its length is the limit, and there are no forwarding pointers. */
static bool heap_length_ok(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t at = v->a;
    for (; at < v->limit; at += cakeml_el_length(&v->heap->el[at])) {
        unsigned kind = v->heap->el[at].kind;
        if (kind != CAKEML_DATA && kind != CAKEML_UNUSED)
            return layout_fails(o, at, "heap_ok: neither data nor unused");
    }
    if (at != v->limit)
        return layout_fails(o, v->limit, "heap_ok: the heap's length is not its limit");
    return true;
}

/* heap_lookup of an address where no element starts is None. */
static bool nothing_between(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t elements = 0, found = 0;
    FOR_ELEMENTS(at, v->heap, 0, v->limit)
    elements++;
    for (uint32_t a = 0; a < v->limit; a++)
        found += v->heap->el[a].kind != CAKEML_NOTHING;
    return found == elements ||
           layout_fails(o, CAKEML_NONE, "heap_lookup: an element starts within another");
}

/* gc_kind_inv: heap_split (a + sp + sp1). */
static bool heap_splits(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t end = cakeml_refs_start(v);
    return v->kind != CAKEML_GENERATIONAL || is_boundary(v, end) ||
           layout_fails(o, end, "gc_kind_inv: the heap does not split at a + sp + sp1");
}

static bool gc_kind_inv(struct cakeml_oracle *o, const struct cakeml_view *v) {
    if (v->kind != CAKEML_GENERATIONAL) {
        if (v->sp1 != 0)
            return layout_fails(o, v->a + v->sp, "gc_kind_inv: sp1 is not 0");
        return true;
    }
    uint32_t end = cakeml_refs_start(v);
    FOR_ELEMENTS(at, v->heap, 0, v->a)
    if (v->heap->el[at].ref)
        return layout_fails(o, at, "gc_kind_inv: a reference among the data");
    FOR_ELEMENTS(at, v->heap, end, v->limit)
    if (v->heap->el[at].kind != CAKEML_DATA || !v->heap->el[at].ref)
        return layout_fails(o, at, "gc_kind_inv: among the references is something else");
    return true;
}

bool cakeml_layout(struct cakeml_oracle *o, const struct cakeml_view *v) {
    return unused_space_inv(o, v) && data_up_to(o, v) && heap_splits(o, v) &&
           heap_length_ok(o, v) && nothing_between(o, v) && gc_kind_inv(o, v);
}

/* ---- pointers ---------------------------------------------------------------------------------
 */

/* gen_state_ok but for pointers: starts lie below a, at boundaries. */
static bool starts_ok(struct cakeml_oracle *o, const struct cakeml_view *v) {
    for (unsigned k = 0; k < v->n_gens; k++) {
        if (v->starts[k] > v->a)
            return cakeml_broken(o, VIOLATION_generation_order_broken, v->starts[k],
                                 "gen_state_ok: a generation starts beyond the data");
        if (!is_boundary(v, v->starts[k]))
            return cakeml_broken(o, VIOLATION_generation_order_broken, v->starts[k],
                                 "gen_start_ok: the heap does not split at a generation's start");
    }
    return true;
}

/* gen_start_ok: the element at `at` has a pointer to p. */
static bool gen_order_ok(struct cakeml_oracle *o, const struct cakeml_view *v, uint32_t at,
                         uint32_t p) {
    for (unsigned k = 0; k < v->n_gens; k++)
        if (at < v->starts[k] && v->starts[k] <= p && p < cakeml_refs_start(v))
            return cakeml_broken(o, VIOLATION_generation_order_broken, at,
                                 "gen_start_ok: old data has a pointer to new data");
    return true;
}

/* A pointer that leads to a data element, and tells its tag and length as v_inv wants it to. */
static bool pointer_ok(struct cakeml_oracle *o, const struct cakeml_view *v, cakeml_value x,
                       uint32_t at, const char *dangles) {
    uint32_t p = cakeml_address(x);
    if (p >= v->limit || v->heap->el[p].kind != CAKEML_DATA)
        return cakeml_broken(o, VIOLATION_dangling_pointer, at, dangles);
    if (cakeml_information(x) != cakeml_bits_of(&v->rep, &v->heap->el[p]))
        return cakeml_broken(o, VIOLATION_refinement_broken, at,
                             "v_inv: a pointer has not the ptr_bits of its block");
    return true;
}

static bool element_ok(struct cakeml_oracle *o, const struct cakeml_view *v, uint32_t at) {
    const struct cakeml_element *e = &v->heap->el[at];
    if (e->kind != CAKEML_DATA || e->raw)
        return true;
    bool ordered = v->kind == CAKEML_GENERATIONAL && at < v->starts[0];
    const cakeml_value *xs = v->heap->words + at + 1;
    CAKEML_FOR_ODD (k, xs, e->length) {
        cakeml_value x = xs[k];
        if (!cakeml_is_pointer(x))
            continue;
        if (!pointer_ok(o, v, x, at, "heap_ok: a pointer leads to no element"))
            return false;
        if (ordered && !gen_order_ok(o, v, at, cakeml_address(x)))
            return false;
    }
    return true;
}

bool cakeml_pointers(struct cakeml_oracle *o, const struct cakeml_view *v) {
    for (uint32_t k = 0; k < v->n_roots; k++)
        if (cakeml_is_pointer(v->roots[k]) &&
            !pointer_ok(o, v, v->roots[k], CAKEML_NONE, "roots_ok: a root leads to no element"))
            return false;
    if (v->kind == CAKEML_GENERATIONAL && !starts_ok(o, v))
        return false;
    FOR_ELEMENTS(at, v->heap, 0, v->limit)
    if (!element_ok(o, v, at))
        return false;
    return true;
}

/* ---- before a collection ----------------------------------------------------------------------
 */

static void reach(struct cakeml_oracle *o, cakeml_value x) {
    uint32_t p = cakeml_address(x);
    if (!cakeml_is_pointer(x) || o->marks[p])
        return;
    o->marks[p] = 1;
    o->work[o->n_reached++] = (uint16_t)p;
    o->reached_words += cakeml_el_length(&o->before.el[p]);
}

/* reachable_addresses roots heap, and heap_length (heap_filter of it); roots_ok and heap_ok hold.
 */
static void find_reachable(struct cakeml_oracle *o, const struct cakeml_view *v) {
    memset(o->marks, 0, v->limit);
    o->n_reached = o->reached_words = 0;
    for (uint32_t k = 0; k < v->n_roots; k++)
        reach(o, o->roots[k]);
    for (uint32_t n = 0; n < o->n_reached; n++) {
        uint32_t at = o->work[n];
        const cakeml_value *xs = o->before.words + at + 1;
        uint32_t words = o->before.el[at].raw ? 0 : o->before.el[at].length;
        CAKEML_FOR_ODD (k, xs, words)
            reach(o, xs[k]);
    }
}

static void remember(struct cakeml_oracle *o, const struct cakeml_view *v) {
    o->a = v->a;
    o->refs_start = cakeml_refs_start(v);
    memcpy(o->before.el, v->heap->el, (o->a + 1) * sizeof *v->heap->el); /* with what is unused */
    memcpy(o->before.el + o->refs_start, v->heap->el + o->refs_start,
           (v->limit - o->refs_start) * sizeof *v->heap->el);
    memcpy(o->before.words, v->heap->words, o->a * sizeof *v->heap->words);
    memcpy(o->before.words + o->refs_start, v->heap->words + o->refs_start,
           (v->limit - o->refs_start) * sizeof *v->heap->words);
    memcpy(o->roots, v->roots, v->n_roots * sizeof *v->roots);
    if (!v->partial)
        find_reachable(o, v);
}

/* ---- gc_related -------------------------------------------------------------------------------
 */

static bool related_fails(struct cakeml_oracle *o, uint32_t a, const char *statement) {
    return cakeml_broken(o, VIOLATION_refinement_broken, a, statement);
}

/* domain f, and apply f.  A partial collection leaves what is outside its segment where it is. */
static bool in_domain(const struct cakeml_view *v, uint32_t i) {
    const struct cakeml_state *s = v->s;
    return i < v->limit && (s->f[i] || (s->partial && (i < s->gen_start || s->refs_start <= i)));
}
static uint32_t apply(const struct cakeml_view *v, uint32_t i) {
    return v->s->f[i] ? v->s->f[i] - 1u : i;
}
/* addr_map (apply f) of one address */
static cakeml_value mapped(const struct cakeml_view *v, cakeml_value x) {
    return cakeml_is_pointer(x) ? cakeml_pointer(apply(v, cakeml_address(x)), cakeml_information(x))
                                : x;
}

static bool words_related(struct cakeml_oracle *o, const struct cakeml_view *v, uint32_t i) {
    const struct cakeml_element *e = &o->before.el[i];
    const cakeml_value *xs = o->before.words + i + 1, *ys = v->heap->words + apply(v, i) + 1;
    uint64_t different = 0, raw = e->raw ? UINT64_MAX : 0;
    for (uint32_t k = 0; k < e->length; k++)
        different |= (xs[k] ^ ys[k]) & (raw | ((xs[k] & 1) - 1));
    CAKEML_FOR_ODD (k, xs, e->raw ? 0u : e->length) {
        if (cakeml_is_pointer(xs[k]) && !in_domain(v, cakeml_address(xs[k])))
            return related_fails(o, i, "gc_related: a pointer leads out of the domain of f");
        different |= ys[k] ^ mapped(v, xs[k]);
    }
    return different == 0 ||
           related_fails(o, i, "gc_related: an element is not what it was, mapped by f");
}

static bool element_related(struct cakeml_oracle *o, const struct cakeml_view *v, uint32_t i) {
    uint32_t j = apply(v, i);
    if (o->before.el[i].kind != CAKEML_DATA)
        return related_fails(o, i, "gc_related: f is defined where there was no data element");
    if (j >= v->limit || v->heap->el[j].kind != CAKEML_DATA)
        return related_fails(o, i, "gc_related: f leads to no data element");
    if (o->marks[j])
        return related_fails(o, i, "gc_related: f is not injective");
    o->marks[j] = 1;
    if (!cakeml_same_element(&o->before.el[i], &v->heap->el[j]))
        return related_fails(o, i, "gc_related: an element has another length or tag");
    return words_related(o, v, i);
}

bool cakeml_gc_related(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t domain = 0, used = v->a + v->limit - cakeml_refs_start(v);
    for (uint32_t k = 0; k < v->n_roots; k++) {
        cakeml_value x = o->roots[k];
        if (cakeml_is_pointer(x) && !in_domain(v, cakeml_address(x)))
            return related_fails(o, cakeml_address(x), "a root is not in the domain of f");
        if (v->roots[k] != mapped(v, x))
            return related_fails(o, CAKEML_NONE, "the new roots are not addr_map f roots");
    }
    memset(o->marks, 0, v->limit);
    FOR_ELEMENTS(i, &o->before, 0, v->limit)
    if (in_domain(v, i) && !(v->s->partial && o->a <= i && i < o->refs_start)) {
        domain++;
        if (!element_related(o, v, i))
            return false;
    }
    if (v->s->partial)
        return true;
    if (domain != o->n_reached || used != o->reached_words)
        return cakeml_broken(o, VIOLATION_garbage_retained, CAKEML_NONE,
                             "completeness: a full collection kept more than is reachable");
    return true;
}

/* ---- the stages -------------------------------------------------------------------------------
 */

static bool at_start(struct cakeml_oracle *o, struct cakeml_view *v) {
    if (!cakeml_layout(o, v) || !cakeml_pointers(o, v) || !cakeml_choice(o, v) ||
        !cakeml_word_heap(o, v))
        return false;
    remember(o, v);
    return true;
}

/* Where the trigger must be (section 3.2), and that the request fits if anything can. */
static bool trigger_ok(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t unused = v->sp + v->sp1, near = v->request;
    if (v->kind != CAKEML_GENERATIONAL)
        return true; /* gc_kind_inv */
    near = near < v->sizes[0] ? v->sizes[0] : near;
    if (v->sp != (near < unused ? near : unused))
        return layout_fails(o, v->a + v->sp, "3.2: the GC trigger pointer is elsewhere");
    return true;
}

static bool when_done(struct cakeml_oracle *o, struct cakeml_view *v) {
    return cakeml_same_result(o, v) && cakeml_gc_related(o, v) && cakeml_layout(o, v) &&
           cakeml_pointers(o, v) && cakeml_word_heap(o, v) && trigger_ok(o, v) && cakeml_aged(o, v);
}

/* Between collections: what an allocation or a switch has touched. */
static bool when_changed(struct cakeml_oracle *o, const struct cakeml_view *v) {
    if (!unused_space_inv(o, v))
        return false;
    if (v->kind != CAKEML_GENERATIONAL)
        return gc_kind_inv(o, v);
    uint32_t end = cakeml_refs_start(v);
    if (!is_boundary(v, end) || (end < v->limit && !v->heap->el[end].ref))
        return layout_fails(o, end, "gc_kind_inv: no reference where the unused space ends");
    return true;
}

static bool may_refuse(struct cakeml_oracle *o, const struct cakeml_view *v) {
    if (v->sp >= v->request)
        return cakeml_broken(o, VIOLATION_false_out_of_memory, CAKEML_NONE,
                             "NotEnoughSpace, with space for the request");
    return true;
}

static bool stage_holds(struct cakeml_oracle *o, struct cakeml_view *v) {
    switch (v->stage) {
    case CAKEML_START:
        return at_start(o, v);
    case CAKEML_STEP:
        return cakeml_same_move(o, v);
    case CAKEML_SIMULATED:
        return cakeml_simulates(o, v);
    case CAKEML_DONE:
        return when_done(o, v);
    case CAKEML_CHANGED:
        return when_changed(o, v);
    case CAKEML_REFUSED:
        return may_refuse(o, v);
    }
    return true;
}

/* What words alone do, the other oracles judge. */
bool cakeml_holds(struct cakeml_oracle *o, struct cakeml_view *v) {
    return cakeml_order(o, v) && (!v->lists || (stage_holds(o, v) && cakeml_whole(o, v)));
}
