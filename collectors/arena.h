/* SPDX-License-Identifier: MIT
 *
 * Memory for a collector's heap: opened once, at an address that stays, with a red zone on each
 * side, so that neither a reset nor an input pays for mapping memory.
 */
#ifndef ISOHEAP_ARENA_H
#define ISOHEAP_ARENA_H

#include "collectors/collector.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { ARENA_RED_ZONE = 64 }; /* words before and after the heap, always poisoned */

struct arena {
    word *base;             /* first word of the heap */
    size_t capacity;        /* words that a heap may have; address space only until touched */
    size_t poisoned;        /* words from base on that a reset has poisoned or handed out so far */
    size_t highest;         /* the largest value that `poisoned` has ever had */
    size_t accessible;      /* bytes from the first red zone on, whole pages */
    struct gc_hooks *hooks; /* of the last reset; NULL: there was none */
};

/* Reserves address space for a heap of `capacity` words, between two guards that nobody can access.
 * False if the system refuses. */
bool arena_open(struct arena *arena, size_t capacity);
/* Gives the address space back, with no word poisoned: the addresses may be used for something else
 * next. */
void arena_close(struct arena *arena);

/* Poisons the first `words` words, all words that earlier inputs have used, and both red zones. All
 * of them hold hooks->fill_byte afterwards, or what poison writes, so that a collector that reads a
 * word before it has written it, or beside its heap, behaves in the same way after any other input.
 * Who asks for more than the arena has room for is told so by hooks->broken, and arena_reset does
 * not return: say by the trait max_heap_words how large a heap may be, or open a larger arena. If
 * the hooks are tight, the pages after the second red zone can no longer be accessed: who runs out
 * of the heap faults.  The words beside the heap are told to hooks->fence, so that one which is
 * written there is seen. */
void arena_reset(struct arena *arena, struct gc_hooks *hooks, size_t words);

#ifdef __cplusplus
}
#endif

#endif
