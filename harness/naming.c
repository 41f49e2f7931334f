/* SPDX-License-Identifier: MIT
 *
 * Names of the blocks in a collector's heap, for pictures (harness.h).
 *
 * Names come from the model.  A block that lies where it was seen under a name, and cannot have
 * moved, has that name; others get theirs along equal paths from the roots, but not along the last
 * step of the differing path, which leads to what should be elsewhere, as long as there is another.
 */
#include "harness/call.h"
#include "harness/path.h"
#include "views/large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 2 * PROGRAM_HEAP_WORDS + 16 };

/* What was last seen at a place: the block whose field 0 is word `place` of the heap; static blocks
 * come behind the heap.  One table for all runs of a runner: a run has a number. */
struct memory {
    char name[sizeof((struct snapshot_block *)0)->name];
    uint64_t run, collections;
    const word *fields;
    size_t wosize;
    unsigned tag;
};

static struct memory *memory_at(const struct runner *r, enum party party, const word *fields) {
    const struct graph *g = &r->side[party].graph;
    word v = pointer_word(fields), place = (v - pointer_word(g->base)) / sizeof(word);
    if (place >= g->words)
        place = g->words + (v - pointer_word(g->statics)) / sizeof(word);
    return place < PLACES ? &r->memories[party][place] : NULL;
}

static void remember(struct runner *r, enum party party, const struct snapshot_block *b) {
    struct memory *m = memory_at(r, party, b->fields);
    if (!m)
        return;
    *m = (struct memory){.run = r->run,
                         .collections = r->side[party].hooks->collections,
                         .fields = b->fields,
                         .wosize = b->wosize,
                         .tag = b->tag};
    memcpy(m->name, b->name, sizeof m->name);
}

/* What was seen there and cannot have moved, or NULL: a collection that moves leaves nothing where
 * it was. */
static const struct memory *recall(struct runner *r, enum party party, const word *fields) {
    const struct side *s = &r->side[party];
    const struct memory *m = r->memories[party] ? memory_at(r, party, fields) : NULL;
    bool stays = m && (!s->traits.moves || m->collections == s->hooks->collections);
    return stays && m->run == r->run && m->fields == fields ? m : NULL;
}

static void recall_name(struct runner *r, enum party party, struct snapshot_block *b) {
    const struct memory *m = recall(r, party, b->fields);
    if (m && m->wosize == b->wosize && m->tag == b->tag)
        memcpy(b->name, m->name, sizeof b->name);
}

void name_new(struct runner *r, unsigned m, unsigned object) {
    const struct model_object *o = &r->model.objects[object];
    FOR_SIDES (r, s) {
        word v = s->slots[m][SLOT_NEW];
        struct snapshot_block b = {.wosize = o->wosize, .tag = o->tag};
        if (!r->memories[s->party] || !is_pointer(v) || v % sizeof(word))
            continue;
        b.fields = word_pointer(v);
        object_name(&r->model, object, b.name, sizeof b.name);
        remember(r, s->party, &b);
    }
}

/* The model knows where every block of the initial heap lies. */
static void remember_initial(struct runner *r, enum party party) {
    for (uint32_t o = 0; o < r->model.n_objects; o++) {
        const struct model_object *object = &r->model.objects[o];
        struct snapshot_block b = {.wosize = object->wosize, .tag = object->tag};
        if (!object->address[party] || object->address[party] % sizeof(word))
            continue;
        b.fields = word_pointer(object->address[party]);
        object_name(&r->model, o, b.name, sizeof b.name);
        remember(r, party, &b);
    }
}

struct naming {
    struct runner *runner;
    const struct snapshot *snapshot;
    uint32_t *objects; /* the model's object for each block that has been met; MODEL_NONE */
    uint16_t *copies;  /* how many blocks have the name of each object */
    size_t *work, n;
    const word *differing; /* the word that the path of the verdict ends in, or NULL */
    bool careful;          /* equal words alone: of blocks of the same shape, and not that one */
};

/* A second block in the place of b3 is b3#2. */
static void give_name(struct naming *n, struct snapshot_block *b, unsigned object) {
    size_t length = object_name(&n->runner->model, object, b->name, sizeof b->name);
    unsigned copies = n->copies[object] += n->copies[object] < 999;
    if (copies > 1 && length < sizeof b->name)
        snprintf(b->name + length, sizeof b->name - length, "#%u", copies);
}

static void name_word(struct naming *n, const word *place, word m) {
    struct snapshot_edge edge = snapshot_resolve(n->snapshot, *place);
    if (edge.block == SIZE_MAX || !model_is_pointer(m))
        return;
    struct snapshot_block *b = &n->snapshot->blocks[edge.block];
    const struct model_object *o = &n->runner->model.objects[model_object(m)];
    bool alike = b->wosize == o->wosize && b->tag == o->tag && edge.offset == model_offset(m);
    if (n->objects[edge.block] != MODEL_NONE || (n->careful && (!alike || place == n->differing)))
        return;
    if (!b->name[0])
        give_name(n, b, model_object(m));
    else if (n->careful)
        n->copies[model_object(m)]++;
    n->objects[edge.block] = model_object(m);
    n->work[n->n++] = edge.block;
}

static void name_reachable(struct naming *n) {
    const struct model *model = &n->runner->model;
    const struct snapshot *s = n->snapshot;
    for (size_t i = 0; i < s->n_blocks; i++)
        n->objects[i] = MODEL_NONE;
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++)
        name_word(n, &s->slots[i], model->slots[i / GC_SLOTS][i % GC_SLOTS]);
    while (n->n) {
        size_t at = n->work[--n->n];
        const struct snapshot_block *b = &s->blocks[at];
        const struct model_object *o = &model->objects[n->objects[at]];
        const word *fields = model->fields + o->first_field;
        for (size_t f = o->first_scanned; f < o->wosize && f < b->wosize; f++)
            name_word(n, &b->fields[f], fields[f]);
    }
}

/* The slot or field of the party that the path of the verdict ends in, or NULL. */
static const word *differing_word(const struct snapshot *s) {
    struct path path = path_read(runner_current(s->runner, NULL)->path);
    if (!path.given || path.slot >= s->mutators * GC_SLOTS)
        return NULL;
    const word *place = &s->slots[path.slot];
    for (unsigned i = 0; i < path.n; i++) {
        struct snapshot_edge edge = snapshot_resolve(s, *place);
        if (edge.block == SIZE_MAX || path.steps[i] >= s->blocks[edge.block].wosize)
            return NULL;
        place = &s->blocks[edge.block].fields[path.steps[i]];
    }
    return place;
}

void name_blocks(struct runner *r, const struct snapshot *s) {
    struct naming n = {.runner = r, .snapshot = s, .differing = differing_word(s), .careful = true};
    if (r->memories[s->party])
        for (size_t i = 0; i < s->n_blocks; i++)
            if (s->blocks[i].extent == GC_LIVE)
                recall_name(r, s->party, &s->blocks[i]);
    n.work = malloc((s->n_blocks + 1) * sizeof *n.work);
    n.objects = malloc((s->n_blocks + 1) * sizeof *n.objects);
    n.copies = large_calloc(MODEL_OBJECTS, sizeof *n.copies); /* few are ever touched */
    for (unsigned pass = 0; n.work && n.objects && n.copies && pass < 2; pass++) {
        name_reachable(&n);
        n.careful = false;
    }
    free(n.work);
    free(n.objects);
    large_free(n.copies);
    if (!r->memories[s->party])
        r->memories[s->party] = large_calloc(PLACES, sizeof **r->memories);
    if (!r->memories[s->party])
        return;
    if (r->verdict.op == OP_INITIAL)
        remember_initial(r, s->party);
    for (size_t i = 0; i < s->n_blocks; i++) {
        struct snapshot_block *b = &s->blocks[i];
        if (b->extent != GC_LIVE)
            continue;
        if (b->name[0])
            remember(r, s->party, b);
    }
}

/* What was last seen there: a block that starts there, or a closure with an infix block there. */
static const struct memory *last_there(struct runner *r, enum party party, const word *fields) {
    enum { FARTHEST = 64 };
    const word *first = r->side[party].graph.base;
    for (size_t back = 0; back < FARTHEST && fields - back > first; back++) {
        const struct memory *m = recall(r, party, fields - back);
        if (m)
            return back == 0 || (m->tag == TAG_CLOSURE && back < m->wosize) ? m : NULL;
    }
    return NULL;
}

void name_of_word(struct runner *r, enum party party, word v, char out[NAME_TEXT]) {
    struct side *side = &r->side[party];
    struct snapshot s;
    enum party running = r->running;
    uint64_t fuel = side->hooks->fuel;
    const struct memory *m = NULL;
    out[0] = 0;
    if (is_immediate(v) || !runner_snapshot(r, party, &s))
        return;
    struct snapshot_edge edge = snapshot_resolve(&s, v);
    if (edge.block != SIZE_MAX)
        memcpy(out, s.blocks[edge.block].name, NAME_TEXT);
    else if (edge.pointer && v % sizeof(word) == 0 && (m = last_there(r, party, word_pointer(v))))
        memcpy(out, m->name, NAME_TEXT);
    r->running = running;
    side->hooks->fuel = fuel;
}
