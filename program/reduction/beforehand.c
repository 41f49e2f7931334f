/* SPDX-License-Identifier: MIT
 *
 * The step of reduction that does an operation beforehand (steps.h): what it would make is in the
 * initial heap, or in the roots, from the start.
 *
 * It means the same to the program's own data where no operation before it has a say in it; to a
 * collector it is another history, and so it is tried like any other step.
 */
#include "program/cut.h"
#include "program/named.h"
#include "program/reduction/steps.h"

#include <string.h>

static bool has(const struct op *op, unsigned operand) {
    return op_shapes[op->code].operands & operand;
}

/* Has an operation before `at` to do with the slot?  written: does one give it a new value? */
static bool used_before(const struct program *p, unsigned at, unsigned m, unsigned slot,
                        bool written) {
    for (unsigned i = 0; i < at; i++) {
        const struct op *op = &p->ops[i];
        if (op->mutator != m)
            continue;
        if (op->code == OP_DETACH) /* it empties all slots */
            return true;
        if ((op_writes_slot(op) && op->dst == slot) || (!written && op_reads_slot(op, slot)))
            return true;
    }
    return false;
}

/* The address of what a slot points at from the start; false if it is not known. */
static bool known_address(const struct program *p, unsigned at, const struct value *v,
                          struct value *out) {
    unsigned m = p->ops[at].mutator;
    const struct value *root = &p->roots[m][v->block];
    if (!value_reads_slot(v) || !value_is_reference(root) ||
        used_before(p, at, m, v->block, true) || root->offset + v->offset >= PROGRAM_WOSIZE)
        return false;
    *out = *v;
    out->block = root->block;
    out->offset = (uint16_t)(root->offset + v->offset);
    return true;
}

/* The value of an operand, as it is from the start; false if that is not known. */
static bool known_value(const struct program *p, unsigned at, const struct value *v,
                        struct value *out) {
    unsigned m = p->ops[at].mutator;
    if (v->kind == VALUE_ADDRESS)
        return known_address(p, at, v, out);
    if (v->kind == VALUE_SLOT && used_before(p, at, m, v->block, true))
        return false;
    *out = v->kind == VALUE_SLOT ? p->roots[m][v->block] : *v;
    return true;
}

/* The item that a slot points at from the start, or NULL. */
static struct item *known_item(struct program *p, unsigned at, unsigned slot) {
    const struct value *root = &p->roots[p->ops[at].mutator][slot];
    struct named_blocks named;
    if (!value_is_reference(root) || used_before(p, at, p->ops[at].mutator, slot, true))
        return NULL;
    named_blocks_find(&named, p);
    return &p->items[named.item[root->block]];
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

static struct item item_for(const struct op *op) {
    struct item item = {.kind = ITEM_BLOCK, .tag = op->tag, .wosize = op->size};
    if (op->code == OP_ALLOC_RAW)
        item.kind = ITEM_RAW;
    if (op->code == OP_ALLOC_CLOSURE) {
        item.kind = ITEM_CLOSURE;
        item.tag = PROGRAM_TAG_CLOSURE;
        item.functions = op->functions;
        memcpy(item.arity, op->arity, sizeof item.arity);
        item.wosize = (uint16_t)(op->size + closure_code_words(op->functions, op->arity));
    }
    item.n_fields = op->size;
    return item;
}

/* The block of an allocation as the last item. */
static bool add_block(struct program *p, unsigned at, struct value *result) {
    const struct op *op = &p->ops[at];
    struct item item = item_for(op);
    unsigned room = p->config[CONFIG_HEAP] - program_heap_words(p);
    if (p->n_items == PROGRAM_ITEMS || p->n_fields + item.n_fields > PROGRAM_FIELDS ||
        item_words(&item) > room)
        return false;
    struct value *fields = &p->fields[p->n_fields];
    for (unsigned f = 0; f < item.n_fields; f++)
        fields[f] = (struct value){.kind = item.kind == ITEM_RAW ? VALUE_RAW : VALUE_IMMEDIATE};
    for (unsigned v = 0; v < op->n_values; v++)
        if (!known_value(p, at, &op->values[v], &fields[v]))
            return false;
    *result = (struct value){.kind = VALUE_BLOCK, .block = (uint16_t)program_named(p)};
    item.first_field = p->n_fields;
    p->items[p->n_items++] = item;
    p->n_fields = (uint16_t)(p->n_fields + item.n_fields);
    return true;
}

/* The field that an index of the script means. */
static struct value *known_field(struct program *p, unsigned at, unsigned slot) {
    const struct item *item = known_item(p, at, slot);
    return item && item->kind != ITEM_RAW && item->n_fields
               ? &p->fields[item->first_field + p->ops[at].i % item->n_fields]
               : NULL;
}

static bool known_entry(struct program *p, unsigned at, struct value *result) {
    const struct op *op = &p->ops[at];
    const struct item *item = known_item(p, at, op->src);
    if (!item)
        return false;
    unsigned entry = item->kind == ITEM_CLOSURE ? op->entry % item->functions : 0;
    *result = p->roots[op->mutator][op->src];
    result->kind = entry ? VALUE_INFIX : VALUE_BLOCK;
    result->offset = entry ? (uint16_t)closure_entry_offset(entry, item->arity) : 0;
    return true;
}

/* ---- the step ---------------------------------------------------------------------------------
 */

/* What its slot holds afterwards; false if that is not known. */
static bool find_result(struct program *p, unsigned at, struct value *result) {
    const struct op *op = &p->ops[at];
    const struct value *field;
    switch (op->code) {
    case OP_ALLOC:
    case OP_ALLOC_CLOSURE:
    case OP_ALLOC_RAW:
        return add_block(p, at, result);
    case OP_SET:
        return known_value(p, at, &op->values[0], result);
    case OP_DROP:
        *result = (struct value){.kind = VALUE_IMMEDIATE};
        return true;
    case OP_LOAD:
        field = known_field(p, at, op->src);
        if (field)
            *result = *field;
        return field != NULL;
    case OP_INFIX:
        return known_entry(p, at, result);
    default:
        return false;
    }
}

static bool store_beforehand(struct program *p, unsigned at) {
    struct value *field = known_field(p, at, p->ops[at].dst);
    return field && known_value(p, at, &p->ops[at].values[0], field);
}

static unsigned count_ops(const struct program *p) {
    return p->n_ops;
}

static bool do_beforehand(struct program *p, unsigned at, unsigned n) {
    const struct op *op = &p->ops[at];
    unsigned m = op->mutator, dst = op->dst;
    struct value result;
    if (op->code == OP_STORE || op->code == OP_INIT) {
        if (!store_beforehand(p, at))
            return false;
    } else if (op->code == OP_KIND) {
        p->config[CONFIG_KIND] = op->kind;
    } else {
        if (!has(op, OPERAND_DST) || used_before(p, at, m, dst, false) ||
            !find_result(p, at, &result))
            return false;
        p->roots[m][dst] = result;
    }
    cut_ops(p, at, n);
    return true;
}

const struct step_family beforehand_steps[] = {
    {"do an operation beforehand", false, count_ops, do_beforehand}, {0}};
