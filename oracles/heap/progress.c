/* SPDX-License-Identifier: MIT
 *
 * Oracle progress: every call of a collector ends, and its heap comes to where it may be looked at.
 */
#include "oracles/judge.h"

/* More than any collector needs for one call: a constant number of steps a word, and for a mark
 * stack that overflows a re-scan of the heap for every block. */
static bool reset(struct judge *j) {
    uint64_t words =
        heap_most_words(&j->side->traits, &j->side->config) + j->side->traits.nursery_words;
    j->side->fuel = 4096 + 64 * words + words * words;
    return false;
}

static bool exhausted(struct judge *j) {
    judge_fail(j, VIOLATION_no_progress,
               j->side->settling
                   ? "the heap never settles, however often its mutators are polled"
                   : "the collector took more steps in one call than its heap has work for");
}

/* Of a collector with threads, which knows by itself. */
static bool stuck(struct judge *j, bool for_ever, const char *sentence) {
    judge_fail(j, for_ever ? VIOLATION_no_progress : VIOLATION_deadlock, sentence);
}

const struct oracle_module oracle_progress = {
    .meaning =
        "a bound on the steps of every operation, a heap that settles, and threads that can go on",
    .source = "isoheap: collectors count their steps with gc_tick",
    .classes = {VIOLATION_no_progress, VIOLATION_deadlock},
    .reset = reset,
    .each_operation = true, /* no call in it has used up its fuel */
    .stuck = stuck,
    .exhausted = exhausted,
};
