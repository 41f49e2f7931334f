/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: a heap that is large (conform.h), where tables of a fixed size are full and
 * numbers that are too narrow wrap.
 */
#include "conformance/internal.h"

static size_t large_words = 1 << 18;

void conform_large(size_t words) {
    large_words = words;
}

static size_t words_for(const struct conform *c) {
    size_t most = c->traits.max_heap_words;
    return most && most < large_words ? most : large_words;
}

/* Live blocks of one field, each of which points at the next, and a dead one of the same size
 * behind each of them: so that marking meets as many as there can be, and sweeping frees as many
 * gaps. */
enum { PAIR = 4 };

/* A word that is left over is a fragment: at the end, or in front where no heap ends with one.
 * Returns where the blocks begin. */
static word *place_fragment(const struct conform *c, word *base, size_t *rest) {
    if (!c->traits.solid_end || *rest != 1)
        return base;
    *base = header_make(0, WHITE, 0);
    *rest = 0;
    return base + 1;
}

static void build_by_image(struct conform *c, size_t n) {
    size_t words = n * PAIR;
    word *base = c->collector->image(c->gc, &words);
    if (!base || words < n * PAIR || words > c->words)
        broken(c, "image gives no place, or another number of words than there can be");
    size_t rest = words - n * PAIR;
    base = place_fragment(c, base, &rest);
    for (size_t i = 0; i < n; i++) {
        word *at = base + i * PAIR;
        at[0] = at[2] = header_make(1, WHITE, node_tag(c));
        at[1] = i + 1 < n ? pointer_word(at + PAIR + 1) : WORD_UNIT;
        at[3] = WORD_UNIT;
    }
    if (rest)
        base[n * PAIR] = rest == 1 ? header_make(0, WHITE, 0) : header_make(rest - 1, BLUE, 0);
    for (size_t i = 1; i < rest; i++)
        base[n * PAIR + i] = WORD_UNIT;
    c->slots[0][0] = pointer_word(base + 1);
    c->hooks->fuel = FUEL + PAIR * (uint64_t)c->words;
    c->collector->adopt(c->gc, words);
}

static void build_by_alloc(struct conform *c, size_t n) {
    for (size_t i = 0; i < 2 * n; i++) {
        c->hooks->fuel = FUEL + PAIR * (uint64_t)c->words;
        if (c->collector->alloc(c->gc, 0, 1, 1, node_tag(c), c->units) != GC_OK)
            broken(c,
                   "a block of one field was refused, although most of the heap of %zu words is "
                   "free",
                   c->words);
        if (i % 2 == 0) {
            set_field(c, 0, 1, 0, 0);
            c->slots[0][0] = c->slots[0][1];
        }
    }
    c->slots[0][1] = WORD_UNIT;
}

/* Blocks that are copies of the collector's own are made anew when somebody asks for them: of the
 * list as a whole nothing is said there but what its words lead to. */
static void expect_chain(struct conform *c, size_t n, const char *when) {
    word v = c->slots[0][1] = c->slots[0][0];
    for (size_t i = 0; i < n; i++) {
        if (is_immediate(v) || v % sizeof(word))
            broken(c, "%s, %zu steps along a list of %zu blocks, there is no pointer: 0x%llx", when,
                   i, n, (unsigned long long)v);
        if (!c->collector->shown_at && dead_memory_is_poisoned(word_pointer(v) - 1))
            broken(c, "%s, %zu steps along a list of %zu blocks, the block is dead memory", when, i,
                   n);
        word header = c->collector->shown_at ? header_make(1, WHITE, node_tag(c)) : header_of(v);
        if (header_wosize(header) != 1 || header_tag(header) != node_tag(c) ||
            header_colour(header) == BLUE)
            broken(c,
                   "%s, %zu steps along a list of %zu blocks, there is no block with one field: "
                   "its header is 0x%llx",
                   when, i, n, (unsigned long long)header);
        get_field(c, 0, 1, 1, 0);
        v = c->slots[0][1];
    }
    c->slots[0][1] = WORD_UNIT;
    if (v != WORD_UNIT)
        broken(c, "%s a list of %zu blocks does not end where it ended", when, n);
}

static void check_large(struct conform *c) {
    size_t words = words_for(c), n = (words - PAIR) / PAIR;
    if (c->scale < SCALES - 1 || words < 2 * PAIR)
        return;
    fresh_heap(c, words, 1);
    if (c->collector->image)
        build_by_image(c, n);
    else
        build_by_alloc(c, n / 2); /* beside a nursery, or what a runtime needs for itself */
    n = c->collector->image ? n : n / 2;
    expect_chain(c, n, "when it has been built");
    for (unsigned k = 0; k < COLLECTIONS; k++) {
        collect(c, conform_each[k].kind);
        expect_chain(c, n, conform_each[k].when);
    }
    c->slots[0][0] = WORD_UNIT;
    collect_fully(c);
}

const struct conform_step conform_larges[] = {
    {"large", "a large heap, of 262144 words or what --large says, keeps all blocks", NULL,
     check_large},
    {NULL, NULL, NULL, NULL}};
