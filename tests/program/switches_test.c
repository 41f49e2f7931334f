/* SPDX-License-Identifier: MIT
 *
 * Decisions of a schedule that a program lists: text, bytes, validity, digest and how they are
 * taken away.
 */
#include "program/bytes/bytes.h"
#include "program/bytes/records.h"
#include "program/reduction/reduce.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program, other;

static void they_come_back(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nconfig schedule=5\nswitch 1 to 839\n"
                            "switch 300 to 1\n\nswitch 65535 to 299\nscript\n  full\n");
    assert_int_equal(program.n_switches, 3);
    assert_int_equal(switch_at(program.switches[1]), 300);
    assert_int_equal(switch_choice(program.switches[2]), 299);
    check_text_round_trip(&program);
    check_bytes_round_trip(&program);
    while (program.n_switches < PROGRAM_SWITCHES) { /* as many as there can be */
        unsigned last = switch_at(program.switches[program.n_switches - 2]);
        program.switches[program.n_switches] = program.switches[program.n_switches - 1];
        program.switches[program.n_switches - 1] = switch_make(last + 1, 1 + last % 838);
        program.n_switches++;
    }
    assert_null(program_valid(&program));
    check_text_round_trip(&program);
    check_bytes_round_trip(&program);
}

static void expect_error(const char *text, const char *words) {
    struct text_error error;
    assert_false(program_parse(&program, text, strlen(text), &error));
    if (!strstr(error.message, words))
        fail_msg("%s", error.message);
}

static void errors_are_told(void **state) {
    (void)state;
    expect_error("isoheap program 1\nswitch 5 to 1\nswitch 5 to 2\n", "behind decision 5");
    expect_error("isoheap program 1\nswitch 0 to 1\n", "a decision");
    expect_error("isoheap program 1\nswitch 1 to 0\n", "a choice");
    expect_error("isoheap program 1\nswitch 1 to 840\n", "a choice");
    expect_error("isoheap program 1\nswitch 1 1\n", "to");
}

static void disorder_is_not_valid(void **state) {
    (void)state;
    program_clear(&program);
    program.switches[0] = switch_make(4, 1);
    program.switches[1] = switch_make(3, 1);
    program.n_switches = 1;
    assert_null(program_valid(&program));
    program.n_switches = 2;
    assert_non_null(program_valid(&program));
    program.n_switches = 1;
    program.switches[0] = switch_make(4, 0);
    assert_non_null(program_valid(&program));
    program.switches[0] = switch_make(4, SWITCH_CHOICES);
    assert_non_null(program_valid(&program));
}

/* In any order, the last of the same number counts; to an older version they are nothing. */
static void bytes_may_have_any_order(void **state) {
    (void)state;
    const uint8_t bytes[] = {FIRST_STATIC, FIRST_CONFIG, 6, 9, 0,
                             FIRST_STATIC, FIRST_CONFIG, 0, 2, 0,
                             FIRST_STATIC, FIRST_CONFIG, 1, 9, 0};
    program_decode(&program, bytes, sizeof bytes);
    assert_int_equal(program.n_ops, 0);
    assert_int_equal(program.n_switches, 2);
    assert_int_equal(program.switches[0], switch_make(3, 1));
    assert_int_equal(program.switches[1], switch_make(10, 2));
    program_decode_version(&program, bytes, sizeof bytes, 6);
    assert_int_equal(program.n_switches, 0);
    assert_int_equal(program.config[CONFIG_NURSERY], 8 + 9);
}

static void they_are_part_of_the_program(void **state) {
    (void)state;
    program_clear(&program);
    program_clear(&other);
    program.switches[0] = switch_make(4, 1);
    program.n_switches = 1;
    assert_false(program_equal(&program, &other));
    assert_true(program_digest(&program) != program_digest(&other));
    other = program;
    assert_true(program_equal(&program, &other));
    assert_true(program_digest(&program) == program_digest(&other));
}

/* Keeps what has decision 40, or 3 of the second choice or a later one. */
static bool needs_two(const struct program *p, void *context) {
    bool has_40 = false, has_3 = false;
    (void)context;
    for (unsigned s = 0; s < p->n_switches; s++) {
        has_40 |= switch_at(p->switches[s]) == 40;
        has_3 |= switch_at(p->switches[s]) == 3 && switch_choice(p->switches[s]) >= 2;
    }
    return has_40 && has_3;
}

static void few_are_left(void **state) {
    static struct reduction r;
    (void)state;
    program_clear(&program);
    for (unsigned at = 1; at <= 500; at++)
        program.switches[program.n_switches++] = switch_make(at, 400 + at % 300);
    r = (struct reduction){.keeps = needs_two, .max_runs = 1000};
    program_reduce(&r, &program);
    assert_true(r.complete);
    assert_int_equal(program.n_switches, 2);
    assert_int_equal(program.switches[0], switch_make(3, 2));
    assert_int_equal(program.switches[1], switch_make(40, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_come_back),
        cmocka_unit_test(errors_are_told),
        cmocka_unit_test(disorder_is_not_valid),
        cmocka_unit_test(bytes_may_have_any_order),
        cmocka_unit_test(they_are_part_of_the_program),
        cmocka_unit_test(few_are_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
