/* SPDX-License-Identifier: MIT
 *
 * The conformance step `raw`: words of no-scan blocks that look like pointers (conform.h).
 */
#include "conformance/internal.h"

#include <string.h>

enum { RAW_WORDS = 6, RAW_LIST = 0, RAW_BLOCK = 1, RAW_CLOSURE = 2, RAW_DEAD = 3 }; /* slots */

/* Words that look like pointers: at a block, a field, a header, an infix block, a block that dies.
 */
static void looks_like(struct conform *c, word out[RAW_WORDS]) {
    if (c->traits.infix)
        make_closure(c, RAW_CLOSURE);
    make_node(c, 0, RAW_DEAD, 77);
    const word list = c->slots[0][RAW_LIST], closure = c->slots[0][RAW_CLOSURE];
    const word words[RAW_WORDS] = {list,
                                   c->slots[0][RAW_DEAD],
                                   list + sizeof(word),
                                   c->traits.infix ? closure + 3 * sizeof(word) : list,
                                   list - sizeof(word),
                                   0x00c0de0000000010};
    memcpy(out, words, sizeof words);
    c->slots[0][RAW_DEAD] = WORD_UNIT;
}

/* A number of conform_each, or slices. */
enum { RAW_SLICES = COLLECTIONS, RAW_WAYS };

static const char *collect_in_a_way(struct conform *c, unsigned way) {
    if (way != RAW_SLICES) {
        collect(c, conform_each[way].kind);
        return conform_each[way].when;
    }
    for (unsigned n = 0; c->collector->step && n < 8; n++) {
        c->hooks->fuel = FUEL;
        c->collector->step(c->gc, 16);
    }
    return "after slices";
}

static void expect_raw(struct conform *c, size_t size, unsigned tag, const word *raw,
                       const char *when) {
    if (c->collector->walk) {
        walk(c, HEAP_TILES);
        if (graph_resolve(&c->graph, c->slots[0][RAW_BLOCK]).kind != GRAPH_BLOCK)
            broken(c, "%s a block of tag %u is gone", when, tag);
    }
    for (size_t i = 0; i < size; i++)
        if (word_pointer(c->slots[0][RAW_BLOCK])[i] != raw[i])
            broken(c,
                   "%s word %zu of a block of %zu words and tag %u has changed: raw words are no "
                   "pointers",
                   when, i, size, tag);
}

/* What only a raw word leads to is garbage, and no part of a cycle. */
static void expect_no_more(struct conform *c, unsigned blocks) {
    if (!(c->traits.full_until_exact || c->traits.acyclic_until_exact) || !c->collector->walk)
        return;
    collect_fully(c);
    walk(c, HEAP_TILES);
    if (c->facts.live != blocks)
        broken(c,
               "%u blocks are reachable, and after full collections the walk has %zu: words of a "
               "raw block keep nothing alive",
               blocks, c->facts.live);
}

static void check_raw_block(struct conform *c, size_t size, unsigned tag, unsigned way) {
    enum { BLOCKS_OF_CLOSURE = 2 };
    word kinds[RAW_WORDS], raw[WORDS_MOST];
    unsigned n = 1u << c->scale;
    fresh_heap(c, c->words, 1);
    make_list(c, n);
    looks_like(c, kinds);
    for (size_t i = 0; i < size; i++)
        raw[i] = fitting(c, kinds[i % RAW_WORDS]);
    make(c, 0, RAW_BLOCK, size, tag, raw);
    for (unsigned round = 0; round < 2; round++) {
        const char *when = collect_in_a_way(c, way);
        expect_list(c, n, when);
        expect_raw(c, size, tag, raw, when);
        if (c->traits.infix)
            expect_closure(c, RAW_CLOSURE, when);
    }
    unsigned others = c->traits.infix ? BLOCKS_OF_CLOSURE : 0;
    expect_no_more(c, n + 1 + others);
    c->slots[0][RAW_BLOCK] = WORD_UNIT; /* its death is nothing to what its words look like */
    expect_no_more(c, n + others);
    expect_list(c, n, "after the death of a raw block");
    c->slots[0][RAW_LIST] = WORD_UNIT;
    expect_no_more(c, others);
}

/* An integer that is the address of a young block and one more, in an older block and in a slot. */
static void check_integer(struct conform *c, unsigned way) {
    enum { OLD = 1, INTEGER = 2, FOUND = 3 };
    unsigned n = 1u << c->scale;
    fresh_heap(c, c->words, 1);
    make_node(c, 0, OLD, 5);
    for (unsigned minor = 0; minor < 4; minor++) /* until it is old */
        collect(c, GC_MINOR);
    make_list(c, n);
    const word integer = c->slots[0][RAW_LIST] | 1;
    c->slots[0][INTEGER] = integer;
    set_field(c, 0, OLD, 1, INTEGER);
    for (unsigned round = 0; round < 2; round++) {
        const char *when = collect_in_a_way(c, way);
        get_field(c, 0, FOUND, OLD, 1);
        if (c->slots[0][FOUND] != integer || c->slots[0][INTEGER] != integer)
            broken(c, "%s an integer that is the address of a block and one more has changed",
                   when);
        expect_list(c, n, when);
    }
}

/* Blocks of every tag and several sizes, with words that look like pointers, through collections of
 * every kind. */
void check_raw(struct conform *c) {
    static const unsigned tags[] = {TAG_ABSTRACT, TAG_STRING, TAG_DOUBLE, TAG_DOUBLE_ARRAY,
                                    TAG_CUSTOM};
    const size_t sizes[] = {1, 2, 3, 7, c->words / 8};
    for (unsigned t = 0; t < sizeof tags / sizeof *tags; t++)
        for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            size_t most = c->traits.max_wosize ? c->traits.max_wosize : sizes[s];
            if (c->traits.lacks_raw & 1u << (tags[t] - TAG_NO_SCAN))
                continue;
            if (sizes[s] > most || (tags[t] == TAG_DOUBLE && sizes[s] != 1))
                continue;
            for (unsigned way = 0; way < RAW_WAYS; way++)
                check_raw_block(c, sizes[s], tags[t], way);
        }
    for (unsigned way = 0; way < RAW_WAYS && !c->traits.word_bits; way++)
        check_integer(c, way); /* no address has so few bits */
}
