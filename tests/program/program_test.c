/* SPDX-License-Identifier: MIT
 *
 * Programs as bytes: what every byte string and every valid program must satisfy.
 */
#include "program/bytes/bytes.h"
#include "program/bytes/records.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#ifdef SEEDS_DIR
#include "tests/support/support.h"
#endif

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct program program, other;

/* ---- byte strings ---------------------------------------------------------------------------- */

enum { SHORT_STRINGS = 1000000, LONG_STRINGS = 15000, TEXT_EVERY = 8 };

static void every_string_is_a_program(void **state) {
    (void)state;
    struct rng rng = {1};
    static uint8_t bytes[600];
    for (unsigned n = 0; n < SHORT_STRINGS + LONG_STRINGS; n++) {
        size_t size = rng_below(&rng, n < SHORT_STRINGS ? 11 : sizeof bytes + 1);
        random_bytes(&rng, bytes, size);
        program_decode(&program, bytes, size);
        check_bytes_round_trip(&program);
        if (n % TEXT_EVERY == 0)
            check_text_round_trip(&program);
    }
}

static void random_programs_round_trip(void **state) {
    (void)state;
    struct rng rng = {2};
    for (unsigned n = 0; n < 3000; n++) {
        random_program(&rng, &program, n % 16, n % 64);
        check_bytes_round_trip(&program);
        check_text_round_trip(&program);
    }
}

/* A position of bytes that is an operand, or size if it has none. */
static size_t random_operand(struct rng *rng, const uint8_t *bytes, size_t size) {
    size_t chosen = size, seen = 0;
    for (size_t at = 0; at < size; at += 1u + records[record_of_opcode[bytes[at]]].length)
        for (size_t o = 1; o <= records[record_of_opcode[bytes[at]]].length && at + o < size; o++)
            if (rng_chance(rng, (unsigned)++seen))
                chosen = at + o;
    return chosen;
}

static void one_operand_changes_one_operation(void **state) {
    (void)state;
    struct rng rng = {3};
    static uint8_t bytes[200];
    for (unsigned n = 0; n < 60000; n++) {
        size_t size = rng_below(&rng, n % 10 ? 40 : sizeof bytes + 1);
        unsigned changed = 0;
        random_bytes(&rng, bytes, size);
        program_decode(&program, bytes, size);
        size_t at = random_operand(&rng, bytes, size);
        if (at == size)
            continue;
        bytes[at] = (uint8_t)rng_below(&rng, 256);
        program_decode(&other, bytes, size);
        assert_int_equal(program.n_ops, other.n_ops);
        for (unsigned i = 0; i < program.n_ops; i++)
            changed += !op_equal(&program.ops[i], &other.ops[i]);
        assert_true(changed <= 1);
    }
}

/* An inserted operation leaves all others as they were. */
static void an_inserted_operation_shifts_nothing(void **state) {
    (void)state;
    struct rng rng = {4};
    static uint8_t bytes[16384];
    for (unsigned n = 0; n < 2000; n++) {
        random_program(&rng, &program, 2, 20);
        memcpy(&other, &program, sizeof program);
        unsigned at = rng_below(&rng, program.n_ops + 1u);
        memmove(&other.ops[at + 1], &other.ops[at], (program.n_ops - at) * sizeof(struct op));
        other.ops[at] = random_op(&rng);
        size_t before = program_encode(&program, bytes, sizeof bytes);
        other.n_ops++;
        assert_true(program_encode(&other, NULL, 0) > before);
        check_bytes_round_trip(&other);
    }
}

/* Long and extreme inputs stay within the limits: each opcode alone, many times. */
static void hostile_strings_are_bounded(void **state) {
    (void)state;
    static uint8_t bytes[1 << 20];
    struct rng rng = {5};
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        memset(bytes, (int)opcode, 1 << 14);
        program_decode(&program, bytes, 1 << 14);
        assert_null(program_valid(&program));
        for (size_t at = 0; at < 1 << 14; at += 1u + records[record_of_opcode[opcode]].length) {
            bytes[at] = (uint8_t)opcode;
            memset(bytes + at + 1, 254, RECORD_OPERANDS); /* the largest short operands */
        }
        program_decode(&program, bytes, 1 << 14);
        check_bytes_round_trip(&program);
    }
    for (size_t size = 1 << 16; size <= sizeof bytes; size <<= 4) {
        random_bytes(&rng, bytes, size);
        program_decode(&program, bytes, size);
        check_bytes_round_trip(&program);
        check_text_round_trip(&program);
        assert_int_equal(program.n_ops, PROGRAM_OPS);
    }
}

/* A truncated record reads as if zeros followed. */
static void missing_operands_are_zero(void **state) {
    (void)state;
    struct rng rng = {6};
    uint8_t bytes[64] = {0};
    for (unsigned n = 0; n < 20000; n++) {
        size_t size = rng_below(&rng, 40), end = 0;
        random_bytes(&rng, bytes, size);
        while (end < size)
            end += 1u + records[record_of_opcode[bytes[end]]].length;
        memset(bytes + size, 0, sizeof bytes - size);
        program_decode(&program, bytes, size);
        program_decode(&other, bytes, end);
        assert_true(program_equal(&program, &other));
    }
}

static void encode_honours_capacity(void **state) {
    (void)state;
    struct rng rng = {8};
    uint8_t bytes[4096];
    random_program(&rng, &program, 3, 20);
    size_t size = program_encode(&program, NULL, 0);
    assert_true(size > 10 && size < sizeof bytes);
    memset(bytes, 0xa5, sizeof bytes);
    assert_int_equal(program_encode(&program, bytes, size - 1), size);
    assert_int_equal(bytes[size - 1], 0xa5);
    assert_int_equal(program_encode(&program, bytes, size), size);
    program_decode(&other, bytes, size);
    assert_true(program_equal(&program, &other));
}

/* ---- boundaries ------------------------------------------------------------------------------ */

static const struct item smallest_block = {.kind = ITEM_BLOCK, .wosize = 1, .n_fields = 1};

static void add_item(struct item item) {
    item.first_field = item_is_named(&item) ? program.n_fields : 0;
    program.n_fields = (uint16_t)(program.n_fields + item.n_fields);
    program.items[program.n_items++] = item;
}

static void most_items_and_operations(void **state) {
    (void)state;
    struct rng rng = {9};
    program_clear(&program);
    program.config[CONFIG_HEAP] = PROGRAM_HEAP_WORDS;
    for (unsigned i = 0; i < PROGRAM_ITEMS; i++) {
        add_item(smallest_block);
        program.fields[i] =
            (struct value){.kind = VALUE_BLOCK, .block = (uint16_t)(PROGRAM_ITEMS - 1 - i)};
    }
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned r = 0; r < PROGRAM_SLOTS; r++)
            program.roots[m][r] =
                (struct value){.kind = VALUE_BLOCK, .block = (uint16_t)(1023 - 32 * m - r)};
    program.n_ops = PROGRAM_OPS;
    for (unsigned i = 0; i < PROGRAM_OPS; i++)
        program.ops[i] = random_op(&rng);
    check_bytes_round_trip(&program);
    check_text_round_trip(&program);
}

static void most_fields(void **state) {
    (void)state;
    struct rng rng = {10};
    program_clear(&program);
    program.config[CONFIG_HEAP] = PROGRAM_HEAP_WORDS;
    add_item((struct item){.kind = ITEM_RAW, .tag = 252, .wosize = 4096, .n_fields = 4096});
    add_item(
        (struct item){.kind = ITEM_BLOCK, .is_static = true, .wosize = 4096, .n_fields = 4096});
    for (unsigned f = 0; f < 4096; f++) {
        program.fields[f] = (struct value){.kind = VALUE_RAW, .bits = rng_next(&rng)};
        program.fields[4096 + f] =
            (struct value){.kind = VALUE_IMMEDIATE, .bits = UINT64_C(0xc000000000000000) + f};
    }
    check_bytes_round_trip(&program);
    check_text_round_trip(&program);
    assert_int_equal(program.n_fields, PROGRAM_FIELDS);
}

static void extreme_values(void **state) {
    (void)state;
    static const uint64_t bits[] = {UINT64_C(0x3fffffffffffffff), UINT64_C(0xc000000000000000),
                                    UINT64_MAX, 0, 1};
    for (unsigned b = 0; b < sizeof bits / sizeof *bits; b++) {
        program_clear(&program);
        add_item((struct item){.kind = ITEM_CLOSURE,
                               .tag = 247,
                               .functions = 4,
                               .arity = {-128, -1, 127, -2},
                               .wosize = 15 + 4032,
                               .n_fields = 4032});
        program.config[CONFIG_HEAP] = 15 + 4032 + 1;
        memset(program.fields, 0, sizeof program.fields);
        for (unsigned f = 4028; f < 4032; f++)
            program.fields[f].bits = bits[b];
        program.roots[3][31] = (struct value){.kind = VALUE_INFIX, .offset = 12};
        program.n_ops = 1;
        program.ops[0] = (struct op){.code = OP_ALLOC_CLOSURE,
                                     .mutator = 3,
                                     .functions = 4,
                                     .arity = {-1, -1, -1, -1},
                                     .n_values = 3,
                                     .size = 4032};
        for (unsigned v = 0; v < 3; v++)
            program.ops[0].values[v].bits = bits[b];
        check_bytes_round_trip(&program);
        check_text_round_trip(&program);
    }
}

/* One word more than fits is left out by the decoder. */
static void what_does_not_fit_is_left_out(void **state) {
    (void)state;
    uint8_t bytes[3 * 12 + 3];
    size_t n = 0;
    for (unsigned b = 0; b < 3; b++) { /* free 4095 twice is the whole heap */
        const uint8_t wide[12] = {FIRST_WIDE, VALUE_IMMEDIATE, 0xff,     0x0f, 0, 0, 0, 0, 0,
                                  0,          FIRST_FREE,      WIDE_BYTE};
        memcpy(bytes + n, wide, sizeof wide);
        n += sizeof wide;
    }
    bytes[n++] = FIRST_FRAGMENT;
    bytes[n++] = FIRST_FIELD; /* applies to an item that is not there */
    program_decode(&program, bytes, n);
    assert_null(program_valid(&program));
    assert_int_equal(program.n_items, 2);
    assert_int_equal(program.config[CONFIG_HEAP], PROGRAM_HEAP_WORDS);
}

/* ---- seeds and memory ------------------------------------------------------------------------ */

#ifdef SEEDS_DIR
static void seed_round_trips(const char *path, void *context) {
    (void)context;
    if (strstr(path, "/text/")) /* broken on purpose, some of them */
        return;
    load_program(&program, path);
    check_bytes_round_trip(&program);
    check_text_round_trip(&program);
}
#endif

static void seeds_round_trip(void **state) {
    (void)state;
#ifdef SEEDS_DIR
    for_each_program(SEEDS_DIR, seed_round_trips, NULL);
#else
    skip();
#endif
}

/* AddressSanitizer's hooks; absent without it. */
__attribute__((weak)) int
__sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, size_t),
                                          void (*)(const volatile void *));
static unsigned allocations;
static void on_malloc(const volatile void *memory, size_t size) {
    (void)memory;
    (void)size;
    allocations++;
}
static void on_free(const volatile void *memory) {
    (void)memory;
}

static void nothing_is_allocated(void **state) {
    (void)state;
    static char text[1 << 16];
    static uint8_t bytes[1 << 14];
    struct rng rng = {11};
    struct text_error error;
    if (!__sanitizer_install_malloc_and_free_hooks ||
        !__sanitizer_install_malloc_and_free_hooks(on_malloc, on_free))
        skip();
    free(malloc(1)); /* NOLINT: proves that the hook counts */
    unsigned before = allocations;
    for (unsigned n = 0; n < 1000; n++) {
        random_bytes(&rng, bytes, 400);
        program_decode(&program, bytes, 400);
        size_t length = program_print(&program, text, sizeof text);
        if (length < sizeof text)
            program_parse(&other, text, length, &error);
        text[rng_below(&rng, 100)] = '\0';
        program_parse(&other, text, 200, &error);
        program_encode(&program, bytes, sizeof bytes);
    }
    assert_int_equal(allocations, before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_string_is_a_program),
        cmocka_unit_test(random_programs_round_trip),
        cmocka_unit_test(one_operand_changes_one_operation),
        cmocka_unit_test(an_inserted_operation_shifts_nothing),
        cmocka_unit_test(hostile_strings_are_bounded),
        cmocka_unit_test(missing_operands_are_zero),
        cmocka_unit_test(encode_honours_capacity),
        cmocka_unit_test(most_items_and_operations),
        cmocka_unit_test(most_fields),
        cmocka_unit_test(extreme_values),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(seeds_round_trip),
        cmocka_unit_test(nothing_is_allocated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
