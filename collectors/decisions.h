/* SPDX-License-Identifier: MIT
 *
 * The decisions of a schedule of threads that a number says (collectors/threads/threads.h), for all
 * who must know them: xorshift64*.
 */
#ifndef ISOHEAP_DECISIONS_H
#define ISOHEAP_DECISIONS_H

#include <stdint.h>

static inline uint64_t decisions_begin(uint64_t seed) {
    return (seed + 1) * 0x9e3779b97f4a7c15 | 1;
}

/* The next one, 32 bits, to be taken modulo the number of choices. */
static inline uint64_t decisions_next(uint64_t *state) {
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (*state * 0x2545f4914f6cdd1d) >> 32;
}

#endif
