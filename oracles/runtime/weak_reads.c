/* SPDX-License-Identifier: MIT
 *
 * Oracle weak_reads: what an ephemeron answers.  A field is there as long as its keys are
 * reachable; what nothing else reaches may be there or not, but if it is, then it is what was put
 * there.  What has been seen to be gone does not come back.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>

_Noreturn static void fail_read(struct judge *j, enum violation v, const char *sentence,
                                const char *found) {
    snprintf(j->found, VERDICT_TEXT, "%s", found);
    judge_fail(j, v, sentence);
}

/* expected: MODEL_NOTHING, if it has not been asked what the field holds. */
static bool weak_read(struct judge *j, bool is_set, enum model_weak may, word found,
                      word expected) {
    if (is_set && may == WEAK_NOTHING) {
        snprintf(j->expected, VERDICT_TEXT, "nothing is set");
        fail_read(j, VIOLATION_edge_changed,
                  "an ephemeron has a field that was never set, or was seen to be gone", "a field");
    }
    if (!is_set && may == WEAK_SET) {
        if (expected != MODEL_NOTHING)
            describe_model(j->model, expected, j->expected, VERDICT_TEXT);
        fail_read(j, VIOLATION_lost_object,
                  "an ephemeron has lost a field whose keys the program can still reach",
                  "nothing is set");
    }
    if (!is_set || expected == MODEL_NOTHING || expected == MODEL_FORGOTTEN)
        return true;
    return judge_word(j, found, expected);
}

const struct oracle_module oracle_weak_reads = {
    .meaning = "an ephemeron has what was put into it as long as its keys are reachable, and "
               "nothing else",
    .source = "OCaml's Ephemeron",
    .classes = {VIOLATION_lost_object, VIOLATION_edge_changed, VIOLATION_data_changed},
    .needs = 1u << NEED_extras,
    .weak_read = weak_read,
};
