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

/* A full collection here instead of wherever the config's count of allocations ends. */
static bool collect_here(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op ops[] = {{.code = OP_FULL}, p->ops[at]};
    if (p->config[CONFIG_STRESS] == config_ranges[CONFIG_STRESS].initial || !put_ops(p, at, ops, 2))
        return false;
    p->config[CONFIG_STRESS] = config_ranges[CONFIG_STRESS].initial;
    return true;
}

const struct step_family expand_steps[] = {
    {"collect where the config's count ends", false, count_ops, collect_here},
    {"fill the heap with one block", false, count_ops, fill_with_one},
    {"unroll a list or tree", false, count_ops, unroll},
    {0}};
