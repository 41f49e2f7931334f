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

struct period {
    uint64_t steps; /* of the last round */
    size_t allocated, mapped;
};

static struct period period_of_rounds(struct conform *c, bool fresh) {
    struct period p = {0};
    for (unsigned n = 0; n < STEADY_PERIOD; n++) {
        if (fresh)
            fresh_heap(c, c->words, 1);
        p.steps = steps_of_round(c);
    }
    p.allocated = memory_allocated();
    p.mapped = memory_mapped();
    return p;
}

static void check_rounds(struct conform *c, bool fresh) {
    struct period first = period_of_rounds(c, fresh), last = first;
    bool more_steps = true, allocates = true, maps = true;
    for (unsigned n = 1; n < STEADY_PERIODS; n++) {
        struct period now = period_of_rounds(c, fresh);
        more_steps &= now.steps > last.steps;
        allocates &= now.allocated > last.allocated;
        maps &= now.mapped > last.mapped;
        last = now;
    }
    const char *each = fresh ? "the same calls after a reset" : "the same calls";
    int times = (STEADY_PERIODS - 1) * STEADY_PERIOD;
    if (more_steps)
        broken(c, "%s take more and more steps: at first %llu, %d times later %llu", each,
               (unsigned long long)first.steps, times, (unsigned long long)last.steps);
    if (allocates)
        broken(c, "%s leave more and more memory of malloc in use: %d times leave %zu bytes", each,
               times, last.allocated - first.allocated);
    if (maps)
        broken(c, "%s leave more and more memory mapped: %d times leave %zu bytes", each, times,
               last.mapped - first.mapped);
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
