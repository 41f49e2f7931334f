/* SPDX-License-Identifier: MIT
 *
 * The limits of the input language: config ranges, the shape of every operation, legal tags and
 * the layout of closures.
 *
 * Bytes, text, validity and documentation read their bounds from the two tables below, so that a
 * bound is written down once.
 */
#include "program/program.h"

/* ---- config ---------------------------------------------------------------------------------- */

const struct config_range config_ranges[CONFIG_KEYS] = {
    /*                     name        min max   initial soft_max */
    [CONFIG_HEAP] = {"heap", 16, PROGRAM_HEAP_WORDS, 256, 271},
    [CONFIG_NURSERY] = {"nursery", 8, 4096, 64, 263},
    [CONFIG_MARK_STACK] = {"mark-stack", 0, 4096, 8, 16},
    [CONFIG_SLICE] = {"slice", 0, 4096, 8, 255},
    [CONFIG_LARGE] = {"large", 2, 4096, 16, 257},
    [CONFIG_AGE] = {"age", 0, 15, 1, 15},
    [CONFIG_STRESS] = {"stress", 0, 255, 0, 15},
    [CONFIG_FAIL] = {"fail", 0, 255, 0, 255},
    [CONFIG_VARIANT] = {"variant", 0, 255, 0, 255},
    [CONFIG_KIND] = {"kind", 0, 255, 0, 15},
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
    MAX_BUILT = 1024
};

const struct op_shape op_shapes[OP_CODES] = {
    [OP_ALLOC] = {.name = "alloc",
                  .operands = OPERAND_DST | OPERAND_TAG | OPERAND_SIZE | OPERAND_VALUES,
                  .min_size = 1,
                  .max_size = PROGRAM_WOSIZE},
    [OP_ALLOC_CLOSURE] = {.name = "closure",
                          .operands =
                              OPERAND_DST | OPERAND_FUNCTIONS | OPERAND_SIZE | OPERAND_VALUES,
                          .max_size = MAX_ENVIRONMENT},
    [OP_ALLOC_RAW] = {.name = "raw",
                      .operands = OPERAND_DST | OPERAND_TAG | OPERAND_SIZE | OPERAND_VALUES,
                      .min_size = 1,
                      .max_size = PROGRAM_WOSIZE},
    [OP_LOAD] = {.name = "load",
                 .operands = OPERAND_DST | OPERAND_SRC | OPERAND_I,
                 .max_i = MAX_INDEX},
    [OP_STORE] = {.name = "store",
                  .operands = OPERAND_DST | OPERAND_I | OPERAND_VALUE,
                  .max_i = MAX_INDEX},
    [OP_INIT] = {.name = "init",
                 .operands = OPERAND_DST | OPERAND_I | OPERAND_VALUE,
                 .max_i = MAX_INDEX},
    [OP_BLIT] = {.name = "blit",
                 .operands = OPERAND_DST | OPERAND_SRC | OPERAND_I | OPERAND_J | OPERAND_N,
                 .max_i = MAX_INDEX,
                 .max_j = MAX_INDEX,
                 .max_n = MAX_COUNT},
    [OP_FILL] = {.name = "fill",
                 .operands = OPERAND_DST | OPERAND_I | OPERAND_N | OPERAND_VALUE,
                 .max_i = MAX_INDEX,
                 .max_n = MAX_COUNT},
    [OP_SET] = {.name = "set", .operands = OPERAND_DST | OPERAND_VALUE},
    [OP_DROP] = {.name = "drop", .operands = OPERAND_DST},
    [OP_INFIX] = {.name = "infix",
                  .operands = OPERAND_DST | OPERAND_SRC | OPERAND_I,
                  .max_i = MAX_ENTRY},
    [OP_READ] = {.name = "read", .operands = OPERAND_SRC | OPERAND_I, .max_i = MAX_INDEX},
    [OP_MINOR] = {.name = "minor"},
    [OP_SLICE] = {.name = "slice", .operands = OPERAND_N, .max_n = MAX_COUNT},
    [OP_FULL] = {.name = "full"},
    [OP_COMPACT] = {.name = "compact"},
    [OP_EXHAUST] = {.name = "exhaust", .operands = OPERAND_DST | OPERAND_N, .max_n = 3},
    [OP_KIND] = {.name = "kind", .operands = OPERAND_N, .max_n = 255},
    [OP_POLL] = {.name = "poll"},
    [OP_EPHEMERON] = {.name = "ephemeron", .operands = OPERAND_DST | OPERAND_N, .max_n = MAX_KEYS},
    [OP_EPHE_SET] = {.name = "weak",
                     .operands = OPERAND_DST | OPERAND_I | OPERAND_VALUE,
                     .max_i = MAX_KEYS},
    [OP_EPHE_UNSET] = {.name = "unset", .operands = OPERAND_DST | OPERAND_I, .max_i = MAX_KEYS},
    [OP_EPHE_GET] = {.name = "weak",
                     .operands = OPERAND_DST | OPERAND_SRC | OPERAND_I,
                     .max_i = MAX_KEYS},
    [OP_EPHE_BLIT] = {.name = "weakblit",
                      .operands = OPERAND_DST | OPERAND_SRC | OPERAND_I | OPERAND_J | OPERAND_N,
                      .max_i = MAX_KEYS,
                      .max_j = MAX_KEYS,
                      .max_n = MAX_KEYS},
    [OP_RESOURCE] = {.name = "resource",
                     .operands = OPERAND_DST | OPERAND_N,
                     .max_n = MAX_RESOURCE},
    [OP_FORWARD] = {.name = "forward", .operands = OPERAND_DST | OPERAND_VALUE},
    [OP_TRUNCATE] = {.name = "truncate", .operands = OPERAND_DST | OPERAND_N, .max_n = MAX_COUNT},
    [OP_FINALISE] = {.name = "finalise", .operands = OPERAND_DST | OPERAND_N, .max_n = 1},
    [OP_MARSHAL] = {.name = "marshal",
                    .operands = OPERAND_DST | OPERAND_SRC | OPERAND_N,
                    .max_n = 1},
    [OP_MEASURE] = {.name = "measure", .operands = OPERAND_SRC},
    [OP_BUILD] = {.name = "build",
                  .operands = OPERAND_DST | OPERAND_I | OPERAND_N | OPERAND_VALUE,
                  .max_i = BUILD_SHAPES - 1,
                  .max_n = MAX_BUILT},
};
const char *const build_names[BUILD_SHAPES] = {"list", "array", "tree"};

/* ---- tags and layout ------------------------------------------------------------------------- */

bool tag_is_ordinary(unsigned tag) {
    return tag <= PROGRAM_TAG_LAZY || tag == PROGRAM_TAG_OBJECT || tag == PROGRAM_TAG_FORWARD;
}

bool tag_is_raw(unsigned tag) {
    return tag >= PROGRAM_TAG_ABSTRACT && tag <= PROGRAM_TAG_CUSTOM;
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

unsigned item_words(const struct item *item) {
    return 1u + item->wosize;
}

unsigned program_heap_words(const struct program *p) {
    unsigned words = 0;
    for (unsigned i = 0; i < p->n_items; i++)
        if (!p->items[i].is_static)
            words += item_words(&p->items[i]);
    return words;
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
