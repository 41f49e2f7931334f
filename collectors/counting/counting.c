/* SPDX-License-Identifier: MIT
 *
 * Deferred reference counting (counting.h): the pointers of fields are counted, those of slots are
 * looked for when a collection is asked for.  A collection frees each block that has no count and
 * is in no slot, counts down what it led to, and so on.
 */
#include "collectors/counting/counting.h"

#include "collectors/arena.h"
#include "collectors/faults.h"
#include "collectors/words_copy.h"

#include <stdlib.h>
#include <string.h>

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR counting
#endif

enum { MOST_WORDS = 1 << 16 };

struct gc {
    struct arena arena;
    struct gc_config config;
    word *end;
    uint32_t counts[MOST_WORDS]; /* of the block whose header is that word */
    bool in_slot[MOST_WORDS];
};

/* ---- blocks -----------------------------------------------------------------------------------
 */

static size_t index_of(const struct gc *g, word v) {
    return (size_t)(word_pointer(v) - 1 - g->arena.base);
}
static bool is_block(const struct gc *g, word v) {
    return is_pointer(v) && v > pointer_word(g->arena.base) && v < pointer_word(g->end);
}
static bool is_free(word header) {
    return header_colour(header) == BLUE || header_wosize(header) == 0;
}
static size_t words_of(word header) {
    return header_wosize(header) + 1;
}

static void count(struct gc *g, word v, int by) {
    if (is_block(g, v))
        g->counts[index_of(g, v)] += (uint32_t)by;
}

static void count_fields(struct gc *g, const word *hp, size_t n, int by) {
    bool scanned = header_tag(*hp) < (FAULTY(raw_counted) ? TAG_STRING + 1 : TAG_NO_SCAN);
    for (size_t i = 1; scanned && i <= n; i++)
        count(g, hp[i], by);
}

/* So many free words: one block, or a fragment. */
static void make_free(word *hp, size_t words) {
    if (words > 0)
        *hp = header_make(words - 1, words == 1 ? WHITE : BLUE, 0);
}

/* ---- collection -------------------------------------------------------------------------------
 */

static void look_at_slots(struct gc *g) {
    memset(g->in_slot, 0, (size_t)(g->end - g->arena.base));
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (is_block(g, g->config.slots[m][s]))
                g->in_slot[index_of(g, g->config.slots[m][s])] = true;
}

static bool free_uncounted(struct gc *g) {
    bool freed = false;
    for (word *hp = g->arena.base; hp < g->end; hp += words_of(*hp)) {
        size_t at = (size_t)(hp - g->arena.base), n = header_wosize(*hp);
        gc_tick(g->config.hooks);
        if (is_free(*hp) || g->counts[at] || g->in_slot[at])
            continue;
        count_fields(g, hp, FAULTY(count_kept) && n >= 3 ? n - 1 : n, -1);
        *hp = header_make(n, BLUE, 0);
        freed = true;
    }
    return freed;
}

static void merge(struct gc *g) {
    for (word *hp = g->arena.base; hp < g->end; hp += words_of(*hp)) {
        word *next = hp;
        while (next < g->end && is_free(*next) && !(FAULTY(neighbours_left) && next > hp + 1))
            next += words_of(*next);
        make_free(hp, (size_t)(next - hp));
    }
}

static enum gc_result counting_collect(struct gc *g, enum gc_collection kind) {
    (void)kind;
    look_at_slots(g);
    while (free_uncounted(g))
        ;
    merge(g);
    g->config.hooks->collections++;
    return GC_OK;
}

/* ---- mutator ----------------------------------------------------------------------------------
 */

static word *first_fit(struct gc *g, size_t wosize) {
    for (word *hp = g->arena.base; hp < g->end; hp += words_of(*hp)) {
        gc_tick(g->config.hooks);
        if (header_colour(*hp) == BLUE && header_wosize(*hp) >= wosize)
            return hp;
    }
    return NULL;
}

/* Takes so many words off the high end of a free block, which keeps `rest`: no fragment is ever the
 * last word of the heap.  Returns the new header. */
static word *cut(word *hp, size_t rest, size_t words, unsigned tag) {
    if (FAULTY(rest_behind)) {
        make_free(hp + words, rest);
        return hp;
    }
    make_free(hp, rest);
    if (FAULTY(fragment_tagged) && rest == 1)
        *hp = header_make(0, WHITE, tag);
    return hp + rest;
}

static enum gc_result counting_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                     unsigned tag, const word *raw) {
    word *hp = first_fit(g, wosize);
    if (!hp) {
        counting_collect(g, GC_FULL);
        hp = first_fit(g, wosize);
        if (!hp)
            return GC_OUT_OF_MEMORY;
    }
    hp = cut(hp, header_wosize(*hp) - wosize, wosize + 1, tag);
    *hp = header_make(wosize, WHITE, tag);
    words_copy(hp + 1, raw, wosize);
    g->counts[hp - g->arena.base] = 0;
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

static void counting_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    word *field = &word_pointer(g->config.slots[m][obj])[i];
    count(g, g->config.slots[m][value], 1);
    count(g, *field, -1);
    *field = g->config.slots[m][value];
}

static enum gc_result counting_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                     unsigned value) {
    counting_init(g, m, obj, i, value);
    return GC_OK;
}

/* ---- life -------------------------------------------------------------------------------------
 */

static struct gc *counting_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (g && !arena_open(&g->arena, MOST_WORDS)) {
        free(g);
        return NULL;
    }
    return g;
}
static void counting_close(struct gc *g) {
    arena_close(&g->arena);
    free(g);
}
static void counting_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    arena_reset(&g->arena, config->hooks, config->heap_words);
    config->hooks->unpoison(g->arena.base, config->heap_words);
    g->end = g->arena.base + config->heap_words;
    memset(g->counts, 0, config->heap_words * sizeof *g->counts);
    make_free(g->arena.base, config->heap_words);
}

static word *counting_image(struct gc *g, size_t *words) {
    *words = g->config.heap_words;
    return g->arena.base;
}
static void counting_adopt(struct gc *g, size_t words) {
    (void)words;
    for (word *hp = g->arena.base; hp < g->end; hp += words_of(*hp))
        if (!is_free(*hp))
            count_fields(g, hp, header_wosize(*hp), 1);
}

static void counting_walk(struct gc *g, gc_visit *visit, void *context) {
    for (word *hp = g->arena.base; hp < g->end; hp += words_of(*hp))
        visit(context,
              header_wosize(*hp) == 0 ? GC_FRAGMENT
              : is_free(*hp)          ? GC_FREE
                                      : GC_LIVE,
              hp, words_of(*hp));
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "reference counting, without a search for cycles",
    .traits = {.raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .ticks = true,
               .whitens = true,
               .lacks_raw = 1, /* TAG_ABSTRACT */
               .always_merged = true,
               .solid_end = true,
               .acyclic_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_heap_words = MOST_WORDS,
               .max_mutators = GC_MUTATORS},
    .open = counting_open,
    .reset = counting_reset,
    .close = counting_close,
    .image = counting_image,
    .adopt = counting_adopt,
    .alloc = counting_alloc,
    .init = counting_init,
    .store = counting_store,
    .collect = counting_collect,
    .walk = counting_walk,
};
