/* SPDX-License-Identifier: MIT
 *
 * What a program has becomes what a collector takes, word by word: for runs, and for exported
 * findings, which do the same.
 */
#ifndef ISOHEAP_HARNESS_LOWERING_H
#define ISOHEAP_HARNESS_LOWERING_H

#include "collectors/layout.h"

/* The no-scan tag that stands for this one where the tags of the set (trait lacks_raw) are not
 * there; one for blocks of any size is. */
static inline unsigned lowered_raw_tag(unsigned tag, unsigned lacks) {
    static const unsigned others[] = {TAG_STRING, TAG_ABSTRACT, TAG_DOUBLE_ARRAY, TAG_CUSTOM};
    for (unsigned i = 0; lacks & 1u << (tag - TAG_NO_SCAN); i++)
        tag = others[i];
    return tag;
}

/* The tag of a block with fields where those from `own` on are the collector's (trait own_tags). */
static inline unsigned lowered_own_tag(unsigned tag, unsigned own) {
    return own && tag >= own && tag < TAG_LAZY ? 0 : tag;
}

/* The integer in words of so many bits (trait word_bits; 64: all), with its sign. */
static inline int64_t lowered_integer(int64_t n, unsigned bits) {
    unsigned spare = 64 - bits;
    return immediate_value((word)((int64_t)(immediate(n) << spare) >> spare));
}
static inline word lowered_raw(word w, unsigned bits) {
    return w & ~(word)0 >> (64 - bits);
}

#endif
