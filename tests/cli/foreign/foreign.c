/* SPDX-License-Identifier: MIT
 *
 * A collector that does not know of isoheap, for foreign_test.sh: it has a variable that no reset
 * knows, and a loop that calls no gc_tick.  The adapter below it uses the helpers for both, or,
 * with ISOHEAP_WITHOUT_HELPERS, neither.
 *
 * It allocates from one end of the heap to the other and never frees.
 */
#include "collectors/arena.h"
#include "collectors/edges.h"
#include "collectors/sections.h"

#include <stdlib.h>
#include <string.h>

/* ---- the foreign part -------------------------------------------------------------------------
 */

static unsigned collections = 100; /* ever */
static word *last_block;           /* a pointer in .bss */

/* Spoils the block that was made last, at the third collection since the process began. */
static void foreign_collect(void) {
    if (++collections == 103 && last_block)
        last_block[0] = immediate(99);
}

/* Endless if the block is of that tag. */
static void foreign_made(word *block, unsigned tag) {
    last_block = block;
    while (tag == 77)
        ;
}

/* ---- the adapter ------------------------------------------------------------------------------
 */

enum { CAPACITY = 1 << 16 };

struct gc {
    struct arena arena;
    struct gc_config config;
    struct sections sections;
    size_t used;
};

static struct gc *foreign_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (g && arena_open(&g->arena, CAPACITY)) {
#ifndef ISOHEAP_WITHOUT_HELPERS
        if (!sections_of_subject(&g->sections))
            abort();
#endif
        return g;
    }
    free(g);
    return NULL;
}

static void foreign_close(struct gc *g) {
#ifndef ISOHEAP_WITHOUT_HELPERS
    edges_count(NULL, 0);
    sections_close(&g->sections);
#endif
    arena_close(&g->arena);
    free(g);
}

static void foreign_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    g->used = 0;
    arena_reset(&g->arena, config->hooks, config->heap_words);
#ifndef ISOHEAP_WITHOUT_HELPERS
    sections_put_back(&g->sections);
    edges_count(config->hooks, EDGES_A_STEP);
#endif
}

static enum gc_result foreign_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    if (wosize >= g->config.heap_words - g->used)
        return GC_OUT_OF_MEMORY;
    word *hp = g->arena.base + g->used;
    g->config.hooks->unpoison(hp, wosize + 1);
    g->used += wosize + 1;
    hp[0] = header_make(wosize, WHITE, tag);
    memcpy(hp + 1, raw, wosize * sizeof(word));
    g->config.slots[m][dst] = pointer_word(hp + 1);
    foreign_made(hp + 1, tag);
    return GC_OK;
}

static enum gc_result foreign_collect_all(struct gc *g, enum gc_collection kind) {
    (void)kind;
    foreign_collect();
    g->config.hooks->collections++;
    return GC_OK;
}

static void foreign_walk(struct gc *g, gc_visit *visit, void *context) {
    word *hp = g->arena.base, *end = hp + g->config.heap_words;
    while (hp < g->arena.base + g->used) {
        visit(context, GC_LIVE, hp, header_wosize(*hp) + 1);
        hp += header_wosize(*hp) + 1;
    }
    if (hp < end)
        visit(context, GC_UNUSED, hp, (size_t)(end - hp));
}

const struct collector foreign = {
    .name = "foreign",
    .summary = "for foreign_test.sh",
    .traits = {.raw = true, .max_heap_words = CAPACITY, .max_mutators = 1, .single = true},
    .open = foreign_open,
    .close = foreign_close,
    .reset = foreign_reset,
    .alloc = foreign_alloc,
    .collect = foreign_collect_all,
    .walk = foreign_walk};
