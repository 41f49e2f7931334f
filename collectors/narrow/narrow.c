/* SPDX-License-Identifier: MIT
 *
 * Mark and sweep on words of 16 bits (narrow.h).
 *
 * A header is size << 10 | colour << 8 | tag, an integer n is n << 1 | 1, and a pointer is twice
 * the index of the first field.  No free block is longer than a header can say, so that several lie
 * beside each other, and an allocation looks at runs of them.  Word i of the heap is shown at word
 * i of a shadow in OCaml's layout, which the walk writes anew.
 */
#include "collectors/narrow/narrow.h"

#include "collectors/arena.h"
#include "collectors/faults.h"

#include <stdlib.h>
#include <string.h>

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR narrow
#endif

enum { MOST_WORDS = 1 << 14, MOST_SIZE = 63, GROWTH = 4, CHUNK = 32 };

typedef uint16_t narrow_word;

struct gc {
    struct arena shadow;
    struct gc_config config;
    size_t words, first_words, limit;
    narrow_word heap[MOST_WORDS];
    uint32_t stack[MOST_WORDS], on_stack; /* headers of gray blocks */
};

/* ---- words ------------------------------------------------------------------------------------
 */

static narrow_word make_header(size_t size, unsigned colour, unsigned tag) {
    return (narrow_word)(size << 10 | colour << 8 | tag);
}
static size_t size_of(narrow_word header) {
    return header >> 10;
}
static unsigned colour_of(narrow_word header) {
    return header >> 8 & 3;
}
static unsigned tag_of(narrow_word header) {
    return header & 0xff;
}
static bool is_free(narrow_word header) {
    return colour_of(header) == BLUE || size_of(header) == 0;
}
static bool is_reference(narrow_word w) {
    return !(w & 1);
}

static narrow_word narrowed(const struct gc *g, word v) {
    return is_immediate(v) ? (narrow_word)v
                           : (narrow_word)((v - pointer_word(g->shadow.base)) / sizeof(word) * 2);
}
static word shown(const struct gc *g, narrow_word w) {
    if (is_reference(w))
        return pointer_word(g->shadow.base + w / 2);
    return FAULTY(sign_lost) ? w : (word)(int64_t)(int16_t)w;
}

/* The index of the first field of the block in the slot. */
static size_t block_in(const struct gc *g, unsigned m, unsigned slot) {
    return narrowed(g, g->config.slots[m][slot]) / 2;
}

/* Word i of the heap, a field of a block with that tag, as the shadow has it. */
static void show(struct gc *g, size_t i, unsigned tag) {
    g->shadow.base[i] = tag >= TAG_NO_SCAN ? g->heap[i] : shown(g, g->heap[i]);
}
static void show_header(struct gc *g, size_t i) {
    narrow_word header = g->heap[i];
    g->shadow.base[i] = header_make(size_of(header), colour_of(header), tag_of(header));
}

/* ---- free words -------------------------------------------------------------------------------
 */

static void make_free(struct gc *g, size_t at, size_t words) {
    while (words > 0) {
        size_t n = words > MOST_SIZE + 1 ? MOST_SIZE + 1 : words;
        g->config.hooks->unpoison_bytes(g->heap + at, sizeof *g->heap);
        g->heap[at] = make_header(n - 1, n == 1 ? WHITE : BLUE, 0);
        g->config.hooks->poison_bytes(g->heap + at + 1, (n - 1) * sizeof *g->heap);
        at += n;
        words -= n;
    }
}

/* Where the run of free words ends that begins at word `at`. */
static size_t end_of_run(const struct gc *g, size_t at) {
    while (at < g->words && is_free(g->heap[at])) {
        gc_tick(g->config.hooks);
        at += size_of(g->heap[at]) + 1;
    }
    return at;
}

/* Takes so many words where there is room; false: there is none. */
static bool take(struct gc *g, size_t words, size_t *found) {
    for (size_t at = 0, end; at < g->words; at = end + size_of(g->heap[end]) + 1) {
        end = end_of_run(g, at);
        if (end - at >= words) {
            g->config.hooks->unpoison_bytes(g->heap + at, words * sizeof *g->heap);
            make_free(g, at + words, end - at - words);
            *found = at;
            return true;
        }
        if (end == g->words)
            return false;
        gc_tick(g->config.hooks);
    }
    return false;
}

static void grow(struct gc *g, size_t words) {
    size_t limit = FAULTY(half_grown) ? g->limit / 2 : g->limit;
    size_t more = words > CHUNK ? words : CHUNK;
    if (g->words >= limit)
        return;
    more = more > limit - g->words ? limit - g->words : more;
    make_free(g, g->words, more);
    g->words += more;
}

/* ---- collection -------------------------------------------------------------------------------
 */

static void darken(struct gc *g, narrow_word w) {
    size_t known = FAULTY(growth_unmarked) ? g->first_words : g->words;
    size_t at = w / 2 - 1u;
    if (!is_reference(w) || at >= known || colour_of(g->heap[at]) != WHITE)
        return;
    g->heap[at] |= GRAY << 8;
    g->stack[g->on_stack++] = (uint32_t)at;
}

static void mark(struct gc *g) {
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (is_pointer(g->config.slots[m][s]))
                darken(g, narrowed(g, g->config.slots[m][s]));
    while (g->on_stack > 0) {
        size_t at = g->stack[--g->on_stack], size = size_of(g->heap[at]);
        unsigned tag = tag_of(g->heap[at]);
        g->heap[at] = make_header(size, BLACK, tag);
        gc_tick(g->config.hooks);
        for (size_t i = 1; tag < TAG_NO_SCAN && i <= size; i++)
            darken(g, g->heap[at + i]);
    }
}

static void sweep(struct gc *g) {
    for (size_t at = 0, end; at < g->words; at = end) {
        end = at;
        while (end < g->words && colour_of(g->heap[end]) != BLACK) {
            gc_tick(g->config.hooks);
            end += size_of(g->heap[end]) + 1;
        }
        make_free(g, at, end - at);
        if (end < g->words) {
            gc_tick(g->config.hooks);
            g->heap[end] = make_header(size_of(g->heap[end]), WHITE, tag_of(g->heap[end]));
            end += size_of(g->heap[end]) + 1;
        }
    }
}

static enum gc_result narrow_collect(struct gc *g, enum gc_collection kind) {
    (void)kind;
    mark(g);
    sweep(g);
    g->config.hooks->collections++;
    return GC_OK;
}

/* ---- mutator ----------------------------------------------------------------------------------
 */

static bool find_room(struct gc *g, size_t words, size_t *at) {
    if (take(g, words, at))
        return true;
    narrow_collect(g, GC_FULL);
    if (take(g, words, at))
        return true;
    grow(g, words);
    return take(g, words, at);
}

static enum gc_result narrow_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    size_t at;
    if (wosize > MOST_SIZE || !find_room(g, wosize + 1, &at))
        return GC_OUT_OF_MEMORY;
    g->heap[at] = make_header(wosize, WHITE, tag);
    show_header(g, at);
    for (size_t i = 1; i <= wosize; i++) {
        g->heap[at + i] = (narrow_word)raw[i - 1];
        show(g, at + i, tag);
    }
    g->config.slots[m][dst] = pointer_word(g->shadow.base + at + 1);
    return GC_OK;
}

static void narrow_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    size_t at = block_in(g, m, obj) + i;
    g->heap[at] = narrowed(g, g->config.slots[m][value]);
    show(g, at, 0);
}
static enum gc_result narrow_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                   unsigned value) {
    narrow_init(g, m, obj, i, value);
    return GC_OK;
}
static enum gc_result narrow_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    g->config.slots[m][dst] = shown(g, g->heap[block_in(g, m, obj) + i]);
    return GC_OK;
}
static void narrow_write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    size_t at = block_in(g, m, obj) + i;
    g->heap[at] = (narrow_word)raw;
    show(g, at, TAG_NO_SCAN);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static void narrow_promise(const struct gc_config *config, struct collector_traits *traits) {
    size_t most = GROWTH * config->heap_words;
    traits->grows_to = most < MOST_WORDS ? most : MOST_WORDS;
}

static struct gc *narrow_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (g && !arena_open(&g->shadow, MOST_WORDS)) {
        free(g);
        return NULL;
    }
    return g;
}
static void narrow_close(struct gc *g) {
    arena_close(&g->shadow);
    free(g);
}
static void narrow_reset(struct gc *g, const struct gc_config *config) {
    struct collector_traits traits;
    narrow_promise(config, &traits);
    g->config = *config;
    g->limit = traits.grows_to;
    g->words = g->first_words = config->heap_words;
    g->on_stack = 0;
    arena_reset(&g->shadow, config->hooks, g->limit);
    config->hooks->unpoison(g->shadow.base, g->limit);
    config->hooks->unpoison_bytes(g->heap, sizeof g->heap);
    memset(g->heap, config->hooks->fill_byte, g->limit * sizeof *g->heap);
    make_free(g, 0, g->words);
}

static word *narrow_image(struct gc *g, size_t *words) {
    return *words <= g->words ? g->shadow.base : NULL;
}

/* What the harness has written into the shadow becomes the heap. */
static void narrow_adopt(struct gc *g, size_t words) {
    const word *shadow = g->shadow.base;
    g->config.hooks->unpoison_bytes(g->heap, words * sizeof *g->heap);
    for (size_t at = 0; at < words; at += header_wosize(shadow[at]) + 1) {
        size_t size = header_wosize(shadow[at]);
        unsigned tag = header_tag(shadow[at]);
        g->heap[at] = make_header(size, header_colour(shadow[at]), tag);
        for (size_t i = at + 1; i <= at + size; i++)
            g->heap[i] = tag >= TAG_NO_SCAN ? (narrow_word)shadow[i] : narrowed(g, shadow[i]);
    }
    make_free(g, words, g->words - words);
}

static void narrow_walk(struct gc *g, gc_visit *visit, void *context) {
    for (size_t at = 0; at < g->words; at += size_of(g->heap[at]) + 1) {
        narrow_word header = g->heap[at];
        show_header(g, at);
        for (size_t i = 1; !is_free(header) && i <= size_of(header); i++)
            show(g, at + i, tag_of(header));
        visit(context,
              size_of(header) == 0 ? GC_FRAGMENT
              : is_free(header)    ? GC_FREE
                                   : GC_LIVE,
              g->shadow.base + at, size_of(header) + 1);
    }
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "mark and sweep on words of 16 bits; the heap grows",
    .traits = {.raw = true,
               .ticks = true,
               .whitens = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_wosize = MOST_SIZE,
               .word_bits = 16,
               .grows_to = MOST_WORDS,
               .max_heap_words = MOST_WORDS / 2,
               .max_mutators = GC_MUTATORS},
    .promise = narrow_promise,
    .open = narrow_open,
    .reset = narrow_reset,
    .close = narrow_close,
    .image = narrow_image,
    .adopt = narrow_adopt,
    .alloc = narrow_alloc,
    .init = narrow_init,
    .load = narrow_load,
    .store = narrow_store,
    .write_raw = narrow_write_raw,
    .collect = narrow_collect,
    .walk = narrow_walk,
};
