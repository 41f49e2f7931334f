/* SPDX-License-Identifier: MIT
 *
 * The subject: incremental mark and sweep in slices (cycle.h), as OCaml 4's major heap.
 *
 * A cycle begins with a step, whatever its budget, and goes on with the next ones.  A minor
 * collection is a slice of the configured budget (OCaml follows each of its own with one); full and
 * compact finish the cycle that is under way and do a whole one.  Allocation does no work of the
 * cycle unless it would have to refuse.
 */
#include "collectors/incremental/incremental.h"
#include "collectors/words_copy.h"

#include "collectors/space/cycle.h"

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR incremental
#endif

static const char *const variants[] = {SPACE_VARIANTS};

struct gc {
    struct cycle cycle;
};
static inline struct space *space_of(struct gc *gc) {
    return &gc->cycle.space;
}
#include "collectors/space/interface.inc"

static void incremental_reset(struct gc *gc, const struct gc_config *config) {
    space_reset(&gc->cycle.space, config, 0);
    cycle_reset(&gc->cycle);
}

static enum gc_result incremental_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                        unsigned tag, const word *raw) {
    word *hp = cycle_alloc(&gc->cycle, wosize, tag);
    if (!hp)
        return GC_OUT_OF_MEMORY;
    words_copy(hp + 1, raw, wosize);
    gc->cycle.space.config.slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

static enum gc_result incremental_store(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                        unsigned value) {
    const word *slots = gc->cycle.space.config.slots[m];
    word *field = word_pointer(slots[obj]) + i;
    cycle_delete(&gc->cycle, field);
    *field = slots[value];
    return GC_OK;
}

static enum gc_result incremental_step(struct gc *gc, size_t budget) {
    if (FAULTY(idle_slices) && gc->cycle.phase == GC_PHASE_IDLE)
        return GC_IDLE;
    if (FAULTY(slice_restarts) && gc->cycle.phase == GC_PHASE_SWEEP)
        sweep_begin(&gc->cycle.space);
    cycle_slice(&gc->cycle, FAULTY(slice_unpaced) ? SIZE_MAX : budget);
    return gc->cycle.phase == GC_PHASE_IDLE || FAULTY(idle_early) ? GC_IDLE : GC_OK;
}

static enum gc_result incremental_collect(struct gc *gc, enum gc_collection kind) {
    if (kind == GC_MINOR)
        cycle_slice(&gc->cycle, gc->cycle.space.config.slice_words);
    else
        cycle_full(&gc->cycle);
    return GC_OK;
}

static const char *incremental_check(struct gc *gc) {
    return cycle_check(&gc->cycle);
}

static struct gc_cycle incremental_cycle(struct gc *gc) {
    struct gc_cycle state = cycle_state(&gc->cycle);
    if (FAULTY(cycles_uncounted) && state.begun > 1)
        state.begun = 1;
    return state;
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "incremental mark and sweep, snapshot at the beginning (OCaml 4's major heap)",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .poisons = true,
               .ticks = true,
               .linear = 5,
               .paced = 1,
               .waits = true,
               .steady = true,
               .rescans = true,
               .tells_phases = true,
               .tells = GC_TELLS(GC_MARKED) | GC_TELLS(GC_SET_ASIDE) | GC_TELLS(GC_SCANNED) |
                        GC_TELLS(GC_SWEPT) | GC_TELLS(GC_TELLS_FILL),
               .shallow = true,
               .whitens = true,
               .slices = true,
               .free_list = true,
               .sorted_free_list = true,
               .merged_free_list = true,
               .renews = true,
               .full_until_exact = 1, /* a full one is a whole cycle after the one under way */
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_mutators = 1},
    .variants = variants,
    .promise = space_promise,
    .open = on_space_open,
    .reset = incremental_reset,
    .close = on_space_close,
    .image = on_space_image,
    .adopt = on_space_adopt,
    .alloc = incremental_alloc,
    .store = incremental_store,
    .collect = incremental_collect,
    .step = incremental_step,
    .walk = on_space_walk,
    .mark_stack = on_space_mark_stack,
    .check = incremental_check,
    .cycle = incremental_cycle,
};
