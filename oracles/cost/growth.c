/* SPDX-License-Identifier: MIT
 *
 * Oracle growth: the same calls take no more steps and no more memory each time.
 *
 * After the script of small programs, and of one in sixteen others: two blocks are allocated and
 * dropped, and the heap is collected.  Whoever keeps something of each block, or of each
 * collection, and looks at it or only keeps it, takes more each time; a healthy collector does not
 * in the second round.  Now and then memory is looked at too, for longer: what malloc has at hand
 * for small blocks hides the first.
 */
#include "oracles/judge.h"

#include <stdio.h>

enum {
    GROWTH_SMALL = 2,     /* blocks and collections of a program that is always looked at */
    GROWTH_SHARE = 16,    /* of the others one in so many */
    GROWTH_PATIENT = 128, /* and for longer one in so many: */
    GROWTH_LATE = 48,     /* with that rest, since most programs are smaller */
    GROWTH_ROUNDS = 6,
    GROWTH_PERIODS = 5,
    GROWTH_PERIOD = 8 /* rounds: more than what malloc has at hand of blocks of a size */
};

static uint64_t steps_to_allocate(struct judge *j, size_t wosize) {
    j->services->allocate(j, wosize);
    j->side->slots[0][SLOT_NEW] = WORD_UNIT;
    return j->side->took;
}

/* The steps of one round. */
static uint64_t round_of(struct judge *j) {
    uint64_t steps = steps_to_allocate(j, 1);
    steps += steps_to_allocate(j, 2);
    if (j->side->collector->young) {
        j->services->collect_young(j);
        steps += j->side->took;
    }
    j->services->collect_fully(j);
    steps += j->side->took;
    return steps;
}

/* Dead blocks that stay are looked at each time: that is the defect then. */
static void blame_garbage(struct judge *j) {
    const struct side *s = j->side;
    if (!s->collector->walk || !s->traits.full_until_exact || s->traits.conservative)
        return;
    model_mark(j->model);
    judge_walk(j);
    if (s->facts.live <= j->model->live_objects)
        return;
    snprintf(j->expected, VERDICT_TEXT, "%u blocks, as many as the program can reach",
             (unsigned)j->model->live_objects);
    snprintf(j->found, VERDICT_TEXT, "%zu blocks", s->facts.live);
    judge_fail(j, VIOLATION_garbage_retained,
               "blocks that were allocated and dropped are left after full collections");
}

_Noreturn static void fail_steps(struct judge *j, uint64_t first, uint64_t last) {
    blame_garbage(j);
    snprintf(j->expected, VERDICT_TEXT, "%llu steps, as in the first of %d rounds",
             (unsigned long long)first, GROWTH_ROUNDS);
    snprintf(j->found, VERDICT_TEXT, "more in each; %llu in the last", (unsigned long long)last);
    judge_fail(j, VIOLATION_work_grows,
               "the same allocations and collections take more steps each time");
}

/* Memory of malloc and of the system.  A collector that maps some for itself is in the second
 * alone. */
struct bytes {
    size_t allocated, mapped;
};

_Noreturn static void fail_bytes(struct judge *j, const char *where, size_t more) {
    blame_garbage(j);
    snprintf(j->expected, VERDICT_TEXT, "as much memory %s as after the first rounds", where);
    snprintf(j->found, VERDICT_TEXT, "more and more; %zu bytes more after %d rounds", more,
             GROWTH_PERIODS * GROWTH_PERIOD);
    judge_fail(j, VIOLATION_memory_grows,
               "the same allocations and collections leave more memory in use each time");
}

static void look_at_rounds(struct judge *j) {
    uint64_t first = round_of(j), last = first;
    for (unsigned n = 1; n < GROWTH_ROUNDS; n++) {
        uint64_t now = round_of(j);
        if (now <= last)
            return;
        last = now;
    }
    fail_steps(j, first, last);
}

static struct bytes bytes_of_period(struct judge *j) {
    for (unsigned n = 0; n < GROWTH_PERIOD; n++)
        round_of(j);
    return (struct bytes){j->services->allocated(), j->services->mapped()};
}

/* As many as there are, whatever is found: what malloc has does not depend on the program alone,
 * and the steps of a run shall. */
static void look_at_periods(struct judge *j) {
    struct bytes first = bytes_of_period(j), last = first;
    bool allocates = true, maps = true;
    for (unsigned n = 1; n < GROWTH_PERIODS; n++) {
        struct bytes now = bytes_of_period(j);
        allocates &= now.allocated > last.allocated;
        maps &= now.mapped > last.mapped;
        last = now;
    }
    if (allocates)
        fail_bytes(j, "of malloc in use", last.allocated - first.allocated);
    if (maps)
        fail_bytes(j, "mapped", last.mapped - first.mapped);
}

/* The program says which: blocks of the model, and collections by the end of the script. */
static bool ended(struct judge *j) {
    uint64_t size = j->model->n_objects + j->side->compared;
    bool thorough = j->side->thorough & ORACLE_BIT(ORACLE_growth);
    bool always = thorough || size <= GROWTH_SMALL;
    if (!always && size % GROWTH_SHARE)
        return false;
    j->side->slots[0][SLOT_NEW] = WORD_UNIT; /* what the check before this one has left */
    j->services->collect_fully(j);
    look_at_rounds(j);
    if (always || size % GROWTH_PATIENT == GROWTH_LATE)
        look_at_periods(j);
    return true;
}

const struct oracle_module oracle_growth = {
    .meaning = "the same calls take no more steps and no more memory each time",
    .source = "isoheap: what a long-running program relies on",
    .classes = {VIOLATION_work_grows, VIOLATION_memory_grows, VIOLATION_garbage_retained},
    .needs = 1u << NEED_steady,
    .samples = true,
    .ended = ended,
};
