/* SPDX-License-Identifier: MIT
 *
 * Oracle liveness: slices begin cycles and end them, and what cycle says of them moves on.
 *
 * During a run: the counter of cycles never goes back, and moves with each cycle that begins (who
 * trusts it would else watch no cycle); a cycle that has ended is a collection.  After the script,
 * when nobody changes the heap any more: one cycle may be under way, and the next one finds all
 * that nothing reaches.  With generations it may take more: young blocks are roots of a cycle, and
 * dead old blocks keep young ones, until these are old enough to move, for which there must be
 * room.
 */
#include "oracles/judge.h"

#include <stdio.h>

struct liveness {
    struct gc_cycle cycle; /* after the last operation */
    uint64_t collections;
};

static bool built(struct judge *j) {
    struct liveness *l = j->state;
    l->cycle = j->services->cycle(j);
    l->collections = j->side->hooks->collections;
    return false;
}

_Noreturn static void fail_counter(struct judge *j, struct gc_cycle now, const char *detail) {
    const struct liveness *l = j->state;
    snprintf(j->expected, VERDICT_TEXT, "%llu or more cycles begun",
             (unsigned long long)(l->cycle.begun +
                                  (l->cycle.phase == GC_PHASE_IDLE && now.phase != GC_PHASE_IDLE)));
    snprintf(j->found, VERDICT_TEXT, "%llu", (unsigned long long)now.begun);
    judge_fail(j, VIOLATION_promise_broken, detail);
}

/* A slice with a budget that leaves a cycle under way has done a step of it. */
static bool called(struct judge *j, const struct request *request, bool full) {
    const struct side *s = j->side;
    (void)request;
    (void)full;
    if (!s->slice.done || s->slice.budget == 0 || !s->traits.paced || !s->traits.ticks ||
        s->took > 0 || j->services->cycle(j).phase == GC_PHASE_IDLE)
        return false;
    snprintf(j->expected, VERDICT_TEXT, "a step or more for a budget of %zu words",
             s->slice.budget);
    snprintf(j->found, VERDICT_TEXT, "none, and a cycle is under way");
    judge_fail(j, VIOLATION_no_progress, "a slice with a budget takes no step of the cycle");
}

static bool operated(struct judge *j) {
    struct liveness *l = j->state;
    struct gc_cycle now = j->services->cycle(j);
    if (now.begun < l->cycle.begun)
        fail_counter(j, now, "the number of cycles that cycle tells has gone back");
    if (now.begun == l->cycle.begun && l->cycle.phase == GC_PHASE_IDLE &&
        now.phase != GC_PHASE_IDLE)
        fail_counter(j, now, "a cycle is under way that cycle has not counted");
    if (l->cycle.phase != GC_PHASE_IDLE && now.phase == GC_PHASE_IDLE &&
        j->side->hooks->collections == l->collections)
        judge_fail(j, VIOLATION_promise_broken,
                   "a cycle has ended, and hooks->collections is what it was");
    l->cycle = now;
    l->collections = j->side->hooks->collections;
    return true;
}

/* ---- slices without a mutator ------------------------------------------------------------------
 */

/* Words of a slice: a cycle takes several, so that one which begins anew each time does not end. */
static size_t budget_of(const struct side *s) {
    return (heap_most_words(&s->traits, &s->config) + s->traits.nursery_words) / 4 + 1;
}

/* Slices that a cycle may take: for every block it may have to look at the whole heap again, if its
 * mark stack is small. */
static uint64_t most_slices(const struct side *s) {
    return 8 + 4 * (heap_most_words(&s->traits, &s->config) + s->traits.nursery_words);
}

/* Slices until no cycle is under way; cycles may also follow each other without a pause.  False: a
 * slice was refused, so that nobody knows. */
static bool end_cycle(struct judge *j) {
    const struct side *s = j->side;
    uint64_t before = j->services->cycle(j).begun, n = 0, most = most_slices(s);
    size_t budget = budget_of(s);
    while (j->services->step(j, budget) && j->services->cycle(j).begun < before + 2)
        if (++n == most) {
            snprintf(j->expected, VERDICT_TEXT, "a cycle that ends in %llu slices of %zu words",
                     (unsigned long long)most, budget);
            snprintf(j->found, VERDICT_TEXT, "one that is under way still");
            judge_fail(j, VIOLATION_no_progress, "slices without a mutator do not end the cycle");
        }
    return !s->refused;
}

_Noreturn static void fail_garbage(struct judge *j, uint64_t begun) {
    snprintf(j->expected, VERDICT_TEXT, "%u blocks, as many as the program can reach",
             (unsigned)j->model->live_objects);
    snprintf(j->found, VERDICT_TEXT, "%zu blocks; %llu cycles have begun in the meantime",
             j->side->facts.live, (unsigned long long)begun);
    if (begun == 0)
        judge_fail(j, VIOLATION_no_progress, "there is garbage, and slices begin no cycle");
    judge_fail(j, VIOLATION_garbage_retained,
               "garbage is left after slices that began and ended a cycle");
}

static bool has_garbage(struct judge *j) {
    judge_walk(j);
    return j->side->facts.live > j->model->live_objects;
}

/* Is a block young for want of room in the old generation?  It is a root of every cycle, and
 * garbage there that keeps it in turn goes with a full collection alone. */
static bool is_stuck(const struct side *s) {
    const struct graph *g = &s->graph;
    for (size_t id = g->words - g->nursery_words + 1; id < g->words; id++)
        if (graph_starts(g, id) && graph_block(g, (uint32_t)id).wosize > s->facts.largest_free)
            return true;
    return false;
}

/* Cycles that garbage may take which the generations keep in turn: one block goes in each, or is
 * older by one minor collection. */
static size_t most_cycles(const struct side *s) {
    return s->collector->young ? (s->facts.live + 1) * (s->config.promotion_age + 1) : 0;
}

static bool ended(struct judge *j) {
    struct gc_cycle before = j->services->cycle(j);
    model_mark(j->model);
    if ((before.phase != GC_PHASE_IDLE && !end_cycle(j)) || !end_cycle(j))
        return false;
    bool garbage = has_garbage(j);
    for (size_t n = 0, most = most_cycles(j->side); garbage && n < most; n++) {
        if (!end_cycle(j))
            return false;
        garbage = has_garbage(j);
    }
    if (garbage && !is_stuck(j->side))
        fail_garbage(j, j->services->cycle(j).begun - before.begun);
    return true;
}

const struct oracle_module oracle_liveness = {
    .meaning = "slices begin and end cycles until no garbage is left; each cycle is counted",
    .source = "isoheap: what a program that allocates slowly relies on",
    .classes = {VIOLATION_no_progress, VIOLATION_garbage_retained, VIOLATION_promise_broken},
    .needs = 1u << NEED_slices | 1u << NEED_exact,
    .state = sizeof(struct liveness),
    .built = built,
    .called = called,
    .operated = operated,
    .ended = ended,
};
