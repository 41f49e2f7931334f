/* SPDX-License-Identifier: MIT
 *
 * OCaml 4.14's block layout on 64-bit machines: words, headers, colours, closures, infix blocks.
 *
 * A block is a header word followed by wosize fields; a value points at the first field.  Shared by
 * collectors, oracles and harness; everything here is a pure function of its arguments.
 * Source: the OCaml manual's chapter on interfacing with C and runtime/caml/mlvalues.h (4.14), as
 * facts; Figures 1 to 3 of the verified OCaml collector.
 */
#ifndef ISOHEAP_LAYOUT_H
#define ISOHEAP_LAYOUT_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t word;
static_assert(sizeof(void *) == sizeof(word), "isoheap needs a 64-bit machine");

enum colour { WHITE = 0, GRAY = 1, BLUE = 2, BLACK = 3 };

enum {
    TAG_LAZY = 246,
    TAG_CLOSURE = 247,
    TAG_OBJECT = 248,
    TAG_INFIX = 249,
    TAG_FORWARD = 250,
    TAG_NO_SCAN = 251, /* first tag whose fields are raw */
    TAG_ABSTRACT = 251,
    TAG_STRING = 252,
    TAG_DOUBLE = 253,
    TAG_DOUBLE_ARRAY = 254,
    TAG_CUSTOM = 255
};

#define WORD_UNIT      ((word)1) /* the immediate 0 */
#define HEADER_COLOURS ((word)0x300)

static inline word header_make(word wosize, unsigned colour, unsigned tag) {
    return wosize << 10 | (word)colour << 8 | tag;
}
static inline word header_wosize(word header) {
    return header >> 10;
}
static inline unsigned header_colour(word header) {
    return (unsigned)(header >> 8) & 3;
}
static inline unsigned header_tag(word header) {
    return (unsigned)header & 255;
}
static inline word header_recolour(word header, unsigned colour) {
    return (header & ~HEADER_COLOURS) | (word)colour << 8;
}

static inline bool is_immediate(word v) {
    return v & 1;
}
static inline bool is_pointer(word v) {
    return !(v & 1);
}
/* The first place from i on of a word that is no immediate, n if there is none.  Most words of most
 * blocks are immediates: four are passed over at a time. */
static inline size_t next_pointer(const word *words, size_t i, size_t n) {
    for (; i + 4 <= n; i += 4) {
        const word *w = words + i;
        if (is_pointer(w[0] & w[1] & w[2] & w[3]))
            break;
    }
    while (i < n && is_immediate(words[i]))
        i++;
    return i;
}
/* for every place i of such a word in words[from .. n) */
#define FOR_POINTERS(i, words, from, n)                                                            \
    for (size_t i = next_pointer(words, from, n); i < (n); i = next_pointer(words, i + 1, n))
static inline word immediate(int64_t n) {
    return (word)n << 1 | 1;
}
static inline int64_t immediate_value(word v) {
    return (int64_t)v >> 1;
}

static inline word *word_pointer(word v) {
    return (word *)(uintptr_t)v;
}
static inline word pointer_word(const word *p) {
    return (word)(uintptr_t)p;
}
/* The header of the block that v points at. */
static inline word header_of(word v) {
    return word_pointer(v)[-1];
}

/* ---- closures: field 0 is a code pointer, field 1 the closinfo, then the environment last -----
 */

static inline word closinfo_make(int arity, word start_env) {
    return (word)(uint8_t)arity << 56 | start_env << 1 | 1;
}
/* First field of the environment, counted from the block that the closinfo belongs to. */
static inline word closinfo_start_env(word info) {
    return info << 8 >> 9;
}

/* First field that may hold values; wosize or more if none does. */
static inline word first_scanned(word v) {
    unsigned tag = header_tag(header_of(v));
    if (tag >= TAG_NO_SCAN)
        return header_wosize(header_of(v));
    if (tag == TAG_CLOSURE)
        return closinfo_start_env(word_pointer(v)[1]);
    return 0;
}

/* The closure of an infix pointer; the infix header's wosize is the way back in words. */
static inline word infix_parent(word v) {
    return v - header_wosize(header_of(v)) * sizeof(word);
}

/* Code pointers and words that point outside every heap: even, and not canonical addresses on
 * x86-64 and AArch64, so that following one faults at once. */
static inline word code_pointer(unsigned n) {
    return (word)0x00c0de0000000000 | (word)n << 4;
}
static inline word outside_pointer(unsigned n) {
    return (word)0x0070070000000000 | (word)n << 4;
}

#endif
