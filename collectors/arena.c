/* SPDX-License-Identifier: MIT
 *
 * Memory for a collector's heap (arena.h).
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "collectors/arena.h"

#include "collectors/large_pages.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    GUARD_BYTES = 1 << 20, /* on each side: no access, so that who runs out of it faults */
    FENCE_WORDS = 16,      /* of each red zone, those beside the heap */
    LARGE_WORDS = 1 << 20  /* of a heap that is given large pages */
};
_Static_assert((int)FENCE_WORDS <= (int)ARENA_RED_ZONE, "a fence is part of a red zone");

/* Bytes of whole pages that hold a heap of so many words and its red zones. */
static size_t bytes_for(size_t words) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t bytes = (words + 2 * ARENA_RED_ZONE) * sizeof(word);
    return (bytes + page - 1) / page * page;
}

static char *accessible(const struct arena *arena) {
    return (char *)(arena->base - ARENA_RED_ZONE);
}

bool arena_open(struct arena *arena, size_t capacity) {
    size_t bytes = bytes_for(capacity);
    char *map = mmap(NULL, bytes + 2 * GUARD_BYTES, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    if (mprotect(map + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, bytes + 2 * GUARD_BYTES);
        return false;
    }
    *arena = (struct arena){.base = (word *)(void *)(map + GUARD_BYTES) + ARENA_RED_ZONE,
                            .capacity = capacity,
                            .accessible = bytes};
    return true;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

void arena_close(struct arena *arena) {
    if (arena->hooks)
        arena->hooks->unpoison(arena->base - ARENA_RED_ZONE,
                               larger(arena->poisoned, arena->highest) + 2 * ARENA_RED_ZONE);
    munmap(accessible(arena) - GUARD_BYTES, bytes_for(arena->capacity) + 2 * GUARD_BYTES);
    arena->base = NULL;
}

/* The pages for so many words can be accessed, those after them cannot. */
static void set_accessible(struct arena *arena, size_t words) {
    size_t bytes = bytes_for(words);
    char *start = accessible(arena);
    bool failed = false;
    if (bytes > arena->accessible)
        failed = mprotect(start + arena->accessible, bytes - arena->accessible,
                          PROT_READ | PROT_WRITE) != 0;
    else if (bytes < arena->accessible)
        failed = mprotect(start + bytes, arena->accessible - bytes, PROT_NONE) != 0;
    if (!failed) /* else the collector faults where it should not, or finds a page too many */
        arena->accessible = bytes;
}

void arena_reset(struct arena *arena, struct gc_hooks *hooks, size_t words) {
    if (words > arena->capacity)
        hooks->broken(hooks,
                      "the heap is larger than the arena that it lies in: open a larger one, "
                      "or say by the trait max_heap_words how large a heap may be");
    size_t poison = larger(words, arena->poisoned);
    set_accessible(arena, hooks->tight ? words : arena->capacity);
    if (words >= LARGE_WORDS)
        use_large_pages(accessible(arena), words * sizeof(word));
    if (hooks->tight)
        poison = arena->accessible / sizeof(word) - 2 * ARENA_RED_ZONE;
    size_t all =
        poison + 2 * ARENA_RED_ZONE; /* what is beside the heap may have been written too */
    hooks->unpoison(arena->base - ARENA_RED_ZONE, all);
    memset(arena->base - ARENA_RED_ZONE, hooks->fill_byte, all * sizeof(word));
    hooks->poison(arena->base - ARENA_RED_ZONE, all);
    if (hooks->fence) {
        hooks->fence(hooks, arena->base - FENCE_WORDS, FENCE_WORDS, false);
        hooks->fence(hooks, arena->base + words, FENCE_WORDS, true);
    }
    arena->poisoned = words;
    arena->highest = larger(arena->highest, poison);
    arena->hooks = hooks;
}
