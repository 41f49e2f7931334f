/* SPDX-License-Identifier: MIT
 *
 * Items by count, and heaps beyond the fuzzer's limits: text, validity, digest, cuts, and that
 * bytes have neither.
 */
#include "program/bytes/bytes.h"
#include "program/cut.h"
#include "program/program.h"
#include "program/reduction/reduce.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program, again;

static const char lists[] = "isoheap program 1\n"
                            "config heap=134217728 mark-stack=0\n"
                            "heap\n"
                            "  b0 = 10000000 of block tag=0 [each b1, 7, next]\n"
                            "  1000 of free 5\n"
                            "  b1 = 20000 of string [0x1]\n"
                            "  2 of fragment\n"
                            "  b2 = 3 of closure arity=1,2 env=[next, b0]\n"
                            "  static b3 = 4 of block tag=1 [next]\n"
                            "roots\n"
                            "  r0 = b0\n"
                            "  r1 = b2+3\n"
                            "script\n"
                            "  full\n";

static void texts_say_how_many(void **state) {
    (void)state;
    static char text[sizeof lists + 1];
    parse_program(&program, lists);
    assert_null(program_valid(&program));
    assert_int_equal(program_print(&program, text, sizeof text), sizeof lists - 1);
    assert_string_equal(text, lists);
    assert_int_equal(item_count(&program.items[0]), 10000000);
    assert_int_equal(item_words(&program.items[0]), 40000000);
    assert_int_equal(program_heap_words(&program), 40000000 + 6000 + 40000 + 2 + 3 * 9);
    assert_int_equal(program_static_words(&program), 8);
    item_print(&program, 1, text, sizeof text);
    assert_string_equal(text, "1000 of free 5");
    assert_true(program_is_large(&program));
    assert_int_equal(program_encode(&program, NULL, 0), 0);
}

static void a_count_is_part_of_a_program(void **state) {
    (void)state;
    parse_program(&program, lists);
    program_copy(&again, &program);
    assert_true(program_equal(&program, &again));
    assert_true(program_digest(&program) == program_digest(&again));
    again.items[0].more--;
    assert_false(program_equal(&program, &again));
    assert_false(program_digest(&program) == program_digest(&again));
    program_copy(&again, &program);
    again.config[CONFIG_HEAP] -= UINT16_MAX + 1;
    assert_false(program_digest(&program) == program_digest(&again));
    program_clear(&again);
    assert_false(program_is_large(&again));
    again.config[CONFIG_HEAP] = PROGRAM_HEAP_WORDS + 1;
    assert_true(program_is_large(&again));
    assert_null(program_valid(&again));
    again.config[CONFIG_HEAP] = PROGRAM_LARGE_WORDS + 1;
    assert_non_null(program_valid(&again));
}

#define INVALID(change)                                                                            \
    do {                                                                                           \
        parse_program(&program, lists);                                                            \
        change;                                                                                    \
        assert_non_null(program_valid(&program));                                                  \
    } while (0)

static void rules_of_counts_are_checked(void **state) {
    (void)state;
    INVALID(program.items[0].more = PROGRAM_LARGE_WORDS / 4);
    INVALID(program.items[0].more = UINT32_MAX);
    INVALID(program.items[1].more = PROGRAM_LARGE_WORDS / 6);
    INVALID(program.items[0].more = 0); /* next and each, but one block alone */
    INVALID(program.config[CONFIG_HEAP] = 40000000);
    INVALID(program.items[5].more = PROGRAM_HEAP_WORDS / 2);
    INVALID(program.fields[0].block = 4);
    INVALID(program.fields[0].offset = 1);
    INVALID(program.fields[2].block = 1);
    INVALID(program.fields[2].bits = 1);
    INVALID(program.fields[1] = (struct value){.kind = VALUE_ADDRESS});
    INVALID(program.fields[1] = (struct value){.kind = VALUE_ATOM});
    INVALID(program.fields[1] =
                ((struct value){.kind = VALUE_OUTSIDE, .bits = outside_bits(OUTSIDE_BEFORE, 8)}));
    INVALID(program.items[4].address_code = true);
    INVALID(program.roots[0][0] = (struct value){.kind = VALUE_NEXT});
    INVALID(program.roots[0][0] = (struct value){.kind = VALUE_EACH});
    INVALID(program.fields[program.n_fields - 1] = (struct value){.kind = VALUE_EACH}); /* static */
}

static void cuts_keep_what_blocks_by_count_are(void **state) {
    (void)state;
    parse_program(&program, lists);
    cut_items(&program, 2, 1, MEND_UNIT, REST_DEAD);
    assert_null(program_valid(&program));
    assert_int_equal(program.items[2].kind, ITEM_DEAD);
    assert_int_equal(item_count(&program.items[2]), 20000);
    assert_int_equal(program.fields[0].kind, VALUE_IMMEDIATE);
    parse_program(&program, lists);
    cut_items(&program, 0, 1, MEND_UNIT, REST_NOTHING);
    assert_null(program_valid(&program));
    parse_program(&program, "isoheap program 1\nheap\n 3 of free 2\n free 1\n free 1\n");
    assert_true(merge_gaps(&program, 0, 3));
    assert_int_equal(program.n_items, 2); /* the one by count stays what it is */
    assert_int_equal(program_heap_words(&program), 9 + 4);
}

/* ---- reduction --------------------------------------------------------------------------------
 */

static struct reduction reduction;

static bool has_so_many(const struct program *p, void *context) {
    const unsigned *least = context;
    for (unsigned i = 0; i < p->n_items; i++)
        if (item_count(&p->items[i]) >= *least)
            return true;
    return false;
}

/* In few runs, to the very number. */
static void counts_are_reduced_to_the_least(void **state) {
    (void)state;
    unsigned least = 1234567;
    reduction = (struct reduction){.keeps = has_so_many, .context = &least, .max_runs = 2000};
    parse_program(&program, lists);
    program_reduce(&reduction, &program);
    assert_true(reduction.complete);
    assert_null(program_valid(&program));
    assert_int_equal(program.n_items, 1);
    assert_int_equal(item_count(&program.items[0]), least);
    assert_true(program.config[CONFIG_HEAP] < 4 * least);
    least = 1;
    parse_program(&program, lists);
    program_reduce(&reduction, &program);
    assert_null(program_valid(&program));
    assert_false(program_is_large(&program));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_say_how_many),
        cmocka_unit_test(a_count_is_part_of_a_program),
        cmocka_unit_test(rules_of_counts_are_checked),
        cmocka_unit_test(cuts_keep_what_blocks_by_count_are),
        cmocka_unit_test(counts_are_reduced_to_the_least),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
