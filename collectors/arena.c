/* SPDX-License-Identifier: MIT
 *
 * Memory for a collector's heap (arena.h).
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "collectors/arena.h"

#include <string.h>
#include <sys/mman.h>

bool arena_open(struct arena *arena, size_t capacity) {
    size_t bytes = (capacity + 2 * ARENA_RED_ZONE) * sizeof(word);
    word *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    *arena = (struct arena){.base = map + ARENA_RED_ZONE, .capacity = capacity};
    return true;
}

static size_t larger(size_t a, size_t b) {
    return a > b ? a : b;
}

void arena_close(struct arena *arena) {
    if (arena->hooks)
        arena->hooks->unpoison(arena->base - ARENA_RED_ZONE,
                               larger(arena->poisoned, arena->highest) + 2 * ARENA_RED_ZONE);
    munmap(arena->base - ARENA_RED_ZONE, (arena->capacity + 2 * ARENA_RED_ZONE) * sizeof(word));
    arena->base = NULL;
}

void arena_reset(struct arena *arena, struct gc_hooks *hooks, size_t words) {
    hooks->unpoison(arena->base, words);
    memset(arena->base, hooks->fill_byte, words * sizeof(word));
    size_t poison = larger(words, arena->poisoned);
    hooks->poison(arena->base - ARENA_RED_ZONE, poison + 2 * ARENA_RED_ZONE);
    arena->poisoned = words;
    arena->highest = larger(arena->highest, poison);
    arena->hooks = hooks;
}
