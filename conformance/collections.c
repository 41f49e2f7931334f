/* SPDX-License-Identifier: MIT
 *
 * The conformance kit, second part: collections, and that nothing is left of the run before
 * (conform.h).
 */
#include "conformance/internal.h"
#include "harness/dead_memory.h"

#include <stdio.h>
#include <string.h>

const struct conform_collection conform_each[] = {{GC_MINOR, "after a minor collection"},
                                                  {GC_FULL, "after a full collection"},
                                                  {GC_COMPACT, "after a compaction"}};
enum { STEPS_MOST = 1 << 16, OPERATIONS = 60 };

/* ---- roots ------------------------------------------------------------------------------------
 */

/* So many slots of every mutator hold a block of their own, the others immediates. */
static void fill_slots(struct conform *c, unsigned used) {
    for (unsigned m = 0; m < c->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++) {
            c->slots[m][s] = immediate(1000 + s);
            if (s < used)
                make_node(c, m, s, m * GC_SLOTS + s);
        }
}

static void expect_slots(struct conform *c, unsigned used, const char *when) {
    for (unsigned m = 0; m < c->config.mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++) {
            if (s < used)
                expect_node(c, m, s, m * GC_SLOTS + s, when);
            else if (c->slots[m][s] != immediate(1000 + s))
                broken(c, "%s slot %u of mutator %u, an immediate, holds something else", when, s,
                       m);
        }
}

static void check_roots(struct conform *c) {
    static const unsigned used_by_scale[SCALES] = {1, 4, 16, 32, GC_SLOTS};
    unsigned used = used_by_scale[c->scale];
    unsigned mutators = c->traits.max_mutators < GC_MUTATORS ? c->traits.max_mutators : GC_MUTATORS;
    size_t words = c->words > 6 * used * mutators ? c->words : 6 * used * mutators;
    for (unsigned k = 0; k < COLLECTIONS; k++) {
        fresh_heap(c, words, mutators);
        fill_slots(c, used);
        collect(c, conform_each[k].kind);
        expect_slots(c, used, conform_each[k].when);
        collect(c, conform_each[k].kind);
        expect_slots(c, used, conform_each[k].when);
    }
}

static void check_sharing(struct conform *c) {
    for (unsigned k = 0; k < COLLECTIONS; k++) {
        fresh_heap(c, c->words, 1);
        make_node(c, 0, 0, 1);
        make_node(c, 0, 1, 2);
        set_field(c, 0, 1, 1, 0);
        c->slots[0][2] = c->slots[0][0];
        collect(c, conform_each[k].kind);
        expect_node(c, 0, 0, 1, conform_each[k].when);
        expect_node(c, 0, 1, 2, conform_each[k].when);
        get_field(c, 0, 3, 1, 1);
        if (c->slots[0][2] != c->slots[0][0] || c->slots[0][3] != c->slots[0][0])
            broken(c, "%s a block that two slots and a field shared has become several",
                   conform_each[k].when);
    }
}

/* ---- graphs -----------------------------------------------------------------------------------
 */

static void check_list(struct conform *c) {
    unsigned n = 4u << c->scale; /* 12 words of 64, and so on */
    for (unsigned k = 0; k < COLLECTIONS; k++) {
        fresh_heap(c, c->words, 1);
        make_list(c, n);
        for (unsigned round = 0; round < 2; round++) {
            collect(c, conform_each[k].kind);
            expect_list(c, n, conform_each[k].when);
        }
    }
}

static void check_cycle(struct conform *c) {
    make_node(c, 0, 0, 1);
    make_node(c, 0, 1, 2);
    set_field(c, 0, 0, 1, 1);
    set_field(c, 0, 1, 1, 0);
    c->slots[0][1] = WORD_UNIT;
    for (unsigned k = 0; k < COLLECTIONS; k++) {
        collect(c, conform_each[k].kind);
        expect_node(c, 0, 0, 1, conform_each[k].when);
        get_field(c, 0, 1, 0, 1);
        expect_node(c, 0, 1, 2, conform_each[k].when);
        get_field(c, 0, 2, 1, 1);
        if (c->slots[0][2] != c->slots[0][0])
            broken(c, "%s a cycle of two blocks no longer leads back", conform_each[k].when);
    }
}

/* Allocates far more than the heap holds, so that the collector must reuse memory. */
static void check_reuse(struct conform *c) {
    unsigned n = 2u << c->scale, refused = 0;
    make_list(c, n);
    for (size_t i = 0; i < c->words; i++)
        refused += ask(c, 0, 1, 1 + i % 5, 0, c->units) != GC_OK;
    c->slots[0][1] = WORD_UNIT;
    expect_list(c, n, "after much garbage");
    if (refused && c->traits.refusal != REFUSES_ANYTIME)
        broken(c,
               "%u of %zu small allocations were refused, although all of them are garbage at once",
               refused, c->words);
    if (refused)
        remark(c, "memory of garbage is not used again (trait refusal promises nothing)");
}

static void check_counted(struct conform *c) {
    make_list(c, 1u << c->scale);
    uint64_t before = c->hooks->collections;
    collect(c, GC_FULL);
    if (c->hooks->collections == before)
        broken(c, "a full collection did not add one to hooks->collections: the harness would not "
                  "compare the heaps");
    if (c->hooks->fuel == FUEL)
        remark(
            c,
            "collect never calls gc_tick: a loop that does not end will be a hang, not a verdict");
}

/* ---- slices -----------------------------------------------------------------------------------
 */

static void check_step(struct conform *c) {
    unsigned n = 2u << c->scale, steps = 0;
    for (unsigned round = 0; round < 3; round++) {
        fresh_heap(c, c->words, 1);
        make_list(c, n);
        uint64_t begun = cycles_begun(c);
        for (steps = 0; steps < STEPS_MOST; steps++) {
            c->hooks->fuel = FUEL;
            enum gc_result result = c->collector->step(c->gc, 1u << round * 4);
            if (result != GC_IDLE)
                must_ask_again(c, "step", result, 0);
            expect_list(c, n, "after a slice");
            if (result == GC_IDLE || cycles_begun(c) > begun + 1)
                break;
        }
        if (steps == STEPS_MOST)
            broken(
                c,
                "step has not answered idle after %d slices without a mutator, and cycle has not "
                "told of a second cycle: the first one does not end",
                STEPS_MOST);
        collect(c, GC_FULL);
        expect_list(c, n, "after slices and a full collection");
    }
}

static const char *has_kinds(const struct conform *c) {
    return c->collector->switch_kind && c->collector->kinds ? NULL : "one kind of collector alone";
}

static void check_kinds(struct conform *c) {
    unsigned n = 2u << c->scale;
    make_list(c, n);
    for (unsigned k = 0; c->collector->kinds[k]; k++) {
        unsigned times = 0;
        c->hooks->fuel = FUEL;
        while (must_ask_again(c, "switch_kind", c->collector->switch_kind(c->gc, k), times))
            times++;
        expect_list(c, n, "after a switch of the kind");
        collect(c, GC_FULL);
        expect_list(c, n, "after a switch of the kind and a full collection");
    }
}

/* ---- repeatable -------------------------------------------------------------------------------
 */

/* What one run did, an entry an operation: without absolute addresses. */
struct trace {
    uint64_t entry[OPERATIONS];
    char name[OPERATIONS][40];
};

static uint64_t fold(uint64_t digest, uint64_t value) {
    return (digest ^ value) * 0x100000001b3;
}

struct tracer {
    const word *base;
    uint64_t digest;
};

static void take_down(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct tracer *t = context;
    t->base = t->base ? t->base : header;
    t->digest = fold(fold(fold(t->digest, kind), (uint64_t)(header - t->base)), words);
}

/* What can be seen of the state: the walk, where slots point in it, collections, steps. */
static uint64_t state(struct conform *c, uint64_t fuel) {
    struct tracer t = {NULL, 0xcbf29ce484222325};
    if (c->collector->walk)
        c->collector->walk(c->gc, take_down, &t);
    t.digest = fold(fold(t.digest, c->hooks->collections), fuel);
    for (unsigned s = 0; s < GC_SLOTS && t.base; s++)
        t.digest =
            fold(t.digest, is_immediate(c->slots[0][s]) ? c->slots[0][s]
                                                        : c->slots[0][s] - pointer_word(t.base));
    return t.digest;
}

static uint64_t random_next(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* One operation of a run that only its seed decides; returns its answer. */
static unsigned act(struct conform *c, uint64_t *random, char *name, size_t size) {
    unsigned dst = (unsigned)(random_next(random) % 8);
    size_t wosize = as_long(c, 1 + random_next(random) % (c->words / 8));
    switch (random_next(random) % 8) {
    case 0:
        snprintf(name, size, "a full collection");
        collect(c, GC_FULL);
        return 0;
    case 1:
        snprintf(name, size, "a minor collection");
        collect(c, GC_MINOR);
        return 0;
    case 2:
        snprintf(name, size, "a slice");
        return c->collector->step ? c->collector->step(c->gc, 1 + wosize) : 0;
    case 3:
        snprintf(name, size, "slot %u := unit", dst);
        c->slots[0][dst] = WORD_UNIT;
        return 0;
    default:
        snprintf(name, size, "an allocation of %zu fields", wosize);
        return ask(c, 0, dst, wosize, 0, c->units);
    }
}

static void run_one(struct conform *c, unsigned i, uint64_t *random, struct trace *t) {
    c->hooks->fuel = FUEL;
    unsigned answer = act(c, random, t->name[i], sizeof t->name[i]);
    t->entry[i] = fold(state(c, c->hooks->fuel), answer);
}

static void run(struct conform *c, size_t words, uint64_t seed, struct trace *t) {
    fresh_heap(c, words, 1);
    for (unsigned i = 0; i < OPERATIONS; i++)
        run_one(c, i, &seed, t);
}

/* The same run three times; between them others, one of them in a heap of another size, and then
 * with other words where nobody has written. */
static void check_repeats(struct conform *c) {
    static struct trace first, other, again;
    size_t words = c->words;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        run(c, words, seed, &first);
        for (unsigned round = 0; round < 3; round++) {
            run(c, words << round, seed + 100 + round, &other);
            fill_memory(c, round == 2 ? FILL_OTHER : FILL_USUAL);
            run(c, words, seed, &again);
            fill_memory(c, FILL_USUAL);
            for (unsigned i = 0; i < OPERATIONS; i++)
                if (first.entry[i] != again.entry[i])
                    broken(c,
                           "the same calls do not the same after another run: operation %u, %s, "
                           "differs.  %s",
                           i, first.name[i],
                           round == 2 ? "it reads words that it has not written since reset"
                                      : "reset leaves state behind");
        }
    }
}

static void check_reopen(struct conform *c) {
    make_list(c, 1u << c->scale);
    c->collector->close(c->gc);
    c->gc = c->collector->open();
    if (!c->gc)
        broken(c, "open after close returns NULL");
    fresh_heap(c, c->words, 1);
    make_list(c, 1u << c->scale);
    expect_list(c, 1u << c->scale, "after close and open");
}

static const char *several_states(const struct conform *c) {
    return c->traits.single ? "it has one state in a process: trait single" : NULL;
}

/* Two that take turns do what each has done alone: else a comparison of the collector with itself,
 * or of two plug-ins of one source, accuses it of what the other one did. */
static void check_beside(struct conform *c) {
    static struct conform other;
    static struct trace alone[2], beside[2];
    size_t words = c->words;
    run(c, words, 1, &alone[0]);
    run(c, words, 2, &alone[1]);
    open_beside(&other, c);
    struct conform *both[] = {c, &other};
    uint64_t random[] = {1, 2};
    fresh_heap(c, words, 1);
    fresh_heap(&other, words, 1);
    for (unsigned i = 0; i < 2 * OPERATIONS; i++) {
        unsigned who = i % 2, at = i / 2;
        run_one(both[who], at, &random[who], &beside[who]);
        if (beside[who].entry[at] != alone[who].entry[at])
            broken(c,
                   "two of them in a process do not do what each does alone: operation %u, %s, "
                   "differs; a collector with one state in a process says so with the trait single",
                   at, beside[who].name[at]);
    }
    other.collector->close(other.gc);
}

const struct conform_step conform_collections[] = {
    {"roots", "every slot of every mutator is a root, and is updated when its block moves",
     has_collect, check_roots},
    {"sharing", "a block that several places point at stays one block", has_collect, check_sharing},
    {"list", "what is reachable through fields survives, and fields are updated", has_collect,
     check_list},
    {"cycle", "cycles survive", has_collect, check_cycle},
    {"reuse", "much garbage harms nothing that is alive", NULL, check_reuse},
    {"counted", "a collection adds one to hooks->collections", has_collect, check_counted},
    {"step", "slices come to an end, and harm nothing", has_step, check_step},
    {"kinds", "the heap survives a switch of the collector's kind", has_kinds, check_kinds},
    {"repeats", "the same calls do the same whatever ran before: reset leaves no state", NULL,
     check_repeats},
    {"reopen", "a collector that was closed can be opened again", NULL, check_reopen},
    {"beside", "two of it in one process do not know of each other", several_states, check_beside},
    {NULL, NULL, NULL, NULL}};
