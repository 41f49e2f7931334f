/* SPDX-License-Identifier: MIT
 *
 * The limits of the input language: config ranges, operations (operations.def as a table), legal
 * tags and the layout of closures.
 *
 * Bytes, text, validity and documentation read their bounds from the two tables below, so that a
 * bound is written down once.
 */
#include "program/program.h"

/* ---- config ---------------------------------------------------------------------------------- */

const struct config_range config_ranges[CONFIG_KEYS] = {
    /*                     name        min max   initial soft_max largest */
    [CONFIG_HEAP] = {"heap", 16, PROGRAM_HEAP_WORDS, 256, 271, PROGRAM_LARGE_WORDS},
    [CONFIG_NURSERY] = {"nursery", 8, 4096, 64, 263, 4096},
    [CONFIG_MARK_STACK] = {"mark-stack", 0, 4096, 8, 16, 4096},
    [CONFIG_SLICE] = {"slice", 0, 4096, 8, 255, 4096},
    [CONFIG_LARGE] = {"large", 2, 4096, 16, 257, 4096},
    [CONFIG_AGE] = {"age", 0, 15, 1, 15, 15},
    [CONFIG_STRESS] = {"stress", 0, 255, 0, 15, 255},
    [CONFIG_FAIL] = {"fail", 0, 255, 0, 255, 255},
    [CONFIG_VARIANT] = {"variant", 0, 255, 0, 255, 255},
    [CONFIG_KIND] = {"kind", 0, 255, 0, 15, 255},
    [CONFIG_SCHEDULE] = {"schedule", 0, 4095, 0, 255, 4095},
    [CONFIG_PREEMPT] = {"preempt", 0, 4095, 0, 127, 4095},
};

/* ---- operations ------------------------------------------------------------------------------ */

enum {
    MAX_INDEX = PROGRAM_WOSIZE - 1,
    MAX_ENTRY = PROGRAM_FUNCTIONS - 1,
    MAX_COUNT = PROGRAM_WOSIZE,
    /* Leaves room for the code and infix words of every closure. */
    MAX_ENVIRONMENT = PROGRAM_WOSIZE - 64,
    MAX_KEYS = 63,
    MAX_RESOURCE = 255,
    MAX_BUILT = 1024,
    MAX_RETAGGED = 249 /* the largest tag, and one */
};

/* An environment may be empty, a block may not. */
#define MIN_SIZE(operands) ((operands)&OPERAND_SIZE && !((operands)&OPERAND_FUNCTIONS) ? 1 : 0)
#define MAX_SIZE(operands)                                                                         \
    ((operands)&OPERAND_FUNCTIONS ? MAX_ENVIRONMENT : (operands)&OPERAND_SIZE ? PROGRAM_WOSIZE : 0)

/* The words of operations.def. */
#define X(name) name = OPERAND_##name,
enum { OPERANDS(X) };
#undef X
#define X(name) name = FLAG_##name,
enum { OP_FLAGS(X) };
#undef X
#define I(meaning, most, numbers) .i = i_##meaning, .max_i = (most), .menu_i = MENU_##numbers,
#define J(most, numbers)          .max_j = (most), .menu_j = MENU_##numbers,
#define N(meaning, most, numbers) .n = n_##meaning, .max_n = (most), .menu_n = MENU_##numbers,

#define X(name, text) static const char i_##name[] = text;
OPERAND_I_MEANINGS(X)
#undef X
#define X(name, text) static const char n_##name[] = text;
OPERAND_N_MEANINGS(X)
#undef X

const struct op_shape op_shapes[OP_CODES] = {
#define OP(id, word, text, has, simple, often, are, numbers)                                       \
    [OP_##id] = {.name = #word,                                                                    \
                 .form = text,                                                                     \
                 .operands = (has),                                                                \
                 .flags = (are),                                                                   \
                 .min_size = MIN_SIZE(has),                                                        \
                 .max_size = MAX_SIZE(has),                                                        \
                 .simpler = OP_##simple,                                                           \
                 .weight = (often),                                                                \
                 numbers},
#include "program/operations.def"
#undef OP
};

/* ---- tags and layout ------------------------------------------------------------------------- */

bool tag_is_ordinary(unsigned tag) {
    return tag <= PROGRAM_TAG_LAZY || tag == PROGRAM_TAG_OBJECT || tag == PROGRAM_TAG_FORWARD;
}

bool tag_is_raw(unsigned tag) {
    return tag >= PROGRAM_TAG_ABSTRACT && tag <= PROGRAM_TAG_CUSTOM;
}

bool tag_is_atom(unsigned tag) {
    return tag < PROGRAM_TAG_LAZY || tag == PROGRAM_TAG_ABSTRACT || tag == PROGRAM_TAG_DOUBLE_ARRAY;
}

/* Code pointer and closinfo; other arities add the pointer to the code of the full application. */
static unsigned function_words(int8_t arity) {
    return arity == 0 || arity == 1 ? 2 : 3;
}

unsigned closure_entry_offset(unsigned k, const int8_t *arity) {
    unsigned at = 0;
    for (unsigned f = 0; f < k; f++)
        at += function_words(arity[f]) + 1; /* + the infix header of the next function */
    return at;
}

unsigned closure_code_words(unsigned functions, const int8_t *arity) {
    if (functions == 0)
        return 0;
    return closure_entry_offset(functions - 1, arity) + function_words(arity[functions - 1]);
}

unsigned op_blocks(const struct op *op) {
    bool unknown = op->code == OP_EXHAUST || op->code == OP_MARSHAL || op->code == OP_EPHE_COPY ||
                   op->code == OP_SUB || op->code == OP_APPEND || op->code == OP_DUP ||
                   op->code == OP_CLONE;
    if (!op_has(op->code, ALLOCATES) || unknown)
        return 0;
    return op->code == OP_BUILD ? op->blocks + (op->shape == BUILD_ARRAY) : 1;
}

/* An element has the value; one of a list or tree what was there before too, once or twice. */
static unsigned built_words(const struct op *op, unsigned k) {
    static const unsigned element[BUILD_SHAPES] = {
        [BUILD_LIST] = 3, [BUILD_ARRAY] = 2, [BUILD_TREE] = 4};
    if (op->shape != BUILD_ARRAY)
        return k * element[op->shape];
    return 1 + (op->blocks ? op->blocks : 1) + (k - 1) * element[BUILD_ARRAY];
}

unsigned op_words(const struct op *op, unsigned k) {
    if (k == 0 || op_blocks(op) == 0)
        return 0;
    switch (op->code) {
    case OP_BUILD:
        return built_words(op, k);
    case OP_EPHEMERON: /* the data, the keys */
        return 2u + op->keys;
    case OP_RESOURCE:
        return 2u + op->words;
    case OP_FORWARDING:
        return 2;
    default:
        return 1u + op->size + closure_code_words(op->functions, op->arity);
    }
}

bool outside_is_legal(uint64_t bits) {
    const struct value v = {.bits = bits};
    uint64_t n = outside_number(&v);
    switch (bits >= OUTSIDE_LEAST ? OUTSIDE_WORD : bits / OUTSIDE_UNIT) {
    case OUTSIDE_NUMBER:
        return true;
    case OUTSIDE_SMALL:
        return n % 2 == 0;
    case OUTSIDE_BEFORE:
        return n % 2 == 0 && n > 0 && n <= OUTSIDE_BYTES;
    case OUTSIDE_BEHIND:
        return n % 2 == 0 && n <= OUTSIDE_BYTES;
    case OUTSIDE_WORD:
        return bits >= OUTSIDE_LEAST && n % 2 == 0 && n >> 56 != 1 && n >> 56 != 2;
    default:
        return false;
    }
}

const char *const address_places[ADDRESS_PLACES] = {NULL, "nursery", "free", "from"};

bool op_writes_slot(const struct op *op) {
    return op_shapes[op->code].operands & OPERAND_DST && !op_has(op->code, READS_DST);
}

bool op_reads_slot(const struct op *op, unsigned slot) {
    unsigned operands = op_shapes[op->code].operands;
    bool reads = (operands & OPERAND_SRC && op->src == slot) ||
                 (operands & OPERAND_DST && op->dst == slot && op_has(op->code, READS_DST));
    for (unsigned v = 0; v < op->n_values; v++)
        reads |= value_reads_slot(&op->values[v]) && op->values[v].block == slot;
    return reads;
}

unsigned item_words(const struct item *item) {
    return item_count(item) * (1u + item->wosize);
}

static unsigned words_in(const struct program *p, bool is_static) {
    unsigned words = 0;
    for (unsigned i = 0; i < p->n_items; i++)
        if (p->items[i].is_static == is_static)
            words += item_words(&p->items[i]);
    return words;
}

unsigned program_heap_words(const struct program *p) {
    return words_in(p, false);
}

bool program_is_large(const struct program *p) {
    bool by_count = false;
    for (unsigned i = 0; i < p->n_items; i++)
        by_count |= p->items[i].more != 0;
    return by_count || p->config[CONFIG_HEAP] > PROGRAM_HEAP_WORDS;
}

unsigned program_static_words(const struct program *p) {
    return words_in(p, true);
}

/* Without a branch for each slot, as every run asks. */
static bool row_is_used(const struct value *row) {
    uint64_t any = 0;
    for (unsigned i = 0; i < PROGRAM_SLOTS; i++)
        any |= row[i].bits | (uint64_t)(row[i].kind ^ VALUE_IMMEDIATE);
    return any != 0;
}

unsigned program_mutators(const struct program *p) {
    unsigned last = 0;
    for (unsigned i = 0; i < p->n_ops; i++)
        last = p->ops[i].mutator > last ? p->ops[i].mutator : last;
    for (unsigned m = PROGRAM_MUTATORS - 1; m > last; m--)
        if (row_is_used(p->roots[m]))
            return m + 1;
    return last + 1;
}

/* ---- named blocks ---------------------------------------------------------------------------- */

unsigned program_named(const struct program *p) {
    unsigned named = 0;
    for (unsigned i = 0; i < p->n_items; i++)
        named += item_is_named(&p->items[i]);
    return named;
}

const struct item *program_named_item(const struct program *p, unsigned b) {
    for (unsigned i = 0; i < p->n_items; i++)
        if (item_is_named(&p->items[i]) && b-- == 0)
            return &p->items[i];
    return NULL;
}
