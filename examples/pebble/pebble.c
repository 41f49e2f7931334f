/* SPDX-License-Identifier: MIT
 *
 * Pebble: a mark-and-sweep collector in the fewest lines, as an example of a plug-in.
 * docs/plug-in.md goes through this file step by step.
 *
 * It needs the installed package alone.  The heap is one run of blocks in address order, used ones
 * white and free ones blue; there is no free list and no mark stack.  An allocation takes the first
 * blue block that is large enough; marking passes over the heap until nothing is gray.
 */
#include "collectors/arena.h"
#include "collectors/collector.h"

#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 1 << 16 }; /* words of the largest heap */

/* ---- 1. life --------------------------------------------------------------------------------- */

struct gc {
    struct arena arena;
    struct gc_config config;
};

static struct gc *pebble_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (g && arena_open(&g->arena, CAPACITY))
        return g;
    free(g);
    return NULL;
}

static void pebble_close(struct gc *g) {
    arena_close(&g->arena);
    free(g);
}

static word *heap_end(const struct gc *g) {
    return g->arena.base + g->config.heap_words;
}

/* Writes a free block of so many words in all; one word alone is a fragment, which no list can
 * hold. Its fields are dead memory: nobody may touch them. */
static void make_free(struct gc *g, word *hp, size_t words) {
    g->config.hooks->unpoison(hp, 1);
    *hp = header_make(words - 1, words == 1 ? WHITE : BLUE, 0);
    g->config.hooks->poison(hp + 1, words - 1);
}

static void pebble_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    arena_reset(&g->arena, config->hooks, config->heap_words);
    make_free(g, g->arena.base, config->heap_words);
}

/* ---- 3. collection --------------------------------------------------------------------------- */

/* Shades the block that v points at, if there is one in this heap.  True if that was news. */
static bool shade(struct gc *g, word v) {
    word heap = pointer_word(g->arena.base), bytes = g->config.heap_words * sizeof(word);
    if (is_immediate(v) || v - heap >= bytes)
        return false; /* no pointer, or a static block, or a word that points nowhere */
    if (header_tag(header_of(v)) == TAG_INFIX)
        v = infix_parent(v); /* an infix pointer keeps its closure */
    word *hp = word_pointer(v) - 1;
    if (header_colour(*hp) != WHITE)
        return false;
    *hp = header_recolour(*hp, GRAY);
    return true;
}

static void shade_roots(struct gc *g) {
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            shade(g, g->config.slots[m][s]);
}

/* Blackens a gray block and shades what it points at.  True if that made another one gray. */
static bool scan(struct gc *g, word *hp) {
    bool news = false;
    word v = pointer_word(hp + 1);
    *hp = header_recolour(*hp, BLACK);
    for (size_t i = first_scanned(v); i < header_wosize(*hp); i++)
        news |= shade(g, hp[i + 1]);
    return news;
}

static void mark(struct gc *g) {
    for (bool again = true; again;) {
        again = false;
        for (word *hp = g->arena.base; hp < heap_end(g); hp += header_wosize(*hp) + 1) {
            gc_tick(g->config.hooks);
            if (header_colour(*hp) == GRAY)
                again |= scan(g, hp);
        }
    }
}

/* Black blocks become white; runs of everything else become one free block each. */
static void sweep(struct gc *g) {
    for (word *hp = g->arena.base, *end = heap_end(g); hp < end;) {
        word *next = hp;
        while (next < end && header_colour(*next) != BLACK) {
            gc_tick(g->config.hooks);
            next += header_wosize(*next) + 1;
        }
        if (next > hp)
            make_free(g, hp, (size_t)(next - hp));
        if (next < end) {
            *next = header_recolour(*next, WHITE);
            next += header_wosize(*next) + 1;
        }
        hp = next;
    }
}

/* Each step may be looked at where it has ended. */
static enum gc_result pebble_collect(struct gc *g, enum gc_collection kind) {
    struct gc_hooks *hooks = g->config.hooks;
    (void)kind; /* one generation: every collection is a full one */
    shade_roots(g);
    gc_phase_ended(hooks, GC_DARKENED);
    mark(g);
    gc_phase_ended(hooks, GC_MARKED_ALL);
    sweep(g);
    gc_phase_ended(hooks, GC_SWEPT_ALL);
    hooks->collections++;
    return GC_OK;
}

/* ---- 2. allocation --------------------------------------------------------------------------- */

static word *find_free(struct gc *g, size_t wosize) {
    for (word *hp = g->arena.base; hp < heap_end(g); hp += header_wosize(*hp) + 1) {
        gc_tick(g->config.hooks);
        if (header_colour(*hp) == BLUE && header_wosize(*hp) >= wosize)
            return hp;
    }
    return NULL;
}

static enum gc_result pebble_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    word *hp = find_free(g, wosize);
    if (!hp) {
        pebble_collect(g, GC_FULL);
        hp = find_free(g, wosize);
    }
    if (!hp)
        return GC_OUT_OF_MEMORY;
    size_t rest = header_wosize(*hp) - wosize;
    if (rest > 0)
        make_free(g, hp + 1 + wosize, rest);
    g->config.hooks->unpoison(hp, wosize + 1);
    *hp = header_make(wosize, WHITE, tag);
    memcpy(hp + 1, raw, wosize * sizeof(word));
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

/* ---- 5. inspection --------------------------------------------------------------------------- */

static void pebble_walk(struct gc *g, gc_visit *visit, void *context) {
    for (word *hp = g->arena.base; hp < heap_end(g); hp += header_wosize(*hp) + 1) {
        size_t words = header_wosize(*hp) + 1;
        enum gc_extent kind = words == 1                   ? GC_FRAGMENT
                              : header_colour(*hp) == BLUE ? GC_FREE
                                                           : GC_LIVE;
        visit(context, kind, hp, words);
    }
}

/* There is no mark stack: gray blocks wait anywhere in the heap for a pass that comes by. */
static void pebble_mark_stack(struct gc *g, gc_visit_gray *visit, void *context) {
    visit(context, g->arena.base, heap_end(g));
}

/* ---- 6. the initial heap --------------------------------------------------------------------- */

static word *pebble_image(struct gc *g, size_t *words) {
    *words = g->config.heap_words; /* all of it: what the program does not use becomes free */
    g->config.hooks->unpoison(g->arena.base, *words);
    return g->arena.base;
}

static void pebble_adopt(struct gc *g, size_t words) {
    (void)words;
    for (word *hp = g->arena.base; hp < heap_end(g); hp += header_wosize(*hp) + 1)
        if (header_colour(*hp) == BLUE)
            g->config.hooks->poison(hp + 1, header_wosize(*hp));
}

/* ---- 7. promises ----------------------------------------------------------------------------- */

const struct collector pebble = {
    .name = "pebble",
    .summary = "mark and sweep without a mark stack; the example of docs/plug-in.md",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .poisons = true,
               .ticks = true,
               .waits = true,
               .steady = true, /* but not linear: a pass over the heap for each block of a list */
               .tells_phases = true,
               .shallow = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_heap_words = CAPACITY,
               .max_mutators = GC_MUTATORS},
    .open = pebble_open,
    .reset = pebble_reset,
    .close = pebble_close,
    .image = pebble_image,
    .adopt = pebble_adopt,
    .alloc = pebble_alloc,
    .collect = pebble_collect,
    .walk = pebble_walk,
    .mark_stack = pebble_mark_stack,
};
