/* SPDX-License-Identifier: MIT
 *
 * The shadow: libgc's blocks as the harness sees them (internal.h).
 *
 * What the slots reach is found by the adapter itself, exactly, through the true words of the true
 * blocks.  A pointer to an object that libgc has freed becomes a pointer at words where no block
 * is: the oracles then say that it is lost.
 */
#include "collectors/boehm/boehm.h"
#include "collectors/boehm/internal.h"

#include <string.h>

bool shadow_has(const struct gc *g, word v) {
    return is_pointer(v) && v - pointer_word(g->shadow.base) < g->config.heap_words * sizeof(word);
}

static uint32_t place_of(const struct gc *g, word v) {
    return (uint32_t)((v - pointer_word(g->shadow.base)) / sizeof(word));
}

word shadow_to_true(const struct gc *g, word v) {
    if (!shadow_has(g, v))
        return v;
    word block = v;
    if (place_of(g, v) < g->used && header_tag(header_of(v)) == TAG_INFIX)
        block = infix_parent(v);
    uint32_t place = place_of(g, block), id = place < g->used ? g->owner[place] : NO_OBJECT;
    if (id >= g->n_objects || g->objects[id].place != place)
        return LOST;
    return g->objects[id].value + (v - block);
}

word shadow_nowhere(const struct gc *g) {
    size_t place = g->used + 1 < g->config.heap_words ? g->used + 1 : 0;
    return pointer_word(g->shadow.base + place);
}

word shadow_from_true(const struct gc *g, word v) {
    size_t offset;
    uint32_t id = true_object(g, v, &offset);
    if (id == NO_OBJECT)
        return v == LOST || true_is_inside(v) ? shadow_nowhere(g) : v;
    return pointer_word(g->shadow.base + g->objects[id].place + offset);
}

/* Content of a block: raw words and the code of closures as they are, fields translated.  What is
 * lost stays so when its memory is used again. */
static void write_block(struct gc *g, uint32_t id) {
    const struct object *o = &g->objects[id];
    word *from = word_pointer(o->value);
    word *to = g->shadow.base + o->place;
    to[-1] = from[-1];
    memcpy(to, from, o->first_scanned * sizeof(word));
    for (uint32_t f = o->first_scanned; f < o->wosize; f++) {
        size_t offset;
        if (true_is_inside(from[f]) && true_object(g, from[f], &offset) == NO_OBJECT)
            from[f] = LOST;
        to[f] = shadow_from_true(g, from[f]);
    }
}

void shadow_add(struct gc *g, uint32_t id, word header, const word *fields) {
    struct object *o = &g->objects[id];
    word *hp = g->shadow.base + g->used;
    g->config.hooks->unpoison(hp, o->wosize + 1);
    *hp = header;
    memcpy(hp + 1, fields, o->wosize * sizeof(word));
    o->place = (uint32_t)g->used + 1;
    g->owner[o->place] = id;
    g->used += o->wosize + 1;
}

void shadow_roots(struct gc *g) {
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            g->roots[m][s] = shadow_to_true(g, g->config.slots[m][s]);
}

void shadow_refresh(struct gc *g) {
    for (uint32_t id = 0; id < g->n_objects; id++)
        if (g->objects[id].alive)
            write_block(g, id);
}

/* ---- the trace ---------------------------------------------------------------------------------
 */

static uint32_t reach(struct gc *g, word v, uint32_t n) {
    size_t offset;
    uint32_t id = true_object(g, v, &offset);
    if (id == NO_OBJECT || g->objects[id].reached)
        return n;
    g->objects[id].reached = true;
    g->work[n] = id;
    return n + 1;
}

static void trace(struct gc *g) {
    uint32_t n = 0;
    for (uint32_t id = 0; id < g->n_objects; id++)
        g->objects[id].reached = false;
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            n = reach(g, g->roots[m][s], n);
    while (n > 0) {
        const struct object *o = &g->objects[g->work[--n]];
        for (uint32_t f = o->first_scanned; f < o->wosize; f++)
            n = reach(g, word_pointer(o->value)[f], n);
    }
}

static struct boehm_statistics statistics;

struct boehm_statistics OWN(statistics)(void);
struct boehm_statistics OWN(statistics)(void) {
    return statistics;
}

/* What libgc keeps by accident is no property of the program: no fuzzer may count it as an edge, or
 * two runs of one seed would differ. */
#if defined(__clang__)
#define NOT_COVERED __attribute__((no_sanitize("coverage")))
#else
#define NOT_COVERED
#endif

/* Forgets what is not reached: nothing can lead to it again.  What libgc kept of it is freed now,
 * so that a run does not depend on the runs before. */
NOT_COVERED static void forget(struct gc *g) {
    uint32_t kept = 0;
    statistics.collections++;
    for (uint32_t id = 0; id < g->n_objects; id++) {
        struct object *o = &g->objects[id];
        if (o->reached) {
            word *base = word_pointer(o->value) - PREFIX;
            base[0] = (word)kept << 1 | 1;
            g->objects[kept++] = *o;
            continue;
        }
        statistics.garbage_words += o->wosize + 1;
        statistics.kept_words += o->alive ? o->wosize + 1 : 0;
        if (o->alive)
            true_free(o);
    }
    g->n_objects = kept;
}

void shadow_rebuild(struct gc *g) {
    size_t before = g->used;
    g->marked = false;
    trace(g);
    forget(g);
    g->used = 0;
    for (uint32_t id = 0; id < g->n_objects; id++) {
        struct object *o = &g->objects[id];
        g->config.hooks->unpoison(g->shadow.base + g->used, o->wosize + 1);
        o->place = (uint32_t)g->used + 1;
        g->owner[o->place] = id;
        g->used += o->wosize + 1;
    }
    shadow_refresh(g);
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            g->config.slots[m][s] = shadow_from_true(g, g->roots[m][s]);
    if (before > g->used)
        g->config.hooks->poison(g->shadow.base + g->used, before - g->used);
}
