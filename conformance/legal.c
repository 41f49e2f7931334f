/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: what is legal in a heap at any time, and sizes (conform.h).  Every walk of
 * every step looks at it; the steps here make heaps where it could be otherwise.
 */
#include "conformance/internal.h"

CLAIMED(always_merged)
CLAIMED(solid_end)
CLAIMED(black_young)

/* Blocks of several sizes, of which those die that have another number in this round. */
static void drop_some(struct conform *c, unsigned round) {
    unsigned n = 4 + 4 * c->scale;
    for (unsigned s = 0; s < n && s < SCRATCH; s++) {
        if (s % 3 == round % 3)
            continue;
        c->slots[0][s] = WORD_UNIT;
        if (ask(c, 0, s, 1 + (s + round) % 5, node_tag(c), c->units) != GC_OK)
            c->slots[0][s] = WORD_UNIT;
        walk(c, HEAP_TILES);
    }
}

static void look_in_between(struct conform *c, unsigned way) {
    if (way == COLLECTIONS) {
        c->hooks->fuel = FUEL;
        if (c->collector->step)
            c->collector->step(c->gc, 8);
    } else {
        collect(c, conform_each[way].kind);
    }
    walk(c, HEAP_TILES);
}

static void check_always_merged(struct conform *c) {
    for (unsigned round = 0; round < 24; round++) {
        drop_some(c, round);
        look_in_between(c, round % (COLLECTIONS + 1));
    }
}

/* The last block of the heap dies and is had again, smaller by turns, and so leaves every rest. */
static void check_solid_end(struct conform *c) {
    check_always_merged(c);
    for (unsigned left = 0; left < 6; left++) {
        for (unsigned s = 0; s < GC_SLOTS; s++)
            c->slots[0][s] = WORD_UNIT;
        collect_fully(c);
        size_t most = as_long(c, c->words - 1);
        for (size_t n = most > left ? most - left : 1; n > 0; n /= 2) {
            ask(c, 0, (unsigned)(n % SCRATCH), n, node_tag(c), c->units);
            walk(c, HEAP_TILES);
        }
        collect(c, GC_FULL);
        walk(c, HEAP_TILES);
    }
}

/* A list for which there is no more room: its first blocks stay young in a full collection, and
 * lead to old ones although they are black already. */
static void check_full_of_black(struct conform *c) {
    unsigned most = (unsigned)most_alive(&c->traits, &c->config), n = 0;
    fresh_heap(c, c->words, 1);
    while (n < most && ask(c, 0, 1, 2, node_tag(c), c->units) == GC_OK) {
        c->slots[0][2] = immediate((int64_t)n++);
        set_field(c, 0, 1, 0, 2);
        set_field(c, 0, 1, 1, 0);
        c->slots[0][0] = c->slots[0][1];
    }
    c->slots[0][1] = c->slots[0][2] = WORD_UNIT;
    collect(c, GC_FULL);
    c->slots[0][1] = c->slots[0][0];
    while (n-- > 0) {
        expect_node(c, 0, 1, n,
                    "where the first blocks of a list are young, black and find no room,");
        get_field(c, 0, 1, 1, 1);
    }
}

static void check_black_young(struct conform *c) {
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, 1u << c->scale);
        walk(c, HEAP_TILES | HEAP_COLOURS);
        collect(c, round ? GC_MINOR : GC_FULL);
        walk(c, HEAP_TILES | HEAP_COLOURS);
    }
    check_full_of_black(c);
}

/* ---- sizes ------------------------------------------------------------------------------------
 */

static const char *has_word_bits(const struct conform *c) {
    return c->traits.word_bits ? NULL : "word_bits is 0: words of 64 bits";
}

/* The immediates of the most and the fewest bits, and raw words, through every kind of collection.
 */
static void check_word_bits(struct conform *c) {
    const int64_t most = (int64_t)1 << (c->traits.word_bits - 2);
    const int64_t values[] = {0, 1, -1, most - 1, -most, most / 3, -most / 3};
    enum { VALUES = sizeof values / sizeof *values };
    make(c, 0, 0, VALUES, node_tag(c), c->units);
    for (unsigned i = 0; i < VALUES; i++) {
        c->slots[0][1] = immediate(values[i]);
        set_field(c, 0, 0, i, 1);
    }
    c->slots[0][1] = WORD_UNIT;
    for (unsigned k = 0; k < COLLECTIONS; k++) {
        collect(c, conform_each[k].kind);
        for (unsigned i = 0; i < VALUES; i++) {
            get_field(c, 0, 1, 0, i);
            if (c->slots[0][1] != immediate(values[i]))
                broken(c, "%s the integer %lld, of %u bits, is loaded as 0x%llx",
                       conform_each[k].when, (long long)values[i], c->traits.word_bits - 1,
                       (unsigned long long)c->slots[0][1]);
        }
    }
}

static const char *claims_grows(const struct conform *c) {
    return c->traits.grows_to ? NULL : "grows_to is 0: the heap has the size of the config";
}

/* A list of three quarters of the largest heap, then as much garbage. */
/* What a node takes: who has short blocks alone may have places of one size for all. */
static size_t node_words(const struct conform *c) {
    enum { NODE_WORDS = 3, SHORT = 8 };
    size_t most = c->traits.max_wosize;
    return most && most < SHORT ? most + 1 : NODE_WORDS;
}

static void check_grows(struct conform *c) {
    size_t most = heap_most_words(&c->traits, &c->config);
    unsigned n = (unsigned)(most * 3 / 4 / node_words(c));
    make_list(c, n);
    walk(c, HEAP_TILES);
    if (c->facts.words > most)
        broken(c, "a walk has %zu words, and grows_to is %zu", c->facts.words, most);
    for (unsigned i = 0; i < n; i++)
        make_node(c, 0, 1, i);
    c->slots[0][1] = WORD_UNIT;
    collect(c, GC_FULL);
    walk(c, HEAP_TILES);
    expect_list(c, n, "in a heap that has grown");
}

const struct conform_step conform_legal[] = {
    {"word_bits", "integers of word_bits - 1 bits are what they were", has_word_bits,
     check_word_bits},
    {"grows", "the heap grows to grows_to words", claims_grows, check_grows},
    {"always_merged", "no two free blocks are ever neighbours", claims_always_merged,
     check_always_merged},
    {"solid_end", "the heap never ends with a fragment", claims_solid_end, check_solid_end},
    {"black_young", "young blocks are black", claims_black_young, check_black_young},
    {NULL, NULL, NULL, NULL}};
