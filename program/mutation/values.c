/* SPDX-License-Identifier: MIT
 *
 * Random values and operations (mutation.h), as a programmer would choose them: slots that hold
 * something, small indexes, sizes that just fit.
 */
#include "program/mutation/internal.h"

#include "program/bytes/records.h" /* notable_immediates */

#include <string.h>

enum { NOTABLE = sizeof notable_immediates / sizeof *notable_immediates };
enum { WORD_BITS = 64, INTEGER_BITS = 63 };
enum { ADDRESS_SHARE = 4 }; /* one raw word in so many is an address */

/* ---- words and immediates -------------------------------------------------------------------- */

/* A power of two, which is where one representation of a number ends and another one begins, or
 * the number before or behind it.  Every other time it is one of those that a word of 32 bits, less
 * a bit or two that say what it is, ends at. */
static uint64_t random_boundary(struct random *r, unsigned bits) {
    unsigned bit = random_chance(r, 2) ? random_between(r, 29, 32) : random_below(r, bits);
    return (UINT64_C(1) << bit) + random_below(r, 3) - 1;
}

struct value random_immediate(struct random *r) {
    uint64_t bits = random_below(r, 16);
    if (random_chance(r, 8))
        bits = (uint64_t)notable_immediates[random_below(r, NOTABLE)];
    else if (random_chance(r, 32))
        bits = immediate_bits(random_next(r));
    else if (random_chance(r, 16))
        bits = immediate_bits(random_chance(r, 4) ? -random_boundary(r, INTEGER_BITS)
                                                  : random_boundary(r, INTEGER_BITS));
    return (struct value){.kind = VALUE_IMMEDIATE, .bits = bits};
}

struct value random_word(struct random *r) {
    uint64_t bits = random_below(r, WORD_BIT);
    if (random_chance(r, 4))
        bits = UINT64_C(1) << random_below(r, WIDE_BYTE - WORD_BIT);
    else if (random_chance(r, 32))
        bits = random_next(r);
    else if (random_chance(r, 32))
        bits = random_boundary(r, WORD_BITS);
    return (struct value){.kind = VALUE_RAW, .bits = bits};
}

/* Doubles, their infinities and what is no number, and what ends in other bits than an address: a
 * collector may keep marks of its own there. */
static uint64_t random_outside_word(struct random *r) {
    static const uint64_t words[] = {UINT64_C(0x3ff0000000000000), UINT64_C(0x8000000000000000),
                                     UINT64_C(0x7ff0000000000000), UINT64_C(0xfff8000000000000),
                                     UINT64_C(0xfffffffffffffffe), UINT64_C(0xffff800000000000),
                                     UINT64_C(0x4009999999999998), UINT64_C(0x0070070000000004),
                                     UINT64_C(0x007007000000000a), UINT64_C(0x0030070000000006)};
    if (random_chance(r, 4))
        return (random_next(r) | UINT64_C(1) << 60) & ~UINT64_C(1);
    return words[random_below(r, sizeof words / sizeof *words)];
}

static uint64_t random_outside_bits(struct random *r) {
    static const uint16_t small[] = {0, 2, 6, 8, 16, 4096, 65534};
    switch (random_below(r, 8)) {
    case 0:
        return outside_bits(OUTSIDE_SMALL, small[random_below(r, sizeof small / sizeof *small)]);
    case 1:
        return outside_bits(OUTSIDE_BEFORE, (random_chance(r, 2) ? 8u : 2u) * random_few(r, 8));
    case 2:
        return outside_bits(OUTSIDE_BEHIND, random_chance(r, 2) ? 0 : 2u * random_few(r, 8));
    case 3:
    case 4:
        return outside_bits(OUTSIDE_WORD, random_outside_word(r));
    default:
        return random_below(r, 8);
    }
}

/* A word that leads outside the heap, or to a block without fields, which lies there too. */
static struct value random_outside(struct random *r) {
    if (random_chance(r, 4)) {
        unsigned tag = random_chance(r, 2) ? 0 : random_below(r, UINT8_MAX + 1);
        return (struct value){.kind = VALUE_ATOM, .bits = tag_is_atom(tag) ? tag : tag % 8};
    }
    return (struct value){.kind = VALUE_OUTSIDE, .bits = random_outside_bits(r)};
}

/* Of a block or slot; a field beyond the end of the block is one of those that there are. */
static struct value random_address(struct random *r, enum address_place place, unsigned block) {
    bool doubled = random_chance(r, 8);
    int8_t plus = 0;
    if (random_chance(r, 4))
        plus = (int8_t)(random_chance(r, 2) ? -8 : (int)random_between(r, 1, 8));
    struct value v = {.kind = VALUE_ADDRESS, .bits = address_bits(place, doubled, plus)};
    if (place != ADDRESS_BLOCK)
        return v;
    v.block = (uint16_t)block;
    if (random_chance(r, 3))
        v.offset = (uint16_t)random_few(r, 6);
    return v;
}

/* ---- the heap -------------------------------------------------------------------------------- */

/* A closure with infix blocks, found from a random place on; named->count if there is none. */
static unsigned some_closure(struct random *r, const struct named_blocks *named) {
    unsigned start = random_below(r, named->count);
    for (unsigned i = 0; i < named->count; i++) {
        unsigned b = (start + i) % named->count;
        if (named_block(named, b)->functions > 1)
            return b;
    }
    return named->count;
}

static struct value reference(struct mutation *m, const struct named_blocks *named) {
    struct random *r = &m->random;
    unsigned block = random_below(r, named->count);
    if (random_below(r, 16) < m->weights.infix) {
        unsigned closure = some_closure(r, named);
        block = closure < named->count ? closure : block;
    }
    const struct item *item = named_block(named, block);
    struct value v = {.kind = VALUE_BLOCK, .block = (uint16_t)block};
    if (item->functions > 1 && !random_chance(r, 4)) {
        v.kind = VALUE_INFIX;
        v.offset =
            (uint16_t)closure_entry_offset(random_between(r, 1, item->functions - 1u), item->arity);
    }
    return v;
}

struct value random_heap_word(struct mutation *m, const struct named_blocks *named) {
    if (named->count > 0 && random_chance(&m->random, ADDRESS_SHARE))
        return random_address(&m->random, ADDRESS_BLOCK, random_below(&m->random, named->count));
    return random_word(&m->random);
}

struct value random_heap_value(struct mutation *m, const struct named_blocks *named,
                               bool from_static) {
    unsigned dice = random_below(&m->random, 16);
    if (dice == 0)
        return random_outside(&m->random);
    if (dice == 1 && named->count > 0 && random_chance(&m->random, 2))
        return random_address(&m->random, ADDRESS_BLOCK, random_below(&m->random, named->count));
    if (dice < 4 || named->count == 0)
        return random_immediate(&m->random);
    struct value v = reference(m, named);
    if (from_static && !named_block(named, v.block)->is_static)
        return random_immediate(&m->random);
    return v;
}

/* ---- tags, sizes, functions ------------------------------------------------------------------ */

uint8_t random_tag(struct mutation *m, bool raw) {
    static const uint8_t tags[TAG_CHOICES] = {
        [TAG_CHOICE_LAZY] = PROGRAM_TAG_LAZY,
        [TAG_CHOICE_OBJECT] = PROGRAM_TAG_OBJECT,
        [TAG_CHOICE_FORWARD] = PROGRAM_TAG_FORWARD,
        [TAG_CHOICE_ABSTRACT] = PROGRAM_TAG_ABSTRACT,
        [TAG_CHOICE_STRING] = PROGRAM_TAG_STRING,
        [TAG_CHOICE_DOUBLE] = PROGRAM_TAG_DOUBLE,
        [TAG_CHOICE_DOUBLE_ARRAY] = PROGRAM_TAG_DOUBLE_ARRAY,
        [TAG_CHOICE_CUSTOM] = PROGRAM_TAG_CUSTOM,
    };
    const uint16_t *weights = m->weights.tags;
    if (raw)
        return tags[TAG_RAW_CHOICE + pick_weighted(&m->random, weights + TAG_RAW_CHOICE,
                                                   TAG_CHOICES - TAG_RAW_CHOICE,
                                                   m->swarm.tags >> TAG_RAW_CHOICE)];
    unsigned choice = pick_weighted(&m->random, weights, TAG_RAW_CHOICE, m->swarm.tags);
    if (choice == TAG_CHOICE_SMALL)
        return (uint8_t)random_between(&m->random, 1, PROGRAM_TAG_LAZY - 1);
    return tags[choice];
}

/* What the initial heap leaves, and the words beside it: blocks that fit exactly, or not. */
static unsigned size_that_fits(struct mutation *m) {
    unsigned left = m->program.config[CONFIG_HEAP] - program_heap_words(&m->program);
    unsigned off = random_below(&m->random, 4); /* the header takes one */
    return left > off ? left - off : left;
}

uint16_t random_size(struct mutation *m, unsigned min, unsigned max) {
    struct random *r = &m->random;
    unsigned size = min + random_below(r, 4), dice = random_below(r, 16);
    if (dice == 0)
        size = size_that_fits(m);
    else if (dice == 1)
        size = random_below(r, m->program.config[CONFIG_HEAP] / 2u);
    else if (dice < 5)
        size = min + random_below(r, 20);
    return (uint16_t)(size < min ? min : size > max ? max : size);
}

uint8_t random_functions(struct mutation *m, int8_t arity[PROGRAM_FUNCTIONS]) {
    struct random *r = &m->random;
    unsigned functions = random_chance(r, 4) ? 1 : 1 + random_few(r, PROGRAM_FUNCTIONS - 1);
    for (unsigned f = 0; f < PROGRAM_FUNCTIONS; f++)
        arity[f] = f < functions ? (int8_t)(random_chance(r, 8) ? -2 : (int)random_few(r, 3)) : 0;
    return (uint8_t)functions;
}

/* ---- operations ------------------------------------------------------------------------------ */

/* What slots probably hold, as bit sets: any pointer; one at an ephemeron; one at a closure that
 * this script allocates and that has infix blocks; an infix pointer. */
struct slot_sets {
    uint32_t pointers, ephemerons, closures, infixes;
};

enum { HOLDS_POINTER = 1, HOLDS_EPHEMERON = 2, HOLDS_CLOSURE = 4, HOLDS_INFIX = 8 };

static uint8_t held_result(const struct op *op) {
    if (op->code == OP_EPHEMERON)
        return HOLDS_POINTER | HOLDS_EPHEMERON;
    if (op->code == OP_ALLOC_CLOSURE && op->functions > 1)
        return HOLDS_POINTER | HOLDS_CLOSURE;
    if (op->code == OP_INFIX && op->i > 0)
        return HOLDS_POINTER | HOLDS_INFIX;
    return HOLDS_POINTER;
}

static void follow_operation(uint8_t held[PROGRAM_SLOTS], const struct op *op) {
    if (op->code == OP_DETACH && op->mutator > 0)
        memset(held, 0, PROGRAM_SLOTS);
    else if (op_has(op->code, RESULT))
        held[op->dst] = held_result(op);
    else if (op->code == OP_SET && op->values[0].kind == VALUE_SLOT)
        held[op->dst] = held[op->values[0].block];
    else if (op->code == OP_DROP || op->code == OP_SET)
        held[op->dst] = 0;
}

static uint32_t slots_that_hold(const uint8_t held[PROGRAM_SLOTS], unsigned what) {
    uint32_t slots = 0;
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
        slots |= held[s] & what ? UINT32_C(1) << s : 0;
    return slots;
}

/* The slots of one mutator before operation `at`. */
static struct slot_sets slots_before(const struct program *p, unsigned mutator, unsigned at) {
    uint8_t held[PROGRAM_SLOTS] = {0};
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
        unsigned kind = p->roots[mutator][s].kind;
        if (kind == VALUE_BLOCK || kind == VALUE_INFIX)
            held[s] = kind == VALUE_INFIX ? HOLDS_POINTER | HOLDS_INFIX : HOLDS_POINTER;
    }
    for (unsigned i = 0; i < at; i++)
        if (p->ops[i].mutator == mutator)
            follow_operation(held, &p->ops[i]);
    return (struct slot_sets){.pointers = slots_that_hold(held, HOLDS_POINTER),
                              .ephemerons = slots_that_hold(held, HOLDS_EPHEMERON),
                              .closures = slots_that_hold(held, HOLDS_CLOSURE),
                              .infixes = slots_that_hold(held, HOLDS_INFIX)};
}

/* The k-th bit that is set. */
static unsigned kth_slot(uint32_t slots, unsigned k) {
    unsigned s = 0;
    while (!(slots >> s & 1) || k-- > 0)
        s++;
    return s;
}

static unsigned count_slots(uint32_t slots) {
    unsigned n = 0;
    for (; slots; slots &= slots - 1)
        n++;
    return n;
}

/* One of these slots, mostly. */
static uint8_t slot_among(struct random *r, uint32_t slots) {
    if (slots == 0 || random_chance(r, 16))
        return (uint8_t)random_below(r, random_chance(r, 2) ? 8 : PROGRAM_SLOTS);
    return (uint8_t)kth_slot(slots, random_below(r, count_slots(slots)));
}

/* Where a result goes: a few slots are used again and again, so that operations meet. */
static uint8_t slot_for_result(struct random *r, uint32_t slots) {
    if (random_chance(r, 4))
        return slot_among(r, slots);
    return (uint8_t)random_below(r, random_chance(r, 4) ? PROGRAM_SLOTS : 8);
}

static struct value script_address(struct random *r, uint32_t slots) {
    unsigned place = random_chance(r, 4) ? random_between(r, ADDRESS_BLOCK + 1, ADDRESS_PLACES - 1)
                                         : ADDRESS_BLOCK;
    return random_address(r, (enum address_place)place, slot_among(r, slots));
}

static struct value script_value(struct random *r, uint32_t slots) {
    unsigned dice = random_below(r, 16);
    if (dice == 0)
        return random_outside(r);
    if (dice == 1)
        return script_address(r, slots);
    if (dice < 5)
        return random_immediate(r);
    return (struct value){.kind = VALUE_SLOT, .block = slot_among(r, slots)};
}

/* A field index, a count or a budget: small, or far out. */
static uint16_t random_number(struct random *r, unsigned max) {
    unsigned n = random_below(r, 4);
    if (random_chance(r, 4))
        n = random_below(r, 20);
    else if (random_chance(r, 16))
        n = random_below(r, max + 1);
    return (uint16_t)(n > max ? max : n);
}

static void choose_values(struct mutation *m, struct op *op, unsigned n, uint32_t slots) {
    op->n_values = (uint8_t)n;
    for (unsigned v = 0; v < PROGRAM_VALUES; v++) {
        if (v >= n)
            op->values[v] = (struct value){0};
        else if (op->code == OP_ALLOC_RAW)
            op->values[v] = random_chance(&m->random, ADDRESS_SHARE)
                                ? script_address(&m->random, slots)
                                : random_word(&m->random);
        else
            op->values[v] = script_value(&m->random, slots);
    }
}

/* Size and number of values agree (program_valid). */
static void choose_size(struct mutation *m, struct op *op) {
    const struct op_shape *shape = &op_shapes[op->code];
    unsigned min = op->n_values > shape->min_size ? op->n_values : shape->min_size;
    op->size = op->tag == PROGRAM_TAG_DOUBLE ? 1 : random_size(m, min, shape->max_size);
}

static void choose_tag(struct mutation *m, struct op *op) {
    op->tag = random_tag(m, op->code == OP_ALLOC_RAW);
    if (op->tag == PROGRAM_TAG_DOUBLE)
        op_keep_one_field(op);
}

/* The slots that an operation reads: those where it has a meaning, if there are any. */
static uint32_t slots_read(uint8_t code, const struct slot_sets *sets) {
    uint32_t slots = op_has(code, ON_EPHEMERON) ? sets->ephemerons
                     : code == OP_INFIX         ? sets->closures
                                                : 0;
    return slots ? slots : sets->pointers;
}

/* Keys of ephemerons are infix pointers every third time that there is one. */
static struct value value_for(struct mutation *m, const struct op *op,
                              const struct slot_sets *sets) {
    if (op->code == OP_EPHE_SET && op->i > 0 && sets->infixes && random_chance(&m->random, 3))
        return (struct value){.kind = VALUE_SLOT, .block = slot_among(&m->random, sets->infixes)};
    return script_value(&m->random, sets->pointers);
}

static void choose_operand(struct mutation *m, struct op *op, unsigned operand,
                           const struct slot_sets *sets) {
    const struct op_shape *shape = &op_shapes[op->code];
    struct random *r = &m->random;
    switch (operand) {
    case OPERAND_DST:
        op->dst = op_has(op->code, READS_DST) || op->code == OP_DROP
                      ? slot_among(r, slots_read(op->code, sets))
                      : slot_for_result(r, sets->pointers);
        break;
    case OPERAND_SRC:
        op->src = slot_among(r, slots_read(op->code, sets));
        break;
    case OPERAND_TAG:
        choose_tag(m, op);
        break;
    case OPERAND_FUNCTIONS:
        op->functions = random_functions(m, op->arity);
        break;
    case OPERAND_SIZE:
        choose_size(m, op);
        break;
    case OPERAND_I:
        op->i = random_number(r, shape->max_i);
        break;
    case OPERAND_J:
        op->j = random_number(r, shape->max_j);
        break;
    case OPERAND_N:
        op->n = random_number(r, shape->max_n);
        break;
    case OPERAND_VALUES:
        choose_values(m, op, random_below(r, PROGRAM_VALUES + 1), sets->pointers);
        op->size = op->size < op->n_values ? op->n_values : op->size;
        break;
    default:
        op->n_values = 1;
        op->values[0] = value_for(m, op, sets);
        break;
    }
}

uint8_t choose_mutator(struct mutation *m, unsigned at) {
    if (random_chance(&m->random, 24))
        return (uint8_t)random_below(&m->random, PROGRAM_MUTATORS);
    return at > 0 ? m->program.ops[at - 1].mutator : 0;
}

/* Another one than the first, which stays, if the operation is about mutators. */
static uint8_t mutator_for(struct mutation *m, uint8_t code, uint8_t mutator) {
    if (mutator > 0 || (code != OP_ATTACH && code != OP_DETACH))
        return mutator;
    return (uint8_t)random_between(&m->random, 1, PROGRAM_MUTATORS - 1);
}

/* Where there is nothing that the operation could be about, mostly the one that makes it comes
 * instead, if the round uses it: alone, each of a chain of such operations has no meaning, and is
 * no news to an engine. */
static uint8_t what_is_needed(struct mutation *m, uint8_t code, const struct slot_sets *sets) {
    uint8_t maker = code;
    if (op_has(code, ON_EPHEMERON) && !sets->ephemerons && !random_chance(&m->random, 4))
        maker = OP_EPHEMERON;
    if (code == OP_INFIX && !sets->closures && random_chance(&m->random, 2))
        maker = OP_ALLOC_CLOSURE; /* the initial heap may have one */
    return op_bits_have(m->swarm.ops, maker) ? maker : code;
}

static struct op operation_on(struct mutation *m, struct op op, const struct slot_sets *sets) {
    unsigned operands = op_shapes[op.code].operands;
    for (unsigned bit = OPERAND_DST; bit <= OPERAND_VALUE; bit <<= 1)
        if (operands & bit && bit != OPERAND_SIZE && bit != OPERAND_TAG)
            choose_operand(m, &op, bit, sets);
    if (operands & OPERAND_TAG)
        choose_tag(m, &op);
    if (operands & OPERAND_SIZE) /* last: it follows tag and values */
        choose_size(m, &op);
    return op;
}

struct op new_operation(struct mutation *m, unsigned at) {
    struct op op = {.code = 0};
    op.code = (uint8_t)pick_weighted(&m->random, m->weights.ops, OP_CODES, m->swarm.ops);
    op.mutator = choose_mutator(m, at); /* after that: compilers differ in the order */
    op.mutator = mutator_for(m, op.code, op.mutator);
    struct slot_sets sets = slots_before(&m->program, op.mutator, at);
    op.code = what_is_needed(m, op.code, &sets);
    return operation_on(m, op, &sets);
}

struct op new_operation_of(struct mutation *m, unsigned at, uint8_t code, uint8_t mutator) {
    struct slot_sets sets = slots_before(&m->program, mutator, at);
    return operation_on(m, (struct op){.code = code, .mutator = mutator}, &sets);
}

bool change_operand(struct mutation *m, unsigned at) {
    struct op *op = &m->program.ops[at], old = *op;
    unsigned operands = op_shapes[op->code].operands;
    struct slot_sets sets = slots_before(&m->program, op->mutator, at);
    if (operands == 0)
        return false;
    unsigned operand = kth_slot(operands, random_below(&m->random, count_slots(operands)));
    choose_operand(m, op, 1u << operand, &sets);
    if (op->tag == PROGRAM_TAG_DOUBLE) /* new values may be too many for it */
        choose_tag(m, op);
    if (operands & OPERAND_SIZE && (op->size < op->n_values || op->tag == PROGRAM_TAG_DOUBLE))
        choose_size(m, op);
    return !op_equal(op, &old);
}
