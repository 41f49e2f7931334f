/* SPDX-License-Identifier: MIT
 *
 * The subject: mark and sweep (collectors/mark_sweep/), and compaction by pointer inversion as in
 * OCaml 4 (compaction.h).
 *
 * `compact` collects and compacts.  Half of the variants also compact when an allocation finds no
 * block although enough words are free: they refuse exactly what can never fit.
 */
#include "collectors/compact/compact.h"
#include "collectors/words_copy.h"

#include "collectors/compact/compaction.h"
#include "collectors/space/collect.h"
#include "collectors/space/next_fit.h"

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR compact
#endif

#define VARIANTS(when)                                                                             \
    SPACE_VARIANTS_(when), SPACE_VARIANTS_(", re-scan of a range" when),                           \
        SPACE_VARIANTS_(", chunked mark stack" when)
static const char *const variants[] = {VARIANTS(""), VARIANTS(", compacts when needed"), NULL};
enum { SPACES = SPACE_SWEEPS * MARK_VERSIONS * OVERFLOWS };

struct gc {
    struct space space;
};
static inline struct space *space_of(struct gc *gc) {
    return &gc->space;
}
#include "collectors/space/interface.inc"

static bool compacts_when_needed(const struct gc_config *config) {
    return config->variant / SPACES % 2;
}

static void compact_promise(const struct gc_config *config, struct collector_traits *traits) {
    space_promise(config, traits);
    if (!compacts_when_needed(config))
        return;
    traits->refusal = REFUSES_EXACTLY;
    traits->renews = true; /* without coalescing too */
}

/* ---- allocation ------------------------------------------------------------------------------
 */

/* Words of what is free, headers and fragments included. */
static size_t free_words(const struct space *g) {
    size_t sum = 0, words;
    for (const word *hp = g->heap.base; hp < g->end; hp += words) {
        words = header_wosize(*hp) + 1;
        gc_tick(g->config.hooks);
        if (header_colour(*hp) == BLUE || (words == 1 && !FAULTY(fragments_uncounted)))
            sum += words;
    }
    return sum;
}

/* FAULT_soft_compact */
static word *take_too_much(struct space *g, size_t wosize) {
    if (!g->first_free || header_wosize(header_of(g->first_free)) + 7 < wosize)
        return NULL;
    word *hp = word_pointer(g->first_free) - 1;
    g->first_free = 0;
    g->config.hooks->unpoison(hp, wosize + 1);
    return hp;
}

/* After a collection that did not help. */
static word *compact_for(struct space *g, size_t wosize) {
    size_t words = free_words(g), needed = wosize + 1;
    if (FAULTY(strict_compact) ? words <= needed : words < needed && !FAULTY(soft_compact))
        return NULL;
    compact_space(g);
    word *hp = next_fit(g, wosize).hp;
    return hp || !FAULTY(soft_compact) ? hp : take_too_much(g, wosize);
}

static word *find_room(struct space *g, size_t wosize) {
    word *hp = next_fit(g, wosize).hp;
    if (hp)
        return hp;
    collect_garbage(g);
    hp = next_fit(g, wosize).hp;
    return hp || !compacts_when_needed(&g->config) ? hp : compact_for(g, wosize);
}

static enum gc_result compact_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    struct space *g = &gc->space;
    word *hp = find_room(g, wosize);
    if (!hp)
        return GC_OUT_OF_MEMORY;
    hp[0] = header_make(wosize, WHITE, tag);
    words_copy(hp + 1, raw, wosize);
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

/* ---- the interface --------------------------------------------------------------------------- */

static enum gc_result compact_collect(struct gc *gc, enum gc_collection kind) {
    collect_garbage(&gc->space);
    if (kind == GC_COMPACT)
        compact_space(&gc->space);
    return GC_OK;
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "mark and sweep with compaction by pointer inversion (OCaml 4), next-fit",
    .traits = {.moves = true,
               .infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .poisons = true,
               .ticks = true,
               .linear = 8,
               .waits = true,
               .steady = true,
               .rescans = true,
               .tells_phases = true,
               .tells = GC_TELLS(GC_MARKED) | GC_TELLS(GC_SET_ASIDE) | GC_TELLS(GC_SCANNED) |
                        GC_TELLS(GC_MOVED) | GC_TELLS(GC_SWEPT) | GC_TELLS(GC_TELLS_FILL),
               .shallow = true,
               .whitens = true,
               .free_list = true,
               .sorted_free_list = true,
               .merged_free_list = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_mutators = 1,
               .compacts = true,
               .slides = true},
    .variants = variants,
    .promise = compact_promise,
    .open = on_space_open,
    .reset = on_space_reset,
    .close = on_space_close,
    .image = on_space_image,
    .adopt = on_space_adopt,
    .alloc = compact_alloc,
    .collect = compact_collect,
    .walk = on_space_walk,
    .mark_stack = on_space_mark_stack,
    .check = on_space_check,
};
