/* SPDX-License-Identifier: MIT
 *
 * Pictures of the state: the blocks of one party with names, and the heap map (harness.h).
 */
#include "harness/call.h"
#include "program/text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One buffer for all snapshots of a process: pictures are not made while fuzzing. */
static struct snapshot_block *blocks;
static size_t n_blocks, capacity;
static uint32_t *block_at;                  /* heap: id -> index + 1; model: object -> index + 1 */
enum { IDS = 4 * PROGRAM_HEAP_WORDS + 16 }; /* side_words; no fewer than MODEL_OBJECTS */
_Static_assert((int)IDS >= (int)MODEL_OBJECTS, "every block of a model has a place");

static struct snapshot_block *add_block(void) {
    if (n_blocks == capacity) {
        size_t larger = capacity ? 2 * capacity : 256;
        struct snapshot_block *moved = realloc(blocks, larger * sizeof *blocks);
        if (!moved)
            return NULL;
        blocks = moved;
        capacity = larger;
    }
    memset(&blocks[n_blocks], 0, sizeof *blocks);
    return &blocks[n_blocks++];
}

/* ---- a collector's heap ------------------------------------------------------------------------
 */

struct taking {
    struct graph *g;
    const word *next;
    bool broken;
};

static void take(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct taking *t = context;
    if (t->broken || kind == GC_FREE_LIST_ENTRY)
        return;
    if (!t->next)
        t->g->base = t->next = header;
    if (header != t->next || words == 0 || words > (size_t)(t->g->base + t->g->words - header)) {
        t->broken = true; /* shown as far as it goes */
        return;
    }
    t->next = header + words;
    struct snapshot_block *b = add_block();
    if (!b)
        return;
    b->offset = (size_t)(header - t->g->base);
    b->wosize = kind == GC_UNUSED ? words : words - 1;
    b->extent = kind;
    if (kind != GC_UNUSED) {
        b->tag = header_tag(*header);
        b->colour = header_colour(*header);
    }
    if (kind != GC_LIVE)
        return;
    struct graph_block block = graph_block(t->g, (uint32_t)b->offset + 1);
    b->fields = block.fields;
    b->first_scanned = block.first_scanned;
    block_at[b->offset + 1] = (uint32_t)n_blocks;
}

static void take_statics(struct graph *g) {
    for (size_t i = 0; i < g->static_words;) {
        size_t words = header_wosize(g->statics[i]) + 1, id = g->words + i + 1;
        struct snapshot_block *b = add_block();
        if (!b)
            return;
        struct graph_block block = graph_block(g, (uint32_t)id);
        *b = (struct snapshot_block){.offset = SIZE_MAX,
                                     .wosize = block.wosize,
                                     .tag = block.tag,
                                     .colour = header_colour(g->statics[i]),
                                     .extent = GC_LIVE,
                                     .fields = block.fields,
                                     .first_scanned = block.first_scanned};
        block_at[id] = (uint32_t)n_blocks;
        i += words;
    }
}

/* The view by which snapshot_resolve understands words: trusts no stamps, asks block_at. */
static struct snapshot_edge resolve_heap(const struct graph *g, word v) {
    struct snapshot_edge edge = {.block = SIZE_MAX};
    size_t id;
    if (is_immediate(v))
        return edge;
    if (v - pointer_word(g->base) < g->words * sizeof(word))
        id = (size_t)(v - pointer_word(g->base)) / sizeof(word);
    else if (v - pointer_word(g->statics) < g->static_words * sizeof(word))
        id = g->words + (size_t)(v - pointer_word(g->statics)) / sizeof(word);
    else
        return edge;
    edge.pointer = true;
    edge.at = id;
    for (size_t back = 0; v % sizeof(word) == 0 && back <= id && back < 64; back++) {
        if (!block_at[id - back])
            continue;
        const struct snapshot_block *b = &blocks[block_at[id - back] - 1];
        if (back == 0 || (b->tag == TAG_CLOSURE && back < b->first_scanned &&
                          header_tag(b->fields[back - 1]) == TAG_INFIX)) {
            edge.block = block_at[id - back] - 1;
            edge.offset = back;
        }
        break;
    }
    return edge;
}

/* ---- the model ---------------------------------------------------------------------------------
 */

static void take_model(struct runner *r) {
    static const struct snapshot_block none;
    for (uint32_t i = 0; i < r->model.n_order; i++) {
        uint32_t object = r->model.order[i];
        const struct model_object *o = &r->model.objects[object];
        struct snapshot_block *b = add_block();
        if (!b)
            return;
        *b = none;
        b->offset = SIZE_MAX;
        b->wosize = o->wosize;
        b->tag = o->tag;
        b->extent = GC_LIVE;
        b->fields = r->model.fields + o->first_field;
        b->first_scanned = o->first_scanned;
        object_name(&r->model, object, b->name, sizeof b->name);
        block_at[object] = (uint32_t)n_blocks;
    }
}

static struct snapshot_edge resolve_model(word v) {
    struct snapshot_edge edge = {.block = SIZE_MAX};
    if (!model_is_pointer(v))
        return edge;
    edge.pointer = true;
    if (block_at[model_object(v)]) {
        edge.block = block_at[model_object(v)] - 1;
        edge.offset = model_offset(v);
    }
    return edge;
}

/* ---- both --------------------------------------------------------------------------------------
 */

struct snapshot_edge snapshot_resolve(const struct snapshot *s, word v) {
    return s->party == PARTY_MODEL ? resolve_model(v)
                                   : resolve_heap(&s->runner->side[s->party].graph, v);
}

bool snapshot_address(const struct snapshot *s, word v, char *out, size_t room) {
    const struct model *model = &s->runner->model;
    uint32_t n = 0; /* the first of equal ones: its text stays */
    if (s->party == PARTY_MODEL)
        n = model_is_address(model, v) ? model_address_number(v) : model->n_addresses;
    else
        while (n < model->n_addresses && model->addresses[n].words[s->party] != v)
            n++;
    if (n < model->n_addresses)
        value_print(&model->addresses[n].value, model->addresses[n].script, out, room);
    return n < model->n_addresses;
}

static void reach_word(const struct snapshot *s, word v, size_t *work, size_t *n) {
    struct snapshot_edge edge = snapshot_resolve(s, v);
    if (edge.block == SIZE_MAX || blocks[edge.block].reachable)
        return;
    blocks[edge.block].reachable = true;
    work[(*n)++] = edge.block;
}

static void find_reachable(const struct snapshot *s) {
    size_t *work = malloc((n_blocks + 1) * sizeof *work), n = 0;
    if (!work)
        return;
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++)
        reach_word(s, s->slots[i], work, &n);
    while (n) {
        const struct snapshot_block *b = &blocks[work[--n]];
        for (size_t f = b->first_scanned; f < b->wosize; f++)
            reach_word(s, b->fields[f], work, &n);
    }
    free(work);
}

bool runner_snapshot(struct runner *r, enum party party, struct snapshot *s) {
    *s = (struct snapshot){.party = party, .runner = r, .mutators = r->mutators, .young = SIZE_MAX};
    s->heap_words = r->heap_words;
    if (s->heap_words > PROGRAM_HEAP_WORDS)
        return false; /* nobody looks at a million blocks */
    if (!block_at)
        block_at = malloc(IDS * sizeof *block_at);
    if (!block_at)
        return false;
    memset(block_at, 0, IDS * sizeof *block_at);
    n_blocks = 0;
    if (party == PARTY_MODEL) {
        take_model(r);
        s->slots = r->model.slots[0];
    } else {
        struct side *side = &r->side[party];
        struct taking t = {.g = &side->graph};
        if ((unsigned)party >= r->n_sides || !side->collector->walk || !side->graph.base)
            return false;
        call_visit(side, take, &t);
        s->unsettled = !call_settled(side);
        if (side->graph.nursery_words)
            s->young = side->graph.words - side->graph.nursery_words;
        take_statics(&side->graph);
        s->slots = side->slots[0];
    }
    s->blocks = blocks;
    s->n_blocks = n_blocks;
    find_reachable(s);
    if (party != PARTY_MODEL)
        name_blocks(r, s);
    return true;
}

bool runner_remembered(struct runner *r, enum party party,
                       void (*visit)(void *context, word block, size_t i), void *context) {
    const struct side *s = &r->side[party == PARTY_REFERENCE];
    enum party before = r->running;
    if ((unsigned)party >= r->n_sides || !s->collector->young || !s->collector->remembered)
        return false;
    r->running = party;
    s->collector->remembered(s->gc, visit, context);
    r->running = before;
    return true;
}

/* ---- the map -----------------------------------------------------------------------------------
 */

enum { MAP_LINE = 64 };

static char map_char(const struct snapshot_block *b, size_t number, size_t word_of_block) {
    switch (b->extent) {
    case GC_FREE:
        return '.';
    case GC_FRAGMENT:
        return ',';
    case GC_UNUSED:
        return '-';
    default:
        break;
    }
    if (!b->reachable)
        return 'x';
    return (char)((word_of_block ? 'a' : 'A') + number % 26);
}

size_t snapshot_map(const struct snapshot *s, char *out, size_t room) {
    size_t length = 0, column = 0;
    for (size_t i = 0, number = 0; i < s->n_blocks; i++) {
        const struct snapshot_block *b = &s->blocks[i];
        size_t words = b->extent == GC_UNUSED ? b->wosize : b->wosize + 1;
        if (s->party != PARTY_MODEL && b->offset == SIZE_MAX)
            continue; /* static: not in the heap */
        for (size_t w = 0; w < words; w++) {
            if (length + 1 < room)
                out[length] = map_char(b, number, w);
            length++;
            if (++column % MAP_LINE == 0) {
                if (length + 1 < room)
                    out[length] = '\n';
                length++;
            }
        }
        number += b->extent == GC_LIVE && b->reachable;
    }
    if (column % MAP_LINE) {
        if (length + 1 < room)
            out[length] = '\n';
        length++;
    }
    if (room)
        out[length < room ? length : room - 1] = 0;
    return length;
}
