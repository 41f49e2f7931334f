/* SPDX-License-Identifier: MIT
 *
 * The conformance kit: work that is done in pieces, and that is counted (conform.h).
 */
#include "conformance/internal.h"

#include "harness/harness.h"

/* ---- slices -----------------------------------------------------------------------------------
 */

/* Kinds may promise different things. */
static const char *claims_slices(const struct conform *c) {
    struct gc_config config = c->config;
    for (config.kind = 0; config.kind < kinds_of(c); config.kind++)
        if (promised_traits(c->collector, &config).slices)
            return NULL;
    return "trait slices is not set";
}
static const char *claims_paced(const struct conform *c) {
    struct gc_config config = c->config;
    for (config.kind = 0; config.kind < kinds_of(c); config.kind++)
        if (promised_traits(c->collector, &config).paced)
            return NULL;
    return "trait paced is 0";
}

static const char *kind_name(const struct conform *c) {
    return c->collector->kinds ? c->collector->kinds[c->kind] : "the only one";
}

static void end_cycle(struct conform *c) {
    unsigned n = slices_of_a_cycle(c);
    if (n == CYCLE_SLICES)
        broken(c, "%u slices without a mutator do not end the cycle (kind: %s)", n, kind_name(c));
}

/* One cycle may be under way, which keeps what it began with; the next keeps what is reachable, but
 * for what the generations keep in turn: one block goes in each, or grows older. */
static void slices_until_exact(struct conform *c, unsigned live) {
    end_cycle(c);
    end_cycle(c);
    walk(c, HEAP_TILES);
    size_t most = c->collector->young ? (c->facts.live + 1) * (c->config.promotion_age + 1) : 0;
    for (size_t n = 0; c->facts.live > live && n < most; n++) {
        end_cycle(c);
        walk(c, HEAP_TILES);
    }
}

static void check_slices_round(struct conform *c, bool under_way) {
    unsigned n = 2u << c->scale;
    make_list(c, n);
    if (under_way)
        c->collector->step(c->gc, 1);
    c->slots[0][0] = WORD_UNIT;
    make_list(c, 2);
    uint64_t before = c->collector->cycle(c->gc).begun;
    slices_until_exact(c, 2);
    if (c->collector->cycle(c->gc).begun == before)
        broken(c, "%u blocks are garbage, and slices begin no cycle (kind: %s)", n, kind_name(c));
    if (c->facts.live != 2)
        broken(c, "2 blocks are reachable, and after cycles of slices the walk has %zu (kind: %s)",
               c->facts.live, kind_name(c));
    expect_list(c, 2, "after cycles of slices");
}

static void check_slices(struct conform *c) {
    for (c->kind = 0; c->kind < kinds_of(c); c->kind++) {
        fresh_heap(c, c->words, 1);
        for (unsigned round = 0; c->traits.slices && round < 3; round++)
            check_slices_round(c, round == 1);
    }
    c->kind = 0;
}

/* A slice of few words. */
static void check_pace_of(struct conform *c, size_t budget) {
    walk(c, HEAP_TILES);
    struct heap_size size = heap_size(&c->graph, &c->facts);
    uint64_t begun = c->collector->cycle(c->gc).begun;
    c->hooks->fuel = FUEL;
    c->collector->step(c->gc, budget);
    uint64_t steps = FUEL - c->hooks->fuel;
    bool begins = c->collector->cycle(c->gc).begun != begun;
    uint64_t most = heap_slice_steps(c->collector, &c->traits, &c->config, &size, budget, begins);
    if (steps > most)
        broken(c,
               "a slice of %zu words took %llu steps; trait paced promises %llu at most (kind: %s)",
               budget, (unsigned long long)steps, (unsigned long long)most, kind_name(c));
}

/* Slices over a list, as many as its cycle may take and more. */
static void check_paced(struct conform *c) {
    for (c->kind = 0; c->kind < kinds_of(c); c->kind++) {
        unsigned n = 2u << c->scale;
        fresh_heap(c, c->words, 1);
        make_list(c, n);
        for (unsigned slice = 0; c->traits.paced && slice < 4 * n; slice++)
            check_pace_of(c, 1 + slice % 4);
    }
    c->kind = 0;
}

/* ---- steps ------------------------------------------------------------------------------------
 */

CLAIMED(ticks)

static void check_ticks(struct conform *c) {
    unsigned n = 2u << c->scale;
    make_list(c, n);
    collect(c, GC_FULL);
    uint64_t steps = FUEL - c->hooks->fuel;
    if (steps < n)
        broken(c, "a full collection of %u live blocks has called gc_tick %llu times", n,
               (unsigned long long)steps);
}

static const char *claims_shallow(const struct conform *c) {
    return !c->traits.shallow      ? "trait shallow is not set"
           : c->collector->collect ? NULL
                                   : "no function collect";
}

/* A list as long as the largest heap allows: blocks of one field, where a frame of a function that
 * calls itself takes four words at the very least. */
static void check_shallow(struct conform *c) {
    unsigned n = WORDS_MOST / 2 - 64;
    if (c->scale < SCALES - 1)
        return;
    fresh_heap(c, WORDS_MOST, 1);
    for (unsigned i = 0; i < n; i++) {
        make(c, 0, 1, 1, node_tag(c), c->units);
        set_field(c, 0, 1, 0, 0);
        c->slots[0][0] = c->slots[0][1];
    }
    c->slots[0][1] = WORD_UNIT;
    collect_on_stack(c, GC_MINOR, STACK_KIB);
    collect_on_stack(c, GC_FULL, STACK_KIB);
    if (c->traits.compacts)
        collect_on_stack(c, GC_COMPACT, STACK_KIB);
}

const struct conform_step conform_pieces[] = {
    {"slices", "slices without a mutator begin and end cycles until no garbage is left",
     claims_slices, check_slices},
    {"paced", "a slice takes no more steps than its budget allows", claims_paced, check_paced},
    {"ticks", "a collection calls gc_tick for every block that it looks at, at least", claims_ticks,
     check_ticks},
    {"shallow", "a collection needs no more than 64 KiB of stack, however long a list is",
     claims_shallow, check_shallow},
    {NULL, NULL, NULL, NULL}};
