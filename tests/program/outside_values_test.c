/* SPDX-License-Identifier: MIT
 *
 * Words that lead outside every heap, and atoms, as values of a program: text, bytes, validity, and
 * how they become simpler.
 */
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"
#include "program/reduction/steps.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

static const char text[] =
    "isoheap program 1\n"
    "heap\n"
    "  b0 = block tag=0 [out 65535, out 0x0, out 0xfffe, out 0x3ff0000000000000, "
    "out before-2, out behind, 0]\n"
    "  static b1 = block tag=0 [atom 0, atom 245]\n"
    "roots\n"
    "  r0 = atom 254\n"
    "  r1 = out behind+126\n"
    "script\n"
    "  r2 = out 0xfffffffffffffffe\n"
    "  r3 = alloc tag=0 [atom 251, out before-126, out 0x2]\n"
    "  r3.0 := atom 7\n";

static void they_are_printed_as_they_are_read(void **state) {
    (void)state;
    check_is_printed_as_read(&program, text);
}

static void they_go_through_bytes(void **state) {
    (void)state;
    parse_program(&program, text);
    check_bytes_round_trip(&program);
}

/* r1 = the value of a WIDE record. */
static const struct value *wide(uint8_t kind, uint64_t payload, unsigned version) {
    uint8_t bytes[] = {249, kind, 0, 0, 0, 0, 0, 0, 0, 0, 94, 1, 255};
    for (unsigned i = 0; i < 8; i++)
        bytes[2 + i] = (uint8_t)(payload >> 8 * i);
    program_decode_version(&program, bytes, sizeof bytes, version);
    assert_null(program_valid(&program));
    return &program.ops[0].values[0];
}

static void expect_wide(uint8_t kind, uint64_t payload, uint64_t bits) {
    const struct value *v = wide(kind, payload, PROGRAM_BYTES_VERSION);
    assert_int_equal(v->kind, kind < 6 ? VALUE_OUTSIDE : VALUE_ATOM);
    assert_true(v->bits == bits);
}

/* Any payload means something legal, and what was written before means what it did. */
static void every_payload_is_legal(void **state) {
    (void)state;
    expect_wide(VALUE_OUTSIDE, 5, 5);
    expect_wide(VALUE_OUTSIDE, 65535, 65535);
    expect_wide(VALUE_OUTSIDE, outside_bits(OUTSIDE_SMALL, 8), outside_bits(OUTSIDE_SMALL, 8));
    expect_wide(VALUE_OUTSIDE, outside_bits(OUTSIDE_SMALL, 7), 7);
    expect_wide(VALUE_OUTSIDE, outside_bits(OUTSIDE_BEFORE, 0), 0);
    expect_wide(VALUE_OUTSIDE, outside_bits(OUTSIDE_BEHIND, 128), 128);
    expect_wide(VALUE_OUTSIDE, UINT64_C(0x7fff12345678), 0x5678); /* it may be an address */
    expect_wide(VALUE_OUTSIDE, UINT64_MAX, UINT64_MAX - 1);
    expect_wide(VALUE_OUTSIDE, UINT64_C(0x0123456789abcdef), UINT64_C(0x0023456789abcdee));
    expect_wide(255, 7, 7);
    expect_wide(224, 0xabc, 0xabc % 256 % 246);
    expect_wide(224, PROGRAM_TAG_CLOSURE, PROGRAM_TAG_CLOSURE % 8);
}

static void older_bytes_have_none(void **state) {
    (void)state;
    assert_int_equal(wide(224, 5, 3)->kind, VALUE_ADDRESS);
    assert_int_equal(wide(224, 5, 2)->kind, VALUE_OUTSIDE); /* modulo 6 */
    assert_int_equal(wide(VALUE_OUTSIDE, UINT64_C(0x3ff0000000000005), 3)->bits, 5);
}

static void their_parts_are_told(void **state) {
    (void)state;
    struct value v = {.kind = VALUE_OUTSIDE, .bits = outside_bits(OUTSIDE_BEFORE, 8)};
    assert_int_equal(outside_form(&v), OUTSIDE_BEFORE);
    assert_int_equal(outside_number(&v), 8);
    v.bits = outside_bits(OUTSIDE_WORD, UINT64_C(0x3ff0000000000000));
    assert_int_equal(outside_form(&v), OUTSIDE_WORD);
    assert_true(outside_number(&v) == UINT64_C(0x3ff0000000000000));
    assert_true(outside_is_legal(v.bits));
    assert_false(outside_is_legal(v.bits + 1));
    assert_false(outside_is_legal(OUTSIDE_LEAST - 2));
    assert_false(outside_is_legal(UINT64_C(0x0100000000000000))); /* a pointer of the model */
    assert_false(outside_is_legal(UINT64_C(0x02addad000000000)));
    assert_false(outside_is_legal(outside_bits(OUTSIDE_BEFORE, 0)));
    assert_true(outside_is_legal(outside_bits(OUTSIDE_BEHIND, 0)));
    assert_false(outside_is_legal(outside_bits(OUTSIDE_BEHIND, OUTSIDE_BYTES + 2)));
    assert_true(tag_is_atom(0) && tag_is_atom(245) && tag_is_atom(PROGRAM_TAG_ABSTRACT));
    assert_false(tag_is_atom(PROGRAM_TAG_LAZY) || tag_is_atom(PROGRAM_TAG_CLOSURE) ||
                 tag_is_atom(PROGRAM_TAG_INFIX) || tag_is_atom(PROGRAM_TAG_STRING));
}

static void unreadable(const char *value, const char *message) {
    char source[256];
    struct text_error error;
    snprintf(source, sizeof source, "isoheap program 1\nroots\n  r0 = %s\n", value);
    assert_false(program_parse(&program, source, strlen(source), &error));
    assert_string_equal(error.message, message);
}

static void errors_name_what_was_expected(void **state) {
    (void)state;
    static const char rule[] = "a word outside every heap is even, below 0x10000 or from "
                               "0x10000000000000 on, and its highest byte is not 1 or 2";
    unreadable("out 0x1", rule);
    unreadable("out 0x7fff00000000", rule);
    unreadable("out 0x0100000000000000", rule);
    unreadable("out 65536", "expected a number from 0 to 65535, found '65536'");
    unreadable("out before",
               "expected an even number of bytes from -126 to -2, found the end of the line");
    unreadable("out before-3", "expected an even number of bytes from -126 to -2, found '-3'");
    unreadable("out before-128", "expected an even number of bytes from -126 to -2, found '-128'");
    unreadable("out behind+1", "expected an even number of bytes from 0 to 126, found '1'");
    unreadable("out behind+128", "expected an even number of bytes from 0 to 126, found '128'");
    unreadable("atom 247", "no atom has the tag 247: 0 to 245, 251 or 254");
    unreadable("atom b0", "expected a tag from 0 to 255, found 'b0'");
}

/* Each step of a reduction leaves something that is legal, and they come to an end. */
static void they_become_simpler(void **state) {
    (void)state;
    const struct value values[] = {
        {.kind = VALUE_ATOM, .bits = 254},
        {.kind = VALUE_OUTSIDE, .bits = 65535},
        {.kind = VALUE_OUTSIDE, .bits = outside_bits(OUTSIDE_BEFORE, 126)},
        {.kind = VALUE_OUTSIDE, .bits = outside_bits(OUTSIDE_BEHIND, 126)},
        {.kind = VALUE_OUTSIDE, .bits = outside_bits(OUTSIDE_SMALL, 0xfffe)},
        {.kind = VALUE_OUTSIDE, .bits = UINT64_C(0xfffffffffffffffe)},
        {.kind = VALUE_OUTSIDE, .bits = UINT64_C(0x0307060504030200)}};
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++)
        for (unsigned rung = 1; rung < VALUE_RUNGS; rung++) {
            unsigned steps = 0;
            for (struct value v = values[i]; simplify_value(&v, false, rung); steps++) {
                parse_program(&program, text);
                program.ops[0].values[0] = v;
                assert_null(program_valid(&program));
                assert_true(steps < 64);
            }
        }
    struct value v = values[2];
    assert_true(simplify_value(&v, false, 2));
    assert_true(v.bits == outside_bits(OUTSIDE_BEFORE, 8));
    assert_true(simplify_value(&v, false, 1));
    assert_int_equal(v.bits, 1);
}

/* Mutation makes them of every form. */
static void mutation_writes_them(void **state) {
    (void)state;
    struct mutation *m = mutation_open(NULL, NULL);
    static uint8_t bytes[1 << 12];
    assert_non_null(m);
    unsigned atoms = 0, forms[OUTSIDE_WORD + 1] = {0};
    for (uint64_t seed = 0; seed < 1000; seed++) {
        size_t size = mutation_generate(m, bytes, sizeof bytes, seed);
        program_decode(&program, bytes, size);
        for (unsigned f = 0; f < program.n_fields; f++) {
            atoms += program.fields[f].kind == VALUE_ATOM;
            if (program.fields[f].kind == VALUE_OUTSIDE)
                forms[outside_form(&program.fields[f])]++;
        }
    }
    assert_true(atoms > 50);
    for (unsigned form = 0; form <= OUTSIDE_WORD; form++)
        assert_true(forms[form] > 20);
    mutation_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_printed_as_they_are_read),
        cmocka_unit_test(they_go_through_bytes),
        cmocka_unit_test(every_payload_is_legal),
        cmocka_unit_test(older_bytes_have_none),
        cmocka_unit_test(their_parts_are_told),
        cmocka_unit_test(errors_name_what_was_expected),
        cmocka_unit_test(they_become_simpler),
        cmocka_unit_test(mutation_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
