/* SPDX-License-Identifier: MIT
 *
 * Oracles over one heap walk: well-formedness, colours, free list; and the map of live words.
 *
 * The walk of a collector is taken down into the cells of a graph view (which word starts a live
 * block, which lies inside one), checked on the way.  Definition 1 (omega) of the verified OCaml
 * collector together with the isomorphism: here that the heap is densely packed with legal blocks,
 * there that every reachable pointer leads to one of them.
 */
#ifndef ISOHEAP_HEAP_H
#define ISOHEAP_HEAP_H

#include "views/isomorphism.h"

enum heap_check {
    HEAP_TILES = 1,
    HEAP_COLOURS = 2, /* theorem property 4; only meaningful after a cycle */
    HEAP_FREE_LIST = 4,
    HEAP_SORTED = 8, /* the free list is promised to be in address order */
    HEAP_MERGED = 16 /* free blocks are promised to be merged with free neighbours */
};

struct heap_facts {
    size_t live, live_words; /* allocated blocks, reachable or not; with headers */
    size_t free, free_words;
    size_t largest_free;      /* largest wosize that an allocation can get in one piece */
    enum violation violation; /* the first violation met */
    const word *where;        /* header where it was met */
    const char *detail;
};

/* Walks collector's heap, fills g's cells (a new epoch) and *facts.  checks: HEAP_* bits. */
void heap_walk(struct graph *g, const struct collector *collector, struct gc *gc, unsigned checks,
               struct heap_facts *facts);

/* The overlap oracle: a new block may not share a word with one that was live at the last walk or
 * has been allocated since.  Returns false if it does; takes the block down otherwise. */
bool heap_claim(struct graph *g, const word *header, size_t words);

/* First live block of the last walk that the last comparison (as left side) did not reach, or
 * NULL: garbage, if the comparison found no difference. */
const word *heap_unreached(const struct graph *g, const struct isomorphism *iso);

#endif
