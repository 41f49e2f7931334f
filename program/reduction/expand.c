/* SPDX-License-Identifier: MIT
 *
 * The steps of reduction that say in several operations what one does, or the config (steps.h): a
 * short list as its allocations, a collection where it happens.
 *
 * A program becomes longer by them, but each of its parts can be left out then; and there is one
 * way less to say it.
 */
#include "program/cut.h"
#include "program/reduction/steps.h"

#include <string.h>

enum { SMALL = 16, LONGEST = 4 /* blocks of what is unrolled */ };

static unsigned count_ops(const struct program *p) {
    return p->n_ops <= SMALL ? p->n_ops : 0;
}

/* Puts n operations in the place of one. */
static bool put_ops(struct program *p, unsigned at, const struct op *ops, unsigned n) {
    if (p->n_ops + n > PROGRAM_OPS)
        return false;
    memmove(p->ops + at + n, p->ops + at + 1, (p->n_ops - at - 1) * sizeof *p->ops);
    memcpy(p->ops + at, ops, n * sizeof *ops);
    p->n_ops = (uint16_t)(p->n_ops + n - 1);
    return true;
}

/* Each block holds the value and what was there before it. */
static bool unroll(struct program *p, unsigned at, unsigned n) {
    (void)n;
    const struct op build = p->ops[at];
    struct op ops[LONGEST];
    if (build.code != OP_BUILD || build.shape == BUILD_ARRAY || build.blocks == 0 ||
        build.blocks > LONGEST)
        return false;
    for (unsigned b = 0; b < build.blocks; b++) {
        unsigned fields = op_words(&build, 1) - 1;
        ops[b] = (struct op){.code = OP_ALLOC,
                             .mutator = build.mutator,
                             .dst = build.dst,
                             .size = (uint16_t)fields,
                             .n_values = (uint8_t)(b ? fields : 1)};
        ops[b].values[0] = build.values[0];
        for (unsigned f = 1; f < ops[b].n_values; f++)
            ops[b].values[f] = (struct value){.kind = VALUE_SLOT, .block = build.dst};
    }
    return put_ops(p, at, ops, build.blocks);
}

/* A full collection, then one block as large as the heap has room before the script. */
static bool fill_with_one(struct program *p, unsigned at, unsigned n) {
    (void)n;
    const struct op exhaust = p->ops[at];
    unsigned room = room_to_exhaust(p, &exhaust);
    if (exhaust.code != OP_EXHAUST || room == 0)
        return false;
    struct op ops[] = {
        {.code = OP_FULL},
        {.code = OP_ALLOC, .mutator = exhaust.mutator, .dst = exhaust.dst, .size = (uint16_t)room}};
    return put_ops(p, at, ops, 2);
}

/* What fills the heap collects first, and again when it is full. */
static bool collect_twice(struct program *p, unsigned at, unsigned n) {
    (void)n;
    const struct op ops[] = {{.code = OP_FULL}, {.code = OP_FULL}};
    return p->ops[at].code == OP_EXHAUST && put_ops(p, at, ops, 2);
}

/* A full collection before an operation, or after it, instead of wherever the config's counts of
 * allocations end. */
static bool collect_before(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op ops[] = {{.code = OP_FULL}, p->ops[at]};
    return has_counts(p) && put_ops(p, at, ops, 2) && forget_counts(p);
}

static bool collect_after(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op ops[] = {p->ops[at], {.code = OP_FULL}};
    return has_counts(p) && put_ops(p, at, ops, 2) && forget_counts(p);
}

static unsigned count_unasked(const struct program *p) {
    return p->n_ops == 0 && p->n_items <= SMALL ? p->n_items : 0;
}

/* What only the checks after an empty script have shown may take less with a collection of its own:
 * one item at least, or it would be no gain. */
static bool collect_and_remove(struct program *p, unsigned at, unsigned n) {
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    p->ops[p->n_ops++] = (struct op){.code = OP_FULL};
    return true;
}

const struct step_family expand_steps[] = {
    {"collect, and remove an item", false, count_unasked, collect_and_remove},
    {"collect before the config's count ends", false, count_ops, collect_before},
    {"collect after the config's count ends", false, count_ops, collect_after},
    {"fill the heap with one block", false, count_ops, fill_with_one},
    {"collect twice instead of filling the heap", false, count_ops, collect_twice},
    {"unroll a list or tree", false, count_ops, unroll},
    {0}};
