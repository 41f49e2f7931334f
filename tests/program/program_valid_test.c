/* SPDX-License-Identifier: MIT
 *
 * Programs as values: limits and tables, validity, equality and digest.
 */
#include "program/bytes/bytes.h"
#include "program/bytes/records.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct program program, other;

/* ---- limits ---------------------------------------------------------------------------------- */

static void defaults_are_in_range(void **state) {
    (void)state;
    program_clear(&program);
    assert_null(program_valid(&program));
    for (unsigned k = 0; k < CONFIG_KEYS; k++) {
        const struct config_range *range = &config_ranges[k];
        assert_non_null(range->name);
        assert_true(range->min <= range->initial && range->initial <= range->max);
        assert_true(range->initial <= range->soft_max && range->soft_max <= range->max);
        /* one byte reaches everything from min to soft_max, 13 bits everything */
        assert_true(range->soft_max - range->min <= 255);
        assert_true(range->max - range->min < 1 << 13);
        assert_int_equal(program.config[k], range->initial);
    }
    program_decode(&other, NULL, 0);
    assert_true(program_equal(&program, &other));
}

static void layout_of_closures(void **state) {
    (void)state;
    const int8_t arity[PROGRAM_FUNCTIONS] = {1, 2, -3, 0};
    assert_int_equal(closure_entry_offset(0, arity), 0);
    assert_int_equal(closure_entry_offset(1, arity), 3);
    assert_int_equal(closure_entry_offset(2, arity), 7);
    assert_int_equal(closure_entry_offset(3, arity), 11);
    assert_int_equal(closure_code_words(1, arity), 2);
    assert_int_equal(closure_code_words(2, arity), 6);
    assert_int_equal(closure_code_words(4, arity), 13);
}

static void tags(void **state) {
    (void)state;
    for (unsigned tag = 0; tag < 300; tag++) {
        assert_int_equal(tag_is_ordinary(tag), tag <= 246 || tag == 248 || tag == 250);
        assert_int_equal(tag_is_raw(tag), tag >= 251 && tag <= 255);
    }
}

/* The opcode table agrees with the records, and every operation has one. */
static void records_are_consistent(void **state) {
    (void)state;
    unsigned count[RECORD_IDS] = {0}, ops[OP_CODES] = {0};
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        const struct record *r = &records[record_of_opcode[opcode]];
        assert_true(r->first <= opcode);
        count[r->id]++;
        assert_int_equal(record_of_opcode[r->first], r->id);
    }
    for (unsigned id = 0; id < RECORD_IDS; id++) {
        const struct record *r = &records[id];
        assert_int_equal(r->id, id);
        assert_true(count[id] > 0);
        assert_true(r->length <= RECORD_OPERANDS);
        assert_int_equal(r->length, strlen(r->operands));
        if (r->section == SECTION_SCRIPT)
            ops[r->code]++;
    }
    assert_int_equal(records[RECORD_LATER].operands[0], 'x'); /* one record for all of these */
    for (unsigned code = OP_LATER; code < OP_CODES; code++)
        ops[code] += count[RECORD_LATER];
    for (unsigned code = 0; code < OP_CODES; code++)
        assert_true(ops[code] > 0);
}

/* ---- validity -------------------------------------------------------------------------------- */

/* Small programs with one rule broken each; base() is the valid one. */
static void base(void) {
    static const char text[] = "isoheap program 1\nheap\n b0 = block tag=0 [b1, 1]\n"
                               " b1 = closure arity=1,1 env=[b1+3]\n free 2\n"
                               " static b2 = string [0x1]\n static b3 = block tag=0 [b2]\n"
                               "roots\n r0 = b0\nscript\n r1 = alloc tag=0 [r0]\n r0.1 := 5\n"
                               " full\n slice 3\n r1 = double [0x5]\n";
    struct text_error error;
    assert_true(program_parse(&program, text, sizeof text - 1, &error));
    assert_null(program_valid(&program));
}

#define INVALID(change)                                                                            \
    do {                                                                                           \
        base();                                                                                    \
        change;                                                                                    \
        assert_non_null(program_valid(&program));                                                  \
    } while (0)

static void broken_heaps_are_invalid(void **state) {
    (void)state;
    INVALID(program.config[CONFIG_HEAP] = 15);
    INVALID(program.config[CONFIG_AGE] = 16);
    INVALID(program.items[0].tag = PROGRAM_TAG_INFIX);
    INVALID(program.items[0].kind = ITEM_FRAGMENT + 1);
    INVALID(program.items[0].n_fields = 1);
    INVALID(program.items[0].arity[2] = 1);
    INVALID(program.items[1].functions = 0);
    INVALID(program.items[1].functions = 3);
    INVALID(program.items[1].arity[3] = 1);
    INVALID(program.items[1].arity[1] = 2);
    INVALID(program.items[1].tag = 0);
    INVALID(program.items[2].wosize = 0);
    INVALID(program.items[2].is_static = true);
    INVALID(program.items[2].tag = 1);
    INVALID(program.items[3].tag = 0);
    INVALID(program.items[4].first_field = 0);
    INVALID(program.n_fields++);
    INVALID(program.fields[0].block = 4);
    INVALID(program.fields[0].offset = 3);
    INVALID(program.fields[0].bits = 1);
    INVALID(program.fields[0].kind = VALUE_SLOT);
    INVALID(program.fields[1].bits = UINT64_C(1) << 62);
    INVALID(program.fields[2].offset = 2);
    INVALID(program.fields[2].block = 0);
    INVALID(program.fields[3].kind = VALUE_IMMEDIATE);
    INVALID(program.fields[4].block = 0);
    INVALID(program.roots[0][0].block = 9);
    INVALID(program.roots[3][31].kind = VALUE_RAW);
    INVALID(program.roots[3][31].offset = 1);
    INVALID((program.roots[0][0] = (struct value){.kind = VALUE_OUTSIDE, .bits = 65537}));
    INVALID(
        (program.roots[0][0] = (struct value){.kind = VALUE_ATOM, .bits = PROGRAM_TAG_CLOSURE}));
}

static void broken_scripts_are_invalid(void **state) {
    (void)state;
    INVALID(program.n_ops = PROGRAM_OPS + 1);
    INVALID(program.ops[0].code = OP_CODES);
    INVALID(program.ops[0].mutator = PROGRAM_MUTATORS);
    INVALID(program.ops[0].dst = PROGRAM_SLOTS);
    INVALID(program.ops[0].src = 1);
    INVALID(program.ops[0].tag = PROGRAM_TAG_CLOSURE);
    INVALID(program.ops[0].functions = 1);
    INVALID(program.ops[0].arity[0] = 1);
    INVALID(program.ops[0].size = 0);
    INVALID(program.ops[0].size = PROGRAM_WOSIZE + 1);
    INVALID(program.ops[0].i = 1);
    INVALID(program.ops[0].n_values = 2);
    INVALID(program.ops[0].values[0].block = PROGRAM_SLOTS);
    INVALID(program.ops[0].values[0].kind = VALUE_BLOCK);
    INVALID(program.ops[0].values[2].bits = 1);
    INVALID(program.ops[1].i = PROGRAM_WOSIZE);
    INVALID(program.ops[1].n_values = 0);
    INVALID(program.ops[2].dst = 1);
    INVALID(program.ops[2].n = 1);
    INVALID(program.ops[3].n = PROGRAM_WOSIZE + 1);
    INVALID(program.ops[4].size = 2);
    INVALID(program.ops[4].values[0].kind = VALUE_IMMEDIATE);
}

/* Every difference that validity knows of is a difference for program_equal and the digest. */
static void equality_and_digest(void **state) {
    (void)state;
    struct rng rng = {7};
    for (unsigned n = 0; n < 2000; n++) {
        random_program(&rng, &program, 4, 4);
        memcpy(&other, &program, sizeof program);
        assert_true(program_equal(&program, &other));
        other.ops[other.n_ops].code = 99; /* beyond the used prefix */
        other.fields[other.n_fields].bits = 99;
        assert_true(program_equal(&program, &other));
        assert_true(program_digest(&program) == program_digest(&other));
        other.roots[n % PROGRAM_MUTATORS][n % PROGRAM_SLOTS].bits ^= 1;
        assert_false(program_equal(&program, &other));
        assert_false(program_digest(&program) == program_digest(&other));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_in_range),
        cmocka_unit_test(layout_of_closures),
        cmocka_unit_test(tags),
        cmocka_unit_test(records_are_consistent),
        cmocka_unit_test(broken_heaps_are_invalid),
        cmocka_unit_test(broken_scripts_are_invalid),
        cmocka_unit_test(equality_and_digest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
