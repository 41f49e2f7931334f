/* SPDX-License-Identifier: MIT
 *
 * CakeML's statements that compare two executions: machine words with heap elements (word_heap,
 * Figure 6), and a partial collection with a full one of the pretend-heap (cakeml.h).
 */
#include "oracles/statements/cakeml.h"

static bool fails(struct cakeml_oracle *o, uint32_t a, const char *statement) {
    return cakeml_broken(o, VIOLATION_refinement_broken, a, statement);
}

/* ---- word_heap --------------------------------------------------------------------------------
 */

/* word_el for a data element: its header and word_payload at m. */
static bool word_el(const struct cakeml_view *v, const uint64_t *m, const struct cakeml_element *e,
                    const cakeml_value *xs) {
    const struct cakeml_rep *c = &v->rep;
    if (m[0] != cakeml_header(c, e) || cakeml_decode_length(c, m[0]) != e->length)
        return false;
    uint64_t different = 0, all = cakeml_word(c, UINT64_MAX);
    if (e->raw) {
        for (uint32_t k = 0; k < e->length; k++)
            different |= m[k + 1] ^ (xs[k] & all);
        return different == 0;
    }
    for (uint32_t k = 0; k < e->length; k++) /* word_addr of data is the data */
        different |= (m[k + 1] ^ xs[k]) & ((xs[k] & 1) - 1);
    CAKEML_FOR_ODD (k, xs, e->length)
        different |= m[k + 1] ^ cakeml_word_addr(c, xs[k]);
    return different == 0;
}

/* The separating conjunction: every word belongs to one element, since elements tile the heap
 * (cakeml_layout).  Unused words may be anything. */
bool cakeml_word_heap(struct cakeml_oracle *o, const struct cakeml_view *v) {
    uint32_t n;
    if (!v->words)
        return true;
    for (uint32_t at = 0; at < v->limit; at += n) {
        const struct cakeml_element *e = &v->heap->el[at];
        n = cakeml_el_length(e);
        if (e->kind == CAKEML_DATA &&
            !word_el(v, v->w->m + v->w->curr + at, e, v->heap->words + at + 1))
            return fails(o, at, "word_heap: an element is not in memory as it must be");
    }
    return true;
}

/* ---- one move ---------------------------------------------------------------------------------
 */

/* Where an address of the new heap is in memory. */
static uint32_t in_memory(const struct cakeml_view *v, uint32_t to) {
    return v->w->other + to - (v->s->partial ? v->s->gen_start : 0);
}

/* What was copied is at its new place, and a forwarding pointer at the old one. */
static bool copied(struct cakeml_oracle *o, const struct cakeml_view *v) {
    const struct cakeml_words *w = v->w;
    uint32_t to = in_memory(v, v->to);
    const struct cakeml_element *e = &v->s->to->el[v->to];
    if (v->s->heap->el[v->from].kind != CAKEML_FORWARD || v->s->heap->el[v->from].to != v->to ||
        w->m[w->curr + v->from] != cakeml_word(&v->rep, (uint64_t)v->to << 2))
        return fails(o, v->from, "word_el: no ForwardPointer where an element was copied from");
    if ((uint64_t)to + e->length >= (uint64_t)2 * w->limit ||
        !word_el(v, w->m + to, e, v->s->to->words + v->to + 1))
        return fails(o, v->from, "word_heap: a copied element is not in memory as it must be");
    return true;
}

/* The theorem of section 4.3 on word_gen_gc_partial_move, and its like for the full collection. */
bool cakeml_same_move(struct cakeml_oracle *o, const struct cakeml_view *v) {
    const struct cakeml_words *w = v->w;
    const struct cakeml_state *s = v->s;
    if (!s->ok || !w->ok)
        return fails(o, cakeml_address(v->x),
                     s->ok ? "word level: an access outside of memory"
                           : "ok: a move of what is no element, or has no space");
    if (v->word != cakeml_word_addr(&v->rep, v->x))
        return fails(o, cakeml_address(v->x), "the levels move different addresses");
    if (v->word1 != cakeml_word_addr(&v->rep, v->x1))
        return fails(o, cakeml_address(v->x), "w = word_addr x1 does not hold after a move");
    if (w->i != s->a || w->pa != in_memory(v, s->a) || (w->apart && w->ib != s->a + s->n))
        return fails(o, cakeml_address(v->x), "the levels have different space left after a move");
    return v->to == CAKEML_NONE || copied(o, v);
}

bool cakeml_same_result(struct cakeml_oracle *o, const struct cakeml_view *v) {
    const struct cakeml_state *s = v->s;
    if (!s->ok || s->a != v->a) /* s->n: unused_space_inv */
        return fails(o, v->a, "the state after the collection is not ok, or ends elsewhere");
    if (!v->words)
        return true;
    if (!v->w->ok)
        return fails(o, CAKEML_NONE, "word level: an access outside of memory");
    for (uint32_t k = 0; k < v->n_roots; k++)
        if (v->w->roots[k] != cakeml_word_addr(&v->rep, v->roots[k]))
            return fails(o, CAKEML_NONE, "a root of the word level is not word_addr of the root");
    return true;
}

/* ---- the simulation (section 3.4) -------------------------------------------------------------
 */

static cakeml_value to_gen(const struct cakeml_state *s, cakeml_value x) {
    return cakeml_to_gen(x, s->gen_start, s->refs_start);
}

/* to_gen of h1 ++ heap_expand n is that of the full collection. */
static bool same_segment(struct cakeml_oracle *o, const struct cakeml_state *s,
                         const struct cakeml_state *sim) {
    uint32_t g = s->gen_start;
    for (uint32_t a = g; a < s->a; a += cakeml_el_length(&s->to->el[a])) {
        const struct cakeml_element *e = &s->to->el[a];
        if (sim->to->el[a - g].kind != CAKEML_DATA || !cakeml_same_element(e, &sim->to->el[a - g]))
            return fails(o, a, "simulation: gen_gc_full has another element there");
        for (uint32_t k = 1; k <= e->length; k++) {
            cakeml_value x = s->to->words[a + k];
            if (sim->to->words[a - g + k] != (e->raw ? x : to_gen(s, x)))
                return fails(o, a, "simulation: gen_gc_full has another address in an element");
        }
    }
    return true;
}

/* The old heaps: forwarding pointers in the same places. */
static bool same_forwarding(struct cakeml_oracle *o, const struct cakeml_state *s,
                            const struct cakeml_state *sim) {
    uint32_t g = s->gen_start;
    for (uint32_t a = g; a < s->refs_start; a += cakeml_el_length(&s->heap->el[a])) {
        const struct cakeml_element *e = &s->heap->el[a], *f = &sim->heap->el[a - g];
        if (e->kind != f->kind || (e->kind == CAKEML_FORWARD && e->to - g != f->to))
            return fails(o, a, "simulation: gen_gc_full leaves another element behind");
    }
    return true;
}

/* The roots, and the words of the references, which the full collection has as roots. */
static bool same_roots(struct cakeml_oracle *o, const struct cakeml_state *s,
                       const struct cakeml_state *sim) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n_roots; k++)
        if (sim->roots[n++] != to_gen(s, s->roots[k]))
            return fails(o, CAKEML_NONE, "simulation: gen_gc_full has another root");
    for (uint32_t a = s->refs_start; a < s->limit; a += cakeml_el_length(&s->heap->el[a]))
        for (uint32_t k = 1; k <= s->heap->el[a].length && !s->heap->el[a].raw; k++)
            if (sim->roots[n++] != to_gen(s, s->heap->words[a + k]))
                return fails(o, a, "simulation: gen_gc_full has another address in a reference");
    return true;
}

bool cakeml_simulates(struct cakeml_oracle *o, const struct cakeml_view *v) {
    const struct cakeml_state *s = v->s, *sim = v->sim;
    if (sim->ok != s->ok || sim->a != s->a - s->gen_start || sim->n != s->n)
        return fails(o, s->gen_start, "simulation: gen_gc_full ends in another state");
    return same_segment(o, s, sim) && same_forwarding(o, s, sim) && same_roots(o, s, sim);
}
