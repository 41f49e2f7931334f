/* SPDX-License-Identifier: MIT
 *
 * What a reduced program needs, as a number (campaign.h).
 *
 * Programs of one defect differ in what a reducer leaves to chance: in names, in numbers, in how
 * many there are of anything, in the ways to say the same.  The shape of a program has what is left
 * without them:
 *
 *  - of the config whether mark stack, stress, fail and variant are the default, and the kind; not
 *    the amounts of room, work and age;
 *  - of the initial heap which kinds of blocks and of pointers there are, and whether roots point
 * at several blocks, or several at one;
 *  - of the script the kinds of operations in their order, one of several that follow one another,
 *    with the pointers that they write.  A slice is a minor collection, a list or what exhausts the
 *    heap an allocation; what gives a slot a value that nothing reads is no operation.
 */
#include "cli/campaign/campaign.h"

#include "harness/current_input.h"

#include <string.h>

enum { FUNCTIONS_FEW = 2 };

static void put(uint64_t *digest, uint64_t number) {
    *digest = (*digest ^ number) * UINT64_C(0x100000001b3);
    *digest ^= *digest >> 29;
}

/* ---- config and heap --------------------------------------------------------------------------
 */

enum feature {
    HAS_BLOCK,
    HAS_TAG,
    HAS_LAZY,
    HAS_OBJECT,
    HAS_FORWARD,
    HAS_CLOSURE,
    HAS_FUNCTIONS, /* a closure of several */
    HAS_RAW,
    HAS_STATIC,
    HAS_POINTER, /* in a field */
    HAS_INFIX_POINTER,
    HAS_INFIX_ROOT,
    HAS_SHARED_ROOT
};

static unsigned feature_of(const struct item *item) {
    if (item->kind == ITEM_RAW)
        return HAS_RAW;
    if (item->kind == ITEM_CLOSURE)
        return item->functions < FUNCTIONS_FEW ? HAS_CLOSURE : HAS_FUNCTIONS;
    switch (item->tag) {
    case 0:
        return HAS_BLOCK;
    case PROGRAM_TAG_LAZY:
        return HAS_LAZY;
    case PROGRAM_TAG_OBJECT:
        return HAS_OBJECT;
    case PROGRAM_TAG_FORWARD:
        return HAS_FORWARD;
    default:
        return HAS_TAG;
    }
}

static uint64_t features_of_heap(const struct program *p) {
    uint64_t features = 0;
    for (unsigned i = 0; i < p->n_items; i++)
        if (item_is_named(&p->items[i]))
            features |= UINT64_C(1) << feature_of(&p->items[i]) | (uint64_t)p->items[i].is_static
                                                                      << HAS_STATIC;
    for (unsigned f = 0; f < p->n_fields; f++)
        features |= (uint64_t)(p->fields[f].kind == VALUE_BLOCK) << HAS_POINTER |
                    (uint64_t)(p->fields[f].kind == VALUE_INFIX) << HAS_INFIX_POINTER;
    return features;
}

static uint64_t features_of_roots(const struct program *p) {
    bool has_root[PROGRAM_ITEMS] = {false};
    uint64_t features = 0;
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
            const struct value *v = &p->roots[m][s];
            if (!value_is_reference(v))
                continue;
            features |= (uint64_t)(v->kind == VALUE_INFIX) << HAS_INFIX_ROOT |
                        (uint64_t)has_root[v->block] << HAS_SHARED_ROOT;
            has_root[v->block] = true;
        }
    return features;
}

static void put_config(uint64_t *digest, const struct program *p) {
    static const enum config_key events[] = {CONFIG_MARK_STACK, CONFIG_STRESS, CONFIG_FAIL,
                                             CONFIG_VARIANT};
    for (unsigned k = 0; k < sizeof events / sizeof *events; k++)
        put(digest, p->config[events[k]] != config_ranges[events[k]].initial);
    put(digest, p->config[CONFIG_KIND]);
}

/* ---- script -----------------------------------------------------------------------------------
 */

/* Does a later operation read what operation `at` gives its slot? */
static bool is_read(const struct program *p, unsigned at) {
    const struct op *op = &p->ops[at];
    for (unsigned i = at + 1; i < p->n_ops; i++) {
        const struct op *later = &p->ops[i];
        if (later->mutator != op->mutator)
            continue;
        if (op_reads_slot(later, op->dst))
            return true;
        if (op_writes_slot(later) && later->dst == op->dst)
            return false;
    }
    return false;
}

/* The operation of its kind that stands for it. */
static unsigned kind_of(const struct op *op) {
    switch (op->code) {
    case OP_SLICE:
        return OP_MINOR;
    case OP_EXHAUST:
    case OP_BUILD:
        return OP_ALLOC;
    case OP_FILL:
        return OP_STORE;
    case OP_READ:
        return OP_LOAD;
    default:
        return op->code;
    }
}

/* It gives a slot another value, and does nothing else. */
static bool moves_slot(const struct op *op) {
    return op->code == OP_SET || op->code == OP_DROP || op->code == OP_LOAD || op->code == OP_INFIX;
}

static uint64_t op_digest(const struct op *op) {
    uint64_t digest = 1;
    bool pointer = false, block = op->code == OP_ALLOC;
    for (unsigned v = 0; v < op->n_values; v++)
        pointer |= op->values[v].kind == VALUE_SLOT;
    put(&digest, kind_of(op));
    put(&digest, pointer && (block || op_has(op->code, WRITES_FIELD)));
    put(&digest, block && op->tag != 0);
    put(&digest, op->code == OP_KIND ? op->kind : 0);
    return digest;
}

static void put_script(uint64_t *digest, const struct program *p) {
    uint64_t last = 0;
    for (unsigned i = 0; i < p->n_ops; i++) {
        if (moves_slot(&p->ops[i]) && !is_read(p, i))
            continue;
        uint64_t one = op_digest(&p->ops[i]);
        if (one != last)
            put(digest, one);
        last = one;
    }
}

uint64_t program_shape(const struct program *p) {
    uint64_t digest = 0;
    put_config(&digest, p);
    put(&digest, features_of_heap(p) | features_of_roots(p));
    put_script(&digest, p);
    return digest;
}

uint64_t finding_key(const char *violation, const char *guilty, const struct program *p) {
    uint64_t digest = program_shape(p);
    put(&digest, content_hash(violation, strlen(violation)));
    put(&digest, content_hash(guilty, strlen(guilty)));
    return digest;
}
