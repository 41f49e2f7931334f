/* SPDX-License-Identifier: MIT
 *
 * Oracles over one heap walk: well-formedness, colours, free list; and the map of live words.
 *
 * What a collector's walk visits is checked, and recorded in the cells of a graph view: which word
 * starts a live block, and which lies inside one.  Definition 1 (omega) of the verified OCaml
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
    HEAP_SORTED = 8,  /* the free list is promised to be in address order */
    HEAP_MERGED = 16, /* free blocks are promised to be merged with free neighbours */
    /* what heap_legal says */
    HEAP_APART = 32,       /* the same at any time */
    HEAP_SOLID_END = 64,   /* no fragment at the end */
    HEAP_FRAGMENTS = 128,  /* they may have a tag */
    HEAP_BLACK_YOUNG = 256 /* with HEAP_COLOURS: of young blocks it is black that is legal */
};

/* HEAP_TILES, and what else a walk must see to at any time: what is legal in a heap by the traits.
 */
unsigned heap_legal(const struct collector_traits *);

struct heap_facts {
    size_t live, live_words; /* allocated blocks, reachable or not; with headers */
    size_t free, free_words;
    size_t extents;   /* all that the walk visits but entries of the free list */
    const word *dead; /* the header of a free or unused extent of more than two words: which one
                         depends on what lives before it.  NULL: there is none */
    size_t dead_words, dead_extents;
    size_t words;             /* that the walk has visited */
    size_t largest_free;      /* largest wosize that an allocation can get in one piece */
    size_t largest_unused;    /* the same of words without a header alone */
    enum violation violation; /* the first violation met */
    const word *where;        /* header where it was met */
    const word *due; /* where the walk leaves words out or goes back: the header that had to
                        come; else NULL */
    const char *detail;
};

/* Walks the collector's heap once; fills in the cells of g, in a new epoch, and *facts.  checks: a
 * sum of HEAP_* bits. */
void heap_walk(struct graph *g, const struct collector *collector, struct gc *gc, unsigned checks,
               struct heap_facts *facts);

/* Records a new block: from its header on, so many words.  False, and nothing is recorded, if one
 * of its words belongs to a block that was live at the last walk or has been recorded since. */
bool heap_claim(struct graph *g, const word *header, size_t words);

/* Words in use from word `from` of the heap on and before `to`: those of blocks that were live at
 * the last walk or have been recorded since. */
size_t heap_in_use(const struct graph *g, size_t from, size_t to);

/* "white", "gray", "blue", "black". */
const char *heap_colour(unsigned colour);

/* Words of the heap at its largest, without young generation: those of the config if it does not
 * grow. */
size_t heap_most_words(const struct collector_traits *, const struct gc_config *);
/* Words that may be alive at once: beside the heap one nursery, if there is any. */
size_t most_alive(const struct collector_traits *, const struct gc_config *);

/* A heap as trait linear counts: blocks, their words with headers, gaps between them, and how many
 * of the blocks may be young. */
struct heap_size {
    size_t blocks, words, gaps, young;
};
/* How many blocks may be young: each has a field. */
size_t heap_young(const struct graph *);
/* After a walk of g, with those facts; without g nobody is counted as young, which takes time. */
struct heap_size heap_size(const struct graph *g, const struct heap_facts *);
struct heap_size heap_size_but_young(const struct heap_facts *);
/* The steps that one call may take by trait linear: so many for each word of a block, each gap and
 * each slot; for every mark stack of blocks the heap once more, if it rescans; and, if there is a
 * young generation, for each of its blocks a search through the heap in each minor collection of
 * the call. */
uint64_t heap_most_steps(const struct collector *, const struct collector_traits *,
                         const struct gc_config *, const struct heap_size *);

/* The steps that a slice may take by trait paced: so many for each word of its budget and for two
 * more; if it begins a cycle, each slot, and what a minor collection takes before. */
uint64_t heap_slice_steps(const struct collector *, const struct collector_traits *,
                          const struct gc_config *, const struct heap_size *, size_t budget,
                          bool begins);

/* The header of the first live block of the last walk that the last comparison, with g on its left
 * side, did not reach; NULL if it reached all.  After a comparison without a difference such a
 * block is garbage. */
const word *heap_unreached(const struct graph *g, const struct isomorphism *iso);
/* The header of a block that the last comparison has not reached and no such block points at, or
 * NULL: what there is of garbage that no cycle keeps begins with one.  Overwrites what the witness
 * says of blocks that it has not. */
const word *heap_unkept(const struct graph *, const struct isomorphism *);
/* Words of blocks that the last comparison has not reached, headers included. */
size_t heap_unreached_words(const struct graph *, const struct isomorphism *);

#endif
