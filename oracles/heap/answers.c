/* SPDX-License-Identifier: MIT
 *
 * Oracle answers: what a collector answers is what the interface has for that function, and its
 * number of collections never goes back.
 *
 * The harness goes by it: what is refused has no effect in the model, and a refused full collection
 * is not judged as one.  So a collector that may refuse more than allocations says so.
 */
#include "oracles/judge.h"

#include <stdio.h>
#include <string.h>

static const char *answer_name(enum gc_result answer) {
    static const char *const names[] = {"ok", "out of memory", "pending", "idle"};
    return (unsigned)answer < sizeof names / sizeof *names ? names[answer] : NULL;
}

static bool is_among(const char *function, const char *const *names) {
    while (*names && strcmp(function, *names) != 0)
        names++;
    return *names;
}

/* Those that allocate may be refused, by other oracles' leave; who needs memory of the system's
 * where the program has taken that away. */
static bool may_be_refused(const struct judge *j, const char *function) {
    static const char *const allocate[] = {"alloc", "ephemeron",  "resource", "marshal",
                                           "copy",  "sub",        "append",   "dup",
                                           "clone", "forwarding", NULL};
    static const char *const need_memory[] = {"finalise", "finalise_then", "switch_kind", NULL};
    return is_among(function, allocate) || j->side->traits.may_refuse ||
           (j->side->starved && is_among(function, need_memory));
}

_Noreturn static void fail_answer(struct judge *j, const char *function, enum gc_result answer,
                                  const char *detail) {
    const char *name = answer_name(answer);
    snprintf(j->expected, VERDICT_TEXT, "%s says ok%s", function,
             may_be_refused(j, function) ? ", or out of memory" : "");
    if (name)
        snprintf(j->found, VERDICT_TEXT, "%s says %s", function, name);
    else
        snprintf(j->found, VERDICT_TEXT, "%s says %d", function, (int)answer);
    judge_fail(j, VIOLATION_promise_broken, detail);
}

/* What a slice says and what cycle says differ. */
_Noreturn static void fail_slice(struct judge *j, bool idle) {
    static const char *const phases[] = {"idle", "marking", "sweeping"};
    snprintf(j->expected, VERDICT_TEXT, "step says ok while a cycle is under way, else idle");
    snprintf(j->found, VERDICT_TEXT, "step says %s, and cycle %s", idle ? "idle" : "ok",
             phases[j->services->cycle(j).phase]);
    judge_fail(j, VIOLATION_promise_broken,
               idle ? "a slice says that no cycle is under way while one is"
                    : "a slice says that a cycle is under way while none is");
}

static bool replied(struct judge *j, const char *function, enum gc_result answer) {
    switch (answer) {
    case GC_OUT_OF_MEMORY:
        if (!may_be_refused(j, function))
            fail_answer(j, function, answer,
                        "a call was refused that only a collector with the trait may_refuse may "
                        "refuse");
        return true;
    case GC_PENDING:
        fail_answer(j, function, answer, "a call is pending, and there is no function poll");
    case GC_IDLE:
    case GC_OK:
        if (!strcmp(function, "step"))
            fail_slice(j, answer == GC_IDLE);
        /* fall through */
    default:
        fail_answer(j, function, answer, "a call has an answer that is none to it");
    }
}

/* Whether something may have moved or been freed is asked of the number: it has to change with each
 * collection, and to come to no value again. */
_Noreturn static void fail_count(struct judge *j, uint64_t before) {
    snprintf(j->expected, VERDICT_TEXT, "%llu or more", (unsigned long long)before);
    snprintf(j->found, VERDICT_TEXT, "%lld", (long long)j->side->hooks->collections);
    judge_fail(j, VIOLATION_promise_broken, "the number of collections has gone back");
}

static bool recounted(struct judge *j) {
    fail_count(j, j->side->collected);
}

/* Do the slots hold what was put there before adopt? */
static bool slots_stayed(const struct judge *j) {
    const struct side *s = j->side;
    for (unsigned m = 0; m < s->config.mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++) {
            word v = j->model->slots[m][i];
            bool empty = v == WORD_UNIT && s->slots[m][i] == WORD_UNIT; /* most are */
            if (!empty && s->slots[m][i] != side_word(j->model, s->party, v))
                return false;
        }
    return true;
}

/* adopt counts a collection if it moves blocks: where it has counted none, the addresses are those
 * of the image.  How many it takes is its own affair.  Not one of the calls that are counted as
 * judged. */
static bool built(struct judge *j) {
    if ((int64_t)j->side->hooks->collections < 0)
        fail_count(j, 0);
    if (!j->side->collector->image || j->side->hooks->collections > 0 || slots_stayed(j))
        return false;
    snprintf(j->expected, VERDICT_TEXT, "1 collection or more, since blocks have moved");
    snprintf(j->found, VERDICT_TEXT, "0");
    judge_fail(j, VIOLATION_promise_broken, "adopt has moved blocks, and counts no collection");
}

const struct oracle_module oracle_answers = {
    .meaning = "every call has an answer that is one to it, and is refused only where that may be",
    .source = "isoheap: collectors/extras.h, enum gc_result; trait may_refuse",
    .classes = {VIOLATION_promise_broken},
    .built = built,
    .recounted = recounted,
    .replied = replied,
    .each_operation = true, /* all its calls have been answered */
};
