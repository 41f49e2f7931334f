/* SPDX-License-Identifier: MIT
 *
 * Quartz behind isoheap's interface: quartz.rs has the collector.  docs/plug-in.md says what is to
 * be known of parts in Rust.
 */
#include "collectors/arena.h"
#include "collectors/collector.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 1 << 16 };

size_t quartz_collect(word *from, word *to, size_t words, word *roots, size_t n_roots,
                      void (*tick)(void *), void *context);

struct gc {
    struct arena halves[2];
    unsigned half; /* that has the blocks */
    size_t used;
    struct gc_config config;
};

static struct gc *quartz_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (g && arena_open(&g->halves[0], CAPACITY) && arena_open(&g->halves[1], CAPACITY))
        return g;
    free(g);
    return NULL;
}

static void quartz_close(struct gc *g) {
    arena_close(&g->halves[0]);
    arena_close(&g->halves[1]);
    free(g);
}

static void quartz_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    g->half = 0;
    g->used = 0;
    arena_reset(&g->halves[0], config->hooks, config->heap_words);
    arena_reset(&g->halves[1], config->hooks, config->heap_words);
}

static void tick(void *hooks) {
    gc_tick(hooks);
}

static enum gc_result quartz_collect_all(struct gc *g, enum gc_collection kind) {
    struct gc_hooks *hooks = g->config.hooks;
    word *from = g->halves[g->half].base, *to = g->halves[!g->half].base;
    size_t words = g->config.heap_words;
    (void)kind;
    hooks->unpoison(to, words);
    g->used = quartz_collect(from, to, words, &g->config.slots[0][0],
                             (size_t)g->config.mutators * GC_SLOTS, tick, hooks);
    hooks->poison(from, words);
    hooks->poison(to + g->used, words - g->used);
    g->half = !g->half;
    hooks->collections++;
    return GC_OK;
}

static enum gc_result quartz_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    if (wosize >= g->config.heap_words - g->used)
        quartz_collect_all(g, GC_FULL);
    if (wosize >= g->config.heap_words - g->used)
        return GC_OUT_OF_MEMORY;
    word *hp = g->halves[g->half].base + g->used;
    g->config.hooks->unpoison(hp, wosize + 1);
    g->used += wosize + 1;
    hp[0] = header_make(wosize, WHITE, tag);
    memcpy(hp + 1, raw, wosize * sizeof(word));
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

static void quartz_walk(struct gc *g, gc_visit *visit, void *context) {
    word *hp = g->halves[g->half].base, *end = hp + g->config.heap_words;
    while (hp < g->halves[g->half].base + g->used) {
        visit(context, GC_LIVE, hp, header_wosize(*hp) + 1);
        hp += header_wosize(*hp) + 1;
    }
    if (hp < end)
        visit(context, GC_UNUSED, hp, (size_t)(end - hp));
}

const struct collector quartz = {
    .name = "quartz",
    .summary = "copying, in Rust; an example of docs/plug-in.md",
    .traits = {.moves = true,
               .infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .poisons = true,
               .ticks = true,
               .waits = true,
               .shallow = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_EXACTLY,
               .max_heap_words = CAPACITY,
               .max_mutators = GC_MUTATORS},
    .open = quartz_open,
    .reset = quartz_reset,
    .close = quartz_close,
    .alloc = quartz_alloc,
    .collect = quartz_collect_all,
    .walk = quartz_walk,
};
