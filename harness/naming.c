/* SPDX-License-Identifier: MIT
 *
 * Names of the blocks in a collector's heap, for pictures (harness.h).
 *
 * Names come from the model, along equal paths from the roots.  What no root reaches any more keeps
 * the name that an earlier snapshot gave it: as long as it must still lie where it was seen.
 */
#include "harness/internal.h"

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

/* A collection that moves leaves nothing where it was. */
static void recall(struct runner *r, enum party party, struct snapshot_block *b) {
    const struct side *s = &r->side[party];
    const struct memory *m = memory_at(r, party, b->fields);
    if (m && m->run == r->run && m->fields == b->fields && m->wosize == b->wosize &&
        m->tag == b->tag && (!s->traits.moves || m->collections == s->hooks->collections))
        memcpy(b->name, m->name, sizeof b->name);
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
    uint32_t *objects; /* the model's object for each named block */
    size_t *work, n;
};

static void name_word(struct naming *n, word v, word m) {
    struct snapshot_edge edge = snapshot_resolve(n->snapshot, v);
    if (edge.block == SIZE_MAX || !model_is_pointer(m))
        return;
    struct snapshot_block *b = &n->snapshot->blocks[edge.block];
    if (b->name[0])
        return;
    object_name(&n->runner->model, model_object(m), b->name, sizeof b->name);
    n->objects[edge.block] = model_object(m);
    n->work[n->n++] = edge.block;
}

static void name_reachable(struct naming *n) {
    const struct model *model = &n->runner->model;
    const struct snapshot *s = n->snapshot;
    for (unsigned i = 0; i < s->mutators * GC_SLOTS; i++)
        name_word(n, s->slots[i], model->slots[i / GC_SLOTS][i % GC_SLOTS]);
    while (n->n) {
        size_t at = n->work[--n->n];
        const struct snapshot_block *b = &s->blocks[at];
        const struct model_object *o = &model->objects[n->objects[at]];
        const word *fields = model->fields + o->first_field;
        for (size_t f = o->first_scanned; f < o->wosize && f < b->wosize; f++)
            name_word(n, b->fields[f], fields[f]);
    }
}

void name_blocks(struct runner *r, const struct snapshot *s) {
    struct naming n = {.runner = r, .snapshot = s};
    n.work = malloc((s->n_blocks + 1) * sizeof *n.work);
    n.objects = malloc((s->n_blocks + 1) * sizeof *n.objects);
    if (n.work && n.objects)
        name_reachable(&n);
    free(n.work);
    free(n.objects);
    if (!r->memories[s->party])
        r->memories[s->party] = calloc(PLACES, sizeof **r->memories);
    if (!r->memories[s->party])
        return;
    if (r->verdict.op == OP_INITIAL)
        remember_initial(r, s->party);
    for (size_t i = 0; i < s->n_blocks; i++) {
        struct snapshot_block *b = &s->blocks[i];
        if (b->extent != GC_LIVE)
            continue;
        if (!b->name[0] && !b->reachable)
            recall(r, s->party, b);
        if (b->name[0])
            remember(r, s->party, b);
    }
}
