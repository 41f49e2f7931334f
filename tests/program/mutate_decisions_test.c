/* SPDX-License-Identifier: MIT
 *
 * Mutation, crossover and trimming of decisions of a schedule: each kind of change is made, valid
 * and the same from the same seed; a child has decisions of both parents, in their order.
 */
#include "program/bytes/bytes.h"
#include "program/mutation/internal.h"
#include "tests/support/mutate_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 1 << 14, ROUNDS = 3000 };

static uint8_t bytes[ROOM], second[ROOM], out[ROOM];
static struct program program;

static struct mutation *open_threads(void) {
    struct mutation *m = mutation_open(mutation_profile_find("threads"), NULL);
    assert_non_null(m);
    return m;
}

/* Decisions step, 2 * step, ... with that choice. */
static size_t with_decisions(uint8_t *data, unsigned n, unsigned step, unsigned choice) {
    parse_program(&program, small_program);
    for (unsigned i = 1; i <= n; i++)
        assert_true(program_decide(&program, i * step, choice));
    return program_encode(&program, data, ROOM);
}

/* The choice of decision `at`, 0 where it is not listed. */
static unsigned choice_at(const struct program *p, unsigned at) {
    for (unsigned i = 0; i < p->n_switches; i++)
        if (switch_at(p->switches[i]) == at)
            return switch_choice(p->switches[i]);
    return 0;
}

static void they_keep_their_order(void **state) {
    (void)state;
    program_clear(&program);
    assert_true(program_decide(&program, 9, 1));
    assert_true(program_decide(&program, 3, 2));
    assert_true(program_decide(&program, UINT16_MAX, 3));
    assert_true(program_decide(&program, 9, 4)); /* in its place */
    assert_int_equal(program.n_switches, 3);
    assert_int_equal(program.switches[0], switch_make(3, 2));
    assert_int_equal(program.switches[1], switch_make(9, 4));
    assert_null(program_valid(&program));
    for (unsigned at = 10; program.n_switches < PROGRAM_SWITCHES; at++)
        assert_true(program_decide(&program, at, 1));
    assert_false(program_decide(&program, 5, 1)); /* no room */
    assert_true(program_decide(&program, 9, 2));
    assert_int_equal(program.n_switches, PROGRAM_SWITCHES);
    assert_null(program_valid(&program));
}

struct changes {
    unsigned inserted, removed, chosen, moved, repeated, shifted;
};

/* Which change was made of decisions 10, 20, ... 100 that all have choice 2. */
static void note_change(struct changes *c, const struct program *p) {
    unsigned there = 0, two = 0, tail = 0;
    for (unsigned at = 10; at <= 100; at += 10) {
        there += choice_at(p, at) == 2;
        tail += choice_at(p, at + 1) == 2;
    }
    for (unsigned i = 0; i < p->n_switches; i++)
        two += switch_choice(p->switches[i]) == 2;
    c->inserted += there == 10 && p->n_switches > 10 && two < p->n_switches;
    c->removed += there == p->n_switches && there < 10;
    c->chosen += p->n_switches == 10 && two == 9 && there == 9;
    c->moved += p->n_switches == 10 && two == 10 && there == 9;
    c->repeated += there == 10 && two == p->n_switches && two > 11;
    c->shifted += tail > 3 && tail + there == 10;
}

static void each_change_is_made(void **state) {
    (void)state;
    struct mutation *m = open_threads();
    struct changes c = {0};
    size_t size = with_decisions(bytes, 10, 10, 2);
    for (unsigned round = 0; round < ROUNDS; round++) {
        start_round(m, round);
        mutation_load(&m->program, bytes, size);
        mutate_decision(m);
        assert_null(program_valid(&m->program));
        note_change(&c, &m->program);
    }
    unsigned least = ROUNDS / 200;
    assert_true(c.inserted > least && c.removed > least && c.chosen > least);
    assert_true(c.moved > least && c.repeated > least && c.shifted > least);
    mutation_close(m);
}

/* Few, many, and as many as there can be; at both ends of their numbers. */
static void always_valid(void **state) {
    (void)state;
    struct mutation *m = open_threads();
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct rng rng = {round};
        unsigned n = 1u << rng_below(&rng, 11);
        size_t size = with_decisions(bytes, n, UINT16_MAX / n, 1 + rng_below(&rng, 838));
        size_t limit = rng_chance(&rng, 2) ? ROOM : rng_below(&rng, 300);
        memcpy(out, bytes, size);
        if (size <= limit) {
            size_t n1 = mutation_mutate(m, bytes, size, limit, round);
            check_mutation(m, bytes, n1, limit);
        }
        size_t size2 =
            with_decisions(second, 1u << rng_below(&rng, 11), 1 + rng_below(&rng, 60), 3);
        size_t n2 = mutation_cross(m, out, size, second, size2, bytes, limit, round);
        check_mutation(m, bytes, n2, limit);
    }
    mutation_close(m);
}

/* From nothing, as a campaign does it: programs that list decisions, and a number or gap besides.
 */
static void they_come_from_nothing(void **state) {
    (void)state;
    struct mutation *m = open_threads();
    unsigned listed = 0, numbered = 0, longest = 0;
    for (unsigned seed = 0; seed < 2000; seed++) {
        size_t size = mutation_generate(m, bytes, 1024, seed);
        check_mutation(m, bytes, size, 1024);
        const struct program *p = mutation_program(m);
        listed += p->n_switches > 0;
        numbered += p->n_switches == 0 && p->config[CONFIG_SCHEDULE] > 0;
        longest = p->n_switches > longest ? p->n_switches : longest;
    }
    assert_in_range(listed, 600, 1800);
    assert_in_range(numbered, 20, 1000);
    assert_true(longest > 16);
    mutation_close(m);
}

/* Of the first parent 3, 6, ... 90 to 1; of the second 4, 8, ... 120 to 2. */
static void children_have_decisions_of_both(void **state) {
    (void)state;
    struct mutation *m = open_threads();
    unsigned both = 0, in_place = 0, later = 0;
    size_t size = with_decisions(bytes, 30, 3, 1), size2 = with_decisions(second, 30, 4, 2);
    for (unsigned round = 0; round < ROUNDS; round++) {
        size_t n = mutation_cross(m, bytes, size, second, size2, out, ROOM, round);
        check_mutation(m, out, n, ROOM);
        const struct program *p = mutation_program(m);
        unsigned first = 0, twos = 0, places = 0;
        for (unsigned i = 0; i < p->n_switches; i++) {
            unsigned at = switch_at(p->switches[i]);
            bool two = switch_choice(p->switches[i]) == 2;
            assert_true(two || (switch_choice(p->switches[i]) == 1 && at % 3 == 0));
            first += !two;
            twos += two;
            places += two && at % 4 == 0;
        }
        both += first && twos;
        in_place += twos > 0 && places == twos;
        later += twos > 2 && places < twos;
    }
    assert_in_range(both, ROUNDS / 4, ROUNDS * 2 / 3);
    assert_true(in_place > ROUNDS / 10 && later > ROUNDS / 20);
    mutation_close(m);
}

static void the_same_from_the_same_seed(void **state) {
    (void)state;
    static uint8_t again[ROOM];
    struct mutation *m = open_threads(), *n = open_threads();
    unsigned different = 0;
    for (unsigned round = 0; round < 300; round++) {
        size_t size = with_decisions(bytes, 40, 5, 1), size2 = with_decisions(second, 9, 50, 2);
        size_t a = mutation_cross(m, bytes, size, second, size2, out, ROOM, round);
        size_t b = mutation_cross(n, bytes, size, second, size2, again, ROOM, round);
        assert_int_equal(a, b);
        assert_memory_equal(out, again, a);
        memcpy(again, bytes, size);
        a = mutation_mutate(m, bytes, size, ROOM, round);
        b = mutation_mutate(n, again, size, ROOM, round);
        assert_int_equal(a, b);
        assert_memory_equal(bytes, again, a);
        different += a != size;
    }
    assert_true(different > 200);
    mutation_close(m);
    mutation_close(n);
}

/* An engine that trims leaves decisions out as it leaves out operations. */
static void trimming_leaves_them_out(void **state) {
    (void)state;
    struct mutation *m = open_threads();
    size_t size = with_decisions(bytes, 10, 7, 1);
    unsigned parts = mutation_parts(m, bytes, size);
    assert_int_equal(parts, 3 + 2 + 1 + 10);
    for (unsigned from = 0; from < parts; from++) {
        size_t n = mutation_trim(m, bytes, size, from, 3, out, size);
        check_mutation(m, out, n, size);
        assert_true(n < size);
    }
    size_t n = mutation_trim(m, bytes, size, 6 + 2, 3, out, size);
    assert_int_equal(mutation_parts(m, out, n), parts - 3);
    const struct program *p = mutation_program(m);
    assert_int_equal(p->n_switches, 7);
    assert_int_equal(choice_at(p, 14), 1);
    assert_int_equal(choice_at(p, 21), 0);
    assert_int_equal(choice_at(p, 42), 1);
    mutation_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_keep_their_order),
        cmocka_unit_test(each_change_is_made),
        cmocka_unit_test(always_valid),
        cmocka_unit_test(they_come_from_nothing),
        cmocka_unit_test(children_have_decisions_of_both),
        cmocka_unit_test(the_same_from_the_same_seed),
        cmocka_unit_test(trimming_leaves_them_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
