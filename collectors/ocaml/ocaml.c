/* SPDX-License-Identifier: MIT
 *
 * The OCaml runtime behind the plug-in interface (internal.h).
 *
 * Every operation reads the slots into the runtime's roots, calls what C code linked with OCaml
 * would call, and writes the shadow anew if the runtime has collected meanwhile.
 */
#include "collectors/ocaml/internal.h"

#include "collectors/faults.h"

#include <stdlib.h>
#include <string.h>

#include <caml/alloc.h>
#include <caml/compact.h>
#include <caml/custom.h>
#include <caml/gc_ctrl.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/version.h>
#include <caml/weak.h>

extern value caml_gc_full_major(value unit), caml_gc_compaction(value unit); /* in no header */
extern uintnat caml_percent_free;
extern value caml_array_blit(value from, value i, value to, value j, value n);

/* ---- between operations -------------------------------------------------------------------------
 */

void runtime_begin(struct gc *g) {
    shadow_read_slots(&g->shadow);
    g->clean = g->exact = false;
}

void runtime_renew(struct gc *g) {
    g->seen = runtime_collections();
    g->stale = false;
    runtime_show(g);
    g->config.hooks->collections++;
}

void runtime_keep_up(struct gc *g) {
    if (g->stale || runtime_collections() != g->seen)
        runtime_renew(g);
}

/* What the runtime has put off comes as it would between two steps of an OCaml program. */
static void end(struct gc *g) {
    runtime_unguard();
    runtime_urgent(g);
    runtime_keep_up(g);
}

static value root_value(unsigned slot) {
    return (value)root_get(slot);
}

/* Is the block the runtime's, or one that lies outside its heap? */
static bool is_inside(struct gc *g, unsigned slot) {
    return root_get(slot) != g->config.slots[0][slot];
}

/* ---- life ---------------------------------------------------------------------------------------
 */

static struct gc *ocaml_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g || !region_open() || !shadow_open(&g->shadow, g, &ocaml_subject, CAPACITY)) {
        free(g);
        return NULL;
    }
    if (!runtime_save() || !arena_open(&g->cell_memory, CELLS)) {
        shadow_close(&g->shadow);
        free(g);
        return NULL;
    }
    return g;
}

static void ocaml_close(struct gc *g) {
    shadow_close(&g->shadow);
    arena_close(&g->cell_memory);
    runtime_own_close(g);
    free(g);
}

static void ocaml_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    shadow_reset(&g->shadow, config);
    extras_reset(g);
    runtime_boot(g);
    runtime_set(g, config->kind);
    if (config->variant % VARIANTS == VARIANT_SAMPLED)
        sampling_begin();
    g->seen = runtime_collections();
    g->exact = false;
    runtime_show(g);
}

/* ---- the mutator --------------------------------------------------------------------------------
 */

bool runtime_fits(const struct gc *g, size_t words) {
    return !g->shadow.overflow && g->shadow.used + g->shadow.hidden + words <= g->config.heap_words;
}

/* Marks to the end, again and again: pointers are led past Forward blocks, which then go, and the
 * data that a key which is one hides is shown, or gone. */
static void make_room(struct gc *g, size_t words) {
    enum { CYCLES = 4 }; /* the one under way, two that see each pointer and block from the start */
    for (unsigned n = 0; n < CYCLES && !runtime_fits(g, words); n++) {
        caml_empty_minor_heap();
        caml_finish_major_cycle();
        runtime_renew(g);
    }
}

bool runtime_has_room(struct gc *g, size_t wosize) {
    if (runtime_fits(g, wosize + 1))
        return true;
    runtime_renew(g); /* what has died since makes room */
    if (g->shadow.hidden || heap_has_forward())
        make_room(g, wosize + 1);
    return runtime_fits(g, wosize + 1);
}

static value allocate(struct gc *g, size_t wosize, unsigned tag) {
    if (tag == Custom_tag)
        return caml_alloc_custom(&custom_plain, (wosize + CUSTOM_HIDDEN - 1) * sizeof(value), 0, 1);
    if (wosize <= Max_young_wosize && wosize < g->config.large_words)
        return caml_alloc_small((mlsize_t)wosize, (tag_t)tag);
    return caml_alloc_shr((mlsize_t)wosize, (tag_t)tag);
}

static enum gc_result ocaml_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    (void)m;
    runtime_begin(g);
    if (!runtime_has_room(g, wosize))
        return GC_OUT_OF_MEMORY;
    RUNTIME_GUARD(g, dst);
    value v = allocate(g, wosize, tag);
    word *fields = word_pointer((word)v);
    if (tag == Custom_tag) {
        fields[1] = WORD_UNIT;
        fields += CUSTOM_HIDDEN;
    }
    for (size_t i = 0; i < wosize; i++)
        fields[i] = runtime_word(tag, raw[i]);
    root_set(dst, (word)v);
    g->config.slots[0][dst] = g->shadow.synced[0][dst] = WORD_UNIT;
    uint64_t seen = g->seen;
    end(g);
    if (g->seen == seen)
        g->config.slots[0][dst] = g->shadow.synced[0][dst] = runtime_show_new(g, (word)v);
    return GC_OK;
}

static word *shadow_field(struct gc *g, unsigned obj, size_t i) {
    return word_pointer(g->config.slots[0][obj]) + i;
}

static void ocaml_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned v) {
    (void)m;
    runtime_begin(g);
    *shadow_field(g, obj, i) = g->config.slots[0][v];
    if (is_inside(g, obj))
        caml_initialize(&Field(root_value(obj), i), root_value(v));
}

static enum gc_result ocaml_store(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned v) {
    (void)m;
    runtime_begin(g);
    *shadow_field(g, obj, i) = g->config.slots[0][v];
    if (is_inside(g, obj))
        caml_modify(&Field(root_value(obj), i), root_value(v));
    return GC_OK;
}

static enum gc_result ocaml_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    (void)m;
    runtime_begin(g);
    word *slots = g->config.slots[0];
    slots[dst] = is_inside(g, obj) ? shadow_show(&g->shadow, (word)Field(root_value(obj), i))
                                   : *shadow_field(g, obj, i);
    return GC_OK;
}

static void ocaml_write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    (void)m;
    runtime_begin(g);
    *shadow_field(g, obj, i) = raw;
    if (!is_inside(g, obj))
        return;
    value v = root_value(obj);
    size_t place = i + (Tag_val(v) == Custom_tag ? CUSTOM_HIDDEN : 0);
    word_pointer((word)v)[place] = runtime_word(Tag_val(v), raw);
}

/* Array.blit, for any block with values.  It may make the collection that it has caused. */
static enum gc_result ocaml_blit(struct gc *g, unsigned m, unsigned src, size_t i, unsigned dst,
                                 size_t j, size_t n) {
    (void)m;
    runtime_begin(g);
    memmove(shadow_field(g, dst, j), shadow_field(g, src, i), n * sizeof(word));
    if (is_inside(g, dst))
        caml_array_blit(root_value(src), Val_long((intnat)i), root_value(dst), Val_long((intnat)j),
                        Val_long((intnat)n));
    end(g);
    return GC_OK;
}

/* ---- the collector ------------------------------------------------------------------------------
 */

/* The blocks with tag 250.  A pointer is led past one while that is marked, so that it goes in the
 * next cycle; of a chain one goes after the other, from its end. */
static struct forwards count_forwards(struct gc *g) {
    if (!heap_has_forward())
        return (struct forwards){0};
    runtime_show(g);
    return runtime_forwards(g);
}

/* A function of Gc.finalise gets its block, which dies in the next cycle if it is not kept; and the
 * first of the two cycles may have begun when the block was still alive.  So once more, until none
 * has run.  What Obj.truncate leaves is black: where sweeping has passed it, it takes a cycle more.
 */
static void full_major(struct gc *g) {
    if (g->truncated)
        caml_gc_full_major(Val_unit);
    g->truncated = false;
    for (uint64_t before = UINT64_MAX; before != runtime_callbacks();) {
        before = runtime_callbacks();
        caml_gc_full_major(Val_unit);
    }
}

/* Until no block with tag 250 is left that nothing reaches, or none has gone. */
static void full_until_exact(struct gc *g) {
    full_major(g);
    struct forwards left = count_forwards(g);
    for (size_t before = SIZE_MAX; left.unreached > 0 && left.all < before;) {
        before = left.all;
        full_major(g);
        left = count_forwards(g);
    }
}

static enum gc_result ocaml_collect(struct gc *g, enum gc_collection kind) {
    runtime_begin(g);
    region_may_refuse(true);
    if (kind == GC_MINOR)
        caml_empty_minor_heap();
    else if (kind == GC_FULL)
        full_until_exact(g);
    else
        caml_gc_compaction(Val_unit);
    runtime_finish(g);
    end(g);
    g->exact = kind == GC_FULL;
    return GC_OK;
}

/* The least slice that marks a word: of n the runtime makes n * 375 / overhead words, and rounds
 * down. */
static intnat least_slice(void) {
    return (intnat)(caml_percent_free + 374) / 375;
}

/* A cycle starts with an empty minor heap.  The answer is the slice's: what it has put off may
 * begin the next cycle. */
static enum gc_result ocaml_step(struct gc *g, size_t budget) {
    runtime_begin(g);
    region_may_refuse(true);
    if (caml_gc_phase == Phase_idle)
        caml_empty_minor_heap();
    intnat least = least_slice(), slice = (intnat)budget;
    caml_major_collection_slice(budget == 0 ? -1 : slice < least ? least : slice);
    bool idle = caml_gc_phase == Phase_idle;
    end(g);
    return idle ? GC_IDLE : GC_OK;
}

static enum gc_result ocaml_switch_kind(struct gc *g, unsigned kind) {
    runtime_begin(g);
    runtime_set(g, kind);
    end(g);
    return GC_OK;
}

static const char *ocaml_check(struct gc *g) {
    return g->broken ? g->broken : shadow_check(&g->shadow);
}

/* What caml_alloc gives for no fields. */
static word ocaml_atom(struct gc *g, unsigned tag) {
    (void)g;
    return (word)Atom((tag_t)tag);
}

static word ocaml_shown_at(struct gc *g, word shown) {
    word v = shadow_original(&g->shadow, shown);
    return v == WORD_UNIT ? 0 : v;
}

static word ocaml_own_place(struct gc *g, enum gc_place place) {
    (void)g;
    return place == GC_PLACE_YOUNG ? (word)Caml_state->young_start : heap_first_free();
}

static const char *const variants[] = {"default", "slow", "eager", "sampled", NULL};

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
#if defined(DEBUG)
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime with its own assertions",
#elif defined(ISOHEAP_OCAML_TINY)
    .summary =
        "the OCaml " OCAML_VERSION_STRING " runtime with small pages, minor heap and mark stack",
#else
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime: generational, incremental, compacting",
#endif
    .traits = {.moves = true,
               .infix = true,
               .start_env = true,
               .raw = true,
#ifndef NO_NAKED_POINTERS /* each word that looks like a pointer is one to a block */
               .outside = true,
               .any_word = true,
               .atoms = true,
#endif
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .shallow = true,
               .single = true,
               .max_heap_words = CAPACITY / 2,
               .max_mutators = 1,
               .forwards = true},
    .variants = variants,
    .kinds = runtime_kinds,
    .open = ocaml_open,
    .reset = ocaml_reset,
    .close = ocaml_close,
    .alloc = ocaml_alloc,
    .init = ocaml_init,
    .load = ocaml_load,
    .store = ocaml_store,
    .blit = ocaml_blit,
    .write_raw = ocaml_write_raw,
    .collect = ocaml_collect,
    .step = ocaml_step,
    .switch_kind = ocaml_switch_kind,
    .walk = runtime_walk,
    .check = ocaml_check,
    .promise = ocaml_promise,
    .extras = &ocaml_extras,
    .masks = ocaml_masks,
    .atom = ocaml_atom,
    .shown_at = ocaml_shown_at,
    .own_place = ocaml_own_place,
    .own = runtime_own,
};
