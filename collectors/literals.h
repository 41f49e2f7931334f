/* SPDX-License-Identifier: MIT
 *
 * OCaml words as data of fewer bits, for collectors whose own words have no room for them.
 *
 * Small numbers stand for themselves.  All others (large and negative immediates, words that point
 * outside the heap, raw words) get a number of their own, the same word the same number, so that
 * equal data are equal in any representation.
 */
#ifndef ISOHEAP_LITERALS_H
#define ISOHEAP_LITERALS_H

#include "collectors/layout.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { LITERALS = 1 << 14, LITERAL_SLOTS = 1 << 15 };
/* Zeroed once, then literals_forget before every run. */
struct literals {
    uint64_t epoch; /* number of the run: slots of other runs are empty */
    uint32_t n;
    word words[LITERALS];
    struct {
        uint64_t epoch;
        uint32_t number;
    } slots[LITERAL_SLOTS];
};

void literals_forget(struct literals *);

/* A number of `bits` bits (at least 16) for a word that is no pointer into the heap; and the word
 * for such a number. */
uint64_t literal_of_value(struct literals *, word v, unsigned bits);
word literal_value(const struct literals *, uint64_t code, unsigned bits);
/* The same for a word of a no-scan block. */
uint64_t literal_of_raw(struct literals *, word v, unsigned bits);
word literal_raw(const struct literals *, uint64_t code, unsigned bits);

#ifdef __cplusplus
}
#endif

#endif
