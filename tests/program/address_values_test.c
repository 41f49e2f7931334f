/* SPDX-License-Identifier: MIT
 *
 * Addresses as values of a program: text, bytes, validity, and what becomes of them when blocks go
 * or an operation is done beforehand.
 */
#include "program/bytes/bytes.h"
#include "program/cut.h"
#include "program/mutation/mutate.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program, again;

static const char text[] = "isoheap program 1\n"
                           "heap\n"
                           "  b0 = block tag=0 [&b1, &&b1.2, &b0-8]\n"
                           "  b1 = string [&b0, 0x7, &b2.1+3]\n"
                           "  b2 = block tag=0 [b0, 0]\n"
                           "roots\n"
                           "  r0 = b0\n"
                           "  r1 = &b1+1\n"
                           "script\n"
                           "  r2 = &r0.1+1\n"
                           "  r3 = string [&r0, &&nursery-8, &free]\n"
                           "  r0.0 := &from+127\n"
                           "  fill r0.0, 2 := &&r3\n";

static void they_are_printed_as_they_are_read(void **state) {
    (void)state;
    char out[64];
    check_is_printed_as_read(&program, text);
    value_print(&program.ops[0].values[0], true, out, sizeof out);
    assert_string_equal(out, "&r0.1+1");
    value_print(&program.fields[1], false, out, sizeof out);
    assert_string_equal(out, "&&b1.2");
}

static void they_go_through_bytes(void **state) {
    (void)state;
    parse_program(&program, text);
    check_bytes_round_trip(&program);
}

/* A kind byte of a WIDE value from 192 on was taken modulo 6 before there were addresses. */
static void older_bytes_have_none(void **state) {
    (void)state;
    const uint8_t set[] = {249, 192, 5, 0, 0, 0, 0, 0, 0, 0, 94, 1, 255}; /* r1 = ... */
    program_decode_version(&program, set, sizeof set, 2);
    assert_int_equal(program.ops[0].values[0].kind, VALUE_IMMEDIATE);
    assert_int_equal(program.ops[0].values[0].bits, 5);
    program_decode(&program, set, sizeof set);
    assert_int_equal(program.ops[0].values[0].kind, VALUE_ADDRESS);
    assert_int_equal(program.ops[0].values[0].block, 5);
}

/* The heap section has addresses of blocks alone, and of blocks that there are. */
static void bytes_name_what_there_is(void **state) {
    (void)state;
    const uint8_t words[] = {249, 192, 9, 0, 2, 0, 0, 3, 0, 0, 175, 1, 0, 255}; /* b0 = string */
    program_decode(&program, words, sizeof words);
    assert_null(program_valid(&program));
    const struct value *v = &program.fields[0];
    assert_int_equal(v->kind, VALUE_ADDRESS);
    assert_int_equal(v->block, 0);
    assert_int_equal(v->offset, 2);
    assert_int_equal(address_place(v), ADDRESS_BLOCK);
    const uint8_t root[] = {249, 192, 9, 0, 0, 0, 0, 0, 0, 0, 204, 1, 255}; /* no block at all */
    program_decode(&program, root, sizeof root);
    assert_null(program_valid(&program));
    assert_int_equal(program.roots[0][1].kind, VALUE_IMMEDIATE);
}

static void their_parts_are_told(void **state) {
    (void)state;
    struct value v = {.kind = VALUE_ADDRESS, .bits = address_bits(ADDRESS_FROM, true, -8)};
    assert_int_equal(address_place(&v), ADDRESS_FROM);
    assert_true(address_doubled(&v));
    assert_int_equal(address_plus(&v), -8);
    assert_false(value_reads_slot(&v));
    assert_string_equal(address_places[ADDRESS_FROM], "from");
    v.bits = address_bits(ADDRESS_BLOCK, false, 127);
    assert_int_equal(address_plus(&v), 127);
    assert_false(address_doubled(&v));
    assert_true(value_reads_slot(&v));
    assert_true(value_names_block(&v));
    assert_false(value_is_reference(&v));
}

#define INVALID(change)                                                                            \
    do {                                                                                           \
        parse_program(&program, text);                                                             \
        change;                                                                                    \
        assert_non_null(program_valid(&program));                                                  \
    } while (0)

/* Code words: one that each closure may have. */
static void a_code_word_may_be_one(void **state) {
    (void)state;
    static char out[1 << 10];
    uint8_t bytes[4096];
    static const char closures[] = "isoheap program 1\n"
                                   "heap\n"
                                   "  b0 = closure address arity=1 env=[b1, 5]\n"
                                   "  static b1 = closure address arity=2,1 env=[]\n"
                                   "  b2 = closure arity=1 env=[7]\n";
    parse_program(&program, closures);
    assert_null(program_valid(&program));
    assert_true(program.items[0].address_code && !program.items[2].address_code);
    program_print(&program, out, sizeof out);
    assert_string_equal(out, closures);
    size_t size = program_encode(&program, bytes, sizeof bytes);
    program_decode(&again, bytes, size);
    assert_true(program_equal(&program, &again));
    uint64_t digest = program_digest(&program);
    program_decode_version(&again, bytes, size, 3);
    assert_false(again.items[0].address_code);
    assert_false(program_equal(&program, &again));
    assert_true(program_digest(&again) != digest);
    assert_true(cut_kind(&program, 0));
    assert_null(program_valid(&program));
    parse_program(&program, text);
    program.items[0].address_code = true; /* an ordinary block */
    assert_non_null(program_valid(&program));
}

static void wrong_ones_are_invalid(void **state) {
    (void)state;
    INVALID(program.fields[0].block = 3);
    INVALID(program.fields[0].offset = PROGRAM_WOSIZE);
    INVALID(program.fields[0].bits = 2048);
    INVALID(program.fields[0].bits = address_bits(ADDRESS_FREE, false, 0));
    INVALID(program.roots[0][1].block = 3);
    INVALID(program.ops[0].values[0].block = PROGRAM_SLOTS);
    INVALID(program.ops[2].values[0].offset = 1);
    INVALID(program.ops[1].values[1].block = 1);
}

static void unreadable(const char *line, const char *message) {
    char source[256];
    struct text_error error;
    snprintf(source, sizeof source, "isoheap program 1\nheap\n  b0 = block tag=0 [%s]\n", line);
    assert_false(program_parse(&program, source, strlen(source), &error));
    assert_string_equal(error.message, message);
}

static void errors_name_what_was_expected(void **state) {
    (void)state;
    unreadable("&r0", "expected a block such as b0, found 'r0'");
    unreadable("&free", "expected a block such as b0, found 'free'");
    unreadable("&b1", "there is no block b1; the heap section names 1");
    unreadable("&b0+128", "expected a number of bytes from -128 to +127, found '128'");
    unreadable("&b0-129", "expected a number of bytes from -128 to +127, found '-129'");
    unreadable("&b0.4096", "expected a field from 0 to 4095, found '4096'");
    struct text_error error;
    const char script[] = "isoheap program 1\nscript\n  r0 = &b0\n";
    assert_false(program_parse(&program, script, sizeof script - 1, &error));
    assert_string_equal(error.message,
                        "expected a slot such as r0, nursery, free or from, found 'b0'");
}

/* A block goes: a word of its address becomes 0, an integer unit, and others keep their block. */
static void they_follow_their_blocks(void **state) {
    (void)state;
    parse_program(&program, text);
    cut_items(&program, 0, 1, MEND_UNIT, REST_NOTHING); /* b0 */
    assert_null(program_valid(&program));
    assert_int_equal(program.fields[0].kind, VALUE_RAW); /* b1, now b0: &b0 was the first word */
    assert_int_equal(program.fields[2].kind, VALUE_ADDRESS);
    assert_int_equal(program.fields[2].block, 1);
    assert_int_equal(program.roots[0][1].block, 0);
    parse_program(&program, text);
    cut_items(&program, 1, 1, MEND_FOLLOW, REST_FREE); /* b1 */
    assert_null(program_valid(&program));
    assert_int_equal(program.fields[0].kind, VALUE_IMMEDIATE);
    assert_int_equal(program.roots[0][1].kind, VALUE_IMMEDIATE);
}

/* The slot that an address is of is one that the operation reads. */
static void slots_are_read(void **state) {
    (void)state;
    parse_program(&program, text);
    assert_true(op_reads_slot(&program.ops[0], 0));
    assert_true(op_reads_slot(&program.ops[1], 0));
    assert_false(op_reads_slot(&program.ops[1], 3));
    assert_true(op_reads_slot(&program.ops[3], 3));
}

/* Mutation makes them, and what it makes is valid. */
static void mutation_writes_them(void **state) {
    (void)state;
    struct mutation *m = mutation_open(NULL, NULL);
    static uint8_t bytes[1 << 12];
    assert_non_null(m);
    unsigned heap = 0, script = 0;
    for (uint64_t seed = 0; seed < 1000; seed++) {
        size_t size = mutation_generate(m, bytes, sizeof bytes, seed);
        program_decode(&program, bytes, size);
        assert_null(program_valid(&program));
        for (unsigned f = 0; f < program.n_fields; f++)
            heap += program.fields[f].kind == VALUE_ADDRESS;
        for (unsigned i = 0; i < program.n_ops; i++)
            for (unsigned v = 0; v < program.ops[i].n_values; v++)
                script += program.ops[i].values[v].kind == VALUE_ADDRESS;
    }
    assert_true(heap > 100);
    assert_true(script > 100);
    mutation_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(they_are_printed_as_they_are_read),
        cmocka_unit_test(they_go_through_bytes),
        cmocka_unit_test(older_bytes_have_none),
        cmocka_unit_test(bytes_name_what_there_is),
        cmocka_unit_test(their_parts_are_told),
        cmocka_unit_test(a_code_word_may_be_one),
        cmocka_unit_test(wrong_ones_are_invalid),
        cmocka_unit_test(errors_name_what_was_expected),
        cmocka_unit_test(they_follow_their_blocks),
        cmocka_unit_test(slots_are_read),
        cmocka_unit_test(mutation_writes_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
