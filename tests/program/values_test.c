/* SPDX-License-Identifier: MIT
 *
 * Small functions of the language: values, operations that shrink, rows of slots, names of
 * mutation, random numbers.
 */
#include "program/mutation/mutate.h"
#include "program/program.h"
#include "program/random.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

static void values_are_compared(void **state) {
    (void)state;
    const struct value values[] = {{.kind = VALUE_IMMEDIATE, .bits = 1},
                                   {.kind = VALUE_IMMEDIATE, .bits = 2},
                                   {.kind = VALUE_BLOCK, .block = 1},
                                   {.kind = VALUE_BLOCK, .block = 2},
                                   {.kind = VALUE_INFIX, .block = 1, .offset = 3},
                                   {.kind = VALUE_INFIX, .block = 1, .offset = 6},
                                   {.kind = VALUE_OUTSIDE, .bits = 1}};
    enum { N = sizeof values / sizeof *values };
    for (unsigned i = 0; i < N; i++)
        for (unsigned j = 0; j < N; j++)
            assert_int_equal(value_equal(&values[i], &values[j]), i == j);
}

/* As a double has. */
static void an_allocation_keeps_one_field(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nscript\n  r0 = alloc tag=0 [r1, 2, 3]\n"
                            "  r0 = alloc tag=0 size=5 []\n");
    struct op *some = &program.ops[0], *none = &program.ops[1], kept = *some;
    op_keep_one_field(some);
    assert_int_equal(some->size, 1);
    assert_int_equal(some->n_values, 1);
    assert_true(value_equal(&some->values[0], &kept.values[0]));
    op_keep_one_field(none);
    assert_int_equal(none->size, 1);
    assert_int_equal(none->n_values, 0);
    assert_null(program_valid(&program));
}

static void words_are_of_the_heap_or_static(void **state) {
    (void)state;
    memset(&program, 0, sizeof program);
    const struct item items[] = {{.kind = ITEM_BLOCK, .wosize = 3},
                                 {.kind = ITEM_BLOCK, .wosize = 1, .is_static = true},
                                 {.kind = ITEM_FREE, .wosize = 0},
                                 {.kind = ITEM_BLOCK, .wosize = 4, .is_static = true}};
    memcpy(program.items, items, sizeof items);
    program.n_items = sizeof items / sizeof *items;
    assert_int_equal(program_heap_words(&program), 5);
    assert_int_equal(program_static_words(&program), 7);
}

static void rows_of_slots_are_counted(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nscript\n  full\n");
    assert_int_equal(program_mutators(&program), 1);
    parse_program(&program, "isoheap program 1\nscript\n  mutator 2: drop r0\n");
    assert_int_equal(program_mutators(&program), 3);
    parse_program(&program, "isoheap program 1\nroots\n  mutator 1: r4 = 5\nscript\n  full\n");
    assert_int_equal(program_mutators(&program), 2);
}

static void mutation_says_what_it_does(void **state) {
    (void)state;
    for (unsigned k = 0; k < MUTATION_KIND_COUNT; k++) {
        const char *meaning = mutation_kind_meaning((enum mutation_kind)k);
        assert_true(strlen(meaning) > 10);
        for (unsigned l = 0; l < k; l++)
            assert_string_not_equal(meaning, mutation_kind_meaning((enum mutation_kind)l));
    }
    const struct mutation_profile *profile;
    for (unsigned n = 0; (profile = mutation_profile_at(n)); n++) {
        assert_ptr_equal(mutation_profile_find(mutation_profile_name(profile)), profile);
        assert_true(strlen(mutation_profile_meaning(profile)) > 10);
    }
}

/* ---- random numbers ---------------------------------------------------------------------------
 */

/* The sequence is the same on every machine: the first numbers of splitmix64 for the seed 1234567,
 * as its authors' reference gives them. */
static void the_sequence_is_splitmix64(void **state) {
    (void)state;
    struct random r = {1234567};
    assert_true(random_next(&r) == UINT64_C(6457827717110365317));
    assert_true(random_next(&r) == UINT64_C(3203168211198807973));
}

static void bounds_hold_and_are_reached(void **state) {
    (void)state;
    enum { DRAWS = 4000 };
    struct random r = {1};
    unsigned below[5] = {0}, between[4] = {0}, few[5] = {0}, chances = 0;
    for (unsigned n = 0; n < DRAWS; n++) {
        unsigned b = random_below(&r, 5), c = random_between(&r, 7, 10), f = random_few(&r, 4);
        assert_true(b < 5 && c >= 7 && c <= 10 && f >= 1 && f <= 4);
        below[b]++;
        between[c - 7]++;
        few[f]++;
        chances += random_chance(&r, 4);
    }
    for (unsigned i = 0; i < 5; i++)
        assert_in_range(below[i], DRAWS / 5 * 8 / 10, DRAWS / 5 * 12 / 10);
    for (unsigned i = 0; i < 4; i++)
        assert_in_range(between[i], DRAWS / 4 * 8 / 10, DRAWS / 4 * 12 / 10);
    assert_in_range(few[1], DRAWS / 2 * 9 / 10, DRAWS / 2 * 11 / 10);
    assert_in_range(few[2], DRAWS / 4 * 8 / 10, DRAWS / 4 * 12 / 10);
    assert_in_range(few[4], DRAWS / 8 * 8 / 10, DRAWS / 8 * 12 / 10); /* what is left */
    assert_in_range(chances, DRAWS / 4 * 8 / 10, DRAWS / 4 * 12 / 10);
    assert_int_equal(random_below(&r, 1), 0);
    assert_int_equal(random_few(&r, 1), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_compared),
        cmocka_unit_test(an_allocation_keeps_one_field),
        cmocka_unit_test(words_are_of_the_heap_or_static),
        cmocka_unit_test(rows_of_slots_are_counted),
        cmocka_unit_test(mutation_says_what_it_does),
        cmocka_unit_test(the_sequence_is_splitmix64),
        cmocka_unit_test(bounds_hold_and_are_reached),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
