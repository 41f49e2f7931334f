/* SPDX-License-Identifier: MIT
 *
 * The steps of reduction on the script, and on the slots that it shares with the roots (steps.h).
 */
#include "program/cut.h"
#include "program/reduction/steps.h"

#include <string.h>

static unsigned count_ops(const struct program *p) {
    return p->n_ops;
}

static bool remove_ops(struct program *p, unsigned at, unsigned n) {
    cut_ops(p, at, n);
    return true;
}

/* Does it make one block, of a size of its own? */
static bool has_size(const struct op *op) {
    return op_shapes[op->code].operands & OPERAND_SIZE;
}

static unsigned all_words(const struct op *op) {
    return op_words(op, op_blocks(op));
}

/* Config values that count allocations, up to the one that collects or is refused. */
static const unsigned counts[] = {CONFIG_STRESS, CONFIG_FAIL};
enum { COUNTS = sizeof counts / sizeof *counts };

bool has_counts(const struct program *p) {
    bool any = false;
    for (unsigned c = 0; c < COUNTS; c++)
        any |= p->config[counts[c]] != config_ranges[counts[c]].initial;
    return any;
}

bool forget_counts(struct program *p) {
    for (unsigned c = 0; c < COUNTS; c++)
        p->config[counts[c]] = config_ranges[counts[c]].initial;
    return true;
}

/* What comes at the n-th comes with an earlier one. */
static bool remove_ops_and_counts(struct program *p, unsigned at, unsigned n) {
    bool any = false;
    for (unsigned c = 0; c < COUNTS; c++) {
        uint32_t *count = &p->config[counts[c]];
        if (*count <= n)
            continue;
        *count -= n;
        any = true;
    }
    if (any)
        cut_ops(p, at, n);
    return any;
}

static bool remove_op_and_words(struct program *p, unsigned at, unsigned n) {
    if (!take_words(p, CONFIG_HEAP, all_words(&p->ops[at])))
        return false;
    cut_ops(p, at, n);
    return true;
}

static bool remove_op_and_nursery(struct program *p, unsigned at, unsigned n) {
    if (!take_words(p, CONFIG_NURSERY, all_words(&p->ops[at])))
        return false;
    cut_ops(p, at, n);
    return true;
}

/* One block instead of two, which fills the heap as they did. */
static bool join_allocations(struct program *p, unsigned at, unsigned n) {
    unsigned next = at + 1;
    if (!has_size(&p->ops[at]))
        return false;
    while (next < p->n_ops && !has_size(&p->ops[next]))
        next++;
    if (next == p->n_ops)
        return false;
    unsigned size = p->ops[next].size + all_words(&p->ops[at]);
    if (size > op_shapes[p->ops[next].code].max_size)
        return false;
    p->ops[next].size = (uint16_t)size;
    cut_ops(p, at, n);
    return true;
}

/* ---- kinds of operations ----------------------------------------------------------------------
 */

static void keep_used_operands(struct op *op) {
    unsigned used = op_shapes[op->code].operands;
    op->src = used & OPERAND_SRC ? op->src : 0;
    op->dst = used & OPERAND_DST ? op->dst : 0;
    op->i = used & OPERAND_I ? op->i : 0;
    op->n = used & OPERAND_N ? op->n : 0;
    op->functions = 0;
    memset(op->arity, 0, sizeof op->arity);
}

static bool simplify_code(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at];
    unsigned code = op_shapes[op->code].simpler;
    if (code == op->code)
        return false;
    if (code == OP_ALLOC) {
        unsigned words = op->size + closure_code_words(op->functions, op->arity);
        op->tag = 0;
        op->size = (uint16_t)words;
        for (unsigned v = 0; v < op->n_values; v++)
            if (op->values[v].kind == VALUE_RAW)
                op->values[v] = (struct value){.kind = VALUE_IMMEDIATE};
    }
    op->code = (uint8_t)code;
    keep_used_operands(op);
    return true;
}

/* What allocates may matter by the collection that it causes. */
static bool make_full(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at];
    if (!op_has(op->code, ALLOCATES))
        return false;
    *op = (struct op){.code = OP_FULL};
    return true;
}

/* The same where config counts allocations: here instead of wherever the count ends. */
static bool make_full_without_counts(struct program *p, unsigned at, unsigned n) {
    return has_counts(p) && make_full(p, at, n) && forget_counts(p);
}

/* ---- operands ---------------------------------------------------------------------------------
 */

enum number { NUMBER_SIZE, NUMBER_I, NUMBER_J, NUMBER_N, NUMBER_VALUES, NUMBERS };

static unsigned count_numbers(const struct program *p) {
    return p->n_ops * NUMBERS * LADDER;
}

static bool shrink16(uint16_t *number, unsigned minimum, unsigned rung) {
    unsigned smaller = step_down(*number, minimum, rung);
    bool changed = smaller < *number;
    *number = (uint16_t)smaller;
    return changed;
}

static bool drop_values(struct op *op, unsigned rung) {
    unsigned kept = step_down(op->n_values, 0, rung);
    if (kept == op->n_values || !(op_shapes[op->code].operands & OPERAND_VALUES))
        return false;
    memset(op->values + kept, 0, (op->n_values - kept) * sizeof *op->values);
    op->n_values = (uint8_t)kept;
    return true;
}

static bool shrink_number(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at / (NUMBERS * LADDER)];
    const struct op_shape *shape = &op_shapes[op->code];
    unsigned rung = at % LADDER;
    switch ((enum number)(at / LADDER % NUMBERS)) {
    case NUMBER_SIZE:
        return shrink16(&op->size, op->n_values > shape->min_size ? op->n_values : shape->min_size,
                        rung);
    case NUMBER_I:
        return shrink16(&op->i, 0, rung);
    case NUMBER_J:
        return shrink16(&op->j, 0, rung);
    case NUMBER_N:
        return shrink16(&op->n, 0, rung);
    case NUMBER_VALUES:
        return drop_values(op, rung);
    case NUMBERS:
        break;
    }
    return false;
}

static unsigned count_sizes(const struct program *p) {
    return p->n_ops * LADDER;
}

static bool shrink_size_and_words(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at / LADDER];
    unsigned before = op->size, minimum = op_shapes[op->code].min_size;
    if (!has_size(op) ||
        !shrink16(&op->size, op->n_values > minimum ? op->n_values : minimum, at % LADDER))
        return false;
    take_words(p, CONFIG_HEAP, before - op->size);
    return true;
}

static bool clear_op_tag(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at];
    uint8_t plain = op->code == OP_ALLOC_RAW ? PROGRAM_TAG_STRING : 0;
    if (!(op_shapes[op->code].operands & OPERAND_TAG) || op->tag == plain)
        return false;
    op->tag = plain;
    return true;
}

static unsigned count_values(const struct program *p) {
    return p->n_ops * PROGRAM_VALUES * VALUE_RUNGS;
}

static bool simplify_operand(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at / (PROGRAM_VALUES * VALUE_RUNGS)];
    unsigned v = at / VALUE_RUNGS % PROGRAM_VALUES;
    return v < op->n_values &&
           simplify_value(&op->values[v], op->code == OP_ALLOC_RAW, at % VALUE_RUNGS);
}

static bool remove_op_function(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at];
    if (op->functions < 2)
        return false;
    op->arity[--op->functions] = 0;
    return true;
}

static unsigned count_op_functions(const struct program *p) {
    return p->n_ops * PROGRAM_FUNCTIONS;
}

static bool simplify_op_arity(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at / PROGRAM_FUNCTIONS];
    unsigned f = at % PROGRAM_FUNCTIONS;
    if (f >= op->functions || op->arity[f] == 1)
        return false;
    op->arity[f] = 1;
    return true;
}

/* ---- slots and mutators -----------------------------------------------------------------------
 */

static bool is_unit(const struct value *v) {
    static const struct value unit = {.kind = VALUE_IMMEDIATE};
    return value_equal(v, &unit);
}

static bool op_uses(const struct op *op, unsigned slot) {
    unsigned operands = op_shapes[op->code].operands;
    bool uses =
        (operands & OPERAND_DST && op->dst == slot) || (operands & OPERAND_SRC && op->src == slot);
    for (unsigned v = 0; v < op->n_values; v++)
        uses |= value_reads_slot(&op->values[v]) && op->values[v].block == slot;
    return uses;
}

static bool slot_used(const struct program *p, unsigned m, unsigned slot) {
    bool used = !is_unit(&p->roots[m][slot]);
    for (unsigned i = 0; i < p->n_ops && !used; i++)
        used = p->ops[i].mutator == m && op_uses(&p->ops[i], slot);
    return used;
}

static void rename_slot(struct op *op, unsigned from, unsigned to) {
    unsigned operands = op_shapes[op->code].operands;
    if (operands & OPERAND_DST && op->dst == from)
        op->dst = (uint8_t)to;
    if (operands & OPERAND_SRC && op->src == from)
        op->src = (uint8_t)to;
    for (unsigned v = 0; v < op->n_values; v++)
        if (value_reads_slot(&op->values[v]) && op->values[v].block == from)
            op->values[v].block = (uint16_t)to;
}

static unsigned count_slots(const struct program *p) {
    (void)p;
    return PROGRAM_MUTATORS * PROGRAM_SLOTS;
}

/* A slot in use takes the name of the first one that is not. */
static bool lower_slot(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned m = at / PROGRAM_SLOTS, slot = at % PROGRAM_SLOTS, to = 0;
    if (!slot_used(p, m, slot))
        return false;
    while (to < slot && slot_used(p, m, to))
        to++;
    if (to == slot)
        return false;
    p->roots[m][to] = p->roots[m][slot];
    p->roots[m][slot] = (struct value){.kind = VALUE_IMMEDIATE};
    for (unsigned i = 0; i < p->n_ops; i++)
        if (p->ops[i].mutator == m)
            rename_slot(&p->ops[i], slot, to);
    return true;
}

static bool lower_op_mutator(struct program *p, unsigned at, unsigned n) {
    (void)n;
    bool lower = p->ops[at].mutator > 0;
    p->ops[at].mutator = 0;
    return lower;
}

static unsigned count_mutators(const struct program *p) {
    (void)p;
    return PROGRAM_MUTATORS;
}

/* All operations and roots of a mutator to the one before, which must have room in the same slots.
 */
static bool join_mutators(struct program *p, unsigned at, unsigned n) {
    (void)n;
    bool any = false;
    if (at == 0)
        return false;
    for (unsigned r = 0; r < PROGRAM_SLOTS; r++)
        if (!is_unit(&p->roots[at][r]) && !is_unit(&p->roots[at - 1][r]))
            return false;
    for (unsigned r = 0; r < PROGRAM_SLOTS; r++) {
        if (is_unit(&p->roots[at][r]))
            continue;
        p->roots[at - 1][r] = p->roots[at][r];
        p->roots[at][r] = (struct value){.kind = VALUE_IMMEDIATE};
        any = true;
    }
    for (unsigned i = 0; i < p->n_ops; i++) {
        if (p->ops[i].mutator != at)
            continue;
        p->ops[i].mutator = (uint8_t)(at - 1);
        any = true;
    }
    return any;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

const struct step_family script_steps[] = {
    {"remove an operation", true, count_ops, remove_ops},
    {"remove an operation and count one allocation less", true, count_ops, remove_ops_and_counts},
    {"remove an allocation and its words", false, count_ops, remove_op_and_words},
    {"remove an allocation and its words of the nursery", false, count_ops, remove_op_and_nursery},
    {"join an allocation with the next one", false, count_ops, join_allocations},
    {"make an allocation a full collection", false, count_ops, make_full},
    {"make it one and count no allocations", false, count_ops, make_full_without_counts},
    {"simplify an operation", false, count_ops, simplify_code},
    {"shrink an operand", false, count_numbers, shrink_number},
    {"shrink an allocation and the heap", false, count_sizes, shrink_size_and_words},
    {"clear the tag of an allocation", false, count_ops, clear_op_tag},
    {"simplify a value of an operation", false, count_values, simplify_operand},
    {"remove a function of an allocation", false, count_ops, remove_op_function},
    {"simplify an arity of an allocation", false, count_op_functions, simplify_op_arity},
    {"move a mutator's slots and operations to the one before", false, count_mutators,
     join_mutators},
    {"move an operation to the first mutator", false, count_ops, lower_op_mutator},
    {"use a lower slot", false, count_slots, lower_slot},
    {0}};
_Static_assert(sizeof script_steps / sizeof *script_steps <= STEP_FAMILIES,
               "too many for reduce.c");
