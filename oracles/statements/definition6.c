/* SPDX-License-Identifier: MIT
 *
 * Definition 6, checked exactly (definition6.h).
 */
#include "oracles/statements/definition6.h"

#include "views/isomorphism.h"

#include <string.h>

/* The most aligned first. */
void definition6_room(struct definition6 *d, void *memory, size_t words) {
    d->most = words;
    d->before = memory;
    d->added = d->before + words;
    d->vertices = (struct definition6_vertex *)(void *)(d->added + words);
    d->seen = (uint32_t *)(void *)(d->vertices + words);
    d->work = d->seen + words;
    d->deleted = (bool *)(void *)(d->work + words);
}

void definition6_begin(struct definition6 *d) {
    d->n_snapshot = d->n_vertices = d->n_writes = 0;
}

static size_t place(const struct graph *g, word block) {
    return (block - pointer_word(g->base)) / sizeof(word) - 1;
}

/* The words that a cycle is about: without the young generation behind them. */
static size_t old_words(const struct graph *g) {
    return g->words - g->nursery_words;
}

static bool in_graph(const struct graph *g, word block) {
    return block - pointer_word(g->base) < old_words(g) * sizeof(word) &&
           block != pointer_word(g->base);
}

word *definition6_add(struct definition6 *d, const struct graph *g, word block, size_t wosize,
                      unsigned tag, bool is_new) {
    size_t at = place(g, block);
    if (!in_graph(g, block) || wosize >= old_words(g) - at || d->n_vertices == d->most)
        return NULL;
    d->vertices[d->n_vertices++] =
        (struct definition6_vertex){(uint32_t)at, (uint32_t)wosize, (uint8_t)tag};
    d->n_snapshot += !is_new;
    memset(d->deleted + at + 1, 0, wosize * sizeof *d->deleted);
    return d->before + at + 1;
}

/* Called before [x.i := y]. */
void definition6_write(struct definition6 *d, const struct graph *g, word block, size_t i,
                       word value) {
    size_t at = place(g, block) + 1 + i;
    if (!in_graph(g, block) || at >= old_words(g))
        return;
    d->n_writes++;
    d->deleted[at] = value != d->before[at]; /* written back: deleted no longer */
    d->added[at] = value;
}

const struct definition6_vertex *definition6_lost(const struct definition6 *d,
                                                  const struct graph *g) {
    for (uint32_t n = 0; n < d->n_vertices; n++) {
        const struct definition6_vertex *v = &d->vertices[n];
        if (!graph_starts(g, v->at + 1) || header_wosize(g->base[v->at]) != v->wosize ||
            header_tag(g->base[v->at]) != v->tag)
            return v;
    }
    return NULL;
}

size_t definition6_changed(const struct definition6 *d, const struct graph *g,
                           const struct definition6_vertex **owner) {
    for (uint32_t n = 0; n < d->n_vertices; n++) {
        const struct definition6_vertex *v = &d->vertices[n];
        *owner = v;
        for (size_t at = v->at + 1; at <= v->at + v->wosize; at++)
            if (isomorphism_comparable(g->base[at], v->tag) !=
                isomorphism_comparable(definition6_expected(d, at), v->tag))
                return at;
    }
    return SIZE_MAX;
}

static void next_round(struct definition6 *d) {
    if (++d->round == 0) { /* once in 2^32 rounds */
        memset(d->seen, 0, d->most * sizeof *d->seen);
        d->round = 1;
    }
}

const word *definition6_extra(struct definition6 *d, const struct graph *g, size_t live) {
    if (live == d->n_vertices)
        return NULL;
    next_round(d);
    for (uint32_t n = 0; n < d->n_vertices; n++)
        d->seen[d->vertices[n].at] = d->round;
    for (size_t at = 0; at + 1 < old_words(g); at++)
        if (graph_starts(g, at + 1) && d->seen[at] != d->round)
            return g->base + at;
    return NULL;
}

/* ---- the weak tricolour invariant --------------------------------------------------------------
 */

static unsigned colour_at(const struct graph *g, size_t at) {
    return header_colour(g->base[at]);
}

/* Grays white blocks of the heap in thought. */
static uint32_t protect(struct definition6 *d, const struct graph *g, word v, uint32_t n) {
    struct graph_ref ref = graph_resolve(g, v);
    if (ref.kind != GRAPH_BLOCK || ref.id >= old_words(g))
        return n;
    uint32_t at = ref.id - 1;
    if (d->seen[at] == d->round || colour_at(g, at) != WHITE)
        return n;
    d->seen[at] = d->round;
    d->work[n] = at;
    return n + 1;
}

static const struct definition6_vertex *first_white(const struct definition6 *d,
                                                    const struct graph *g, uint32_t from) {
    for (uint32_t n = from; n < d->n_snapshot; n++) {
        const struct definition6_vertex *v = &d->vertices[n];
        if (colour_at(g, v->at) == WHITE && d->seen[v->at] != d->round)
            return v;
    }
    return NULL;
}

const struct definition6_vertex *definition6_unprotected(struct definition6 *d,
                                                         const struct graph *g) {
    uint32_t n = 0;
    next_round(d);
    const struct definition6_vertex *white = first_white(d, g, 0);
    if (!white)
        return NULL; /* nothing to protect */
    for (uint32_t i = 0; i < d->n_vertices; i++)
        if (colour_at(g, d->vertices[i].at) == GRAY) {
            d->seen[d->vertices[i].at] = d->round;
            d->work[n++] = d->vertices[i].at;
        }
    while (n > 0) {
        struct graph_block block = graph_block(g, d->work[--n] + 1);
        for (uint32_t f = block.first_scanned; f < block.wosize; f++)
            n = protect(d, g, block.fields[f], n);
    }
    return first_white(d, g, (uint32_t)(white - d->vertices));
}
