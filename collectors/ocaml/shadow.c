/* SPDX-License-Identifier: MIT
 *
 * What the shadow shows of the runtime's heap (internal.h, collectors/shadow.h).
 */
#include "collectors/ocaml/internal.h"

#include <caml/mlvalues.h>
#include <caml/weak.h>

/* ---- blocks -------------------------------------------------------------------------------------
 */

static enum shadow_kind look(struct gc *g, word v, word *block, size_t *fields) {
    (void)g;
    if (!is_pointer(v) || !heap_is_inside(v))
        return SHADOW_DATA;
    if (v % sizeof(word))
        return SHADOW_LOST;
    *block = v;
    *fields = 0;
    if (heap_is_block(v))
        return SHADOW_BLOCK;
    if (header_tag(header_of(v)) != TAG_INFIX)
        return SHADOW_LOST;
    *block = infix_parent(v);
    *fields = (v - *block) / sizeof(word);
    return heap_is_block(*block) && header_tag(header_of(*block)) == TAG_CLOSURE ? SHADOW_BLOCK
                                                                                 : SHADOW_LOST;
}

/* Words at the start of a block that the runtime keeps for itself. */
static unsigned hidden_words(word block, bool ephemeron) {
    if (ephemeron)
        return CAML_EPHE_DATA_OFFSET; /* the link to the next one */
    return header_tag(header_of(block)) == TAG_CUSTOM ? CUSTOM_HIDDEN : 0;
}

static word shown_header(struct gc *g, word block) {
    (void)g;
    word header = header_of(block);
    bool ephemeron = heap_is_ephemeron(block);
    return header_make(header_wosize(header) - hidden_words(block, ephemeron), WHITE,
                       ephemeron ? 0 : header_tag(header));
}

/* Between mark and sweep, while ephemerons are cleaned. */
static void check_mark(struct gc *g, word block) {
    if (heap_lacks_mark(block))
        g->broken = "a block that can be reached is not marked after marking";
}

/* What can be seen of an ephemeron before its keys have been looked at. */
static void copy_ephemeron(struct gc *g, word *to, size_t wosize) {
    for (size_t i = 0; i < wosize; i++)
        to[i] = WORD_UNIT;
    if (g->n_ephemerons < sizeof g->ephemerons / sizeof *g->ephemerons)
        g->ephemerons[g->n_ephemerons++] = (uint32_t)(to - g->shadow.arena.base);
}

static void copy(struct gc *g, word block, word *to, size_t wosize) {
    bool ephemeron = heap_is_ephemeron(block);
    const word *from = word_pointer(block) + hidden_words(block, ephemeron);
    check_mark(g, block);
    if (ephemeron) {
        copy_ephemeron(g, to, wosize);
        return;
    }
    word first = first_scanned(block);
    unsigned tag = header_tag(header_of(block));
    for (size_t i = 0; i < wosize; i++)
        to[i] = i < first ? runtime_word(tag, from[i]) : shadow_of(&g->shadow, from[i]);
}

static word root(struct gc *g, unsigned m, unsigned slot) {
    (void)g; /* one runtime */
    return root_of(m, slot);
}
static void set_root(struct gc *g, unsigned m, unsigned slot, word v) {
    root_set_of(m, slot, v);
    g->clean = g->exact = false;
}

const struct shadow_subject ocaml_subject = {.lost = WORD_UNIT, /* what a broken heap has led to */
                                             .look = look,
                                             .header = shown_header,
                                             .copy = copy,
                                             .root = root,
                                             .set_root = set_root};

/* ---- ephemerons: their fields are shown as far as the program may observe them
 * --------------------
 */

/* A key, as the shadow shows it: unit if it is not set, or nothing else reaches it.  One that is
 * freed is to be shown as such. */
static bool key_is_alive(struct gc *g, word key) {
    word block;
    size_t fields;
    return key == (word)caml_ephe_none || look(g, key, &block, &fields) != SHADOW_BLOCK ||
           shadow_has(&g->shadow, block);
}

word runtime_past_forwards(struct gc *g, word key) {
    word block;
    size_t fields;
    for (unsigned n = 0; n < CAPACITY && is_pointer(key); n++) {
        if (look(g, key, &block, &fields) != SHADOW_BLOCK ||
            header_tag(header_of(block)) != TAG_FORWARD || is_immediate(word_pointer(block)[0]))
            break;
        key = word_pointer(block)[0];
    }
    return key;
}

/* later: as the keys may be after marking */
static bool keys_are_alive(struct gc *g, const word *fields, uint32_t wosize, bool later) {
    bool all = true;
    for (uint32_t i = 1; i < wosize; i++)
        all &= key_is_alive(g, fields[i]) ||
               (later && key_is_alive(g, runtime_past_forwards(g, fields[i])));
    return all;
}

static word shown(struct gc *g, word v) {
    return v == (word)caml_ephe_none ? WORD_UNIT : shadow_of(&g->shadow, v);
}

/* Data and keys of the runtime's ephemeron that is shown at a place, and how many there are. */
static const word *ephemeron_fields(const struct gc *g, uint32_t place, uint32_t *wosize) {
    *wosize = (uint32_t)header_wosize(g->shadow.arena.base[place - 1]);
    return word_pointer(g->shadow.blocks[place]) + CAML_EPHE_DATA_OFFSET;
}

/* Data of which all keys are alive, and what that reaches, until there is no more. */
static void show_data(struct gc *g, bool later) {
    uint32_t wosize;
    for (size_t before = SIZE_MAX; before != g->shadow.used;) {
        before = g->shadow.used;
        for (uint32_t e = 0; e < g->n_ephemerons; e++) {
            const word *fields = ephemeron_fields(g, g->ephemerons[e], &wosize);
            if (keys_are_alive(g, fields, wosize, later))
                g->shadow.arena.base[g->ephemerons[e]] = shown(g, fields[0]);
        }
        shadow_spread(&g->shadow);
    }
}

static void write_shadow(struct gc *g, bool later) {
    g->n_ephemerons = 0;
    shadow_write(&g->shadow);
    if (g->n_ephemerons)
        show_data(g, later);
}

static bool may_show_more(struct gc *g) {
    uint32_t wosize;
    bool more = false;
    for (uint32_t e = 0; e < g->n_ephemerons && !more; e++) {
        const word *fields = ephemeron_fields(g, g->ephemerons[e], &wosize);
        more = !keys_are_alive(g, fields, wosize, false) && keys_are_alive(g, fields, wosize, true);
    }
    return more;
}

static void show_keys(struct gc *g) {
    uint32_t wosize;
    for (uint32_t e = 0; e < g->n_ephemerons; e++) {
        const word *fields = ephemeron_fields(g, g->ephemerons[e], &wosize);
        for (uint32_t i = 1; i < wosize; i++)
            g->shadow.arena.base[g->ephemerons[e] + i] =
                key_is_alive(g, fields[i]) ? shown(g, fields[i]) : WORD_UNIT;
    }
}

/* ---- the shadow ---------------------------------------------------------------------------------
 */

void runtime_show(struct gc *g) {
    g->broken = NULL;
    heap_map(g);
    write_shadow(g, false);
    g->shadow.hidden = 0;
    if (may_show_more(g)) {
        const char *broken = g->broken; /* what is not reachable yet may have any colour */
        size_t now = g->shadow.used;
        write_shadow(g, true);
        g->shadow.hidden = g->shadow.used - now;
        write_shadow(g, false);
        g->broken = broken;
    }
    show_keys(g);
    g->clean = true;
}

bool runtime_is_shown(struct gc *g, word v) {
    word block;
    size_t fields;
    return is_immediate(v) || look(g, v, &block, &fields) != SHADOW_BLOCK ||
           shadow_has(&g->shadow, block);
}

word runtime_show_new(struct gc *g, word block) {
    heap_add(g, block);
    return shadow_show(&g->shadow, block);
}

static struct forwards forwards;

static void count_forward(struct gc *g, word block) {
    if (header_tag(header_of(block)) != TAG_FORWARD)
        return;
    forwards.all++;
    forwards.unreached += !shadow_has(&g->shadow, block);
}

struct forwards runtime_forwards(struct gc *g) {
    forwards = (struct forwards){0};
    heap_each(g, count_forward);
    return forwards;
}

/* After a full collection nothing else is left. */
struct visitor {
    void (*visit)(void *, word);
    void *garbage;
};
static struct visitor visitor;

static void visit_block(struct gc *g, word block) {
    (void)g;
    visitor.visit(visitor.garbage, block);
}

static void each(struct gc *g, void (*visit)(void *, word), void *garbage) {
    visitor = (struct visitor){visit, garbage};
    heap_each(g, visit_block);
}

void runtime_walk(struct gc *g, gc_visit *visit, void *context) {
    shadow_read_slots(&g->shadow);
    if (!g->clean)
        runtime_show(g);
    shadow_walk(&g->shadow, visit, context, g->exact ? each : NULL);
}
