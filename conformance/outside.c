/* SPDX-License-Identifier: MIT
 *
 * The conformance steps `outside`, `statics`, `any_word` and `atoms`: even words that lead out of
 * the heap (conform.h).
 */
#include "conformance/internal.h"

enum {
    OUTSIDE_LIST = 0,
    OUTSIDE_BLOCK = 1,
    OUTSIDE_WORDS = 2,
    OUTSIDE_FOUND = 30,
    OUTSIDE_MOST = 12
};

/* Each word in a slot and in a field, through every kind of collection, and slices. */
static void expect_left_alone(struct conform *c, const word *values, const char *const *what,
                              unsigned words) {
    unsigned n = 1u << c->scale;
    make_list(c, n);
    make(c, 0, OUTSIDE_BLOCK, words, node_tag(c), c->units);
    for (unsigned i = 0; i < words; i++) {
        c->slots[0][OUTSIDE_WORDS + i] = values[i];
        set_field(c, 0, OUTSIDE_BLOCK, i, OUTSIDE_WORDS + i);
    }
    for (unsigned round = 0; round < 2 * COLLECTIONS; round++) {
        const struct conform_collection *each = &conform_each[round % COLLECTIONS];
        collect(c, each->kind);
        expect_list(c, n, each->when);
        for (unsigned i = 0; i < words; i++) {
            get_field(c, 0, OUTSIDE_FOUND, OUTSIDE_BLOCK, i);
            if (c->slots[0][OUTSIDE_WORDS + i] != values[i] ||
                c->slots[0][OUTSIDE_FOUND] != values[i])
                broken(c, "%s %s, outside the heap, has changed", each->when, what[i]);
        }
    }
}

/* With a static block that has this word in its last field. */
static void expect_static_left_alone(struct conform *c, word last, word other, const char *which) {
    c->statics[0] = header_make(2, BLACK, 0);
    c->statics[1] = immediate(11);
    c->statics[2] = last;
    const word values[] = {pointer_word(c->statics + 1), other};
    const char *const what[] = {"a pointer to a static block", which};
    expect_left_alone(c, values, what, 2);
    if (c->statics[0] != header_make(2, BLACK, 0) || c->statics[1] != immediate(11) ||
        c->statics[2] != last)
        broken(c, "a collection wrote into a static block, outside the heap");
}

void check_outside(struct conform *c) {
    expect_static_left_alone(c, outside_pointer(3), outside_pointer(1),
                             "a word that points nowhere");
}

/* A second one is behind it, which the first leads to. */
void check_statics(struct conform *c) {
    c->statics[3] = header_make(1, BLACK, 1);
    c->statics[4] = immediate(12);
    const word second = pointer_word(c->statics + 4);
    expect_static_left_alone(c, second, second, "a pointer to another static block");
    if (c->statics[3] != header_make(1, BLACK, 1) || c->statics[4] != immediate(12))
        broken(c, "a collection wrote into the second static block");
}

/* Words of every kind; those beside the heap where the collector tells what lies there. */
void check_any_word(struct conform *c) {
    const word behind = c->beside[1] ? c->beside[1] : outside_pointer(5);
    const word before = c->beside[0] ? c->beside[0] - sizeof(word) : outside_pointer(6);
    const word values[] = {0,
                           2,
                           0xfffe,
                           outside_pointer(1) + 2,
                           outside_pointer(1) + 4,
                           0x3ff0000000000000,
                           0x8000000000000000,
                           0xfffffffffffffffe,
                           behind,
                           behind + sizeof(word),
                           before,
                           before + 6};
    static const char *const what[] = {"the null pointer",
                                       "the word 2",
                                       "the word 0xfffe",
                                       "a word that ends in 2",
                                       "a word that ends in 4",
                                       "the double 1.0",
                                       "the double -0.0",
                                       "the word -2",
                                       "the first address behind the heap",
                                       "the second address behind the heap",
                                       "the last address before the heap",
                                       "an address 2 bytes before the heap"};
    _Static_assert(sizeof values / sizeof *values == OUTSIDE_MOST &&
                       sizeof what / sizeof *what == OUTSIDE_MOST,
                   "each has its words");
    expect_left_alone(c, values, what, OUTSIDE_MOST);
}

void check_atoms(struct conform *c) {
    static const unsigned tags[] = {0, 1, TAG_LAZY - 1, TAG_ABSTRACT, TAG_DOUBLE_ARRAY};
    enum { TAGS = sizeof tags / sizeof *tags };
    static const char *const what[TAGS] = {"a pointer to a block without fields",
                                           "the same of tag 1", "the same of tag 245",
                                           "the same of tag 251", "the same of tag 254"};
    word values[TAGS], headers[TAGS];
    for (unsigned i = 0; i < TAGS; i++) {
        values[i] =
            c->collector->atom ? c->collector->atom(c->gc, tags[i]) : lent_atom(c->lent, tags[i]);
        headers[i] = header_of(values[i]);
        if (header_wosize(headers[i]) != 0 || header_tag(headers[i]) != tags[i])
            broken(c, "atom gives a value with the header 0x%llx for the tag %u",
                   (unsigned long long)headers[i], tags[i]);
    }
    expect_left_alone(c, values, what, TAGS);
    for (unsigned i = 0; i < TAGS; i++)
        if (header_of(values[i]) != headers[i])
            broken(c, "a collection wrote the header of a block without fields, outside the heap");
}
