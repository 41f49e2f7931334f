/* SPDX-License-Identifier: MIT
 *
 * Graph views: one small interface to the object graph of a model or of a collector's heap.
 *
 * A view resolves a word to a block (a dense number below `universe`) or to an atom, and shows the
 * tag, raw words and scanned fields of a block.  Definition 2 (object graph) of the verified OCaml
 * collector: vertices are blocks, an infix pointer is an edge to its closure.
 */
#ifndef ISOHEAP_GRAPH_H
#define ISOHEAP_GRAPH_H

#include "collectors/collector.h"
#include "views/bits.h"
#include "views/model.h"

enum graph_kind {
    GRAPH_ATOM,    /* immediate, code pointer, or a word that points outside heap and statics */
    GRAPH_BLOCK,   /* block `id`, at field `offset` (0, or an infix block) */
    GRAPH_LOST,    /* into the heap, where no live block is */
    GRAPH_DANGLING /* into a live block, but not to its start or an infix block of it */
};
struct graph_ref {
    enum graph_kind kind;
    uint32_t id, offset;
};
struct graph_block {
    unsigned tag;
    uint32_t wosize, first_scanned;
    const word *fields;
};

/* What a view knows of each word of its heap; one row for all that is asked about it. */
struct graph_cell {
    uint32_t stamp;   /* see heap.h: the epoch in which a live block started here */
    uint32_t visit;   /* the comparison that reached this block last */
    uint32_t partner; /* what it was paired with */
};

struct graph {
    uint32_t universe;        /* every id is below */
    struct graph_cell *cells; /* one an id, zeroed once */
    size_t n_cells;           /* universe, or more: all that graph_forget clears */
    uint64_t *in_use;         /* one bit an id, of heaps: the word belongs to a live block */
    const word *slots;        /* slot s of mutator m: slots[m * GC_SLOTS + s] */
    unsigned mutators;
    /* a heap */
    const word *base, *statics;
    size_t words, static_words;
    unsigned heap; /* which of model_address.words are its own */
    size_t growth; /* of `words`, at their end: there need be none as long as it has not grown */
    size_t nursery_words; /* of `words`, at their end: no place for what needs a free block */
    uint32_t epoch; /* of the stamps; 0: the collector has no walk, and a block is believed to start
                       wherever a pointer leads */
    /* a model, or NULL */
    const struct model *model;
};

/* Clears the cells.  Needed when the number of an epoch or of a comparison has wrapped, since the
 * cells would then take an old number for the new one. */
void graph_forget(const struct graph *);

/* Views of a model and of a heap in OCaml's layout.  cells: see `universe`; for a model it is
 * room_objects, for a heap words + static_words, and in_use has as many bits, rounded up to whole
 * words. */
void graph_of_model(struct graph *, const struct model *, struct graph_cell *cells);
void graph_of_heap(struct graph *, const word *base, size_t words, const word *statics,
                   size_t static_words, const word *slots, unsigned mutators,
                   struct graph_cell *cells, size_t n_cells, uint64_t *in_use);

/* graph_resolve: what the word v points at.  graph_block: the block with that id.  Both are inline,
 * since a comparison spends most of its time in them; the branch that tells a heap from a model is
 * always predicted. */
static inline struct graph_ref graph_resolve(const struct graph *, word v);
static inline struct graph_block graph_block(const struct graph *, uint32_t id);

/* Does a live block start at this id?  Is the word, whatever block it belongs to, in use? */
static inline bool graph_starts(const struct graph *g, size_t id) {
    return g->cells[id].stamp == g->epoch;
}
static inline bool graph_in_use(const struct graph *g, size_t id) {
    return bit_at(g->in_use, id);
}

/* Inside a live block a pointer is legal only as an infix pointer that leads back to its closure.
 */
struct graph_ref graph_resolve_inside(const struct graph *, uint32_t id, word v);

/* The id of a block is the place of its field 0, in words from the start of the heap; static blocks
 * are numbered after the heap. */
static inline struct graph_ref graph_resolve(const struct graph *g, word v) {
    struct graph_ref ref = {GRAPH_ATOM, 0, 0};
    if (is_immediate(v))
        return ref;
    if (g->model) {
        if (model_is_pointer(v))
            ref = (struct graph_ref){GRAPH_BLOCK, model_object(v), model_offset(v)};
        return ref;
    }
    word at = v - pointer_word(g->base);
    if (at >= g->words * sizeof(word)) {
        at = v - pointer_word(g->statics);
        if (at >= g->static_words * sizeof(word))
            return ref;
        at += g->words * sizeof(word);
    }
    ref.id = (uint32_t)(at / sizeof(word));
    ref.kind = GRAPH_BLOCK;
    if (v % sizeof(word) == 0 && (!g->epoch || graph_starts(g, ref.id)))
        return ref;
    return graph_resolve_inside(g, ref.id, v);
}

/* Field 0 of a block of a heap. */
static inline const word *graph_fields(const struct graph *g, uint32_t id) {
    return id < g->words ? g->base + id : g->statics + (id - g->words);
}

/* The word that points at a block: the inverse of graph_resolve. */
static inline word graph_word(const struct graph *g, uint32_t id) {
    return g->model ? model_pointer(id, 0) : pointer_word(graph_fields(g, id));
}

static inline struct graph_block graph_block(const struct graph *g, uint32_t id) {
    struct graph_block block;
    if (g->model) {
        const struct model_object *o = &g->model->objects[id];
        block.tag = o->tag;
        block.wosize = o->wosize;
        block.first_scanned = o->first_scanned;
        block.fields = g->model->fields + o->first_field;
        return block;
    }
    block.fields = graph_fields(g, id);
    block.tag = header_tag(block.fields[-1]);
    block.wosize = (uint32_t)header_wosize(block.fields[-1]);
    block.first_scanned = 0;
    if (block.tag >= TAG_CLOSURE) {
        word first = first_scanned(pointer_word(block.fields));
        block.first_scanned = first < block.wosize ? (uint32_t)first : block.wosize;
    }
    return block;
}

#endif
