/* SPDX-License-Identifier: MIT
 *
 * Sets of small numbers: bit i of the set is bit i % 64 of word i / 64.
 */
#ifndef ISOHEAP_VIEWS_BITS_H
#define ISOHEAP_VIEWS_BITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool bit_at(const uint64_t *bits, size_t at) {
    return bits[at / 64] >> at % 64 & 1;
}

static inline void set_bit(uint64_t *bits, size_t at) {
    bits[at / 64] |= (uint64_t)1 << at % 64;
}

/* The first member that is not below `at`; `end` if there is none below it. */
static inline size_t next_bit(const uint64_t *bits, size_t at, size_t end) {
    while (at < end && !(bits[at / 64] >> at % 64))
        at = (at / 64 + 1) * 64;
    if (at >= end)
        return end;
    at += (size_t)__builtin_ctzll(bits[at / 64] >> at % 64);
    return at < end ? at : end;
}

#endif
