/* SPDX-License-Identifier: MIT
 *
 * Memory for a collector's heap: opened once, at an address that stays, with a red zone on each
 * side, so that neither a reset nor an input pays for mapping memory.
 */
#ifndef ISOHEAP_ARENA_H
#define ISOHEAP_ARENA_H

#include "collectors/collector.h"

enum { ARENA_RED_ZONE = 64 }; /* words that are always poisoned before and behind the heap */

/* What unwritten memory holds; an immediate. */
#define ARENA_FILL UINT64_C(0xdbdbdbdbdbdbdbdb)

struct arena {
    word *base;             /* first word of the heap */
    size_t capacity;        /* words that a heap may have; address space only until touched */
    size_t poisoned;        /* words from base on that a former reset has poisoned or handed out */
    size_t highest;         /* the most that these ever were before */
    struct gc_hooks *hooks; /* of the last reset; NULL: there was none */
};

/* Reserves address space for a heap of `capacity` words.  False if the system refuses. */
bool arena_open(struct arena *arena, size_t capacity);
/* Leaves no word poisoned: whoever gets the addresses next must be able to use them. */
void arena_close(struct arena *arena);

/* Poisons the first `words` words, whatever a former input used, and both red zones.  The words are
 * ARENA_FILL, so that a collector that reads what it never wrote does the same whatever ran before.
 */
void arena_reset(struct arena *arena, struct gc_hooks *hooks, size_t words);

#endif
