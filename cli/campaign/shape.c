/* SPDX-License-Identifier: MIT
 *
 * When two findings are the same (campaign.h).
 *
 * Two reduced programs of one class and one guilty party are the same finding if they differ only
 * in what a reducer leaves to chance: in the names of root slots, in immediates, raw and outside
 * words, and in amounts.  The shape of a program is that program with all of
 * these made equal:
 *
 *  - root slots are numbered anew for each mutator, in the order in which the script names them,
 *    then in the order of the roots;
 *  - every immediate is 0, every raw or outside word is 0;
 *  - gaps have one field, allocations of the script that have fields have one, counts are 0;
 *  - a config value that is not the default counts as "not the default"; variant and kind, which
 *    choose other code, count as they are.
 *
 * Blocks have no names beyond their order, and that order is one of addresses: it stays.  So do
 * tags, fields, indexes and everything else.
 */
#include "cli/campaign/campaign.h"

#include <string.h>

struct names {
    uint8_t of[PROGRAM_MUTATORS][PROGRAM_SLOTS]; /* new number + 1; 0: none yet */
    uint8_t given[PROGRAM_MUTATORS];
};

static uint8_t rename_slot(struct names *n, unsigned mutator, unsigned slot) {
    if (!n->of[mutator][slot])
        n->of[mutator][slot] = ++n->given[mutator];
    return n->of[mutator][slot] - 1;
}

static void level_value(struct names *n, unsigned mutator, struct value *v) {
    if (v->kind == VALUE_SLOT)
        v->block = rename_slot(n, mutator, v->block);
    else
        v->bits = 0;
}

static void level_op(struct names *n, struct op *op) {
    unsigned operands = op_shapes[op->code].operands;
    if (operands & OPERAND_SRC)
        op->src = rename_slot(n, op->mutator, op->src);
    for (unsigned v = 0; v < op->n_values; v++)
        level_value(n, op->mutator, &op->values[v]);
    if (operands & OPERAND_DST)
        op->dst = rename_slot(n, op->mutator, op->dst);
    op->size = op->size > 0;
    if (op->code != OP_KIND) /* there it is no count */
        op->n = 0;
}

static bool is_unit(const struct value *v) {
    return v->kind == VALUE_IMMEDIATE && v->bits == 0;
}

static void level_roots(struct names *n, struct program *p) {
    struct value old[PROGRAM_SLOTS];
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++) {
        memcpy(old, p->roots[m], sizeof old);
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++) /* used ones get the lower numbers */
            if (!is_unit(&old[s]))
                rename_slot(n, m, s);
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
            struct value *v = &p->roots[m][rename_slot(n, m, s)];
            *v = old[s];
            if (v->kind != VALUE_BLOCK && v->kind != VALUE_INFIX)
                v->bits = 0;
        }
    }
}

static void level_config(struct program *p) {
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        if (k != CONFIG_VARIANT && k != CONFIG_KIND)
            p->config[k] = p->config[k] != config_ranges[k].initial;
}

uint64_t program_shape(const struct program *p) {
    static struct program q;
    struct names names = {0};
    q = *p;
    for (unsigned o = 0; o < q.n_ops; o++)
        level_op(&names, &q.ops[o]);
    level_roots(&names, &q);
    for (unsigned f = 0; f < q.n_fields; f++)
        if (q.fields[f].kind != VALUE_BLOCK && q.fields[f].kind != VALUE_INFIX)
            q.fields[f].bits = 0;
    for (unsigned i = 0; i < q.n_items; i++)
        if (!item_is_named(&q.items[i]) && q.items[i].wosize)
            q.items[i].wosize = 1;
    level_config(&q);
    return program_digest(&q);
}
