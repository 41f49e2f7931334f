/* SPDX-License-Identifier: MIT
 *
 * The shadow of the runtime's heap (internal.h).
 */
#include "collectors/ocaml/internal.h"

#include <string.h>

#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/weak.h>

static word shadow_word(const struct gc *g, uint32_t place) {
    return pointer_word(g->shadow.base + place);
}

/* ---- shadow to runtime --------------------------------------------------------------------------
 */

word shadow_original(const struct gc *g, word v) {
    word at = v - pointer_word(g->shadow.base);
    if (is_immediate(v) || at >= g->config.heap_words * sizeof(word))
        return v;
    uint32_t place = (uint32_t)(at / sizeof(word));
    if (g->original[place])
        return g->original[place];
    word header = header_of(v); /* an infix pointer: as far into the block */
    uint32_t back = (uint32_t)header_wosize(header);
    if (header_tag(header) != TAG_INFIX || back > place || !g->original[place - back])
        return WORD_UNIT; /* what a broken heap has led to */
    return g->original[place - back] + back * sizeof(word);
}

void shadow_read_slots(struct gc *g) {
    const word *slots = g->config.slots[0];
    for (unsigned s = 0; s < GC_SLOTS; s++) {
        if (slots[s] == g->synced[s])
            continue;
        root_set(s, shadow_original(g, slots[s]));
        g->synced[s] = slots[s];
        g->clean = false;
    }
}

/* ---- runtime to shadow --------------------------------------------------------------------------
 */

/* Words at the start of a block that the runtime keeps for itself. */
static unsigned hidden_words(const struct cell *cell, word block) {
    if (cell->ephemeron)
        return CAML_EPHE_DATA_OFFSET; /* the link to the next one */
    return header_tag(header_of(block)) == TAG_CUSTOM ? CUSTOM_HIDDEN : 0;
}
static uint32_t shown_wosize(const struct cell *cell, word block) {
    return (uint32_t)header_wosize(header_of(block)) - hidden_words(cell, block);
}
static unsigned shown_tag(const struct cell *cell, word block) {
    return cell->ephemeron ? 0 : header_tag(header_of(block));
}

/* Makes room for the block at the end of the shadow. */
static uint32_t place_block(struct gc *g, struct cell *cell, word block) {
    uint32_t words = shown_wosize(cell, block) + 1;
    if (words > g->config.heap_words - g->used) {
        g->broken = "the blocks that can be reached are more than the program has made";
        return 0;
    }
    uint32_t place = g->used + 1;
    g->used += words;
    g->shadow.base[place - 1] = header_make(words - 1, WHITE, shown_tag(cell, block));
    g->original[place] = block;
    g->queue[g->n_queue++] = place;
    cell->place = place;
    return place;
}

/* A word that leads to where no live block is: the last one of the shadow, which a block takes only
 * if nothing is free. */
static word lost_word(const struct gc *g) {
    return pointer_word(g->shadow.base + g->config.heap_words - 1);
}

/* The copy of a block that a live word points at, found or made; add: make it. */
static word convert(struct gc *g, word v, bool add) {
    struct cell *cell = is_pointer(v) ? heap_cell(g, v) : NULL;
    if (!cell)
        return v;
    if (v % sizeof(word))
        return lost_word(g);
    word offset = 0;
    if (cell->stamp != g->epoch) { /* an infix pointer? */
        offset = header_wosize(header_of(v)) * sizeof(word);
        struct cell *closure =
            header_tag(header_of(v)) == TAG_INFIX ? heap_cell(g, v - offset) : NULL;
        if (!closure || closure->stamp != g->epoch ||
            header_tag(header_of(v - offset)) != TAG_CLOSURE)
            return lost_word(g);
        cell = closure;
    }
    if (!cell->place && (!add || !place_block(g, cell, v - offset)))
        return lost_word(g);
    return shadow_word(g, cell->place) + offset;
}

word shadow_of(struct gc *g, word v) {
    return convert(g, v, false);
}

/* Between mark and sweep, while ephemerons are cleaned, whatever can be reached is black. */
static void check_black(struct gc *g, word block) {
    if (caml_gc_phase == Phase_clean && !Is_young((value)block) &&
        header_colour(header_of(block)) != BLACK)
        g->broken = "a block that can be reached is not black after marking";
}

/* What can be seen of an ephemeron before its keys have been looked at. */
static void copy_ephemeron(struct gc *g, uint32_t place) {
    uint32_t wosize = (uint32_t)header_wosize(g->shadow.base[place - 1]);
    for (uint32_t i = 0; i < wosize; i++)
        g->shadow.base[place + i] = WORD_UNIT;
    if (g->n_ephemerons < sizeof g->ephemerons / sizeof *g->ephemerons)
        g->ephemerons[g->n_ephemerons++] = place;
}

static void copy_block(struct gc *g, uint32_t place, bool add) {
    word block = g->original[place], *to = g->shadow.base + place;
    const struct cell *cell = heap_cell(g, block);
    const word *from = word_pointer(block) + hidden_words(cell, block);
    uint32_t wosize = shown_wosize(cell, block);
    check_black(g, block);
    if (cell->ephemeron) {
        copy_ephemeron(g, place);
        return;
    }
    word first = first_scanned(block);
    unsigned tag = header_tag(header_of(block));
    for (uint32_t i = 0; i < wosize; i++)
        to[i] = i < first ? runtime_word(tag, from[i]) : convert(g, from[i], add);
}

/* ---- ephemerons: their fields are shown as far as the program may observe them
 * --------------------
 */

/* A key, as the shadow shows it: unit if it is not set, or nothing else reaches it. */
static bool key_is_alive(struct gc *g, word key) {
    struct cell *cell = is_pointer(key) && key != (word)caml_ephe_none ? heap_cell(g, key) : NULL;
    if (!cell)
        return true;
    if (cell->stamp != g->epoch && key % sizeof(word) == 0 &&
        header_tag(header_of(key)) == TAG_INFIX) {
        cell = heap_cell(g, infix_parent(key));
        if (!cell)
            return false;
    }
    return cell->stamp != g->epoch /* freed: to be shown as such */ || cell->place;
}

static bool keys_are_alive(struct gc *g, const word *fields, uint32_t wosize) {
    bool all = true;
    for (uint32_t i = 1; i < wosize; i++)
        all &= key_is_alive(g, fields[i]);
    return all;
}

static word shown(struct gc *g, word v, bool add) {
    return v == (word)caml_ephe_none ? WORD_UNIT : convert(g, v, add);
}

/* Data of which all keys are alive, and what that reaches, until there is no more. */
static void show_data(struct gc *g, uint32_t *done) {
    for (uint32_t before = UINT32_MAX; before != g->n_queue;) {
        before = g->n_queue;
        for (uint32_t e = 0; e < g->n_ephemerons; e++) {
            uint32_t place = g->ephemerons[e];
            const word *fields = word_pointer(g->original[place]) + CAML_EPHE_DATA_OFFSET;
            if (keys_are_alive(g, fields, (uint32_t)header_wosize(g->shadow.base[place - 1])))
                g->shadow.base[place] = shown(g, fields[0], true);
        }
        for (; *done < g->n_queue; ++*done)
            copy_block(g, g->queue[*done], true);
    }
}

static void show_keys(struct gc *g) {
    for (uint32_t e = 0; e < g->n_ephemerons; e++) {
        uint32_t place = g->ephemerons[e];
        const word *fields = word_pointer(g->original[place]) + CAML_EPHE_DATA_OFFSET;
        for (uint32_t i = 1; i < header_wosize(g->shadow.base[place - 1]); i++)
            g->shadow.base[place + i] =
                key_is_alive(g, fields[i]) ? shown(g, fields[i], false) : WORD_UNIT;
    }
}

/* Every word that was in use and the rest, so that nothing old is left to be taken for a block. */
static void clear(struct gc *g) {
    memset(g->original, 0, g->config.heap_words * sizeof *g->original);
    g->used = g->n_queue = g->n_ephemerons = 0;
}

void shadow_write(struct gc *g) {
    g->broken = NULL;
    heap_map(g);
    clear(g);
    word *slots = g->config.slots[0];
    for (unsigned s = 0; s < GC_SLOTS; s++)
        slots[s] = g->synced[s] = convert(g, root_get(s), true);
    uint32_t done = 0;
    for (; done < g->n_queue; done++)
        copy_block(g, g->queue[done], true);
    if (g->n_ephemerons) {
        show_data(g, &done);
        show_keys(g);
    }
    g->clean = true;
}

word shadow_append(struct gc *g, word block) {
    struct cell *cell = heap_cell(g, block);
    if (!cell) { /* in a new chunk */
        heap_map(g);
        for (uint32_t q = 0; q < g->n_queue; q++)
            heap_cell(g, g->original[g->queue[q]])->place = g->queue[q];
        cell = heap_cell(g, block);
    }
    cell->stamp = g->epoch;
    cell->place = 0;
    cell->ephemeron = false;
    uint32_t place = place_block(g, cell, block);
    copy_block(g, place, false);
    return shadow_word(g, place);
}

/* ---- the walk -----------------------------------------------------------------------------------
 */

/* After a full collection nothing else is left but Forward blocks, which live one cycle longer than
 * the pointers that the collector has led past them.  Anything more is shown as a block of units
 * behind the others. */
struct garbage {
    gc_visit *visit;
    void *context;
    uint32_t end;
};
static struct garbage garbage;

static void show_garbage(struct gc *g, word block) {
    const struct cell *cell = heap_cell(g, block);
    uint32_t words = shown_wosize(cell, block) + 1;
    if (cell->place || header_tag(header_of(block)) == TAG_FORWARD ||
        words > g->config.heap_words - garbage.end)
        return;
    word *hp = g->shadow.base + garbage.end;
    *hp = header_make(words - 1, WHITE, 0);
    for (uint32_t i = 1; i < words; i++)
        hp[i] = WORD_UNIT;
    garbage.end += words;
    garbage.visit(garbage.context, GC_LIVE, hp, words);
}

void shadow_walk(struct gc *g, gc_visit *visit, void *context) {
    word *base = g->shadow.base;
    shadow_read_slots(g);
    if (!g->clean)
        shadow_write(g);
    for (uint32_t at = 0; at < g->used;) {
        uint32_t words = (uint32_t)header_wosize(base[at]) + 1;
        visit(context, GC_LIVE, base + at, words);
        at += words;
    }
    garbage = (struct garbage){visit, context, g->used};
    if (g->exact)
        heap_each(g, show_garbage);
    if (garbage.end < g->config.heap_words)
        visit(context, GC_UNUSED, base + garbage.end, g->config.heap_words - garbage.end);
}
