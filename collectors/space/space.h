/* SPDX-License-Identifier: MIT
 *
 * The space that mark and sweep work on: one contiguous run of words, its free list, its mark
 * stack.
 *
 * Shared by four collectors (mark_sweep, incremental, generational, compact).  The headers of this
 * folder have the single steps of mark, sweep and allocation; the collector that includes them
 * decides when which step is taken.  Their functions are static, so that each collector, and its
 * variant with defects (collectors/faults.h), is one compilation.
 */
#ifndef ISOHEAP_MARK_SWEEP_SPACE_H
#define ISOHEAP_MARK_SWEEP_SPACE_H

#include "collectors/arena.h"
#include "collectors/faults.h"
#include "collectors/space/mark_stack.h"

#include <stdlib.h>

/* How much mark knows of OCaml's layout: Figures 10, 9 and 8 of the long OCaml paper. */
enum mark_version { MARK_CLOSURES, MARK_NO_SCAN, MARK_BASE, MARK_VERSIONS };

/* A sweep in progress.  A run is a free extent that the next one may be merged with. */
struct sweep {
    word *cursor;     /* header of the next block; all blocks below it are swept */
    word *run;        /* header of the last free extent, NULL if none may grow */
    size_t run_words; /* its words */
    bool dirty;       /* words of the run are not poisoned yet */
    bool linked;      /* it is on the free list (a fragment is not) */
    word *link;       /* holds the first free block that is not swept: field 0 of the last swept
                         one, or first_free */
    /* FAULT_stale_cursor alone: a free block that is not swept, and its words some time ago. */
    const word *remembered;
    size_t remembered_words;
};

struct space {
    struct arena heap;
    struct gc_config config;
    word low, bytes; /* the heap as addresses */
    word *end;
    enum mark_version version;
    bool coalesce;
    void (*sweep_whole)(struct space *); /* NULL: as sweep.h does */

    struct mark_stack stack;
    word *rescan, *rescan_end; /* after an overflow: headers that are still to be looked at */
    struct sweep sweep;

    /* FAULT_history_read, FAULT_history_kept alone: collections, and the last one's entry. */
    struct {
        size_t entries;
        word *last;
    } history;

    /* The free list: blue blocks in address order, linked by field 0, ended by 0.  A block is named
     * by its value (the address of field 0); 0 names the head. */
    word first_free;
    word rover; /* next-fit: the search starts after this one */
};

static inline bool in_heap(const struct space *g, word v) {
    return v - g->low < g->bytes;
}
static inline word next_free(const struct space *g, word v) {
    return v ? *word_pointer(v) : g->first_free;
}

/* ---- variants --------------------------------------------------------------------------------
 */

#define SPACE_VARIANTS_(overflow)                                                                  \
    "closures, coalescing" overflow, "closures, plain sweep" overflow,                             \
        "no-scan, coalescing" overflow, "no-scan, plain sweep" overflow,                           \
        "base, coalescing" overflow, "base, plain sweep" overflow
#define SPACE_VARIANTS                                                                             \
    SPACE_VARIANTS_(""), SPACE_VARIANTS_(", re-scan of a range"),                                  \
        SPACE_VARIANTS_(", chunked mark stack"), NULL
enum {
    SPACE_SWEEPS = 2
}; /* variant = (overflow * MARK_VERSIONS + version) * SPACE_SWEEPS + plain */

static inline enum mark_version variant_version(const struct gc_config *config) {
    return (enum mark_version)(config->variant / SPACE_SWEEPS % MARK_VERSIONS);
}
static inline enum overflow variant_overflow(const struct gc_config *config) {
    return (enum overflow)(config->variant / SPACE_SWEEPS / MARK_VERSIONS % OVERFLOWS);
}
static inline bool variant_plain(const struct gc_config *config) {
    return config->variant % SPACE_SWEEPS;
}

static inline void space_promise(const struct gc_config *config, struct collector_traits *traits) {
    if (variant_version(config) != MARK_CLOSURES)
        traits->infix = traits->start_env = false;
    if (variant_version(config) == MARK_BASE)
        traits->raw = false;
    if (variant_plain(config)) /* without coalescing the heap wears out by design */
        traits->renews = traits->merged_free_list = traits->steady = false;
    traits->rescans = traits->rescans && variant_overflow(config) != OVERFLOW_CHUNKS;
}

/* ---- life ------------------------------------------------------------------------------------
 */

/* Words of the largest heap with a nursery beside it, and of its mark stack: address space alone.
 */
enum { SPACE_CAPACITY = (1 << 27) + (1 << 14) };

static inline bool space_open(struct space *g) {
    if (!arena_open(&g->heap, SPACE_CAPACITY))
        return false;
    if (arena_open(&g->stack.arena, SPACE_CAPACITY))
        return true;
    arena_close(&g->heap);
    return false;
}

static inline void forget_history(struct space *g) {
    while (g->history.last) {
        word *before = *(word **)(void *)g->history.last;
        free(g->history.last);
        g->history.last = before;
    }
    g->history.entries = 0;
}

static inline void space_close(struct space *g) {
    forget_history(g);
    arena_close(&g->heap);
    arena_close(&g->stack.arena);
}

/* beside: words in the same arena behind the heap, dead until somebody hands them out. */
static inline void space_reset(struct space *g, const struct gc_config *config, size_t beside) {
    if (FAULTY(history_read) || FAULTY(history_kept))
        forget_history(g);
    g->config = *config;
    g->version = variant_version(config);
    g->coalesce = !variant_plain(config);
    g->sweep_whole = NULL;
    g->low = pointer_word(g->heap.base);
    g->bytes = config->heap_words * sizeof(word);
    g->end = g->heap.base + config->heap_words;
    g->rescan = g->rescan_end = g->end;
    arena_reset(&g->heap, config->hooks, config->heap_words + beside);
    stack_reset(&g->stack, variant_overflow(config), config);
    /* A fresh heap is one free block. */
    config->hooks->unpoison(g->heap.base, 2);
    g->heap.base[0] = header_make(config->heap_words - 1, BLUE, 0);
    g->heap.base[1] = 0;
    g->first_free = FAULTY(reset_unlisted) ? 0 : pointer_word(g->heap.base + 1);
    g->rover = 0;
    if (FAULTY(reset_unpoisoned)) {
        config->hooks->unpoison(g->end - 1, 1);
        g->end[-1] = WORD_UNIT;
    }
    if (FAULTY(reset_keeps)) {
        g->heap.base[0] = header_make(config->heap_words - 3, BLUE, 0);
        config->hooks->unpoison(g->end - 2, 2);
        g->end[-2] = header_make(1, WHITE, 0);
        g->end[-1] = WORD_UNIT;
    }
}

static inline word *space_image(struct space *g, size_t *words) {
    *words = g->config.heap_words; /* the heap is densely packed (long paper, section 5.1) */
    g->config.hooks->unpoison(g->heap.base, *words);
    return g->heap.base;
}

/* Builds the free list from the blue blocks of the image. */
static inline void space_adopt(struct space *g, size_t words) {
    word *link = &g->first_free;
    for (word *hp = g->heap.base; hp < g->heap.base + words; hp += header_wosize(*hp) + 1) {
        size_t wosize = header_wosize(*hp);
        if (header_colour(*hp) != BLUE || wosize == 0)
            continue;
        *link = pointer_word(hp + 1);
        link = hp + 1;
        if (wosize > 1)
            g->config.hooks->poison(hp + 2, wosize - 1);
    }
    *link = 0;
    g->rover = 0;
}

/* ---- inspection ------------------------------------------------------------------------------
 */

static inline void space_walk_blocks(struct space *g, gc_visit *visit, void *context) {
    size_t words;
    for (word *hp = g->heap.base; hp < g->end; hp += words) {
        words = header_wosize(*hp) + 1;
        visit(context,
              words == 1                   ? (FAULTY(fragment_shown) ? GC_LIVE : GC_FRAGMENT)
              : header_colour(*hp) == BLUE ? GC_FREE
                                           : GC_LIVE,
              hp, words);
        if (words > (size_t)(g->end - hp))
            break; /* the oracle has seen that it does not tile */
    }
}

static inline void space_walk_list(struct space *g, gc_visit *visit, void *context) {
    size_t entries = 0; /* a cyclic list must not make the walk endless */
    for (word v = g->first_free; v && entries <= g->config.heap_words; v = next_free(g, v)) {
        visit(context, GC_FREE_LIST_ENTRY, word_pointer(v - sizeof(word)), 0);
        if (!in_heap(g, v) || v % sizeof(word))
            break;
        entries++;
    }
}

static inline void space_walk(struct space *g, gc_visit *visit, void *context) {
    space_walk_blocks(g, visit, context);
    space_walk_list(g, visit, context);
}

/* NULL, or what is wrong between cycles; while one is under way the stack may be in use. */
static inline const char *space_check(const struct space *g, bool marking) {
    if (!marking && !stack_is_empty(&g->stack))
        return "the mark stack is not empty after a cycle";
    if (FAULTY(stale_next_fit) || FAULTY(rover_kept)) /* the published glue has no such check */
        return NULL;
    word v = g->first_free;
    size_t entries = 0;
    while (v && v != g->rover && in_heap(g, v) && entries++ < g->config.heap_words)
        v = next_free(g, v);
    if (g->rover && v != g->rover)
        return "the next-fit position is no member of the free list";
    return NULL;
}

#endif
