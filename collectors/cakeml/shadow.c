/* SPDX-License-Identifier: MIT
 *
 * CakeML's heap as OCaml blocks, for slots and oracles.
 *
 * The shadow has the same blocks at the same addresses, counted in words, and is written from the
 * level that holds the heap whenever someone looks.
 */
#include "collectors/cakeml/internal.h"

#include <string.h>

/* Bits of a null address's data: Word v without its LSB. */
static unsigned value_bits(const struct gc *g) {
    return g->view.rep.width - 1;
}

uint32_t shadow_element(const struct gc *g, word v) {
    word at = v - pointer_word(g->shadow.base);
    if (is_immediate(v) || at >= g->view.limit * sizeof(word)) /* the last word is one's header */
        return CAKEML_NONE;
    return (uint32_t)(at / sizeof(word)) - 1; /* before the first element: CAKEML_NONE too */
}

struct cakeml_element shadow_element_here(const struct gc *g, uint32_t a) {
    if (!g->view.words)
        return g->heaps[g->heap].el[a];
    uint64_t header = g->words.m[g->words.curr + a];
    return (struct cakeml_element){.kind = CAKEML_DATA,
                                   .tag = (uint8_t)cakeml_decode_tag(header),
                                   .ref = cakeml_header_is(header, CAKEML_REF_BIT),
                                   .raw = cakeml_header_is(header, CAKEML_RAW_BIT),
                                   .length = (uint16_t)cakeml_decode_length(&g->view.rep, header)};
}

cakeml_value shadow_encode(struct gc *g, word v) {
    uint32_t a = shadow_element(g, v);
    if (a == CAKEML_NONE)
        return literal_of_value(&g->literals, v, value_bits(g)) << 1;
    struct cakeml_element e = shadow_element_here(g, a);
    return cakeml_pointer(a, cakeml_bits_of(&g->view.rep, &e));
}

word shadow_decode(const struct gc *g, cakeml_value v) {
    if (!cakeml_is_pointer(v))
        return literal_value(&g->literals, v >> 1, value_bits(g));
    return pointer_word(g->shadow.base) + ((word)cakeml_address(v) + 1) * sizeof(word);
}

word shadow_read(const struct gc *g, const struct cakeml_element *e, uint32_t a, uint32_t i) {
    uint64_t w =
        g->view.words ? g->words.m[g->words.curr + a + 1 + i] : g->heaps[g->heap].words[a + 1 + i];
    if (e->raw)
        return g->view.rep.width == 64 ? w : literal_raw(&g->literals, w, 32);
    return shadow_decode(g, g->view.words ? cakeml_value_of(&g->view.rep, w) : w);
}

void shadow_used(struct gc *g) {
    struct gc_hooks *hooks = g->config.hooks;
    word *base = g->shadow.base;
    uint32_t a = g->view.a, rs = refs_start(g);
    hooks->unpoison(base, a);
    hooks->unpoison(base + rs, g->view.limit - rs);
    hooks->poison(base + a, rs - a);
}

static void write_fields(const struct gc *g, const struct cakeml_element *e, uint32_t a,
                         uint32_t length) {
    word *out = g->shadow.base + a + 1;
    const uint64_t *in =
        g->view.words ? g->words.m + g->words.curr + a + 1 : g->heaps[g->heap].words + a + 1;
    unsigned width = g->view.rep.width;
    if (e->raw && width == 64) {
        memcpy(out, in, length * sizeof *out);
        return;
    }
    for (uint32_t k = 0; k < length; k++, in++, out++) /* as shadow_read; most words are small */
        *out = !e->raw && !(*in & 1) && *in >> (width - 1) == 0 ? *in | 1 : shadow_read(g, e, a, k);
}

/* The elements from address a on, to `end`. */
static void walk_part(struct gc *g, uint32_t a, uint32_t end, gc_visit *visit, void *context) {
    word *base = g->shadow.base;
    while (a < end) {
        struct cakeml_element e = shadow_element_here(g, a);
        uint32_t length = e.length < end - a ? e.length : end - a - 1;
        base[a] = header_make(e.length, WHITE, e.tag);
        write_fields(g, &e, a, length);
        visit(context, e.length == 0 ? GC_FRAGMENT : GC_LIVE, base + a, e.length + UINT32_C(1));
        a += length + 1;
    }
}

void shadow_walk(struct gc *g, gc_visit *visit, void *context) {
    uint32_t a = g->view.a, rs = refs_start(g);
    walk_part(g, 0, a, visit, context);
    if (rs > a)
        visit(context, GC_UNUSED, g->shadow.base + a, rs - a);
    walk_part(g, rs, g->view.limit, visit, context);
}
