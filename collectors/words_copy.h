/* SPDX-License-Identifier: MIT
 *
 * Copying the words of a block.
 */
#ifndef ISOHEAP_WORDS_COPY_H
#define ISOHEAP_WORDS_COPY_H

#include "collectors/layout.h"

#include <string.h>

/* Keeps the compiler from making the loop around it a call of memcpy. */
#if defined(__GNUC__)
#define WORD_BY_WORD() __asm__ volatile("")
#else
#define WORD_BY_WORD() ((void)0)
#endif

/* memcpy for words, of ranges that do not overlap.  Blocks are small, and what AddressSanitizer's
 * memcpy does before it copies costs as much as copying a hundred words. */
static inline void words_copy(word *to, const word *from, size_t n) {
    enum { MANY = 128 };
    size_t i = 0;
    if (n > MANY) {
        memcpy(to, from, n * sizeof *to);
        return;
    }
    for (; i + 4 <= n; i += 4) {
        word a = from[i], b = from[i + 1], c = from[i + 2], d = from[i + 3];
        to[i] = a;
        to[i + 1] = b;
        to[i + 2] = c;
        to[i + 3] = d;
        WORD_BY_WORD();
    }
    for (; i < n; i++) {
        to[i] = from[i];
        WORD_BY_WORD();
    }
}

#endif
