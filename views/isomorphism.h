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
    uint32_t run; /* number of the comparison; the cells of the blocks that it visits get it */
    /* the first difference, if the result is not VIOLATION_none */
    uint32_t parent, field; /* where: as in struct pair; field NO_PARENT: the block itself */
    bool
        gaps; /* a field of an ephemeron of the model may be unit on one side: nothing is said of it
               */
    bool forwards; /* isomorphism_allow: the left side may lead pointers past Forward blocks */
    /* The same: of blocks with a tag that may not be written equal ones may be one, and one several
     * (NULL: none), and then so many links, for those of b from links_b on.  Two are equal if what
     * can be seen of them is: blocks that are seen to be equal, of either heap, hang together. */
    bool (*writable)(unsigned tag);
    uint32_t *links;
    size_t links_b;
    bool in_block;    /* the difference is in tag, size or data of the block itself */
    word left, right; /* the two words, or tags, or sizes, that differ */
};

/* What the collector of the left side may do to the graph of its own accord, by its traits. */
void isomorphism_allow(struct isomorphism *, const struct collector *,
                       const struct collector_traits *);

/* Begins a traversal of a, and of b unless it is NULL: takes a new number for their cells, and
 * empties the queue. */
void isomorphism_begin(struct isomorphism *, const struct graph *a, const struct graph *b);

/* Compares a, the heap under test, with b, a model or another heap, the one to trust.
 * VIOLATION_none if isomorphic, else the class of the first difference.  Linear in the reachable
 * blocks and fields.  queue must have room for `capacity` pairs, as many as blocks are reachable in
 * b and one more; for twice as many where equal blocks may be one, and links for all ids of both.
 */
enum violation isomorphism_compare(struct isomorphism *, const struct graph *a,
                                   const struct graph *b);

/* The form in which a raw word of a block with this tag is compared.  It differs from the word for
 * an infix header only, whose colour bits belong to the collector. */
static inline word isomorphism_comparable(word raw, unsigned tag) {
    return tag == TAG_CLOSURE && header_tag(raw) == TAG_INFIX ? header_recolour(raw, WHITE) : raw;
}

/* A collector may replace a pointer to a Forward block (tag 250) by the field of that block, and so
 * on along a chain of Forward blocks.  OCaml's collector does so, unless the field points outside
 * the heap, or at a block whose tag means something to the code that forces a lazy value (as facts
 * from minor_gc.c, major_gc.c and weak.c of the runtime).  left is the collector's word, in view a;
 * right is the same word in the model, view b.  Returns the word of the model that left is to be
 * compared with: right itself if left still points at a Forward block, else the end of the chain.
 */
word isomorphism_forwarded(const struct graph *a, const struct graph *b, word left, word right);

/* Writes the path to the difference, "r0.1.0", into out; cuts it and returns its length as snprintf
 * does. */
size_t isomorphism_path(const struct isomorphism *, char *out, size_t capacity);

/* A digest of graph a as the last comparison, with b, has visited it: of its shape, tags and data,
 * not of addresses; words that b, a model, has as addresses count by their numbers.  Overwrites the
 * witness. */
uint64_t isomorphism_digest(const struct isomorphism *, const struct graph *a,
                            const struct graph *b);

#endif
