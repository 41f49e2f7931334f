/* SPDX-License-Identifier: MIT
 *
 * Structured mutation and crossover: valid programs within the limits, whatever comes in; the same
 * from the same seed; every kind, operation and tag reached; the boundaries really hit.
 */
#include "program/mutation/mutate.h"

#include "collectors/cheney/cheney.h"
#include "program/bytes/bytes.h"
#include "program/mutation/internal.h"
#include "tests/support/figures.h"
#include "tests/support/mutate_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 1 << 12 };

static struct program program;
static uint8_t bytes[ROOM], second[ROOM], out[ROOM];

static struct mutation *open_profile(unsigned n) {
    struct mutation *m = mutation_open(mutation_profile_at(n), NULL);
    assert_non_null(m);
    return m;
}

/* ---- validity -------------------------------------------------------------------------------- */

static void always_valid(void **state) {
    (void)state;
    for (unsigned profile = 0; mutation_profile_at(profile); profile++) {
        struct mutation *m = open_profile(profile);
        struct rng rng = {profile + 1};
        for (unsigned round = 0; round < 3000; round++) {
            size_t size = random_bytes_or_program(&rng, bytes, 600),
                   limit = size + rng_below(&rng, 300);
            size = mutation_mutate(m, bytes, size, limit, rng_next(&rng));
            check_mutation(m, bytes, size, limit);
        }
        mutation_close(m);
    }
}

/* As an engine does it: a result is the next input. */
static void long_chains(void **state) {
    (void)state;
    for (unsigned profile = 0; mutation_profile_at(profile); profile++) {
        struct mutation *m = open_profile(profile);
        size_t size = 0;
        for (unsigned round = 0; round < 1500; round++) {
            size = mutation_mutate(m, bytes, size, 1024, round);
            check_mutation(m, bytes, size, 1024);
        }
        assert_true(size > 0);
        mutation_close(m);
    }
}

/* For a collector that has no longer blocks, whatever the programs were before; static ones are not
 * its own. */
static void within_a_limit(void **state) {
    (void)state;
    enum { LONGEST = 2 };
    unsigned items = 0, closures = 0;
    for (unsigned profile = 0; mutation_profile_at(profile); profile++) {
        struct mutation *m = open_profile(profile);
        struct rng rng = {profile + 1};
        for (unsigned round = 0; round < 1000; round++) {
            mutation_limit(m, LONGEST + round % 6);
            size_t size = random_bytes_or_program(&rng, bytes, 600);
            size = mutation_mutate(m, bytes, size, ROOM, rng_next(&rng));
            check_mutation(m, bytes, size, ROOM);
            program_decode(&program, bytes, size);
            for (unsigned i = 0; i < program.n_items; i++) {
                closures += program.items[i].kind == ITEM_CLOSURE;
                assert_true(program.items[i].is_static ||
                            program.items[i].wosize <= LONGEST + round % 6);
            }
            items += program.n_items;
        }
        mutation_close(m);
    }
    assert_true(items > 1000 && closures > 100);
}

/* The largest programs: every limit of program.h is in the way. */
static void at_the_limits(void **state) {
    (void)state;
    size_t room = program_encode_bound;
    uint8_t *large = malloc(room);
    struct mutation *m = open_profile(0);
    assert_non_null(large);
    for (unsigned seed = 0; seed < 12; seed++) {
        struct rng rng = {seed};
        random_program(&rng, &program, PROGRAM_ITEMS, PROGRAM_OPS);
        size_t size = program_encode(&program, large, room);
        for (unsigned round = 0; round < 12; round++) {
            size = mutation_mutate(m, large, size, room, rng_next(&rng));
            check_mutation(m, large, size, room);
        }
        size_t limit = rng_below(&rng, 2000);
        size = mutation_cross(m, large, size, large, size, out, limit, seed);
        check_mutation(m, out, size, limit);
    }
    mutation_close(m);
    free(large);
}

static void tiny_limits(void **state) {
    (void)state;
    struct mutation *m = open_profile(0);
    for (size_t limit = 0; limit < 24; limit++) {
        struct rng rng = {limit};
        for (unsigned round = 0; round < 300; round++) {
            size_t size = random_bytes_or_program(&rng, bytes, limit);
            size = mutation_mutate(m, bytes, size, limit, rng_next(&rng));
            check_mutation(m, bytes, size, limit);
            size_t n = random_bytes_or_program(&rng, bytes, 200),
                   n2 = random_bytes_or_program(&rng, second, 200);
            size = mutation_cross(m, bytes, n, second, n2, out, limit, rng_next(&rng));
            check_mutation(m, out, size, limit);
        }
    }
    assert_int_equal(mutation_mutate(m, NULL, 0, 0, 1), 0);
    mutation_close(m);
}

/* ---- randomness ------------------------------------------------------------------------------ */

static void same_seed_same_result(void **state) {
    (void)state;
    struct mutation *m = open_profile(0), *again = open_profile(0);
    struct rng rng = {7};
    uint64_t inputs = 0, results = 0;
    unsigned different = 0;
    for (unsigned round = 0; round < 500; round++) {
        size_t size = random_bytes_or_program(&rng, bytes, 300);
        inputs = seen_too(inputs, bytes, size);
        uint64_t seed = rng_next(&rng);
        memcpy(second, bytes, size);
        memcpy(out, bytes, size);
        size_t a = mutation_mutate(m, bytes, size, ROOM, seed);
        /* what ran before does not matter */
        if (round % 3 == 0)
            mutation_cross(again, out, size, out, size, second + size, ROOM - size, seed + 2);
        size_t b = mutation_mutate(again, second, size, ROOM, seed);
        assert_int_equal(a, b);
        assert_memory_equal(bytes, second, a);
        results = seen_too(results, bytes, a);
        size_t c = mutation_mutate(again, out, size, ROOM, seed + 1);
        different += a != c || memcmp(bytes, out, a) != 0;
    }
    figure("of 500 seeds those after which the next one makes something else", different);
    figure("digest of 500 inputs", inputs);
    figure("digest of what mutation makes of them", results);
    mutation_close(m);
    mutation_close(again);
}

static unsigned byte_rounds;
static size_t engine_mutator(uint8_t *data, size_t size, size_t max_size) {
    byte_rounds++;
    if (size < max_size)
        data[size++] = 0x7c;
    return size;
}

/* A program from nothing: valid, within its limit, of the seed alone, and small ones as well as
 * large ones; with the engine's mutator too, which has no part in it. */
static void from_nothing(void **state) {
    (void)state;
    static uint8_t again[256];
    struct mutation *m = mutation_open(mutation_profile_at(0), engine_mutator),
                    *n = open_profile(0);
    unsigned small = 0, large = 0;
    uint64_t all = 0;
    for (unsigned seed = 0; seed < 2000; seed++) {
        size_t limit = seed % 256 + 1, size = mutation_generate(m, bytes, limit, seed);
        check_mutation(m, bytes, size, limit);
        assert_int_equal(mutation_generate(n, again, limit, seed), size);
        assert_memory_equal(bytes, again, size);
        all = seen_too(all, bytes, size);
        small += size < 16 && limit > 100;
        large += size > 100;
    }
    figure("programs from nothing of less than 16 bytes, of 2000", small);
    figure("of more than 100 bytes", large);
    figure("their digest", all);
    mutation_close(m);
    mutation_close(n);
}

static void one_round_in_eight_is_the_engines(void **state) {
    (void)state;
    char text[64];
    struct mutation *m = mutation_open(NULL, engine_mutator);
    byte_rounds = 0;
    for (unsigned round = 0; round < 8000; round++) {
        unsigned before = byte_rounds;
        size_t size = mutation_mutate(m, bytes, 0, 64, round);
        mutation_describe(m, text, sizeof text);
        assert_int_equal(strcmp(text, "bytes") == 0, byte_rounds > before);
        assert_true(byte_rounds == before || (size == 1 && bytes[0] == 0x7c));
    }
    assert_in_range(byte_rounds, 850, 1150);
    mutation_close(m);
}

/* ---- vacuity: everything is reached ---------------------------------------------------------- */

static void every_kind_happens(void **state) {
    (void)state;
    for (unsigned profile = 0; mutation_profile_at(profile); profile++) {
        struct mutation *m = open_profile(profile);
        struct rng rng = {profile};
        for (unsigned round = 0; round < 4000; round++) {
            size_t size = random_bytes_or_program(&rng, bytes, 300);
            mutation_mutate(m, bytes, size, 1000, rng_next(&rng));
        }
        for (unsigned k = 0; k < MUTATION_KIND_COUNT; k++)
            if (mutation_counts(m)[k] < 10)
                fail_msg(
                    "%s: %s happened %u times", mutation_profile_name(mutation_profile_at(profile)),
                    mutation_kind_name((enum mutation_kind)k), (unsigned)mutation_counts(m)[k]);
        mutation_close(m);
    }
}

struct reached {
    bool ops[OP_CODES], tags[256], items[ITEM_FRAGMENT + 1], values[VALUE_ATOM + 1];
    unsigned most_decisions;
    bool keys[CONFIG_KEYS], mutators[PROGRAM_MUTATORS], is_static;
    bool limits[64]; /* the k-th: 2^k, as an integer */
};

static void note_value(struct reached *r, const struct value *v) {
    r->values[v->kind] = true;
    for (unsigned k = 0; k < 64 && v->kind == VALUE_IMMEDIATE; k++)
        r->limits[k] |= v->bits == UINT64_C(1) << k;
}

static void note_reached(struct reached *r, const struct program *p) {
    if (p->n_switches > r->most_decisions)
        r->most_decisions = p->n_switches;
    for (unsigned i = 0; i < p->n_ops; i++) {
        r->ops[p->ops[i].code] = true;
        r->mutators[p->ops[i].mutator] = true;
        r->tags[p->ops[i].tag] |= op_shapes[p->ops[i].code].operands & OPERAND_TAG;
        for (unsigned v = 0; v < p->ops[i].n_values; v++)
            note_value(r, &p->ops[i].values[v]);
    }
    for (unsigned i = 0; i < p->n_items; i++) {
        r->items[p->items[i].kind] = true;
        r->is_static |= p->items[i].is_static;
        r->tags[p->items[i].tag] |= item_is_named(&p->items[i]);
    }
    for (unsigned f = 0; f < p->n_fields; f++)
        note_value(r, &p->fields[f]);
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        r->keys[k] |= p->config[k] != config_ranges[k].initial;
}

/* From an empty corpus. */
static void everything_is_reached(void **state) {
    (void)state;
    for (unsigned profile = 0; mutation_profile_at(profile); profile++) {
        struct mutation *m = open_profile(profile);
        struct reached r = {0};
        size_t size = 0;
        for (unsigned round = 0; round < 12000; round++) {
            if (round % 100 == 0)
                size = 0;
            size = mutation_mutate(m, bytes, size, 512, round);
            note_reached(&r, mutation_program(m));
        }
        for (unsigned i = 0; i < OP_CODES; i++)
            assert_true(r.ops[i]);
        for (unsigned i = 0; i <= ITEM_FRAGMENT; i++)
            assert_true(r.items[i]);
        for (unsigned i = 0; i <= VALUE_ATOM; i++)
            assert_true(r.values[i]);
        for (unsigned i = 0; i < CONFIG_KEYS; i++)
            assert_true(r.keys[i]);
        /* where numbers stop to fit a word of 32 bits, each of the four in most profiles */
        assert_true(r.limits[29] + r.limits[30] + r.limits[31] + r.limits[32] > 2);
        for (unsigned i = 0; i < PROGRAM_MUTATORS; i++)
            assert_true(r.mutators[i]);
        unsigned tags = 0;
        for (unsigned tag = 0; tag < 256; tag++)
            tags += r.tags[tag];
        for (unsigned tag = PROGRAM_TAG_LAZY; tag < 256; tag++)
            assert_true(r.tags[tag] == (tag != PROGRAM_TAG_INFIX));
        assert_true(tags > 100 && r.is_static && r.most_decisions > 2);
        mutation_close(m);
    }
}

/* A swarm: what a round adds is of the codes and tags that it has chosen, and it chooses half.  An
 * idiom is chosen as a whole. */
static void rounds_use_subsets(void **state) {
    (void)state;
    struct mutation *m = open_profile(0);
    unsigned used[OP_CODES] = {0}, everything = 0, codes = 0, looked_at = 0;
    for (unsigned round = 0; round < 4000; round++) {
        mutation_mutate(m, bytes, 0, 2000, round);
        const op_bits ops = m->swarm.ops;
        const uint32_t raw = m->swarm.tags >> TAG_RAW_CHOICE;
        const bool object = m->swarm.tags >> TAG_CHOICE_OBJECT & 1 || (m->swarm.tags & 31) == 0;
        everything += ops == OP_BITS_ALL;
        for (unsigned i = 0; i < OP_CODES; i++) {
            used[i] += ops >> i & 1;
            codes += ops >> i & 1;
        }
        if (m->done >> MUTATION_idiom & 1)
            continue;
        looked_at++;
        for (unsigned i = 0; i < m->program.n_ops; i++) {
            const struct op *op = &m->program.ops[i];
            assert_true(op_bits_have(ops, op->code));
            assert_true(op->tag != PROGRAM_TAG_OBJECT || object);
            if (op->code == OP_ALLOC_RAW && (raw & 31) != 0)
                assert_true(raw >> (op->tag - PROGRAM_TAG_ABSTRACT) & 1);
        }
    }
    assert_in_range(looked_at, 3000, 4000);
    for (unsigned i = 0; i < OP_CODES; i++)
        assert_in_range(used[i], 4000 * 6 / 10, 4000 * 7 / 10); /* 1/3 + 2/3 * 1/2 */
    assert_in_range(everything, 4000 * 3 / 10, 4000 * 4 / 10);
    assert_in_range(codes, 4000 * OP_CODES * 6 / 10, 4000 * OP_CODES * 7 / 10);
    mutation_close(m);
}

static bool infix_seen(const struct program *p) {
    for (unsigned f = 0; f < p->n_fields; f++)
        if (p->fields[f].kind == VALUE_INFIX)
            return true;
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
        if (p->roots[0][s].kind == VALUE_INFIX)
            return true;
    return false;
}

/* A profile does what its name says more often than the default does. */
static void profiles_differ(void **state) {
    (void)state;
    unsigned seen[2][3] = {{0}};
    const char *const names[3] = {"infix", "aging", "barrier"};
    for (unsigned n = 0; n < 3; n++) {
        for (unsigned special = 0; special < 2; special++) {
            const char *name = special ? names[n] : "default";
            struct mutation *m = mutation_open(mutation_profile_find(name), NULL);
            for (unsigned round = 0; round < 4000; round++) {
                mutation_mutate(m, bytes, 0, 1000, round);
                const struct program *p = mutation_program(m);
                seen[special][n] += n == 0 && infix_seen(p);
                for (unsigned i = 0; i < p->n_ops; i++)
                    seen[special][n] += (n == 1 && p->ops[i].code == OP_MINOR) ||
                                        (n == 2 && p->ops[i].code == OP_STORE);
            }
            mutation_close(m);
        }
        assert_true(seen[1][n] > seen[0][n] * 3 / 2);
    }
    assert_null(mutation_profile_find("no such profile"));
}

/* ---- boundaries ------------------------------------------------------------------------------ */

static const char boundary_program[] = "isoheap program 1\n"
                                       "heap\n"
                                       "  b0 = block tag=0 [b1, b2, b3, b4, b5]\n"
                                       "  b1 = block tag=0 [1]\n"
                                       "  b2 = block tag=0 [2]\n"
                                       "  b3 = block tag=0 [3]\n"
                                       "  b4 = block tag=0 [4]\n"
                                       "  b5 = block tag=0 [5]\n"
                                       "roots\n"
                                       "  r0 = b0\n"
                                       "script\n"
                                       "  r1 = alloc tag=0 size=9 []\n"
                                       "  r2 = alloc tag=0 size=19 []\n"
                                       "  full\n";
/* b0..b5: 16 words; the allocations: 10 and 20 */

/* How often a round that changed nothing but settings or gaps led to `value` of a key. */
static unsigned count_config(enum config_key key, unsigned value) {
    struct mutation *m = open_profile(0);
    unsigned n = 0;
    parse_program(&program, boundary_program);
    size_t size = program_encode(&program, second, ROOM);
    for (unsigned round = 0; round < 6000; round++) {
        memcpy(bytes, second, size);
        mutation_mutate(m, bytes, size, ROOM, round);
        n += mutation_program(m)->config[key] == value;
    }
    mutation_close(m);
    return n;
}

static void aims_hit(void **state) {
    (void)state;
    figure("aims of 6000: heap full before the script", count_config(CONFIG_HEAP, 16));
    figure("aims of 6000: heap full after one allocation", count_config(CONFIG_HEAP, 16 + 10));
    figure("aims of 6000: heap full after both allocations", count_config(CONFIG_HEAP, 16 + 30));
    figure("aims of 6000: heap one word short", count_config(CONFIG_HEAP, 16 + 30 - 1));
    figure("aims of 6000: mark stack exactly full", count_config(CONFIG_MARK_STACK, 5));
    figure("aims of 6000: mark stack one entry short", count_config(CONFIG_MARK_STACK, 4));
    figure("aims of 6000: nursery of one allocation", count_config(CONFIG_NURSERY, 10));
    figure("aims of 6000: nursery of both", count_config(CONFIG_NURSERY, 30));
    figure("aims of 6000: stress at the second allocation", count_config(CONFIG_STRESS, 2));
    figure("aims of 6000: failure of the first allocation", count_config(CONFIG_FAIL, 1));
    figure("aims of 6000: the larger block just large", count_config(CONFIG_LARGE, 20));
}

/* Gaps that fill the initial heap to its last word, and blocks that the collectors refuse or just
 * take: seen by running what comes out. */
static void heap_is_really_full(void **state) {
    (void)state;
    struct mutation *m = mutation_open(mutation_profile_find("fragmentation"), NULL);
    unsigned full = 0, refused = 0, taken = 0;
    parse_program(&program, boundary_program);
    size_t size = program_encode(&program, second, ROOM);
    for (unsigned round = 0; round < 3000; round++) {
        memcpy(bytes, second, size);
        mutation_mutate(m, bytes, size, ROOM, round);
        const struct program *p = mutation_program(m);
        full += p->n_items > 6 && program_heap_words(p) == p->config[CONFIG_HEAP];
        if (p->config[CONFIG_HEAP] > 16 + 31)
            continue;
        struct verdict v = run_here(&cheney, NULL, p);
        assert_int_equal(v.violation, VIOLATION_none);
        refused += v.counts.refusals > 0;
        taken += v.counts.refusals == 0 && p->config[CONFIG_HEAP] == 16 + 30;
    }
    figure("heaps of 3000 that are exactly full", full);
    figure("programs that are refused an allocation", refused);
    figure("programs that just fit", taken);
    mutation_close(m);
}

/* ---- text, trimming -------------------------------------------------------------------------- */

/* Seeds and findings as text are programs too. */
static void text_is_a_program(void **state) {
    (void)state;
    struct mutation *m = open_profile(0);
    unsigned kept = 0;
    for (unsigned round = 0; round < 200; round++) {
        memcpy(bytes, small_program, strlen(small_program));
        size_t size = mutation_mutate(m, bytes, strlen(small_program), 1024, round);
        check_mutation(m, bytes, size, 1024);
        kept += mutation_program(m)->n_items > 0;
    }
    figure("rounds of 200 on a text that keep a block", kept);
    mutation_close(m);
}

static void trimming_leaves_out_parts(void **state) {
    (void)state;
    struct mutation *m = open_profile(0);
    parse_program(&program, small_program);
    size_t size = program_encode(&program, bytes, ROOM);
    assert_int_equal(mutation_parts(m, bytes, size), 3 + 2 + 1);
    for (unsigned from = 0; from < 6; from++) {
        for (unsigned count = 1; from + count <= 6; count++) {
            size_t n = mutation_trim(m, bytes, size, from, count, out, size);
            check_mutation(m, out, n, size);
            assert_true(n < size);
            unsigned left = mutation_parts(m, out, n);
            assert_true(left <= 6 - count); /* roots at a block that has gone go too */
        }
    }
    assert_int_equal(mutation_trim(m, bytes, size, 0, 1, out, 3), 0);
    mutation_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(always_valid),       cmocka_unit_test(long_chains),
        cmocka_unit_test(within_a_limit),     cmocka_unit_test(at_the_limits),
        cmocka_unit_test(tiny_limits),        cmocka_unit_test(same_seed_same_result),
        cmocka_unit_test(from_nothing),       cmocka_unit_test(one_round_in_eight_is_the_engines),
        cmocka_unit_test(every_kind_happens), cmocka_unit_test(everything_is_reached),
        cmocka_unit_test(rounds_use_subsets), cmocka_unit_test(profiles_differ),
        cmocka_unit_test(aims_hit),           cmocka_unit_test(heap_is_really_full),
        cmocka_unit_test(text_is_a_program),  cmocka_unit_test(trimming_leaves_out_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
