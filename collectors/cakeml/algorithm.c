/* SPDX-License-Identifier: MIT
 *
 * CakeML's collectors on lists of heap elements: gen_gc_partial (Figure 1), gen_gc_full (Figure 2)
 * and the simple collection, which is the full one that knows no references.
 *
 * A collection is a sequence of moves; algorithm_next finds the next one, so that another level can
 * go along with it step by step.
 */
#include "collectors/cakeml/internal.h"

#include <string.h>

void heap_clear(struct cakeml_heap *h, uint32_t from, uint32_t to) {
    memset(h->el + from, 0, (to - from) * sizeof *h->el);
}

void heap_set_unused(struct cakeml_heap *h, uint32_t a, uint32_t words) {
    if (words > 0)
        h->el[a] = (struct cakeml_element){.kind = CAKEML_UNUSED, .length = (uint16_t)(words - 1)};
}

void algorithm_begin(struct cakeml_state *s) {
    uint32_t start = s->partial ? s->gen_start : 0, end = s->partial ? s->refs_start : s->limit;
    s->h2 = s->a = start;
    s->n = end - start;
    s->r2_end = end;
    s->ok = true;
    s->work = CAKEML_MOVE_ROOTS;
    s->at = s->k = s->end = 0;
}

/* ---- the order of the work --------------------------------------------------------------------
 */

static cakeml_value *next_root(struct cakeml_state *s) {
    while (s->k < s->n_roots)
        if (cakeml_is_pointer(s->roots[s->k++]))
            return &s->roots[s->k - 1];
    s->k = 0;
    return NULL;
}

/* The next pointer of the elements of h from *at on; NULL at `end`. */
static cakeml_value *next_in(struct cakeml_state *s, struct cakeml_heap *h, uint32_t *at,
                             uint32_t end) {
    while (*at < end) {
        const struct cakeml_element *e = &h->el[*at];
        cakeml_value *list = h->words + *at + 1;
        while (!e->raw && (s->k = cakeml_next_odd(list, s->k, e->length)) < e->length)
            if (cakeml_is_pointer(list[s->k++]))
                return list + s->k - 1;
        *at += cakeml_el_length(e);
        s->k = 0;
    }
    return NULL;
}

/* After the roots: in a partial collection the references are roots too. */
static void after_roots(struct cakeml_state *s) {
    bool refs = s->partial && !FAULTY(ck_refs_no_roots);
    s->work = refs ? CAKEML_MOVE_REFS : CAKEML_MOVE_DATA;
    s->at = s->refs_start;
}

/* r2 becomes r4, and is empty; false: it was empty already. */
static bool next_r4(struct cakeml_state *s) {
    if (s->r2_end == s->a + s->n || (FAULTY(ck_one_batch) && s->end > 0))
        return false;
    s->at = s->a + s->n;
    s->end = s->r2_end;
    s->r2_end = s->at;
    s->work = CAKEML_MOVE_R4;
    return true;
}

cakeml_value *algorithm_next(struct cakeml_state *s) {
    for (;;) {
        cakeml_value *v = NULL;
        switch (s->work) {
        case CAKEML_MOVE_ROOTS:
            if ((v = next_root(s)))
                return v;
            after_roots(s);
            break;
        case CAKEML_MOVE_REFS:
            if ((v = next_in(s, s->heap, &s->at, s->limit)))
                return v;
            s->work = CAKEML_MOVE_DATA;
            break;
        case CAKEML_MOVE_DATA:
            if ((v = next_in(s, s->to, &s->h2, s->a)))
                return v;
            if (!s->apart || !next_r4(s))
                return NULL;
            break;
        case CAKEML_MOVE_R4:
            if ((v = next_in(s, s->to, &s->at, s->end)))
                return v;
            s->work = CAKEML_MOVE_DATA;
            break;
        }
    }
}

/* ---- move -------------------------------------------------------------------------------------
 */

/* heap_lookup; CAKEML_NOTHING is None. */
static struct cakeml_element *lookup(const struct cakeml_state *s, uint32_t a) {
    static struct cakeml_element none;
    return a < s->limit ? &s->heap->el[a] : &none;
}

/* Copies the element to address `to` of the new heap, and leaves a forwarding pointer. */
static void copy(struct cakeml_state *s, uint32_t from, uint32_t to) {
    struct cakeml_element *e = &s->heap->el[from];
    s->to->el[to] = *e;
    memcpy(&s->to->words[to + 1], &s->heap->words[from + 1], e->length * sizeof(cakeml_value));
    e->kind = CAKEML_FORWARD;
    e->to = (uint16_t)to;
    if (s->f)
        s->f[from] = (uint16_t)(to + 1);
}

/* The address in the new heap of the element at ptr, which is copied: Figures 1 and 2. */
static uint32_t place(struct cakeml_state *s, const struct cakeml_element *e) {
    uint32_t words = cakeml_el_length(e), to = s->a;
    s->ok &= !(s->partial && e->ref);
    s->n -= words;
    if (s->apart && e->ref)
        to = s->a + s->n;
    else
        s->a += words;
    return to;
}

cakeml_value algorithm_move(struct cakeml_state *s, cakeml_value v) {
    uint32_t ptr = cakeml_address(v), to;
    if (s->partial && (ptr < s->gen_start || s->refs_start <= ptr)) {
        s->ok &= ptr < s->limit;
        return v;
    }
    struct cakeml_element *e = lookup(s, ptr);
    if (e->kind == CAKEML_FORWARD)
        return cakeml_pointer(e->to, cakeml_information(v));
    if (e->kind != CAKEML_DATA || cakeml_el_length(e) > s->n) {
        s->ok = false; /* and the new heap stays as it is */
        return v;
    }
    to = place(s, e);
    copy(s, ptr, to);
    return cakeml_pointer(to, cakeml_information(v));
}

/* ---- the heap afterwards ----------------------------------------------------------------------
 */

/* take gen_start heap ++ h1 ++ heap_expand n ++ references */
static struct cakeml_heap *finish_partial(struct cakeml_state *s) {
    uint32_t g = s->gen_start, words = s->a - g;
    heap_clear(s->heap, g, s->refs_start);
    memcpy(s->heap->el + g, s->to->el + g, words * sizeof *s->heap->el);
    memcpy(s->heap->words + g, s->to->words + g, words * sizeof *s->heap->words);
    heap_clear(s->to, g, s->a);
    heap_set_unused(s->heap, s->a, s->n);
    return s->heap;
}

/* h1 ++ heap_expand n ++ r1 */
static struct cakeml_heap *finish_full(struct cakeml_state *s) {
    heap_clear(s->heap, 0, s->unused + 1);
    heap_clear(s->heap, s->refs_start, s->limit);
    heap_set_unused(s->to, s->a, s->n);
    return s->to;
}

struct cakeml_heap *algorithm_finish(struct cakeml_state *s) {
    return s->partial ? finish_partial(s) : finish_full(s);
}

/* ---- to_gen (section 3.4) ---------------------------------------------------------------------
 */

/* The roots, and behind them the words of the references: the pretend-heap has none. */
static uint32_t to_gen_roots(struct gc *g, const struct cakeml_state *s) {
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->n_roots; k++)
        g->sim_roots[n++] = cakeml_to_gen(s->roots[k], s->gen_start, s->refs_start);
    for (uint32_t a = s->refs_start; a < s->limit; a += cakeml_el_length(&s->heap->el[a]))
        for (uint32_t k = 0; k < s->heap->el[a].length && !s->heap->el[a].raw; k++)
            g->sim_roots[n++] =
                cakeml_to_gen(s->heap->words[a + 1 + k], s->gen_start, s->refs_start);
    return n;
}

void simulation_begin(struct gc *g) {
    const struct cakeml_state *s = &g->state;
    struct cakeml_heap *h = &g->sim_heaps[0];
    uint32_t limit = s->refs_start - s->gen_start;
    heap_clear(h, 0, s->unused - s->gen_start + 1);
    for (uint32_t a = 0; a < limit; a += cakeml_el_length(&h->el[a])) {
        const struct cakeml_element *e = &h->el[a];
        h->el[a] = s->heap->el[s->gen_start + a];
        for (uint32_t k = 1; k <= e->length && e->kind == CAKEML_DATA; k++) {
            cakeml_value v = s->heap->words[s->gen_start + a + k];
            h->words[a + k] = e->raw ? v : cakeml_to_gen(v, s->gen_start, s->refs_start);
        }
    }
    g->sim = (struct cakeml_state){.heap = h,
                                   .to = &g->sim_heaps[1],
                                   .apart = true,
                                   .limit = limit,
                                   .roots = g->sim_roots,
                                   .n_roots = to_gen_roots(g, s)};
    algorithm_begin(&g->sim);
}
