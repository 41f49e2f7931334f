/* SPDX-License-Identifier: MIT
 *
 * Programs as plain values: the empty one, equality, digest, and the table of named blocks.
 *
 * Everything here looks at the meaningful content alone; padding and unused array tails may hold
 * anything, because clearing the whole struct for every input would cost more than decoding it.
 */
#include "program/program.h"

#include "program/named.h"

#include <string.h>

void program_clear(struct program *p) {
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        p->config[k] = config_ranges[k].initial;
    p->n_items = p->n_fields = p->n_ops = p->n_switches = 0;
    memset(p->roots, 0, sizeof p->roots); /* VALUE_IMMEDIATE is 0: every root is unit */
}

void program_copy(struct program *to, const struct program *from) {
    memcpy(to->config, from->config, sizeof to->config);
    memcpy(to->roots, from->roots, sizeof to->roots);
    to->n_items = from->n_items;
    to->n_fields = from->n_fields;
    to->n_ops = from->n_ops;
    to->n_switches = from->n_switches;
    memcpy(to->switches, from->switches, from->n_switches * sizeof *from->switches);
    memcpy(to->items, from->items, from->n_items * sizeof *from->items);
    memcpy(to->fields, from->fields, from->n_fields * sizeof *from->fields);
    memcpy(to->ops, from->ops, from->n_ops * sizeof *from->ops);
}

bool program_decide(struct program *p, unsigned at, unsigned choice) {
    unsigned n = p->n_switches;
    while (n > 0 && switch_at(p->switches[n - 1]) > at)
        n--;
    if (n > 0 && switch_at(p->switches[n - 1]) == at) {
        p->switches[n - 1] = switch_make(at, choice);
        return true;
    }
    if (p->n_switches == PROGRAM_SWITCHES)
        return false;
    memmove(p->switches + n + 1, p->switches + n, (p->n_switches - n) * sizeof *p->switches);
    p->switches[n] = switch_make(at, choice);
    p->n_switches++;
    return true;
}

/* ---- equality -------------------------------------------------------------------------------- */

/* One comparison instead of four: each is traced by a fuzzer, and this is the innermost loop of
 * every round trip. */
bool value_equal(const struct value *a, const struct value *b) {
    uint64_t difference = a->bits ^ b->bits;
    difference |= (uint64_t)(a->kind ^ b->kind);
    difference |= (uint64_t)(a->block ^ b->block);
    difference |= (uint64_t)(a->offset ^ b->offset);
    return difference == 0;
}

static bool values_equal(const struct value *a, const struct value *b, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        if (!value_equal(&a[i], &b[i]))
            return false;
    return true;
}

static bool item_equal(const struct program *p, const struct item *a, const struct program *q,
                       const struct item *b) {
    return a->kind == b->kind && a->tag == b->tag && a->is_static == b->is_static &&
           a->address_code == b->address_code && a->functions == b->functions &&
           memcmp(a->arity, b->arity, sizeof a->arity) == 0 && a->wosize == b->wosize &&
           a->n_fields == b->n_fields && a->more == b->more &&
           values_equal(p->fields + a->first_field, q->fields + b->first_field, a->n_fields);
}

bool op_equal(const struct op *a, const struct op *b) {
    return a->code == b->code && a->mutator == b->mutator && a->dst == b->dst && a->src == b->src &&
           a->tag == b->tag && a->functions == b->functions &&
           memcmp(a->arity, b->arity, sizeof a->arity) == 0 && a->n_values == b->n_values &&
           a->size == b->size && a->i == b->i && a->j == b->j && a->n == b->n &&
           values_equal(a->values, b->values, a->n_values);
}

void op_keep_one_field(struct op *op) {
    op->size = 1;
    while (op->n_values > 1)
        op->values[--op->n_values] = (struct value){0};
}

bool program_equal(const struct program *a, const struct program *b) {
    if (memcmp(a->config, b->config, sizeof a->config) != 0 || a->n_items != b->n_items ||
        a->n_ops != b->n_ops || a->n_switches != b->n_switches ||
        memcmp(a->switches, b->switches, a->n_switches * sizeof *a->switches) != 0)
        return false;
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        if (!values_equal(a->roots[m], b->roots[m], PROGRAM_SLOTS))
            return false;
    for (unsigned i = 0; i < a->n_items; i++)
        if (!item_equal(a, &a->items[i], b, &b->items[i]))
            return false;
    for (unsigned i = 0; i < a->n_ops; i++)
        if (!op_equal(&a->ops[i], &b->ops[i]))
            return false;
    return true;
}

/* ---- values ---------------------------------------------------------------------------------- */

typedef bool value_test(const struct value *, const struct op *, const void *context);

static bool any_of(const struct value *values, unsigned n, const struct op *op, value_test *is,
                   const void *context) {
    for (unsigned i = 0; i < n; i++)
        if (is(&values[i], op, context))
            return true;
    return false;
}

bool program_any_value(const struct program *p, value_test *is, const void *context) {
    bool any = any_of(p->fields, p->n_fields, NULL, is, context);
    for (unsigned m = 0; m < PROGRAM_MUTATORS && !any; m++)
        any = any_of(p->roots[m], PROGRAM_SLOTS, NULL, is, context);
    for (unsigned i = 0; i < p->n_ops && !any; i++)
        any = any_of(p->ops[i].values, p->ops[i].n_values, &p->ops[i], is, context);
    return any;
}

/* ---- digest ---------------------------------------------------------------------------------- */

/* FNV-1a over the number's bytes, least significant first: the same on every machine. */
static uint64_t mix(uint64_t hash, uint64_t number, unsigned bytes) {
    for (unsigned i = 0; i < bytes; i++) {
        hash ^= number >> 8 * i & 0xff;
        hash *= UINT64_C(0x100000001b3);
    }
    return hash;
}

static uint64_t mix_values(uint64_t hash, const struct value *values, unsigned n) {
    for (unsigned i = 0; i < n; i++) {
        hash = mix(hash, values[i].kind, 1);
        hash = mix(hash, values[i].block, 2);
        hash = mix(hash, values[i].offset, 2);
        hash = mix(hash, values[i].bits, 8);
    }
    return hash;
}

static uint64_t mix_arity(uint64_t hash, const int8_t *arity) {
    for (unsigned f = 0; f < PROGRAM_FUNCTIONS; f++)
        hash = mix(hash, (uint8_t)arity[f], 1);
    return hash;
}

static uint64_t mix_item(uint64_t hash, const struct program *p, const struct item *item) {
    hash = mix(hash, item->kind, 1);
    hash = mix(hash, item->tag, 1);
    hash = mix(hash, item->is_static, 1);
    hash = mix(hash, (uint64_t)(item->functions | item->address_code << 7), 1);
    hash = mix_arity(hash, item->arity);
    hash = mix(hash, item->wosize, 2);
    if (item->more)
        hash = mix(hash, item->more, 4);
    return mix_values(hash, p->fields + item->first_field, item->n_fields);
}

static uint64_t mix_op(uint64_t hash, const struct op *op) {
    hash = mix(hash, op->code, 1);
    hash = mix(hash, op->mutator, 1);
    hash = mix(hash, op->dst, 1);
    hash = mix(hash, op->src, 1);
    hash = mix(hash, op->tag, 1);
    hash = mix(hash, op->functions, 1);
    hash = mix_arity(hash, op->arity);
    hash = mix(hash, op->size, 2);
    hash = mix(hash, op->i, 2);
    hash = mix(hash, op->j, 2);
    hash = mix(hash, op->n, 2);
    hash = mix(hash, op->n_values, 1);
    return mix_values(hash, op->values, op->n_values);
}

/* Most slots hold unit; the others go in with their place. */
static uint64_t mix_roots(uint64_t hash, const struct program *p) {
    static const struct value unit = {.kind = VALUE_IMMEDIATE};
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++) {
        for (unsigned r = 0; r < PROGRAM_SLOTS; r++) {
            if (value_equal(&p->roots[m][r], &unit))
                continue;
            hash = mix(hash, m, 1);
            hash = mix(hash, r, 1);
            hash = mix_values(hash, &p->roots[m][r], 1);
        }
    }
    return mix(hash, PROGRAM_MUTATORS, 1); /* no mutator: the end of the roots */
}

uint64_t program_digest(const struct program *p) {
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        hash = mix(hash, p->config[k], p->config[k] > UINT16_MAX ? 4 : 2);
    for (unsigned s = 0; s < p->n_switches; s++)
        hash = mix(hash, p->switches[s], 4);
    hash = mix(hash, p->n_items, 2);
    for (unsigned i = 0; i < p->n_items; i++)
        hash = mix_item(hash, p, &p->items[i]);
    hash = mix_roots(hash, p);
    hash = mix(hash, p->n_ops, 2);
    for (unsigned i = 0; i < p->n_ops; i++)
        hash = mix_op(hash, &p->ops[i]);
    return hash;
}

/* ---- named blocks ---------------------------------------------------------------------------- */

void named_blocks_find(struct named_blocks *named, const struct program *p) {
    named->program = p;
    named->count = 0;
    for (unsigned i = 0; i < p->n_items; i++)
        if (item_is_named(&p->items[i]))
            named->item[named->count++] = (uint16_t)i;
}

unsigned closure_entry_at(const struct item *item, unsigned offset) {
    for (unsigned k = 1; k < item->functions; k++)
        if (closure_entry_offset(k, item->arity) == offset)
            return k;
    return 0;
}
