/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: steps, collections and memory that a collector needs no more than it
 * promises (conform.h).
 */
#include "conformance/internal.h"

#include "harness/allocated/allocated.h"

/* ---- steps ------------------------------------------------------------------------------------
 */

static const char *claims_linear(const struct conform *c) {
    return c->traits.linear ? NULL : "trait linear is 0";
}

static void expect_few_steps(struct conform *c, unsigned times, const struct heap_size *size,
                             const char *what) {
    uint64_t steps = FUEL - c->hooks->fuel;
    uint64_t most = times * heap_most_steps(c->collector, &c->traits, &c->config, size);
    if (steps > most)
        broken(c,
               "%s took %llu steps; of a heap of %zu blocks, %zu words in all, and %zu gaps, "
               "trait linear promises %llu at most",
               what, (unsigned long long)steps, size->blocks, size->words, size->gaps,
               (unsigned long long)most);
}

static struct heap_size size_now(struct conform *c) {
    walk(c, HEAP_TILES);
    return heap_size(&c->graph, &c->facts);
}

/* A list and as many dead blocks between its own: as many gaps as there can be. */
static void check_linear(struct conform *c) {
    size_t n = c->words / 8;
    for (size_t i = 0; i < n; i++) {
        make_node(c, 0, SCRATCH, 0);
        make_node(c, 0, SCRATCH, (unsigned)i);
        set_field(c, 0, SCRATCH, 1, 0);
        c->slots[0][0] = c->slots[0][SCRATCH];
    }
    c->slots[0][SCRATCH] = WORD_UNIT;
    for (unsigned i = 0; i < COLLECTIONS; i++) {
        struct heap_size before = size_now(c);
        collect(c, conform_each[i].kind);
        expect_few_steps(c, 1, &before, "a collection");
        before = size_now(c);
        before.words += 2 + 1;
        make_node(c, 0, 1, 1);
        expect_few_steps(c, 1, &before, "an allocation");
    }
}

/* ---- collections ------------------------------------------------------------------------------
 */

CLAIMED(waits)

static bool is_young_by_config(const struct conform *c, size_t wosize) {
    return c->collector->young && wosize + 1 < c->config.large_words &&
           wosize < c->config.nursery_words;
}

static size_t nursery_room(const struct conform *c) {
    const struct graph *g = &c->graph;
    size_t used = heap_in_use(g, g->words - g->nursery_words, g->words);
    return used < c->config.nursery_words ? c->config.nursery_words - used : 0;
}

/* Words in one piece for a block of that size, after a walk. */
static size_t room_for(const struct conform *c, size_t wosize) {
    if (is_young_by_config(c, wosize))
        return nursery_room(c);
    bool bumps = c->traits.moves && !c->traits.free_list;
    return 1 + (bumps ? c->facts.largest_unused : c->facts.largest_free);
}

/* Blocks of three sizes, of which every other is kept for a while. */
static void check_waits(struct conform *c) {
    for (unsigned i = 0; i < c->words / 2; i++) {
        size_t wosize = 1 + i % 3;
        uint64_t before = c->hooks->collections;
        walk(c, HEAP_TILES);
        size_t room = room_for(c, wosize);
        if (ask(c, 0, i % 2 ? i % 31 : 31, wosize, node_tag(c), c->units) != GC_OK)
            break;
        if (room > wosize && c->hooks->collections != before)
            broken(c,
                   "a block of %zu words was asked for, %zu were free in one piece, and the "
                   "allocation has collected",
                   wosize + 1, room);
    }
}

/* ---- the same again and again -----------------------------------------------------------------
 */

CLAIMED(steady)

/* malloc has a few blocks of each size at hand, so that the first that are taken are not seen. */
enum { STEADY_PERIODS = 5, STEADY_PERIOD = 8 };

/* The steps of a list, and of the collections that find it dead. */
static uint64_t steps_of_round(struct conform *c) {
    uint64_t steps = 0;
    for (unsigned i = 0; i < 2u << c->scale; i++) {
        make_node(c, 0, SCRATCH, i);
        steps += FUEL - c->hooks->fuel;
    }
    c->slots[0][SCRATCH] = WORD_UNIT;
    collect(c, GC_MINOR);
    steps += FUEL - c->hooks->fuel;
    for (unsigned n = 0; n < c->traits.full_until_exact; n++) {
        collect(c, GC_FULL);
        steps += FUEL - c->hooks->fuel;
    }
    return steps;
}

static void check_rounds(struct conform *c, bool fresh) {
    size_t bytes[STEADY_PERIODS];
    uint64_t steps[STEADY_PERIODS];
    unsigned more_bytes = 0, more_steps = 0;
    for (unsigned p = 0; p < STEADY_PERIODS; p++) {
        for (unsigned n = 0; n < STEADY_PERIOD; n++) {
            if (fresh)
                fresh_heap(c, c->words, 1);
            steps[p] = steps_of_round(c);
        }
        bytes[p] = memory_allocated();
        more_bytes += p && bytes[p] > bytes[p - 1];
        more_steps += p && steps[p] > steps[p - 1];
    }
    const char *each = fresh ? "the same calls after a reset" : "the same calls";
    if (more_steps == STEADY_PERIODS - 1)
        broken(c, "%s take more and more steps: at first %llu, %d times later %llu", each,
               (unsigned long long)steps[0], (STEADY_PERIODS - 1) * STEADY_PERIOD,
               (unsigned long long)steps[STEADY_PERIODS - 1]);
    if (more_bytes == STEADY_PERIODS - 1)
        broken(c, "%s leave more and more memory of malloc in use: %d times leave %zu bytes", each,
               (STEADY_PERIODS - 1) * STEADY_PERIOD, bytes[STEADY_PERIODS - 1] - bytes[0]);
}

static void check_steady(struct conform *c) {
    check_rounds(c, false);
    check_rounds(c, true);
}

/* ---- the young generation ---------------------------------------------------------------------
 */

CLAIMED(young_first)

static void check_young_first(struct conform *c) {
    for (unsigned i = 0; i < c->words / 4; i++) {
        size_t wosize = 1 + i % 3;
        if (ask(c, 0, 0, wosize, node_tag(c), c->units) != GC_OK)
            break;
        walk(c, HEAP_TILES);
        if (!c->collector->young(c->gc, c->slots[0][0]) && is_young_by_config(c, wosize) &&
            nursery_room(c) > wosize)
            broken(c, "a block of %zu words is old from the start, and the nursery has %zu free",
                   wosize + 1, nursery_room(c));
    }
}

CLAIMED(ages)

/* Minor collections one more than the age says: only the last one promotes. */
static void check_ages(struct conform *c) {
    unsigned age = c->config.promotion_age;
    for (unsigned round = 0; round < 1u << c->scale; round++) {
        make_node(c, 0, 0, round);
        if (!c->collector->young(c->gc, c->slots[0][0]))
            continue;
        for (unsigned n = 0; n <= age; n++) {
            collect(c, GC_MINOR);
            bool young = c->collector->young(c->gc, c->slots[0][0]);
            if (young != (n < age))
                broken(c,
                       "after %u minor collections a block is %s, and the age in the config is %u",
                       n + 1, young ? "young" : "old", age);
        }
    }
}

const struct conform_step conform_cost[] = {
    {"linear", "a call takes no more steps than the size of the heap allows", claims_linear,
     check_linear},
    {"waits", "an allocation collects only if there is no room for the block", claims_waits,
     check_waits},
    {"steady", "the same calls take no more steps and leave no more memory in use each time",
     claims_steady, check_steady},
    {"young_first", "a small block is young as long as the nursery has room", claims_young_first,
     check_young_first},
    {"ages", "a minor collection promotes the blocks that are old enough, and no other",
     claims_ages, check_ages},
    {NULL, NULL, NULL, NULL}};
