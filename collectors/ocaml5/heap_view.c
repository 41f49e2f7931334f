/* SPDX-License-Identifier: MIT
 *
 * The pools and large blocks of the OCaml 5 runtime, whose lists are known to its own file alone:
 * this one contains it.
 */
#include "shared_heap.c"

#include "collectors/ocaml5/internal.h"

#ifndef POOL_FIRST_BLOCK /* 5.1 */
#define POOL_FIRST_BLOCK(p, size) ((char *)(p) + POOL_HEADER_SZ)
#define POOL_END(p)               ((value *)(p) + POOL_WSIZE)
#endif

static void visit_pools(pool *p, void visit(const struct heap_pool *)) {
    for (; p; p = p->next)
        visit(&(struct heap_pool){.start = (word *)(void *)p,
                                  .first = (word *)(void *)POOL_FIRST_BLOCK(p, p->sz),
                                  .end = (word *)(void *)POOL_END(p),
                                  .each = wsize_sizeclass[p->sz],
                                  .free = (const word *)p->next_obj});
}

static void visit_pools_of(const struct caml_heap_state *s, void visit(const struct heap_pool *)) {
    for (unsigned i = 1; i < NUM_SIZECLASSES; i++) {
        visit_pools(s->avail_pools[i], visit);
        visit_pools(s->full_pools[i], visit);
        visit_pools(s->unswept_avail_pools[i], visit);
        visit_pools(s->unswept_full_pools[i], visit);
    }
}

void heap_pools(void visit(const struct heap_pool *)) {
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++)
        if (runtime_domain(m))
            visit_pools_of(runtime_domain(m)->shared_heap, visit);
    for (unsigned i = 1; i < NUM_SIZECLASSES; i++) {
        visit_pools(pool_freelist.global_avail_pools[i], visit);
        visit_pools(pool_freelist.global_full_pools[i], visit);
    }
}

static void visit_large(large_alloc *a, void visit(word *header)) {
    for (; a; a = a->next)
        visit((word *)(void *)((char *)a + LARGE_ALLOC_HEADER_SZ));
}

void heap_large(void visit(word *header)) {
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++) {
        if (!runtime_domain(m))
            continue;
        visit_large(runtime_domain(m)->shared_heap->swept_large, visit);
        visit_large(runtime_domain(m)->shared_heap->unswept_large, visit);
    }
    visit_large(pool_freelist.global_large, visit);
}

static void count(struct heap_counted *c, const struct heap_stats *s) {
    c->pool_words += (size_t)s->pool_words;
    c->pool_live_words += (size_t)s->pool_live_words;
    c->pool_live_blocks += (size_t)s->pool_live_blocks;
    c->pool_frag_words += (size_t)s->pool_frag_words;
    c->large_words +=
        (size_t)s->large_words - (size_t)s->large_blocks * (LARGE_ALLOC_HEADER_SZ / sizeof(word));
    c->large_blocks += (size_t)s->large_blocks;
}

void heap_counts(struct heap_counted *c) {
    *c = (struct heap_counted){0};
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++)
        if (runtime_domain(m))
            count(c, &runtime_domain(m)->shared_heap->stats);
    count(c, &pool_freelist.stats);
}
