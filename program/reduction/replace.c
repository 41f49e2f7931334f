/* SPDX-License-Identifier: MIT
 *
 * The steps of reduction that put something simpler in the place of operations (steps.h): what an
 * operation of a runtime is lowered to, what a copy is a copy of, one collection for several.
 */
#include "program/cut.h"
#include "program/named.h"
#include "program/reduction/steps.h"

#include <string.h>

static unsigned count_ops(const struct program *p) {
    return p->n_ops;
}

/* ---- what an operation stands for -------------------------------------------------------------
 */

unsigned room_to_exhaust(const struct program *p, const struct op *op) {
    unsigned used = program_heap_words(p) + 1u + op->left, heap = p->config[CONFIG_HEAP];
    unsigned room = heap > used ? heap - used : 0;
    return room < PROGRAM_WOSIZE ? room : PROGRAM_WOSIZE;
}

static struct op alloc_for(const struct op *op, unsigned words) {
    struct op alloc = {
        .code = OP_ALLOC, .mutator = op->mutator, .dst = op->dst, .size = (uint16_t)words};
    if (op->code == OP_BUILD && op->shape != BUILD_ARRAY) {
        alloc.n_values = 1;
        alloc.values[0] = op->values[0];
    }
    return alloc;
}

static struct op lowered(const struct program *p, const struct op *op) {
    struct op plain = *op;
    switch (op->code) {
    case OP_BUILD: /* of many blocks the one that matters: an array itself, else the first */
        return alloc_for(op, op_blocks(op) ? op_words(op, 1) - 1 : 0);
    case OP_EXHAUST:
        return alloc_for(op, room_to_exhaust(p, op));
    case OP_FORWARD:
        return (struct op){.code = OP_STORE,
                           .mutator = op->mutator,
                           .dst = op->dst,
                           .n_values = 1,
                           .values = {op->values[0]}};
    case OP_TRUNCATE:
        return (struct op){.code = OP_FILL,
                           .mutator = op->mutator,
                           .dst = op->dst,
                           .i = (uint16_t)(op->kept + 1),
                           .n = op_shapes[OP_FILL].max_n,
                           .n_values = 1};
    default:
        op_without_runtime(op, &plain);
        return plain;
    }
}

static bool lower_op(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op op = lowered(p, &p->ops[at]);
    if (op.code == p->ops[at].code || (op.code == OP_ALLOC && op.size == 0))
        return false;
    p->ops[at] = op;
    return true;
}

/* ---- slots ------------------------------------------------------------------------------------
 */

static bool writes_slot(const struct op *op, unsigned m, unsigned slot) {
    return op->mutator == m && op_writes_slot(op) && op->dst == slot;
}

void op_rename_read(struct op *op, unsigned from, unsigned to) {
    unsigned operands = op_shapes[op->code].operands;
    if (operands & OPERAND_SRC && op->src == from)
        op->src = (uint8_t)to;
    if (operands & OPERAND_DST && op->dst == from && op_has(op->code, READS_DST))
        op->dst = (uint8_t)to;
    for (unsigned v = 0; v < op->n_values; v++)
        if (value_reads_slot(&op->values[v]) && op->values[v].block == from)
            op->values[v].block = (uint16_t)to;
}

/* Reads of `slot` become reads of the value; false if they cannot. */
static bool read_instead(struct op *op, unsigned slot, const struct value *value) {
    if (value->kind == VALUE_SLOT) {
        op_rename_read(op, slot, value->block);
        return true;
    }
    for (unsigned v = 0; v < op->n_values; v++)
        if (op->values[v].kind == VALUE_SLOT && op->values[v].block == slot)
            op->values[v] = *value;
    return !op_reads_slot(op, slot); /* no block can be read of it */
}

/* Who reads a copy reads what it is a copy of, as long as both stay what they are. */
static bool propagate_copy(struct program *p, unsigned at, unsigned n) {
    static struct op ops[PROGRAM_OPS];
    const struct op set = p->ops[at];
    const struct value *from = &set.values[0];
    bool same = true;
    if (set.code != OP_SET || (from->kind == VALUE_SLOT && from->block == set.dst))
        return false;
    memcpy(ops, p->ops, p->n_ops * sizeof *ops);
    for (unsigned i = at + 1; i < p->n_ops; i++) {
        struct op *op = &ops[i];
        if (op->mutator == set.mutator && op_reads_slot(op, set.dst) &&
            !(same && read_instead(op, set.dst, from)))
            return false;
        if (writes_slot(&p->ops[i], set.mutator, set.dst))
            break;
        same &= from->kind != VALUE_SLOT || !writes_slot(&p->ops[i], set.mutator, from->block);
    }
    memcpy(p->ops, ops, p->n_ops * sizeof *ops);
    cut_ops(p, at, n);
    return true;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

/* What is stored into a block of the script later is there from its allocation on. */
static bool store_at_allocation(struct program *p, unsigned at, unsigned n) {
    const struct op store = p->ops[at];
    unsigned first = at;
    if (store.code != OP_STORE && store.code != OP_INIT)
        return false;
    while (first > 0 && !writes_slot(&p->ops[first - 1], store.mutator, store.dst))
        first--;
    struct op *alloc = first ? &p->ops[first - 1] : NULL;
    if (!alloc || (alloc->code != OP_ALLOC && alloc->code != OP_ALLOC_CLOSURE) || !alloc->size)
        return false;
    unsigned field = store.i % alloc->size;
    if (field >= PROGRAM_VALUES)
        return false;
    while (alloc->n_values <= field)
        alloc->values[alloc->n_values++] = (struct value){.kind = VALUE_IMMEDIATE};
    alloc->values[field] = store.values[0];
    cut_ops(p, at, n);
    return true;
}

/* ---- collections ------------------------------------------------------------------------------
 */

static bool collects(const struct op *op) {
    return op_has(op->code, COLLECTS) || op->code == OP_SLICE;
}
static bool is_small(const struct op *op) {
    return op->code == OP_MINOR || op->code == OP_SLICE;
}

/* One full collection in the place of the first or of the last of the small ones from `at` on, up
 * to the next of another kind or through all of the script. */
enum { AT_LAST = 1, THROUGH_ALL = 2, JOININGS = 4 };

static unsigned count_joinings(const struct program *p) {
    return p->n_ops * JOININGS;
}

static bool join_collections(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned first = at / JOININGS, how = at % JOININGS, last = first, small = 0;
    if (!is_small(&p->ops[first]))
        return false;
    for (unsigned i = first; i < p->n_ops; i++) {
        if (collects(&p->ops[i]) && !is_small(&p->ops[i]) && !(how & THROUGH_ALL))
            break;
        last = is_small(&p->ops[i]) ? i : last;
        small += is_small(&p->ops[i]);
    }
    if (small < 2)
        return false;
    unsigned kept = how & AT_LAST ? last : first;
    p->ops[kept] = (struct op){.code = OP_FULL};
    for (unsigned i = last + 1; i > first; i--)
        if (i - 1 != kept && is_small(&p->ops[i - 1]))
            cut_ops(p, i - 1, 1);
    return true;
}

/* Two slices become one that does the work of both. */
static bool join_slices(struct program *p, unsigned at, unsigned n) {
    unsigned next = at + 1;
    if (p->ops[at].code != OP_SLICE)
        return false;
    while (next < p->n_ops && p->ops[next].code != OP_SLICE)
        next++;
    if (next == p->n_ops)
        return false;
    const struct op *one = &p->ops[at];
    struct op *other = &p->ops[next];
    unsigned usual = p->config[CONFIG_SLICE];
    unsigned work = (one->budget ? one->budget : usual) + (other->budget ? other->budget : usual);
    if (work > op_shapes[OP_SLICE].max_n)
        return false;
    other->budget = (uint16_t)work;
    cut_ops(p, at, n);
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

const struct step_family replace_steps[] = {
    {"join small collections to a full one", false, count_joinings, join_collections},
    {"join two slices", false, count_ops, join_slices},
    {"read what a copy is a copy of", false, count_ops, propagate_copy},
    {"initialise with what is stored", false, count_ops, store_at_allocation},
    {"lower an operation to what it stands for", false, count_ops, lower_op},
    {0}};
_Static_assert(sizeof replace_steps / sizeof *replace_steps <= STEP_FAMILIES,
               "too many for reduce.c");
