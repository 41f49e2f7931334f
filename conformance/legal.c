/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: what is legal in a heap at any time (conform.h).  Every walk of every step
 * looks at it; the steps here make heaps where it could be otherwise.
 */
#include "conformance/internal.h"

#define CLAIMED(name)                                                                              \
    static const char *claims_##name(const struct conform *c) {                                    \
        return c->traits.name ? NULL : "trait " #name " is not set";                               \
    }
CLAIMED(always_merged)
CLAIMED(solid_end)
CLAIMED(black_young)
#undef CLAIMED

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
        size_t most = c->traits.max_wosize && c->traits.max_wosize < c->words - 1
                          ? c->traits.max_wosize
                          : c->words - 1;
        for (size_t n = most > left ? most - left : 1; n > 0; n /= 2) {
            ask(c, 0, (unsigned)(n % SCRATCH), n, node_tag(c), c->units);
            walk(c, HEAP_TILES);
        }
        collect(c, GC_FULL);
        walk(c, HEAP_TILES);
    }
}

static void check_black_young(struct conform *c) {
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, 1u << c->scale);
        walk(c, HEAP_TILES | HEAP_COLOURS);
        collect(c, round ? GC_MINOR : GC_FULL);
        walk(c, HEAP_TILES | HEAP_COLOURS);
    }
}

const struct conform_step conform_legal[] = {
    {"always_merged", "no two free blocks are ever neighbours", claims_always_merged,
     check_always_merged},
    {"solid_end", "the heap never ends with a fragment", claims_solid_end, check_solid_end},
    {"black_young", "young blocks are black", claims_black_young, check_black_young},
    {NULL, NULL, NULL, NULL}};
