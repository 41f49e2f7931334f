/* SPDX-License-Identifier: MIT
 *
 * Two semispaces, copying, with hash-consing: a collection looks each block up that nobody may
 * write and that leads to no block, and finds the copy of an equal one (sharing.h).
 *
 * Blocks with an odd tag may be written.  A table has one place for each hash, so that some equal
 * blocks stay two: the promise is that they may become one.
 */
#include "collectors/sharing/sharing.h"

#include "collectors/arena.h"
#include "collectors/faults.h"
#include "collectors/words_copy.h"

#include <stdlib.h>
#include <string.h>

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR sharing
#endif

enum { MOST_WORDS = 1 << 20, PLACES = 256 };

struct gc {
    struct arena space[2];
    unsigned to; /* the space that holds the heap */
    word *free, *limit;
    word copies[PLACES]; /* of this collection, by hash; 0: none yet */
    struct gc_config config;
};

static bool sharing_writable(unsigned tag) {
    return tag % 2 == 1;
}

static void choose(struct gc *g, unsigned to) {
    g->to = to;
    g->free = g->space[to].base;
    g->limit = g->free + g->config.heap_words;
}

/* ---- collection -------------------------------------------------------------------------------
 */

static bool is_left(const struct gc *g, word v) {
    return is_pointer(v) &&
           v - pointer_word(g->space[1 - g->to].base) < g->config.heap_words * sizeof(word);
}
static bool is_copied(const struct gc *g, word header) {
    return header - pointer_word(g->space[g->to].base) < g->config.heap_words * sizeof(word);
}

static bool is_value(const struct gc *g, word v) {
    bool is_leaf = true;
    for (size_t i = first_scanned(v); i < header_wosize(header_of(v)); i++)
        is_leaf &= !is_left(g, word_pointer(v)[i]);
    return is_leaf && (FAULTY(writable_shared) || !sharing_writable(header_tag(header_of(v))));
}

static word *place_of(struct gc *g, word v) {
    word hash = header_of(v);
    size_t n = FAULTY(header_compared) ? 0 : header_wosize(hash);
    for (size_t i = 0; i < n; i++)
        hash = hash * 31 + word_pointer(v)[i];
    return &g->copies[hash % PLACES];
}

static bool are_equal(word v, word w) {
    size_t n = header_wosize(header_of(v));
    return header_of(v) == header_of(w) &&
           memcmp(word_pointer(v), word_pointer(w),
                  (FAULTY(header_compared) ? 0 : n) * sizeof(word)) == 0;
}

static word copy(struct gc *g, word v) {
    word *hp = g->free;
    size_t n = header_wosize(header_of(v));
    words_copy(hp, word_pointer(v) - 1, n + 1);
    g->free += n + 1;
    return pointer_word(hp + 1);
}

/* The copy of the block, which is made now, or that of an equal one. */
static word share(struct gc *g, word v) {
    word *place = is_value(g, v) ? place_of(g, v) : NULL;
    if (place && *place && are_equal(*place, v))
        return *place;
    word to = copy(g, v);
    if (place)
        *place = to;
    return to;
}

static word forward(struct gc *g, word v) {
    if (!is_left(g, v))
        return v;
    word header = header_of(v);
    if (is_copied(g, header))
        return header;
    if (header_tag(header) == TAG_INFIX) {
        word parent = infix_parent(v);
        return forward(g, parent) + (v - parent);
    }
    word to = share(g, v);
    word_pointer(v)[-1] = to;
    return to;
}

static void collect(struct gc *g) {
    struct gc_hooks *hooks = g->config.hooks;
    choose(g, 1 - g->to);
    memset(g->copies, 0, sizeof g->copies);
    hooks->unpoison(g->free, g->config.heap_words);
    word *scan = g->free;
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            g->config.slots[m][s] = forward(g, g->config.slots[m][s]);
    for (; scan < g->free; scan += header_wosize(*scan) + 1) {
        gc_tick(hooks);
        for (size_t i = first_scanned(pointer_word(scan + 1)); i < header_wosize(*scan); i++)
            scan[1 + i] = forward(g, scan[1 + i]);
    }
    hooks->poison(g->free, (size_t)(g->limit - g->free));
    hooks->poison(g->space[1 - g->to].base, g->config.heap_words);
    hooks->collections++;
}

/* ---- the interface ----------------------------------------------------------------------------
 */

static struct gc *sharing_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    bool first = arena_open(&g->space[0], MOST_WORDS);
    if (first && arena_open(&g->space[1], MOST_WORDS))
        return g;
    if (first)
        arena_close(&g->space[0]);
    free(g);
    return NULL;
}

static void sharing_close(struct gc *g) {
    arena_close(&g->space[0]);
    arena_close(&g->space[1]);
    free(g);
}

static void sharing_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    arena_reset(&g->space[0], config->hooks, config->heap_words);
    arena_reset(&g->space[1], config->hooks, config->heap_words);
    choose(g, 0);
}

static word *sharing_image(struct gc *g, size_t *words) {
    g->config.hooks->unpoison(g->free, *words);
    return g->free;
}

static void sharing_adopt(struct gc *g, size_t words) {
    g->free += words;
}

static enum gc_result sharing_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    if (wosize >= (size_t)(g->limit - g->free))
        collect(g);
    if (wosize >= (size_t)(g->limit - g->free))
        return GC_OUT_OF_MEMORY;
    word *hp = g->free;
    g->config.hooks->unpoison(hp, wosize + 1);
    *hp = header_make(wosize, WHITE, tag);
    words_copy(hp + 1, raw, wosize);
    g->free += wosize + 1;
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

static enum gc_result sharing_collect(struct gc *g, enum gc_collection kind) {
    (void)kind; /* one generation, always compact */
    collect(g);
    return GC_OK;
}

static void sharing_walk(struct gc *g, gc_visit *visit, void *context) {
    const word *hp = g->space[g->to].base;
    while (hp < g->free) {
        size_t words = header_wosize(*hp) + 1;
        visit(context,
              words == 1                   ? GC_FRAGMENT
              : header_colour(*hp) == BLUE ? GC_FREE
                                           : GC_LIVE,
              hp, words);
        hp += words;
    }
    if (hp < g->limit)
        visit(context, GC_UNUSED, hp, (size_t)(g->limit - hp));
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "two semispaces, copying; equal blocks that may not be written become one",
    .traits = {.moves = true,
               .infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .poisons = true,
               .ticks = true,
               .shallow = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .shares_values = true,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_heap_words = MOST_WORDS,
               .max_mutators = GC_MUTATORS},
    .open = sharing_open,
    .reset = sharing_reset,
    .close = sharing_close,
    .image = sharing_image,
    .adopt = sharing_adopt,
    .alloc = sharing_alloc,
    .collect = sharing_collect,
    .writable = sharing_writable,
    .walk = sharing_walk,
};
