/* SPDX-License-Identifier: MIT
 *
 * Random programs and round trips (program_support.h).
 *
 * The generator fills the struct directly, so that it also reaches what no short byte string does:
 * wide sizes and integers, every infix offset, big blocks.
 */
#include "tests/support/program_support.h"

#include "program/bytes/bytes.h"
#include "program/text/text.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- numbers --------------------------------------------------------------------------------- */

uint64_t rng_next(struct rng *rng) {
    uint64_t z = rng->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

unsigned rng_below(struct rng *rng, unsigned bound) {
    return (unsigned)(rng_next(rng) >> 32) % bound;
}

bool rng_chance(struct rng *rng, unsigned one_in) {
    return rng_below(rng, one_in) == 0;
}

void random_bytes(struct rng *rng, uint8_t *bytes, size_t size) {
    unsigned mode = rng_below(rng, 4);
    for (size_t i = 0; i < size; i++) {
        bytes[i] = (uint8_t)rng_below(rng, 256);
        if (mode == 1 && rng_chance(rng, 3))
            bytes[i] = rng_chance(rng, 2) ? 255 : 254; /* 254 and 255 are WIDE's opcodes too */
        if (mode == 2)
            bytes[i] &= 0x3f;
        if (mode == 3 && i > 0 && rng_chance(rng, 2))
            bytes[i] = bytes[rng_below(rng, (unsigned)i)];
    }
}

/* A number from 0 to max: mostly small, sometimes at the limit, sometimes anything. */
static unsigned up_to(struct rng *rng, unsigned max) {
    unsigned choice = rng_below(rng, 8);
    if (choice == 0)
        return max;
    if (choice == 1)
        return rng_below(rng, max + 1);
    return rng_below(rng, max < 20 ? max + 1 : 20);
}

/* ---- values ---------------------------------------------------------------------------------- */

static uint64_t random_word(struct rng *rng) {
    static const uint64_t notable[] = {0, 1, UINT64_MAX, UINT64_C(1) << 63, 255, 256, 191, 192};
    unsigned choice = rng_below(rng, 4);
    if (choice == 0)
        return notable[rng_below(rng, sizeof notable / sizeof *notable)];
    uint64_t bits = rng_next(rng); /* before the next draw: compilers differ in the order */
    return choice == 1 ? bits : bits >> rng_below(rng, 64);
}

/* Of every form; atoms too. */
static struct value random_outside(struct rng *rng) {
    static const enum outside_form forms[] = {OUTSIDE_SMALL, OUTSIDE_BEFORE, OUTSIDE_BEHIND};
    unsigned tag = rng_below(rng, 256), form = rng_below(rng, 6);
    if (form == 0)
        return (struct value){.kind = VALUE_ATOM, .bits = tag_is_atom(tag) ? tag : 0};
    if (form <= 3)
        return (struct value){.kind = VALUE_OUTSIDE,
                              .bits = outside_bits(forms[form - 1], 2 + 2u * rng_below(rng, 63))};
    uint64_t pattern = random_word(rng) & ~UINT64_C(1);
    bool itself = form == 4 && pattern >= OUTSIDE_LEAST && outside_is_legal(pattern);
    return (struct value){.kind = VALUE_OUTSIDE, .bits = itself ? pattern : rng_below(rng, 65536)};
}

static struct value random_atom(struct rng *rng) {
    if (rng_chance(rng, 8))
        return random_outside(rng);
    uint64_t bits = random_word(rng) << 1; /* 63 bits, the topmost twice */
    bits = bits >> 1 | (bits & UINT64_C(1) << 63);
    return (struct value){.kind = VALUE_IMMEDIATE, .bits = bits};
}

/* Of one of so many blocks or slots; only a script has addresses of other places. */
static struct value random_address(struct rng *rng, unsigned named, bool script) {
    unsigned place = script ? rng_below(rng, ADDRESS_PLACES) : ADDRESS_BLOCK;
    bool doubled = rng_chance(rng, 3);
    int8_t plus = rng_chance(rng, 2) ? 0 : (int8_t)((int)rng_below(rng, 256) - 128);
    struct value v = {.kind = VALUE_ADDRESS,
                      .bits = address_bits((enum address_place)place, doubled, plus)};
    if (place == ADDRESS_BLOCK) {
        v.block = (uint16_t)rng_below(rng, named);
        v.offset = (uint16_t)up_to(rng, PROGRAM_WOSIZE - 1);
    }
    return v;
}

/* to_static: the value stands in a static block. */
static struct value random_heap_value(struct rng *rng, const struct program *p, bool to_static) {
    unsigned named = program_named(p);
    if (named == 0 || rng_chance(rng, 3))
        return random_atom(rng);
    if (rng_chance(rng, 6))
        return random_address(rng, named, false);
    unsigned block = rng_below(rng, named);
    const struct item *item = program_named_item(p, block);
    if (to_static && !item->is_static)
        return random_atom(rng);
    struct value v = {.kind = VALUE_BLOCK, .block = (uint16_t)block};
    if (item->functions > 1 && rng_chance(rng, 2)) {
        v.kind = VALUE_INFIX;
        unsigned entry = 1 + rng_below(rng, item->functions - 1u);
        v.offset = (uint16_t)closure_entry_offset(entry, item->arity);
    }
    return v;
}

static struct value random_script_value(struct rng *rng) {
    if (rng_chance(rng, 2))
        return random_atom(rng);
    if (rng_chance(rng, 4))
        return random_address(rng, PROGRAM_SLOTS, true);
    return (struct value){.kind = VALUE_SLOT, .block = (uint16_t)rng_below(rng, PROGRAM_SLOTS)};
}

/* named: blocks, or slots of a script. */
static struct value random_raw(struct rng *rng, unsigned named, bool script) {
    if (named && rng_chance(rng, 3))
        return random_address(rng, named, script);
    return (struct value){.kind = VALUE_RAW, .bits = random_word(rng)};
}

static uint8_t random_tag(struct rng *rng) {
    for (;;) {
        unsigned tag = rng_below(rng, 251);
        if (tag_is_ordinary(tag))
            return (uint8_t)tag;
    }
}

static uint8_t random_functions(struct rng *rng, int8_t *arity) {
    unsigned functions = 1 + rng_below(rng, PROGRAM_FUNCTIONS);
    for (unsigned f = 0; f < functions; f++)
        arity[f] = (int8_t)((int)rng_below(rng, rng_chance(rng, 2) ? 4 : 256) - 128 * (f & 1));
    return (uint8_t)functions;
}

/* ---- heap ------------------------------------------------------------------------------------ */

static struct item random_item(struct rng *rng) {
    struct item item = {.kind = (uint8_t)rng_below(rng, ITEM_FRAGMENT + 1)};
    unsigned size = 1 + up_to(rng, PROGRAM_WOSIZE - 65);
    item.wosize = (uint16_t)(item.kind == ITEM_FRAGMENT ? 0 : size);
    if (!item_is_named(&item))
        return item;
    item.is_static = rng_chance(rng, 5);
    item.n_fields = item.wosize;
    if (item.kind == ITEM_BLOCK)
        item.tag = random_tag(rng);
    if (item.kind == ITEM_RAW)
        item.tag = (uint8_t)(PROGRAM_TAG_ABSTRACT + rng_below(rng, 5));
    if (item.tag == PROGRAM_TAG_DOUBLE)
        item.wosize = item.n_fields = 1;
    if (item.kind == ITEM_CLOSURE) {
        item.tag = PROGRAM_TAG_CLOSURE;
        item.functions = random_functions(rng, item.arity);
        item.n_fields = (uint16_t)(size - 1);
        item.address_code = rng_chance(rng, 4);
        item.wosize = (uint16_t)(item.n_fields + closure_code_words(item.functions, item.arity));
    }
    return item;
}

static void add_items(struct rng *rng, struct program *p, unsigned max_items) {
    unsigned words[2] = {0, 0};
    for (unsigned n = rng_below(rng, max_items + 1); n > 0; n--) {
        struct item item = random_item(rng);
        words[item.is_static] += item_words(&item);
        if (words[item.is_static] > PROGRAM_HEAP_WORDS ||
            item.n_fields > PROGRAM_FIELDS - p->n_fields)
            break;
        if (item_is_named(&item))
            item.first_field = p->n_fields;
        p->n_fields = (uint16_t)(p->n_fields + item.n_fields);
        p->items[p->n_items++] = item;
    }
}

static void fill_fields(struct rng *rng, struct program *p) {
    for (unsigned i = 0; i < p->n_items; i++) {
        const struct item *item = &p->items[i];
        bool raw = item->kind == ITEM_RAW;
        for (unsigned f = 0; f < item->n_fields; f++) {
            struct value *v = &p->fields[item->first_field + f];
            *v = (struct value){.kind = raw ? VALUE_RAW : VALUE_IMMEDIATE};
            if (f < 8 || rng_chance(rng, 64))
                *v = raw ? random_raw(rng, program_named(p), false)
                         : random_heap_value(rng, p, item->is_static);
        }
    }
}

/* ---- script ---------------------------------------------------------------------------------- */

struct op random_op(struct rng *rng) {
    struct op op = {.code = (uint8_t)rng_below(rng, OP_CODES)};
    const struct op_shape *shape = &op_shapes[op.code];
    bool raw = op.code == OP_ALLOC_RAW;
    op.mutator = rng_chance(rng, 4) ? (uint8_t)rng_below(rng, PROGRAM_MUTATORS) : 0;
    if (shape->operands & OPERAND_DST)
        op.dst = (uint8_t)rng_below(rng, PROGRAM_SLOTS);
    if (shape->operands & OPERAND_SRC)
        op.src = (uint8_t)rng_below(rng, PROGRAM_SLOTS);
    if (shape->operands & OPERAND_FUNCTIONS)
        op.functions = random_functions(rng, op.arity);
    if (shape->operands & OPERAND_TAG)
        op.tag = raw ? (uint8_t)(PROGRAM_TAG_ABSTRACT + rng_below(rng, 5)) : random_tag(rng);
    op.i = (uint16_t)up_to(rng, shape->max_i);
    op.j = (uint16_t)up_to(rng, shape->max_j);
    op.n = (uint16_t)up_to(rng, shape->max_n);
    if (shape->operands & OPERAND_SIZE)
        op.size = (uint16_t)(shape->min_size + up_to(rng, shape->max_size - shape->min_size));
    if (op.tag == PROGRAM_TAG_DOUBLE)
        op.size = 1;
    if (shape->operands & OPERAND_VALUES)
        op.n_values = (uint8_t)rng_below(rng, PROGRAM_VALUES + 1);
    if (shape->operands & OPERAND_SIZE && op.n_values > op.size)
        op.n_values = (uint8_t)op.size;
    if (shape->operands & OPERAND_VALUE)
        op.n_values = 1;
    for (unsigned v = 0; v < op.n_values; v++)
        op.values[v] = raw ? random_raw(rng, PROGRAM_SLOTS, true) : random_script_value(rng);
    return op;
}

void random_program(struct rng *rng, struct program *p, unsigned max_items, unsigned max_ops) {
    program_clear(p);
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        if (rng_chance(rng, 3))
            p->config[k] = (uint16_t)(config_ranges[k].min +
                                      up_to(rng, config_ranges[k].max - config_ranges[k].min));
    add_items(rng, p, max_items);
    if (p->config[CONFIG_HEAP] < program_heap_words(p))
        p->config[CONFIG_HEAP] = (uint16_t)program_heap_words(p);
    fill_fields(rng, p);
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned r = 0; r < PROGRAM_SLOTS; r++)
            if (rng_chance(rng, m == 0 ? 4 : 16))
                p->roots[m][r] = random_heap_value(rng, p, false);
    p->n_ops = (uint16_t)rng_below(rng, max_ops + 1);
    for (unsigned i = 0; i < p->n_ops; i++)
        p->ops[i] = random_op(rng);
}

/* ---- round trips ----------------------------------------------------------------------------- */

void check_bytes_round_trip(const struct program *p) {
    static struct program again;
    static uint8_t bytes[1 << 20];
    assert_true(program_encode_bound <= sizeof bytes);
    const char *fault = program_valid(p);
    if (fault)
        fail_msg("the program is not valid: %s", fault);
    size_t size = program_encode(p, bytes, sizeof bytes);
    assert_true(size <= program_encode_bound);
    if (program_is_large(p)) {
        assert_int_equal(size, 0);
        return;
    }
    program_decode(&again, bytes, size);
    assert_null(program_valid(&again));
    assert_true(program_equal(p, &again));
    assert_true(program_digest(p) == program_digest(&again));
}

void check_is_printed_as_read(struct program *p, const char *text) {
    static char out[1 << 12];
    parse_program(p, text);
    assert_null(program_valid(p));
    program_print(p, out, sizeof out);
    assert_string_equal(out, text);
}

void check_text_round_trip(const struct program *p) {
    static struct program again;
    static char text[1 << 21];
    struct text_error error;
    size_t length = program_print(p, text, sizeof text);
    assert_true(length < sizeof text);
    if (!program_parse(&again, text, length, &error))
        fail_msg("printed text is not read: %u:%u: %s", error.line, error.column, error.message);
    assert_null(program_valid(&again));
    assert_true(program_equal(p, &again));
    assert_true(program_looks_like_text(text, length));
}
