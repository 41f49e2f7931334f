/* SPDX-License-Identifier: MIT
 *
 * Memory that a collector must not use (dead_memory.h).
 */
#include "harness/dead_memory.h"

#include <string.h>

__attribute__((weak)) void __asan_poison_memory_region(void const volatile *, size_t);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *, size_t);
__attribute__((weak)) int __asan_address_is_poisoned(void const volatile *);

/* Bytes.  Dead: even, so that such a word looks like a pointer to collectors.  Unwritten: odd, an
 * immediate. */
enum { DEAD_USUAL = 0xde, DEAD_OTHER = 0xbe, UNWRITTEN_USUAL = 0xdb, UNWRITTEN_OTHER = 0x6d };

static uint64_t n_poisonings;

uint64_t dead_memory_poisonings(void) {
    return n_poisonings;
}

static void poison_with(void *start, size_t bytes, int byte) {
    n_poisonings++;
    if (__asan_poison_memory_region)
        __asan_poison_memory_region(start, bytes);
    else
        memset(start, byte, bytes);
}

static void poison_bytes_usual(void *start, size_t bytes) {
    poison_with(start, bytes, DEAD_USUAL);
}
static void poison_bytes_other(void *start, size_t bytes) {
    poison_with(start, bytes, DEAD_OTHER);
}

static void poison_usual(void *start, size_t words) {
    poison_bytes_usual(start, words * sizeof(word));
}
static void poison_other(void *start, size_t words) {
    poison_bytes_other(start, words * sizeof(word));
}

static bool holds(word w, unsigned byte) {
    return w == byte * UINT64_C(0x0101010101010101);
}

bool dead_memory_is_poisoned(const word *place) {
    if (__asan_address_is_poisoned)
        return __asan_address_is_poisoned(place);
    return holds(*place, DEAD_USUAL) || holds(*place, DEAD_OTHER);
}

static void unpoison_bytes(void *start, size_t bytes) {
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(start, bytes);
}
static void unpoison(void *start, size_t words) {
    unpoison_bytes(start, words * sizeof(word));
}

void dead_memory_hooks(struct gc_hooks *hooks, enum memory_fill fill, bool tight) {
    hooks->poison = fill == FILL_USUAL ? poison_usual : poison_other;
    hooks->poison_bytes = fill == FILL_USUAL ? poison_bytes_usual : poison_bytes_other;
    hooks->unpoison = unpoison;
    hooks->unpoison_bytes = unpoison_bytes;
    hooks->tight = tight;
    hooks->fill_byte = fill == FILL_USUAL ? UNWRITTEN_USUAL : UNWRITTEN_OTHER;
}
