/* SPDX-License-Identifier: MIT
 *
 * CakeML's configurable data representation (section 4.2, Figures 6 and 8): pure functions from
 * heap elements and heap addresses to machine words, and back.
 *
 * An algorithm-level heap address is a 64-bit value: Data (Word v) is v, whose LSB is 0; Pointer n
 * d has n in the upper half, d (the information of ptr_bits) from bit 2 on, and LSB 1; bit 1 marks
 * Data (Protected (Pointer n d)), which only the simulation argument of section 3.4 has.
 */
#ifndef ISOHEAP_CAKEML_REPRESENTATION_H
#define ISOHEAP_CAKEML_REPRESENTATION_H

#include <stdbool.h>
#include <stdint.h>

/* ---- heap addresses (section 3.3) --------------------------------------------------------------
 */

typedef uint64_t cakeml_value;

static inline bool cakeml_is_pointer(cakeml_value v) {
    return (v & 3) == 1;
}
/* The first value from place k on that is no data, n if there is none.  Most values are data: four
 * are passed over at a time. */
static inline uint32_t cakeml_next_odd(const cakeml_value *list, uint32_t k, uint32_t n) {
    for (; k + 4 <= n; k += 4) {
        const cakeml_value *v = list + k;
        if ((v[0] | v[1] | v[2] | v[3]) & 1)
            break;
    }
    while (k < n && !(list[k] & 1))
        k++;
    return k;
}
/* for every place k of what is no data in list[0 .. n) */
#define CAKEML_FOR_ODD(k, list, n)                                                                 \
    for (uint32_t k = cakeml_next_odd(list, 0, n); k < (n); k = cakeml_next_odd(list, k + 1, n))
static inline cakeml_value cakeml_pointer(uint32_t n, uint32_t d) {
    return (cakeml_value)n << 32 | (cakeml_value)d << 2 | 1;
}
static inline uint32_t cakeml_address(cakeml_value v) {
    return (uint32_t)(v >> 32);
}
static inline uint32_t cakeml_information(cakeml_value v) {
    return (uint32_t)(v & UINT32_MAX) >> 2;
}
static inline cakeml_value cakeml_protected(cakeml_value v) {
    return v | 2;
}
/* to_gen_heap_address (section 3.4): what lies outside the generation is no pointer. */
static inline cakeml_value cakeml_to_gen(cakeml_value v, uint32_t gen_start, uint32_t refs_start) {
    if (!cakeml_is_pointer(v))
        return v;
    uint32_t ptr = cakeml_address(v);
    if (ptr < gen_start || refs_start <= ptr)
        return cakeml_protected(v);
    return cakeml_pointer(ptr - gen_start, cakeml_information(v));
}

/* ---- heap elements (section 3.3) ---------------------------------------------------------------
 */

enum cakeml_kind_of_element { CAKEML_NOTHING, CAKEML_UNUSED, CAKEML_FORWARD, CAKEML_DATA };
/* At an address where no element starts: CAKEML_NOTHING. */
struct cakeml_element {
    uint8_t kind;
    uint8_t tag;     /* of OCaml */
    bool ref;        /* conf.isRef */
    bool raw;        /* its words are no heap addresses, but data */
    uint16_t length; /* l: words, minus one */
    uint16_t to;     /* of a ForwardPointer */
};

static inline uint32_t cakeml_el_length(const struct cakeml_element *e) {
    return e->length + UINT32_C(1);
}

/* ---- machine words (Figures 6 and 8) -----------------------------------------------------------
 */

struct cakeml_rep {
    unsigned width;                        /* bits of a word: dimindex */
    unsigned len_size;                     /* bits for the length in a header */
    unsigned len_bits, tag_bits, pad_bits; /* of a pointer */
};

/* What a config's variant names: w64 and w32 have the algorithm level in lockstep, list is it
 * alone, words are 64 bits alone.  Variants beyond the names are the same four with other bits: 2
 * of the length and 2 of the tag in a pointer, one of padding, one for headers with 6 bits of
 * length instead of 16 or 32. */
enum cakeml_level { CAKEML_W64, CAKEML_W32, CAKEML_LIST, CAKEML_WORDS, CAKEML_LEVELS };
static inline enum cakeml_level cakeml_level_of(unsigned variant) {
    return (enum cakeml_level)(variant % CAKEML_LEVELS);
}
static inline struct cakeml_rep cakeml_rep_of(unsigned variant) {
    bool half = cakeml_level_of(variant) == CAKEML_W32;
    unsigned bits = variant / CAKEML_LEVELS;
    return (struct cakeml_rep){.width = half ? 32 : 64,
                               .len_size = bits >> 5 & 1 ? 6
                                           : half        ? 16
                                                         : 32,
                               .len_bits = bits & 3,
                               .tag_bits = bits >> 2 & 3,
                               .pad_bits = bits >> 4 & 1};
}

static inline uint64_t cakeml_word(const struct cakeml_rep *c, uint64_t w) {
    return c->width == 64 ? w : w & UINT32_MAX;
}
static inline unsigned cakeml_small_shift_length(const struct cakeml_rep *c) {
    return c->len_bits + c->tag_bits + 1;
}
static inline unsigned cakeml_shift_length(const struct cakeml_rep *c) {
    return cakeml_small_shift_length(c) + c->pad_bits;
}

/* n, or as large a number as fits. */
static inline uint32_t cakeml_saturate(uint32_t n, unsigned bits) {
    uint32_t most = (UINT32_C(1) << bits) - 1;
    return n < most ? n : most;
}
/* ptr_bits: what a pointer to a block tells of its tag and length without a look at it. */
static inline uint32_t cakeml_ptr_bits(const struct cakeml_rep *c, uint32_t tag, uint32_t length) {
    return cakeml_saturate(tag, c->tag_bits) << (c->len_bits + 1) |
           cakeml_saturate(length, c->len_bits) << 1;
}
/* The same for a pointer to this element: only blocks carry it (v_inv, Figure 3). */
static inline uint32_t cakeml_bits_of(const struct cakeml_rep *c, const struct cakeml_element *e) {
    return e->ref || e->raw ? 0 : cakeml_ptr_bits(c, e->tag, e->length);
}

static inline uint64_t cakeml_get_lowerbits(const struct cakeml_rep *c, uint64_t w) {
    return (w & ((UINT64_C(1) << cakeml_small_shift_length(c)) - 1)) | 1;
}
static inline uint64_t cakeml_get_addr(const struct cakeml_rep *c, uint64_t n, uint64_t w) {
    return cakeml_word(c, n << cakeml_shift_length(c)) | cakeml_get_lowerbits(c, w);
}
static inline uint64_t cakeml_word_addr(const struct cakeml_rep *c, cakeml_value v) {
    if (!cakeml_is_pointer(v))
        return v & ~UINT64_C(1);
    return cakeml_get_addr(c, cakeml_address(v), cakeml_information(v));
}
/* ptr_to_addr without the base, in words. */
static inline uint64_t cakeml_ptr_to_addr(const struct cakeml_rep *c, uint64_t w) {
    return w >> cakeml_shift_length(c);
}
static inline uint64_t cakeml_update_addr(const struct cakeml_rep *c, uint64_t n, uint64_t w) {
    return cakeml_get_addr(c, n, w);
}
/* word_addr, read backwards. */
static inline cakeml_value cakeml_value_of(const struct cakeml_rep *c, uint64_t w) {
    if (!(w & 1))
        return w;
    uint64_t bits = w & ((UINT64_C(1) << cakeml_small_shift_length(c)) - 2);
    return cakeml_pointer((uint32_t)cakeml_ptr_to_addr(c, w), (uint32_t)bits);
}

/* Tags of headers: OCaml's, and two bits that tell blocks, references and data apart. */
enum { CAKEML_RAW_BIT = 1, CAKEML_REF_BIT = 2 };
static inline uint64_t cakeml_make_header(const struct cakeml_rep *c, uint64_t tag,
                                          uint64_t length) {
    return cakeml_word(c, length << (c->width - c->len_size)) | tag << 2 | 3;
}
static inline uint64_t cakeml_header(const struct cakeml_rep *c, const struct cakeml_element *e) {
    uint64_t tag =
        (uint64_t)e->tag << 2 | (e->ref ? CAKEML_REF_BIT : 0u) | (e->raw ? CAKEML_RAW_BIT : 0u);
    return cakeml_make_header(c, tag, e->length);
}
static inline uint64_t cakeml_decode_length(const struct cakeml_rep *c, uint64_t header) {
    return header >> (c->width - c->len_size);
}
static inline unsigned cakeml_decode_tag(uint64_t header) {
    return (unsigned)(header >> 4) & 255;
}
static inline bool cakeml_header_is(uint64_t header, unsigned bit) {
    return header >> 2 & bit;
}
static inline bool cakeml_is_fwd_ptr(uint64_t w) {
    return (w & 3) == 0;
}

#endif
