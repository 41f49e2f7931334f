/* SPDX-License-Identifier: MIT
 *
 * The tower: OCaml words as data of 31 or 32 bits.
 *
 * Small numbers stand for themselves.  All others (large and negative immediates, words that point
 * outside the heap, raw words) get a number of their own, the same word the same number, so that
 * equal data are equal on every level.
 */
#include "collectors/tower/internal.h"

#include <stdlib.h>

/* The number of a word.  There is room for more than a program can name: a word for every field of
 * its heap, every slot and every value of its script. */
static uint32_t intern(struct literals *l, word v) {
    uint32_t at = (uint32_t)((v * 0x9e3779b97f4a7c15) >> 49);
    while (l->slots[at].epoch == l->epoch) {
        if (l->words[l->slots[at].number] == v)
            return l->slots[at].number;
        at = (at + 1) % LITERAL_SLOTS;
    }
    if (l->n == LITERALS)
        abort();
    l->slots[at].epoch = l->epoch;
    l->slots[at].number = l->n;
    l->words[l->n] = v;
    return l->n++;
}

uint32_t literal_encode(struct gc *g, word v, unsigned bits) {
    uint32_t top = UINT32_C(1) << (bits - 1);
    if (bits == 31 && is_immediate(v) && v >> 1 < top)
        return (uint32_t)(v >> 1);
    if (bits == 32 && v < top)
        return (uint32_t)v;
    return top | intern(&g->literals, v);
}

word literal_decode(const struct gc *g, uint32_t n, unsigned bits) {
    uint32_t top = UINT32_C(1) << (bits - 1);
    if (n < top)
        return bits == 31 ? (word)n << 1 | 1 : n;
    /* A number that was never given: the heap is damaged; a word that leads nowhere says so. */
    return n - top < g->literals.n ? g->literals.words[n - top] : outside_pointer(n);
}
