/* SPDX-License-Identifier: MIT
 *
 * Definition 6 of the long OCaml paper: correctness of a cycle that the mutator runs beside.
 *
 *   G(h1).V = RG(h0, r).V + new_allocs
 *   G(h1).E = (RG(h0, r).E + added_edges) - deleted_edges
 *   data(x, h0) = data(x, h1)
 *
 * The summary is kept by whoever sees the mutator.  Edges are labelled with the field that they
 * leave from: (x, i, y) instead of the paper's (x, y), for which overwriting one of two fields with
 * the same target would delete the edge of the other.  A label has one target at most, so that RG.E
 * and added_edges are maps; of deleted_edges only those that RG.E has make a difference.  Data is
 * kept in the same maps.  For blocks that do not move, in OCaml's layout: they are named by their
 * address.  Of a heap with generations it is about the old one: the fields of young blocks are
 * roots, a promoted block is a new one (new_allocs), and a minor collection that redirects a field
 * writes it.
 */
#ifndef ISOHEAP_DEFINITION6_H
#define ISOHEAP_DEFINITION6_H

#include "program/program.h"
#include "views/graph.h"

struct definition6_vertex {
    uint32_t at; /* header, in words from the start of the heap */
    uint32_t wosize;
    uint8_t tag;
};
struct definition6 {
    size_t most;                         /* words of a heap, and vertices, that there is room for */
    struct definition6_vertex *vertices; /* RG(h0, r).V, then new_allocs */
    uint32_t n_snapshot, n_vertices;
    uint32_t n_writes; /* since the cycle began */
    /* For each word of the heap, meaningful for fields of vertices: */
    word *before;  /* RG(h0, r).E, and data */
    word *added;   /* added_edges, if not deleted again */
    bool *deleted; /* is the edge of RG.E in deleted_edges? */
    /* scratch of definition6_unprotected */
    uint32_t *seen, *work, round;
};

/* The summary's memory for a heap of so many words: as many bytes, for each of them. */
enum {
    DEFINITION6_EACH =
        2 * sizeof(word) + sizeof(struct definition6_vertex) + 2 * sizeof(uint32_t) + sizeof(bool)
};
/* The caller's, for so many words, zeroed before the first time; kept until another is given. */
void definition6_room(struct definition6 *, void *memory, size_t words);

/* Nothing is known yet of a new cycle. */
void definition6_begin(struct definition6 *);

/* A block of the snapshot (all of them first), or a new one.  Returns where its fields are to be
 * written, in `before`: as h0 has them.  NULL if it does not lie in the heap. */
word *definition6_add(struct definition6 *, const struct graph *, word block, size_t wosize,
                      unsigned tag, bool is_new);

/* The write barrier of the paper: field i of block is about to become `value`, which need not be a
 * pointer. */
void definition6_write(struct definition6 *, const struct graph *, word block, size_t i,
                       word value);

/* (RG.E + added) - deleted at a label; the same for data. */
static inline word definition6_expected(const struct definition6 *d, size_t at) {
    return d->deleted[at] ? d->added[at] : d->before[at];
}

/* The first vertex where no live block of that size and tag starts, or NULL. */
const struct definition6_vertex *definition6_lost(const struct definition6 *, const struct graph *);

/* The first field of a vertex that is not as expected, as words from the start of the heap;
 * SIZE_MAX if there is none.  *owner is its block. */
size_t definition6_changed(const struct definition6 *, const struct graph *,
                           const struct definition6_vertex **owner);

/* The first live block that is no vertex, given the number of live blocks (old ones alone); NULL if
 * there is none.
 */
const word *definition6_extra(struct definition6 *, const struct graph *, size_t live);

/* Weak tricolour invariant with respect to the snapshot: the first block of it that is neither
 * black nor gray nor reachable from a gray block through white ones; NULL if there is none.  All
 * vertices must still be there (definition6_lost). */
const struct definition6_vertex *definition6_unprotected(struct definition6 *,
                                                         const struct graph *);

#endif
