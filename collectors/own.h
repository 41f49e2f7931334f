/* SPDX-License-Identifier: MIT
 *
 * Optional: the heap of a collector that shows a copy of it, as it is.
 *
 * Of a collector that shows a copy the oracles see what a program can reach.  What it must not
 * forget, which colours its blocks have, what is on its free lists and what it counts stands in its
 * own heap alone: a list of all that lies in it, in OCaml's layout.
 */
#ifndef ISOHEAP_OWN_H
#define ISOHEAP_OWN_H

#include "collectors/layout.h"

struct gc;

/* A block, free or not, or a fragment: a header with wosize 0. */
struct gc_own_extent {
    const word *header;
    uint32_t words; /* header included */
    bool free;      /* it is blue, or on a free list */
    bool young;     /* the next minor collection moves or frees it */
    bool weak;      /* an ephemeron: no field of it keeps anything alive */
    bool dies;      /* the collector must notice its death: it is to be on the list GC_OWN_DEATHS */
    uint8_t seen;   /* 0; what it is that whoever looks at the list has found out */
    uint32_t next;  /* his, too */
};

/* Places that are on a list of the collector's. */
enum gc_own_list {
    GC_OWN_ROOTS,     /* words that are roots */
    GC_OWN_OLD_ROOTS, /* of them those that a minor collection looks at only if remembered */
    GC_OWN_FIELDS,    /* words that the next minor collection will look at; by their addresses */
    GC_OWN_WEAK,      /* the same: fields of old ephemerons */
    GC_OWN_DEATHS,    /* headers of young blocks whose death is noticed; by their addresses */
    GC_OWN_FREE,      /* headers of what is on a free list, in the order of the list */
    GC_OWN_LISTS
};
struct gc_own_places {
    const word **places;
    size_t n, room;
};

/* Marking has still to look at the words of [first, end): of blocks of the heap, or, where they lie
 * in no piece of it, static ones. */
struct gc_own_gray {
    const word *first, *end;
    bool is_static;
};

enum gc_own_phase {
    GC_OWN_IDLE,  /* blocks are white */
    GC_OWN_MARK,  /* black, gray, or reachable from a gray one through white ones */
    GC_OWN_SWEEP, /* all is marked.  Below `swept` blocks are white, above it those that survive
                     are black */
};

/* What the collector says of its heap, in words with headers; where colours take turns it says
 * nothing of pieces, of the number and size of free blocks, and of fragments. */
struct gc_own_counts {
    size_t heap_words, chunks, live_words, live_blocks, free_words, free_blocks, largest_free,
        fragments;
};

struct gc_own {
    struct gc_own_extent *extents; /* of all pieces of the heap, by their addresses */
    size_t n, room;
    struct gc_own_places lists[GC_OWN_LISTS];
    struct gc_own_gray *gray;
    size_t n_gray, gray_room;
    enum gc_own_phase phase;
    const word *swept;
    /* Colours take turns, and of those above only GC_OWN_SWEEP says something: what can be reached
     * is not `unmarked` then, and never `dead`, which is what sweeping frees. */
    bool turning;
    unsigned unmarked, dead;
    size_t heap_words, chunks; /* as the pieces of the old generation are chained */
    size_t free_words;         /* of free blocks that are no extents, where colours take turns */
    bool sorted;               /* the free list is in the order of addresses */
    size_t listed_words;       /* what the collector believes to have on its free list */
    const char *broken;        /* NULL, or what is wrong with the order of the free list */
    bool counted;              /* it has said: */
    struct gc_own_counts counts;
};

#endif
