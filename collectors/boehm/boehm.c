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
    if (!arena_open(&g->shadow, CAPACITY)) {
        free(g);
        return NULL;
    }
    if (!true_open(g)) {
        arena_close(&g->shadow);
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
            g->roots[m][s] = WORD_UNIT;
}

static void boehm_close(struct gc *g) {
    free_all(g);
    true_close(g);
    arena_close(&g->shadow);
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
    g->used = 0;
    g->marked = false;
    arena_reset(&g->shadow, config->hooks, config->heap_words);
}

/* ---- collections -------------------------------------------------------------------------------
 */

static void end_cycle(struct gc *g) {
    shadow_rebuild(g);
    g->config.hooks->collections++;
}

static enum gc_result boehm_collect(struct gc *g, enum gc_collection kind) {
    (void)kind;
    shadow_roots(g);
    true_collect(g);
    end_cycle(g);
    return GC_OK;
}

static enum gc_result boehm_step(struct gc *g, size_t budget) {
    (void)budget; /* libgc's own unit */
    if (!g->incremental)
        return GC_IDLE;
    shadow_roots(g);
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
    return wosize < g->config.heap_words - g->used && g->n_objects < OBJECTS - 1;
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
    shadow_add(g, id, header, raw);
    g->config.slots[m][dst] = pointer_word(g->shadow.base + o->place);
    return GC_OK;
}

static struct object *object_in(struct gc *g, unsigned m, unsigned slot) {
    size_t offset;
    uint32_t id = true_object(g, shadow_to_true(g, g->config.slots[m][slot]), &offset);
    return id == NO_OBJECT ? NULL : &g->objects[id];
}

static void write_word(struct gc *g, struct object *o, size_t i, word shadow) {
    word_pointer(o->value)[i] = shadow_to_true(g, shadow);
    true_written(o);
    g->shadow.base[o->place + i] = shadow;
}

/* Static blocks are not libgc's: plain words.  Of a block that is lost nothing can be had. */
static word *static_word(struct gc *g, unsigned m, unsigned slot, size_t i) {
    word v = g->config.slots[m][slot];
    return shadow_has(g, v) ? NULL : word_pointer(v) + i;
}

static enum gc_result boehm_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    struct object *o = object_in(g, m, obj);
    word *plain = o ? NULL : static_word(g, m, obj, i);
    if (o)
        write_word(g, o, i, g->config.slots[m][value]);
    else if (plain)
        *plain = g->config.slots[m][value];
    return GC_OK;
}

static void boehm_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    boehm_store(g, m, obj, i, value);
}

static enum gc_result boehm_load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    struct object *o = object_in(g, m, obj);
    const word *plain = o ? NULL : static_word(g, m, obj, i);
    if (o && i >= o->first_scanned)
        g->config.slots[m][dst] = shadow_from_true(g, word_pointer(o->value)[i]);
    else if (o)
        g->config.slots[m][dst] = word_pointer(o->value)[i];
    else
        g->config.slots[m][dst] = plain ? *plain : shadow_nowhere(g);
    return GC_OK;
}

static void boehm_write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    struct object *o = object_in(g, m, obj);
    word *plain = o ? NULL : static_word(g, m, obj, i);
    if (o)
        word_pointer(o->value)[i] = g->shadow.base[o->place + i] = raw;
    else if (plain)
        *plain = raw;
}

/* ---- inspection --------------------------------------------------------------------------------
 */

static void boehm_walk(struct gc *g, gc_visit *visit, void *context) {
    word *hp = g->shadow.base, *end = hp + g->config.heap_words;
    shadow_refresh(g);
    while (hp < g->shadow.base + g->used) {
        size_t words = header_wosize(*hp) + 1;
        visit(context, GC_LIVE, hp, words);
        hp += words;
    }
    if (hp < end)
        visit(context, GC_UNUSED, hp, (size_t)(end - hp));
}

static word boehm_shown_at(struct gc *g, word shown) {
    word v = shadow_to_true(g, shown);
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
