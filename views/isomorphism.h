/* SPDX-License-Identifier: MIT
 *
 * Rooted graph isomorphism: are two object graphs the same up to addresses?
 *
 * Definition 5(2) and (3) of the verified OCaml collector for one that does not move, Definition 7
 * for one that does, `translate` of Myreen's L1: there is a bijection f between the reachable
 * blocks with f(root i) = root i that keeps tag, size, raw data and every edge.  The traversal
 * builds f breadth first, so that a difference comes with a shortest access path.
 */
#ifndef ISOHEAP_ISOMORPHISM_H
#define ISOHEAP_ISOMORPHISM_H

#include "views/graph.h"
#include "views/violation.h"

/* A pair of the witness f, and how it was reached. */
struct pair {
    uint32_t a, b;
    uint32_t parent; /* place in the queue; NO_PARENT: a root */
    uint32_t field;  /* of the parent; for a root: mutator * GC_SLOTS + slot */
};
#define NO_PARENT UINT32_MAX

struct isomorphism {
    struct pair *queue; /* the witness: `pairs` pairs, in breadth-first order */
    size_t capacity, pairs;
    uint32_t run; /* number of the comparison, in the cells of what it visits */
    /* the first difference, if the result is not VIOLATION_none */
    uint32_t parent, field; /* where: as in struct pair; field NO_PARENT: the block itself */
    bool forwards;    /* the left side may have led pointers past Forward blocks of the right */
    bool in_block;    /* the difference is in tag, size or data of the block itself */
    word left, right; /* the two words, or tags, or sizes, that differ */
};

/* A new number for what visits the cells of a, and of b if there is one; pairs and queue start
 * empty. */
void isomorphism_begin(struct isomorphism *, const struct graph *a, const struct graph *b);

/* Compares a, the heap under test, with b, a model or another heap, the one to trust.
 * VIOLATION_none if isomorphic, else the class of the first difference.  Linear in the reachable
 * blocks and fields.  queue must have room for as many pairs as blocks are reachable in b, and one
 * more. */
enum violation isomorphism_compare(struct isomorphism *, const struct graph *a,
                                   const struct graph *b);

/* A raw word of a block with this tag as it is compared: the colour bits of an infix header belong
 * to the collector. */
static inline word isomorphism_comparable(word raw, unsigned tag) {
    return tag == TAG_CLOSURE && header_tag(raw) == TAG_INFIX ? header_recolour(raw, WHITE) : raw;
}

/* Where a collector that leads pointers past Forward blocks (tag 250) may have led one: to the
 * block's field, or to the end of a chain of them.  OCaml's does so unless that is a block with a
 * tag that has a meaning to whoever forces a lazy value, or lies outside the heap (minor_gc.c,
 * major_gc.c and weak.c of the runtime, as facts). right is a word of the view b, a model; left is
 * the collector's word, and if it still points at a Forward block it is compared with that. */
word isomorphism_forwarded(const struct graph *a, const struct graph *b, word left, word right);

/* The path to the difference, "r0.1.0"; as snprintf. */
size_t isomorphism_path(const struct isomorphism *, char *out, size_t capacity);

/* Digest of graph a as the comparison found it: shape, tags and data, no addresses.  The witness is
 * gone afterwards. */
uint64_t isomorphism_digest(const struct isomorphism *, const struct graph *a);

#endif
