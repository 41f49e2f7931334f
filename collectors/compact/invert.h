/* SPDX-License-Identifier: MIT
 *
 * Pointer inversion: all words that lead to a block become a list that hangs on its header.
 *
 * Threading of a heap as in H. B. M. Jonkers, "A fast garbage compaction algorithm", Information
 * Processing Letters 9(1), 1979, with the header encoding of OCaml 4's compactor, as facts: while
 * pointers are inverted a header gives up its colour, its tag moves up by two bits, and the two
 * lowest bits say what the word is:
 *
 *   ...000   the address of a word that leads here; that word holds the rest of the list
 *   ....01   the end of the list: the packed header of a block that is kept, or of an infix block
 *   ....11   the packed header of a free block; nothing leads to it
 *
 * An infix pointer leads to an infix header, which has a list of its own.
 */
#ifndef ISOHEAP_COMPACT_INVERT_H
#define ISOHEAP_COMPACT_INVERT_H

#include "collectors/space/space.h"

enum { PACKED_KEPT = 1, PACKED_FREE = 3, PACKED_MARK = 3, PACKED_SHIFT = 2 };

static inline word pack(word header, word mark) {
    word tag = header_tag(header);
    if (FAULTY(tag_squeezed)) /* seven bits of it */
        tag &= 127;
    return header_make(header_wosize(header), 0, 0) | tag << PACKED_SHIFT | mark;
}
static inline bool is_packed(word w) {
    return w & 1;
}
static inline bool packed_is_free(word packed) {
    return (packed & PACKED_MARK) == PACKED_FREE;
}
static inline unsigned packed_tag(word packed) {
    return (unsigned)(packed >> PACKED_SHIFT) & 255;
}
static inline word unpack(word packed, unsigned colour) {
    return header_make(header_wosize(packed), colour, packed_tag(packed));
}

/* FAULT_static_threaded: every word that may be an address is taken for one of the heap. */
static inline bool leads_into_heap(const struct space *g, word v) {
    return in_heap(g, v) || (FAULTY(static_threaded) && v >> 47 == 0);
}

/* If the word at place leads into the heap, it becomes the first of the list of the block there. */
static inline void invert(const struct space *g, word *place) {
    word v = *place;
    if (!is_pointer(v) || !leads_into_heap(g, v))
        return;
    word *hp = word_pointer(v) - 1;
    *place = *hp;
    *hp = pointer_word(place);
}

/* The packed header at the end of a list. */
static inline word list_end(const struct space *g, const word *hp) {
    word w = *hp;
    while (!is_packed(w)) {
        gc_tick(g->config.hooks);
        w = *word_pointer(w);
    }
    return w;
}

/* Takes the list off: each word of it leads to v, and the header is one again. */
static inline void revert(const struct space *g, word *hp, word v) {
    word w = *hp;
    while (!is_packed(w)) {
        word *place = word_pointer(w);
        gc_tick(g->config.hooks);
        w = *place;
        *place = v;
    }
    *hp = unpack(w, FAULTY(black_kept) ? BLACK : WHITE);
}

#endif
