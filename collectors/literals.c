/* SPDX-License-Identifier: MIT
 *
 * OCaml words as data of fewer bits (literals.h).
 */
#include "collectors/literals.h"

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

void literals_forget(struct literals *l) {
    l->n = 0;
    l->epoch++;
}

static uint64_t top(unsigned bits) {
    return UINT64_C(1) << (bits - 1);
}

uint64_t literal_of_value(struct literals *l, word v, unsigned bits) {
    if (is_immediate(v) && v >> 1 < top(bits))
        return v >> 1;
    return top(bits) | intern(l, v);
}
uint64_t literal_of_raw(struct literals *l, word v, unsigned bits) {
    return v < top(bits) ? v : top(bits) | intern(l, v);
}

/* A number that was never given: the heap is damaged; a word that leads nowhere says so. */
static word interned(const struct literals *l, uint64_t n) {
    return n < l->n ? l->words[n] : outside_pointer((uint32_t)n);
}

word literal_value(const struct literals *l, uint64_t code, unsigned bits) {
    return code < top(bits) ? code << 1 | 1 : interned(l, code - top(bits));
}
word literal_raw(const struct literals *l, uint64_t code, unsigned bits) {
    return code < top(bits) ? code : interned(l, code - top(bits));
}
