/* SPDX-License-Identifier: MIT
 *
 * The Boehm-Demers-Weiser collector behind the plug-in interface (internal.h has the plan).
 *
 * Sound is what it must be; complete it does not claim to be, being conservative.  Allocation is
 * untyped, or typed (the collector is told which words may be pointers); no-scan blocks are atomic.
 * The size of the heap is held by the adapter, by the words that the program can reach, so that
 * what libgc keeps by accident changes no answer.
 */
#include "collectors/boehm/boehm.h"

#include "collectors/boehm/internal.h"

#include <stdlib.h>

enum { TYPED = 1, INCREMENTAL = 2 }; /* bits of config.variant */

/* ---- life --------------------------------------------------------------------------------------
 */

static struct gc *boehm_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g)
        return NULL;
    if (!shadow_open(&g->shadow, g, &boehm_subject, CAPACITY)) {
        free(g);
        return NULL;
    }
    if (!true_open(g)) {
        shadow_close(&g->shadow);
        free(g);
        return NULL;
    }
    return g;
}

static void free_all(struct gc *g) {
    for (uint32_t id = 0; id < g->n_objects; id++)
        if (g->objects[id].alive)
            true_free(&g->objects[id]);
    g->n_objects = 0;
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            g->shadow.roots[m][s] = WORD_UNIT;
}

static void boehm_close(struct gc *g) {
    free_all(g);
    true_close(g);
    shadow_close(&g->shadow);
    free(g);
}

static void boehm_reset(struct gc *g, const struct gc_config *config) {
    if (g->in_cycle)
        true_collect(g); /* with the objects that it knows of */
    free_all(g);
    true_collect(g); /* empty blocks go back, nothing is marked or dirty: as in a new process */
    g->config = *config;
    g->typed = config->variant & TYPED;
    g->incremental = config->variant & INCREMENTAL;
    g->marked = false;
    shadow_reset(&g->shadow, config);
}

/* ---- collections -------------------------------------------------------------------------------
 */

static void end_cycle(struct gc *g) {
    g->marked = false;
    shadow_write(&g->shadow);
    forget_unreached(g);
    g->config.hooks->collections++;
}

static enum gc_result boehm_collect(struct gc *g, enum gc_collection kind) {
    (void)kind;
    shadow_read_slots(&g->shadow);
    true_collect(g);
    end_cycle(g);
    return GC_OK;
}

static enum gc_result boehm_step(struct gc *g, size_t budget) {
    (void)budget; /* libgc's own unit */
    if (!g->incremental)
        return GC_IDLE;
    shadow_read_slots(&g->shadow);
    bool more = true_slice(g);
    if (g->marked)
        end_cycle(g);
    return more ? GC_OK : GC_IDLE;
}

/* ---- the mutator -------------------------------------------------------------------------------
 */

static uint32_t first_of(unsigned tag, size_t wosize, const word *raw) {
    word first = tag >= TAG_NO_SCAN ? wosize : tag == TAG_CLOSURE ? closinfo_start_env(raw[1]) : 0;
    return (uint32_t)(first < wosize ? first : wosize);
}

/* A full table is a full heap. */
static bool has_room(const struct gc *g, size_t wosize) {
    return wosize < g->config.heap_words - g->shadow.used && g->n_objects < OBJECTS - 1;
}

static enum gc_result boehm_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                  unsigned tag, const word *raw) {
    if (!has_room(g, wosize)) {
        boehm_collect(g, GC_FULL);
        if (!has_room(g, wosize))
            return GC_OUT_OF_MEMORY;
    } else if (g->incremental) {
        boehm_step(g, 1);
    }
    uint32_t id = g->n_objects;
    struct object *o = &g->objects[id];
    word header = header_make(wosize, WHITE, tag);
    *o = (struct object){.wosize = (uint32_t)wosize, .first_scanned = first_of(tag, wosize, raw)};
    if (!true_allocate(g, o, id, header, raw))
        return GC_OUT_OF_MEMORY;
    g->n_objects++;
    g->config.slots[m][dst] = shadow_show(&g->shadow, o->value);
    return GC_OK;
}

static struct object *object_in(struct gc *g, unsigned m, unsigned slot) {
    size_t offset;
    uint32_t id = true_object(g, shadow_original(&g->shadow, g->config.slots[m][slot]), &offset);
    return id == NO_OBJECT ? NULL : &g->objects[id];
}

/* Static blocks are not libgc's: plain words.  Of a block that is lost nothing can be had. */
static word *shown_word(struct gc *g, unsigned m, unsigned slot, size_t i, const struct object *o) {
    word v = g->config.slots[m][slot];
    return o || !shadow_is_inside(&g->shadow, v) ? word_pointer(v) + i : NULL;
}

static enum gc_result boehm_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    struct object *o = object_in(g, m, obj);
    word *shown = shown_word(g, m, obj, i, o), v = g->config.slots[m][value];
    if (shown)
        *shown = v;
    if (o) {
        word_pointer(o->value)[i] = shadow_original(&g->shadow, v);
        true_written(o);
    }
    return GC_OK;
}

static void boehm_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    boehm_store(g, m, obj, i, value);
}

static enum gc_result boehm_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    const struct object *o = object_in(g, m, obj);
    const word *shown = shown_word(g, m, obj, i, o);
    if (o && i >= o->first_scanned)
        g->config.slots[m][dst] = shadow_show(&g->shadow, word_pointer(o->value)[i]);
    else
        g->config.slots[m][dst] = o       ? word_pointer(o->value)[i]
                                  : shown ? *shown
                                          : shadow_show(&g->shadow, LOST);
    return GC_OK;
}

static void boehm_write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    const struct object *o = object_in(g, m, obj);
    word *shown = shown_word(g, m, obj, i, o);
    if (shown)
        *shown = raw;
    if (o)
        word_pointer(o->value)[i] = raw;
}

/* ---- inspection --------------------------------------------------------------------------------
 */

static void boehm_walk(struct gc *g, gc_visit *visit, void *context) {
    shadow_refresh(&g->shadow);
    shadow_walk(&g->shadow, visit, context, NULL);
}

static word boehm_shown_at(struct gc *g, word shown) {
    word v = shadow_original(&g->shadow, shown);
    return v == LOST ? 0 : v;
}

static const char *const variants[] = {"untyped", "typed", "untyped, incremental",
                                       "typed, incremental", NULL};

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "Boehm-Demers-Weiser, the system's libgc; conservative",
    .traits = {.moves = true, /* in the shadow */
               .infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .any_word = true,
               .atoms = true,
               .conservative = true,
               .single = true,
               .refusal = REFUSES_ANYTIME,
               .max_heap_words = CAPACITY / 2,
               .max_mutators = GC_MUTATORS},
    .variants = variants,
    .open = boehm_open,
    .reset = boehm_reset,
    .close = boehm_close,
    .alloc = boehm_alloc,
    .init = boehm_init,
    .load = boehm_load,
    .store = boehm_store,
    .write_raw = boehm_write_raw,
    .collect = boehm_collect,
    .step = boehm_step,
    .walk = boehm_walk,
    .shown_at = boehm_shown_at,
};
