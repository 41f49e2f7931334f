/* SPDX-License-Identifier: MIT
 *
 * A generational collector as OCaml 4's (long OCaml paper, sections 2 and 8.2).
 *
 * New blocks are young (nursery.h) unless they are large; survivors move into the old generation,
 * which is the heap of mark_sweep or of incremental with their mark, sweep and allocator: the
 * collector's kind.  The mutator keeps the remembered set in its write barrier.
 *
 * Kind incremental: a cycle begins right after a minor collection, with the slots and the fields of
 * the blocks that are young still as roots; minor collections go on in it, what they promote is a
 * new block of the cycle.  A minor collection is followed by a slice.
 *
 * A full collection, of either kind, ends the cycle that is under way and then stops the world: it
 * promotes what it can, marks old and young blocks alike (so that a young block that had to stay
 * behind is no root by itself), forgets the remembered fields of dead blocks, sweeps, and ends with
 * a second minor collection if anything is young still.
 */
#include "collectors/generational/generational.h"
#include "collectors/words_copy.h"

#include "collectors/faults.h"
#include "collectors/generational/nursery.h"

#include "collectors/space/cycle.h"

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR generational
#endif

enum { KIND_MARK_SWEEP, KIND_INCREMENTAL, KINDS };
static const char *const variants[] = {SPACE_VARIANTS};
static const char *const kinds[] = {"mark and sweep", "incremental", NULL};

struct gc {
    struct cycle cycle; /* the old generation; of kind mark and sweep it is always idle */
    struct nursery nursery;
    unsigned kind;
};
static inline struct space *space_of(struct gc *gc) {
    return &gc->cycle.space;
}
#include "collectors/space/interface.inc"

static word *promote(void *old, word header) {
    word *hp = cycle_cut(old, header_wosize(header), header_tag(header));
    if (hp && FAULTY(promoted_white))
        *hp = header_recolour(*hp, WHITE);
    return hp;
}

static bool is_marked(word block) {
    return header_colour(header_of(block)) == BLACK;
}

/* Marking is over. */
static void forget_dead(void *gc) {
    struct gc *g = gc;
    if (!FAULTY(stale_entry))
        nursery_forget(&g->nursery, is_marked);
}

/* ---- slices ---------------------------------------------------------------------------------- */

/* Young blocks are roots, all of them: what they point at is darkened once, and they need no
 * deletion barrier. */
static void darken_behind_young(struct gc *g) {
    const struct nursery *n = &g->nursery;
    for (word *hp = half_start(n); hp < n->free; hp += header_wosize(*hp) + 1) {
        word v = pointer_word(hp + 1);
        gc_tick(n->config->hooks);
        for (size_t i = first_scanned(v); i < header_wosize(*hp); i++)
            if (is_pointer(hp[1 + i]))
                darken_word(&g->cycle.space, &hp[1 + i]);
    }
}

/* After a minor collection, so that no garbage of the nursery is a root. */
static void slice(struct gc *g, size_t budget) {
    if (g->kind != KIND_INCREMENTAL)
        return;
    if (g->cycle.phase == GC_PHASE_IDLE) {
        cycle_darken(&g->cycle);
        if (!FAULTY(young_no_roots))
            darken_behind_young(g);
        gc_phase_ended(g->nursery.config->hooks, GC_DARKENED);
    }
    cycle_slice(&g->cycle, budget);
}

/* ---- full collection ------------------------------------------------------------------------- */

/* Young blocks are marked as old ones are, on a stack of their own: that of the nursery. */
static void darken_young(struct nursery *n, const word *place) {
    word v = *place;
    if (!is_young(n, v))
        return;
    if (header_tag(header_of(v)) == TAG_INFIX)
        v = infix_parent(v);
    if (header_colour(header_of(v)) != WHITE)
        return;
    set_colour(v, GRAY);
    gc_tell(n->config->hooks, GC_MARKED, v, place, 0);
    n->promoted[n->n_promoted++] = v;
}

static void darken_either(struct gc *g, const word *place) {
    if (is_young(&g->nursery, *place))
        darken_young(&g->nursery, place);
    else if (is_pointer(*place))
        darken_word(&g->cycle.space, place);
}

/* What marked old blocks point at that is young: the remembered set says. */
static void darken_remembered(struct gc *g) {
    struct nursery *n = &g->nursery;
    for (size_t e = 0; e < n->n_remembered; e++) {
        word block = n->remembered[e].block;
        if (header_colour(header_of(block)) == BLACK)
            darken_young(n, &word_pointer(block)[n->remembered[e].field]);
    }
}

static void mark_young(struct gc *g, word v) {
    set_colour(v, BLACK);
    gc_tell(g->nursery.config->hooks, GC_SCANNED, v, NULL, 0);
    for (size_t i = first_scanned(v); i < header_wosize(header_of(v)); i++)
        darken_either(g, &word_pointer(v)[i]);
    gc_tick(g->nursery.config->hooks);
}

/* Old and young blocks by turns, until neither has a gray one left. */
static void mark_both(struct gc *g) {
    struct nursery *n = &g->nursery;
    n->n_promoted = 0;
    mark_begin(&g->cycle.space);
    for (unsigned m = 0; m < n->config->mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            darken_either(g, &n->config->slots[m][s]);
    gc_phase_ended(n->config->hooks, GC_DARKENED);
    do {
        while (n->n_promoted)
            mark_young(g, n->promoted[--n->n_promoted]);
        while (mark_step(&g->cycle.space))
            ;
        darken_remembered(g);
    } while (n->n_promoted);
    gc_phase_ended(n->config->hooks, GC_MARKED_ALL);
}

static void whiten_young(struct nursery *n) {
    for (word *hp = half_start(n); hp < n->free; hp += header_wosize(*hp) + 1)
        *hp = header_recolour(*hp, WHITE);
}

static void collect_all(struct gc *g) {
    struct nursery *n = &g->nursery;
    struct space *old = &g->cycle.space;
    cycle_finish(&g->cycle);
    nursery_collect(n, true);
    g->cycle.begun++; /* a cycle of its own, which nobody sees begin or end */
    mark_both(g);
    forget_dead(g);
    whiten_young(n);
    sweep_begin(old);
    sweep_to_end(old);
    sweep_poison(old);
    gc_phase_ended(n->config->hooks, GC_SWEPT_ALL);
    n->config->hooks->collections++;
    if (n->free > half_start(n))
        nursery_collect(n, true);
}

/* ---- the mutator ----------------------------------------------------------------------------- */

static word *alloc_old(struct gc *g, size_t wosize, unsigned tag) {
    return promote(&g->cycle, header_make(wosize, WHITE, tag));
}

/* Young if there is room for it after as much of a collection as it takes. */
static word *alloc_young(struct gc *g, size_t wosize, unsigned tag) {
    word *hp = FAULTY(minor_always) ? NULL : nursery_alloc(&g->nursery, wosize, tag);
    if (hp)
        return hp;
    nursery_collect(&g->nursery, false);
    slice(g, g->nursery.config->slice_words);
    hp = nursery_alloc(&g->nursery, wosize, tag);
    if (hp)
        return hp;
    collect_all(g);
    return FAULTY(nursery_forgotten) ? NULL : nursery_alloc(&g->nursery, wosize, tag);
}

static enum gc_result generational_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                         unsigned tag, const word *raw) {
    const struct gc_config *config = g->nursery.config;
    bool small =
        !FAULTY(nursery_left) && wosize + 1 < config->large_words && wosize < g->nursery.half_words;
    word *hp = small ? alloc_young(g, wosize, tag) : NULL;
    if (FAULTY(young_black) && hp)
        *hp = header_recolour(*hp, BLACK);
    if (!hp)
        hp = alloc_old(g, wosize, tag);
    if (!hp && g->cycle.phase != GC_PHASE_IDLE) {
        cycle_finish(&g->cycle);
        hp = alloc_old(g, wosize, tag);
    }
    if (!hp && !FAULTY(early_refusal)) {
        collect_all(g);
        hp = alloc_old(g, wosize, tag);
    }
    if (!hp)
        return GC_OUT_OF_MEMORY;
    words_copy(hp + 1, raw, wosize);
    config->slots[m][dst] = pointer_word(hp + 1);
    return GC_OK;
}

/* Initialising and other stores alike: a block may be old from the start. */
static void write_field(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    const word *slots = g->nursery.config->slots[m];
    word *field = word_pointer(slots[obj]) + i;
    if (is_old(&g->nursery, slots[obj]) && !FAULTY(old_no_barrier))
        cycle_delete(&g->cycle, field);
    nursery_barrier(&g->nursery, slots[obj], i, slots[value]);
    *field = slots[value];
}

static enum gc_result generational_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                         unsigned value) {
    if (FAULTY(store_refused) && g->nursery.n_remembered > 0)
        return GC_OUT_OF_MEMORY;
    write_field(g, m, obj, i, value);
    return GC_OK;
}

static void generational_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    const word *slots = g->nursery.config->slots[m];
    if (FAULTY(init_unrecorded))
        word_pointer(slots[obj])[i] = slots[value];
    else
        write_field(g, m, obj, i, value);
}

/* ---- the interface --------------------------------------------------------------------------- */

/* The nursery lies behind the old generation in the same arena. */
static void generational_reset(struct gc *g, const struct gc_config *config) {
    struct space *old = &g->cycle.space;
    space_reset(old, config, 2 * config->nursery_words);
    cycle_reset(&g->cycle);
    g->cycle.marked = forget_dead;
    g->cycle.context = g;
    g->kind = config->kind % KINDS;
    struct major major = {promote, &g->cycle, old->low, old->bytes};
    if (!nursery_room(&g->nursery, old->config.heap_words))
        abort(); /* the interface has no word for it */
    nursery_reset(&g->nursery, &old->config, old->end, major);
}

static enum gc_result generational_collect(struct gc *g, enum gc_collection kind) {
    if (kind == GC_MINOR) {
        nursery_collect(&g->nursery, false);
        slice(g, g->nursery.config->slice_words);
    } else {
        collect_all(g); /* never compacts the old generation */
    }
    return GC_OK;
}

static void generational_close(struct gc *g) {
    nursery_close(&g->nursery);
    on_space_close(g);
}

static enum gc_result generational_step(struct gc *g, size_t budget) {
    if (g->kind == KIND_INCREMENTAL && g->cycle.phase == GC_PHASE_IDLE)
        nursery_collect(&g->nursery, false);
    slice(g, budget);
    return g->cycle.phase == GC_PHASE_IDLE ? GC_IDLE : GC_OK;
}

static enum gc_result generational_switch_kind(struct gc *g, unsigned kind) {
    g->kind = kind % KINDS;
    if (g->kind != KIND_INCREMENTAL)
        cycle_finish(&g->cycle);
    return GC_OK;
}

static void generational_walk(struct gc *g, gc_visit *visit, void *context) {
    space_walk_blocks(&g->cycle.space, visit, context);
    nursery_walk(&g->nursery, visit, context);
    space_walk_list(&g->cycle.space, visit, context);
}

static const char *generational_check(struct gc *g) {
    return cycle_check(&g->cycle);
}

static struct gc_cycle generational_cycle(struct gc *g) {
    return cycle_state(&g->cycle);
}

/* Young blocks are gray in full collections alone, on the stack of the nursery. */
static void generational_mark_stack(struct gc *g, gc_visit_gray *visit, void *context) {
    const struct nursery *n = &g->nursery;
    mark_visit_gray(&g->cycle.space, visit, context);
    for (size_t i = 0; i < n->n_promoted; i++)
        visit(context, word_pointer(n->promoted[i]) - 1, NULL);
}

static bool generational_young(struct gc *g, word v) {
    return is_young(&g->nursery, v);
}

static void generational_remembered(struct gc *g, void (*visit)(void *, word, size_t),
                                    void *context) {
    for (size_t e = 0; e < g->nursery.n_remembered; e++)
        visit(context, g->nursery.remembered[e].block, g->nursery.remembered[e].field);
}

static void generational_promise(const struct gc_config *config, struct collector_traits *traits) {
    space_promise(config, traits);
    traits->nursery_words = 2 * config->nursery_words;
    traits->slices = config->kind % KINDS == KIND_INCREMENTAL;
    traits->paced = traits->slices && traits->linear;
    if (FAULTY(young_black)) {
        traits->black_young = true;
        traits->tells_phases = false;
        traits->tells = 0;
    }
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary =
        "copying young generation; old one mark and sweep, at once or in slices (as OCaml 4)",
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
               .young_first = true,
               .ages = true,
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
               .exact_minor = true,
               .remembered_once = true},
    .variants = variants,
    .kinds = kinds,
    .promise = generational_promise,
    .open = on_space_open,
    .reset = generational_reset,
    .close = generational_close,
    .image = on_space_image,
    .adopt = on_space_adopt,
    .alloc = generational_alloc,
    .init = generational_init,
    .store = generational_store,
    .collect = generational_collect,
    .step = generational_step,
    .switch_kind = generational_switch_kind,
    .walk = generational_walk,
    .check = generational_check,
    .cycle = generational_cycle,
    .mark_stack = generational_mark_stack,
    .young = generational_young,
    .remembered = generational_remembered,
};
