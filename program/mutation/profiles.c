/* SPDX-License-Identifier: MIT
 *
 * How often mutation chooses what: the weights, and the profiles that shift them.
 */
#include "program/mutation/internal.h"

#include <string.h>

/* ---- the weights of the default profile ------------------------------------------------------ */

static const uint8_t kind_weights[MUTATION_KIND_COUNT] = {
    [MUTATION_insert] = 14,   [MUTATION_delete] = 8,    [MUTATION_duplicate] = 3,
    [MUTATION_move] = 2,      [MUTATION_swap] = 2,      [MUTATION_splice] = 3,
    [MUTATION_operand] = 12,  [MUTATION_rewire] = 6,    [MUTATION_root] = 6,
    [MUTATION_tag] = 3,       [MUTATION_size] = 4,      [MUTATION_gap] = 4,
    [MUTATION_grow] = 8,      [MUTATION_shrink] = 4,    [MUTATION_config] = 4,
    [MUTATION_aim_heap] = 3,  [MUTATION_aim_stack] = 3, [MUTATION_aim_nursery] = 1,
    [MUTATION_aim_count] = 2, [MUTATION_idiom] = 2,     [MUTATION_decision] = 1,
};

static const uint8_t op_weights[OP_CODES] = {
#define OP(id, name, form, operands, simpler, weight, ...) [OP_##id] = (weight),
#include "program/operations.def"
#undef OP
};

static const uint8_t tag_weights[TAG_CHOICES] = {
    [TAG_CHOICE_ZERO] = 6,   [TAG_CHOICE_SMALL] = 2,   [TAG_CHOICE_LAZY] = 1,
    [TAG_CHOICE_OBJECT] = 2, [TAG_CHOICE_FORWARD] = 1, [TAG_CHOICE_ABSTRACT] = 1,
    [TAG_CHOICE_STRING] = 2, [TAG_CHOICE_DOUBLE] = 1,  [TAG_CHOICE_DOUBLE_ARRAY] = 1,
    [TAG_CHOICE_CUSTOM] = 1,
};

static const uint8_t key_weights[CONFIG_KEYS] = {
    [CONFIG_HEAP] = 6,    [CONFIG_NURSERY] = 2, [CONFIG_MARK_STACK] = 4, [CONFIG_SLICE] = 2,
    [CONFIG_LARGE] = 2,   [CONFIG_AGE] = 2,     [CONFIG_STRESS] = 3,     [CONFIG_FAIL] = 2,
    [CONFIG_VARIANT] = 3, [CONFIG_KIND] = 2,    [CONFIG_SCHEDULE] = 1,   [CONFIG_PREEMPT] = 1,
};

/* ---- profiles -------------------------------------------------------------------------------- */

static const struct mutation_profile profiles[] = {
    {.name = "default", .meaning = "a little of everything"},
    {.name = "infix",
     .meaning = "closures with several functions, pointers into them",
     .kinds = {[MUTATION_tag] = 2, [MUTATION_rewire] = 2, [MUTATION_root] = 2, [MUTATION_grow] = 2},
     .ops = {[OP_ALLOC_CLOSURE] = 5, [OP_INFIX] = 6, [OP_DROP] = 2, [OP_SET] = 2},
     .closures = 10,
     .infix = 12},
    {.name = "fragmentation",
     .meaning = "gaps of all sizes, blocks that just fit, much that dies",
     .kinds =
         {[MUTATION_gap] = 5, [MUTATION_size] = 3, [MUTATION_aim_heap] = 3, [MUTATION_shrink] = 2},
     .ops = {[OP_ALLOC] = 2, [OP_ALLOC_RAW] = 2, [OP_DROP] = 3, [OP_EXHAUST] = 4, [OP_FULL] = 2},
     .keys = {[CONFIG_HEAP] = 3}},
    {.name = "aging",
     .meaning = "objects that live through many collections, and die late",
     .kinds = {[MUTATION_duplicate] = 2, [MUTATION_move] = 2, [MUTATION_aim_nursery] = 6},
     .ops = {[OP_MINOR] = 6, [OP_FULL] = 2, [OP_DROP] = 2, [OP_STORE] = 2, [OP_ALLOC] = 2},
     .keys = {[CONFIG_AGE] = 5, [CONFIG_NURSERY] = 4, [CONFIG_STRESS] = 3}},
    {.name = "barrier",
     .meaning = "stores, blits and loads around slices and minor collections",
     .kinds =
         {[MUTATION_idiom] = 3, [MUTATION_swap] = 3, [MUTATION_operand] = 2, [MUTATION_move] = 2},
     .ops = {[OP_STORE] = 4,
             [OP_INIT] = 2,
             [OP_BLIT] = 4,
             [OP_FILL] = 3,
             [OP_LOAD] = 3,
             [OP_DROP] = 2,
             [OP_MINOR] = 4,
             [OP_SLICE] = 6,
             [OP_POLL] = 4},
     .keys = {[CONFIG_SLICE] = 4, [CONFIG_NURSERY] = 3, [CONFIG_KIND] = 2}},
    {.name = "overflow",
     .meaning = "wide graphs and small mark stacks, heaps and nurseries at their limit",
     .kinds = {[MUTATION_grow] = 3,
               [MUTATION_rewire] = 2,
               [MUTATION_aim_stack] = 6,
               [MUTATION_aim_heap] = 3,
               [MUTATION_aim_nursery] = 3},
     .ops = {[OP_EXHAUST] = 3, [OP_FULL] = 2, [OP_STORE] = 2},
     .keys = {[CONFIG_MARK_STACK] = 5, [CONFIG_HEAP] = 2},
     .stars = 10},
    {.name = "runtime",
     .meaning = "ephemerons, lazy and custom blocks, finalisers, truncation, marshalling, slices",
     .kinds = {[MUTATION_idiom] = 6, [MUTATION_operand] = 2, [MUTATION_duplicate] = 2},
     .ops =
         {[OP_EPHEMERON] = 6,  [OP_EPHE_SET] = 12, [OP_EPHE_UNSET] = 4,    [OP_EPHE_GET] = 6,
          [OP_EPHE_BLIT] = 4,  [OP_EPHE_COPY] = 3, [OP_EPHE_CHECK] = 3,    [OP_RESOURCE] = 3,
          [OP_FORWARD] = 4,    [OP_TRUNCATE] = 5,  [OP_FINALISE] = 4,      [OP_FINALISE_THEN] = 4,
          [OP_MARSHAL] = 4,    [OP_MEASURE] = 4,   [OP_BUILD] = 3,         [OP_SLICE] = 8,
          [OP_SUB] = 3,        [OP_APPEND] = 4,    [OP_DUP] = 4,           [OP_UPDATE] = 3,
          [OP_FORWARDING] = 3, [OP_CLONE] = 4,     [OP_DAMAGE] = 4,        [OP_STARVE] = 1,
          [OP_MINOR] = 3,      [OP_INFIX] = 8,     [OP_ALLOC_CLOSURE] = 3, [OP_DROP] = 2,
          [OP_STORE] = 2},
     .closures = 6,
     .tags = {[TAG_CHOICE_LAZY] = 6, [TAG_CHOICE_FORWARD] = 3},
     .keys = {[CONFIG_VARIANT] = 4, [CONFIG_SLICE] = 3, [CONFIG_KIND] = 2},
     .infix = 8},
    {.name = "threads",
     .meaning = "schedules, mutators that come and go, stores and loads beside slices",
     .kinds = {[MUTATION_decision] = 16,
               [MUTATION_config] = 2,
               [MUTATION_operand] = 2,
               [MUTATION_swap] = 3,
               [MUTATION_move] = 2},
     .ops = {[OP_STORE] = 3,
             [OP_LOAD] = 3,
             [OP_DROP] = 2,
             [OP_SLICE] = 8,
             [OP_POLL] = 4,
             [OP_ATTACH] = 2,
             [OP_DETACH] = 2},
     .keys = {[CONFIG_SCHEDULE] = 12, [CONFIG_PREEMPT] = 4, [CONFIG_VARIANT] = 2}},
};
enum { PROFILES = sizeof profiles / sizeof *profiles };

const struct mutation_profile *mutation_profile_at(unsigned n) {
    return n < PROFILES ? &profiles[n] : NULL;
}

const struct mutation_profile *mutation_profile_find(const char *name) {
    for (unsigned n = 0; n < PROFILES; n++)
        if (strcmp(profiles[n].name, name) == 0)
            return &profiles[n];
    return NULL;
}

const char *mutation_profile_name(const struct mutation_profile *profile) {
    return profile->name;
}
const char *mutation_profile_meaning(const struct mutation_profile *profile) {
    return profile->meaning;
}

/* ---- choosing -------------------------------------------------------------------------------- */

static void multiply(uint16_t *out, const uint8_t *weights, const uint8_t *factors, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out[i] = (uint16_t)(weights[i] * (factors[i] ? factors[i] : 1));
}

void mutation_weights_set(struct mutation_weights *w, const struct mutation_profile *profile) {
    multiply(w->kinds, kind_weights, profile->kinds, MUTATION_KIND_COUNT);
    multiply(w->ops, op_weights, profile->ops, OP_CODES);
    multiply(w->tags, tag_weights, profile->tags, TAG_CHOICES);
    multiply(w->keys, key_weights, profile->keys, CONFIG_KEYS);
    w->closures = profile->closures ? profile->closures : 2;
    w->infix = profile->infix ? profile->infix : 6;
    w->stars = profile->stars ? profile->stars : 4;
}

unsigned pick_weighted(struct random *random, const uint16_t *weights, unsigned n,
                       uint64_t enabled) {
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += enabled >> i & 1 ? weights[i] : 0;
    if (sum == 0)
        return pick_weighted(random, weights, n, UINT64_MAX);
    unsigned left = random_below(random, sum);
    for (unsigned i = 0; i < n; i++) {
        if (!(enabled >> i & 1))
            continue;
        if (left < weights[i])
            return i;
        left -= weights[i];
    }
    return 0;
}
