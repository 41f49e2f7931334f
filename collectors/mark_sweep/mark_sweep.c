/* SPDX-License-Identifier: MIT
 *
 * The subject: the stop-the-world mark-and-sweep collector of "A Mechanically Verified Garbage
 * Collector for OCaml" (long and short version), and the glue that a runtime puts around it.
 *
 * The steps are in the headers of this folder: mark.h with an explicit stack (mark_stack.h) and
 * three versions of mark, sweep.h with and without coalescing, next_fit.h.  A config variant
 * chooses, also what happens when the mark stack is full.  Here they run to their end in one go:
 * collect.h.
 */
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/words_copy.h"

#include "collectors/space/collect.h"
#include "collectors/space/next_fit.h"
#include "collectors/space/printed.h"

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR mark_sweep
#endif

/* The same again with the sweep as the papers print it. */
#define PRINTED(overflow) SPACE_VARIANTS_(", printed" overflow)
static const char *const variants[] = {SPACE_VARIANTS_(""),
                                       SPACE_VARIANTS_(", re-scan of a range"),
                                       SPACE_VARIANTS_(", chunked mark stack"),
                                       PRINTED(""),
                                       PRINTED(", re-scan of a range"),
                                       PRINTED(", chunked mark stack"),
                                       NULL};
enum { NOT_PRINTED = SPACE_SWEEPS * MARK_VERSIONS * OVERFLOWS };
static bool variant_printed(const struct gc_config *config) {
    return config->variant / NOT_PRINTED % 2;
}

struct gc {
    struct space space;
};
static inline struct space *space_of(struct gc *gc) {
    return &gc->space;
}
#include "collectors/space/interface.inc"

static enum gc_result mark_sweep_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                       unsigned tag, const word *raw) {
    struct space *g = &gc->space;
    word *hp = FAULTY(collects_always) ? NULL : next_fit(g, wosize).hp;
    if (!hp) {
        collect_garbage(g);
        hp = next_fit(g, wosize).hp;
        if (!hp)
            return GC_OUT_OF_MEMORY; /* one fruitless collection is enough */
    }
    hp[0] = header_make(wosize, WHITE, tag);
    words_copy(hp + 1, raw, wosize);
    g->config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

/* ---- the interface --------------------------------------------------------------------------- */

static void mark_sweep_promise(const struct gc_config *config, struct collector_traits *traits) {
    space_promise(config, traits);
    if (variant_printed(config)) /* one word is enough to wear the heap out */
        traits->renews = traits->merged_free_list = traits->steady = false;
    if (FAULTY(strings_kept)) {
        traits->conservative = true;
        traits->most_retained = 8;
        traits->full_until_exact = traits->tells = 0;
        traits->shallow = traits->steady = traits->renews = traits->tells_phases = false;
    }
}

static void mark_sweep_reset(struct gc *gc, const struct gc_config *config) {
    on_space_reset(gc, config);
    gc->space.sweep_whole = variant_printed(config) ? sweep_as_printed : NULL;
}

/* Defect slot_cleared. */
static void clear_last_slot(struct space *space) {
    const struct gc_config *c = &space->config;
    for (unsigned i = GC_SLOTS; i-- > 0;)
        if (is_pointer(c->slots[0][i])) {
            c->slots[0][i] = WORD_UNIT;
            return;
        }
}

static enum gc_result mark_sweep_collect(struct gc *gc, enum gc_collection kind) {
    (void)kind; /* one generation, never compacts: every collection is a full one */
    struct gc_hooks *hooks = gc->space.config.hooks;
    if (FAULTY(lock_kept) && hooks->collections > 0)
        hooks->stuck(hooks, false, "a collection waits for the lock that the last one has kept");
    collect_garbage(&gc->space);
    if (FAULTY(slot_cleared))
        clear_last_slot(&gc->space);
    return GC_OK;
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "stop-the-world mark and sweep (verified OCaml collector), next-fit",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .poisons = true,
               .ticks = true,
               .linear = 3,
               .waits = true,
               .steady = true,
               .rescans = true,
               .tells_phases = true,
               .tells = GC_TELLS(GC_MARKED) | GC_TELLS(GC_SET_ASIDE) | GC_TELLS(GC_SCANNED) |
                        GC_TELLS(GC_SWEPT) | GC_TELLS(GC_TELLS_FILL),
               .shallow = true,
               .whitens = true,
               .free_list = true,
               .sorted_free_list = true,
               .merged_free_list = true,
               .renews = true,
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_mutators = 1}, /* as OCaml 4 */
    .variants = variants,
    .promise = mark_sweep_promise,
    .open = on_space_open,
    .reset = mark_sweep_reset,
    .close = on_space_close,
    .image = on_space_image,
    .adopt = on_space_adopt,
    .alloc = mark_sweep_alloc,
    .collect = mark_sweep_collect,
    .walk = on_space_walk,
    .mark_stack = on_space_mark_stack,
    .check = on_space_check,
};
