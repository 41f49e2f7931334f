/* SPDX-License-Identifier: MIT
 *
 * Compaction by sliding, after a whole mark-and-sweep collection: every block that is left moves
 * down as far as it goes, in the order of addresses; what is free becomes one block at the end.
 *
 * Four passes over the heap, as OCaml 4's compactor, with the pointers inverted in between
 * (invert.h):
 *
 *   pack      every header, and every infix header of a closure
 *   invert    every slot, and every field that may hold a pointer
 *   place     blocks get their new addresses; lists are taken off, headers are as before
 *   slide     blocks move there
 *
 * Passes one to three read nothing of a free block but its header, whose words may be poisoned.
 */
#ifndef ISOHEAP_COMPACT_COMPACTION_H
#define ISOHEAP_COMPACT_COMPACTION_H

#include "collectors/compact/invert.h"

#include <string.h>

/* ---- closures --------------------------------------------------------------------------------
 */

/* The place of the next function's code pointer in the closure v: after a code pointer, the
 * closinfo, for an arity other than 0 and 1 another code pointer, and the infix header.  Found from
 * the arities, since an infix header may be inverted.  v + at is where infix pointers lead. */
static inline size_t next_function(word v, size_t at) {
    word info = word_pointer(v)[at + 1];
    int8_t arity = (int8_t)(info >> 56); /* negative: takes a tuple */
    bool plain = FAULTY(negative_arity) ? arity <= 1 : arity == 0 || arity == 1;
    return at + (plain ? 2 : 3) + 1;
}

/* Where the environment starts; 0 for a block without functions. */
static inline size_t code_words(const struct space *g, word v, unsigned tag) {
    if (tag != TAG_CLOSURE || g->version != MARK_CLOSURES)
        return 0;
    return closinfo_start_env(word_pointer(v)[1]);
}

/* first_scanned, for a header that is packed and may be at the end of a list. */
static inline size_t first_pointer(const struct space *g, word v, word packed) {
    unsigned tag = packed_tag(packed);
    if (g->version == MARK_BASE)
        return 0;
    if (tag >= TAG_NO_SCAN)
        return FAULTY(raw_threaded) ? 0 : header_wosize(packed);
    if (tag == TAG_CLOSURE)
        return closinfo_start_env(word_pointer(v)[1]) + FAULTY(late_environment);
    return 0;
}

/* For each function of the closure v but the first; `code` from code_words. */
#define EACH_INFIX(at, v, code)                                                                    \
    for (size_t at = (code) ? next_function(v, 0) : 0; at < (code); at = next_function(v, at))

/* ---- pack ------------------------------------------------------------------------------------
 */

static inline bool is_kept(word header) {
    if (header_wosize(header) == 0)
        return FAULTY(fragment_kept);
    return header_colour(header) != BLUE || (FAULTY(small_revived) && header_wosize(header) == 1);
}

static inline void pack_headers(struct space *g) {
    size_t words;
    for (word *hp = g->heap.base; hp < g->end; hp += words) {
        word v = pointer_word(hp + 1), header = *hp;
        bool kept = is_kept(header);
        size_t code = kept ? code_words(g, v, header_tag(header)) : 0;
        words = header_wosize(header) + 1;
        gc_tick(g->config.hooks);
        EACH_INFIX(at, v, code)
        word_pointer(v)[at - 1] = pack(word_pointer(v)[at - 1], PACKED_KEPT);
        *hp = pack(header, kept ? PACKED_KEPT : PACKED_FREE);
    }
}

/* ---- invert ----------------------------------------------------------------------------------
 */

static inline void invert_roots(const struct space *g) {
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            invert(g, &g->config.slots[m][s]);
}

static inline void invert_fields(struct space *g) {
    size_t words;
    for (word *hp = g->heap.base; hp < g->end; hp += words) {
        word packed = list_end(g, hp), v = pointer_word(hp + 1);
        words = header_wosize(packed) + 1;
        gc_tick(g->config.hooks);
        if (FAULTY(fragment_stuck) && words == 1)
            words = 0;
        if (FAULTY(last_forgotten) && hp + words == g->end)
            break;
        if (packed_is_free(packed) && !FAULTY(free_threaded))
            continue;
        for (size_t i = first_pointer(g, v, packed); i < header_wosize(packed); i++)
            invert(g, &word_pointer(v)[i]);
    }
}

/* ---- place -----------------------------------------------------------------------------------
 */

/* FAULT_swapped and FAULT_same_place are about pairs of neighbours that have one field each: 1 for
 * the first of a pair, -1 for the second, else 0.  Headers are packed while blocks are placed, and
 * no longer when they slide. */
static inline bool has_one_field(const struct space *g, const word *hp, bool packed) {
    if (hp >= g->end)
        return false;
    word w = packed ? list_end(g, hp) : *hp;
    return header_wosize(w) == 1 && (packed ? !packed_is_free(w) : header_colour(w) != BLUE);
}
static inline int of_pair(const struct space *g, const word *hp, bool packed, bool *second) {
    if (!FAULTY(swapped) && !FAULTY(same_place))
        return 0;
    bool was_second = *second;
    *second = !was_second && has_one_field(g, hp, packed) && has_one_field(g, hp + 2, packed);
    return was_second ? -1 : *second;
}

/* The words that the block takes at its new place. */
static inline size_t room(size_t words, int pair) {
    return FAULTY(same_place) && pair > 0 ? 0 : words;
}

/* The block, which is still at hp, goes to the value `to`. */
static inline void place_block(const struct space *g, word *hp, word to) {
    word v = pointer_word(hp + 1);
    revert(g, hp, to);
    size_t code = code_words(g, v, header_tag(*hp));
    if (FAULTY(infix_left))
        return;
    EACH_INFIX(at, v, code)
    revert(g, &word_pointer(v)[at - 1], to + (FAULTY(infix_flat) ? 0 : at * sizeof(word)));
}

static inline void place_blocks(struct space *g) {
    word *to = g->heap.base;
    bool second = false;
    size_t words;
    for (word *hp = g->heap.base; hp < g->end; hp += words) {
        gc_tick(g->config.hooks);
        if (packed_is_free(*hp)) { /* an inverted header ends in ...000 */
            *hp = unpack(*hp, BLUE);
            words = header_wosize(*hp) + 1;
            continue;
        }
        int pair = of_pair(g, hp, true, &second);
        place_block(g, hp, pointer_word(to + 1 + (FAULTY(swapped) ? 2 * pair : 0)));
        words = header_wosize(*hp) + 1;
        to += room(words, pair);
    }
}

/* ---- slide -----------------------------------------------------------------------------------
 */

/* Down, never up: the words may overlap. */
static inline void slide_block(const struct space *g, word *to, const word *hp, size_t words) {
    if (to == hp)
        return;
    word header = *hp;
    if (FAULTY(copied_down))
        for (size_t i = words; i-- > 1;)
            to[i] = hp[i];
    else
        memmove(to, hp, words * sizeof(word));
    to[0] = header;
    if (!FAULTY(slide_untold) || hp + words < g->end)
        gc_tell(g->config.hooks, GC_MOVED, pointer_word(hp + 1), NULL,
                pointer_word(to + 1 - FAULTY(slide_misplaced)));
}

/* Two blocks of one field. */
static inline void swap_blocks(word *first) {
    for (size_t i = 0; i < 2; i++) {
        word w = first[i];
        first[i] = first[i + 2];
        first[i + 2] = w;
    }
}

/* Returns the end of the blocks that are kept.  Free words are no longer poisoned afterwards. */
static inline word *slide_blocks(struct space *g) {
    word *to = g->heap.base;
    bool second = false;
    size_t words;
    for (word *hp = g->heap.base; hp < g->end; hp += words) {
        words = header_wosize(*hp) + 1; /* before it is overwritten */
        gc_tick(g->config.hooks);
        if (header_colour(*hp) == BLUE) {
            g->config.hooks->unpoison(hp, words);
            continue;
        }
        int pair = of_pair(g, hp, false, &second);
        slide_block(g, to, hp, words);
        if (FAULTY(swapped) && pair < 0)
            swap_blocks(to - 2);
        to += room(words, pair);
    }
    return to;
}

/* ---- what is free ----------------------------------------------------------------------------
 */

/* FAULT_rest_appended: the block that ends at `rest` gets the word there. */
static inline bool append_rest(struct space *g, const word *rest) {
    for (word *hp = g->heap.base; hp < rest; hp += header_wosize(*hp) + 1)
        if (hp + header_wosize(*hp) + 1 == rest) {
            *hp += header_make(1, 0, 0);
            return true;
        }
    return false;
}

/* Makes the words from `rest` to the end of the heap one free block; a single word becomes a
 * fragment. */
static inline void free_rest(struct space *g, word *rest) {
    size_t words = (size_t)(g->end - rest);
    if (!FAULTY(rover_kept))
        g->rover = FAULTY(rover_at_end) ? pointer_word(rest + 1) : 0;
    if (words >= 2) {
        rest[0] = header_make(FAULTY(end_too_long) ? words : words - 1, BLUE, 0);
        rest[1] = 0;
        if (!FAULTY(old_list))
            g->first_free = pointer_word(rest + 1);
        if (words > 2)
            g->config.hooks->poison(rest + 2, words - 2);
        return;
    }
    g->first_free = 0;
    if (words == 1 && !(FAULTY(rest_appended) && append_rest(g, rest)))
        rest[0] = header_make(0, WHITE, 0);
}

/* FAULT_low_bits: as if no word of a program ended in other bits than an address. */
static inline void clear_low_bits(struct space *g) {
    for (unsigned m = 0; m < g->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (is_pointer(g->config.slots[m][s]))
                g->config.slots[m][s] &= ~(word)3;
}

/* Every block that is not free must be white, and be kept. */
static inline void compact_space(struct space *g) {
    if (FAULTY(low_bits))
        clear_low_bits(g);
    pack_headers(g);
    invert_roots(g);
    invert_fields(g);
    place_blocks(g);
    free_rest(g, slide_blocks(g));
}

#endif
