/* SPDX-License-Identifier: MIT
 *
 * Oracle weak_reads: what an ephemeron answers.  Of a field that is not set, or whose keys may have
 * died, nothing is asked: no two collectors need agree about those.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>

static bool weak_read(struct judge *j, bool is_set, word found, word expected) {
    if (is_set)
        return judge_word(j, found, expected);
    describe_model(j->model, expected, j->expected, VERDICT_TEXT);
    snprintf(j->found, VERDICT_TEXT, "nothing is set");
    judge_fail(j, VIOLATION_lost_object,
               "an ephemeron has lost a field whose keys the program can still reach");
}

const struct oracle_module oracle_weak_reads = {
    .meaning = "an ephemeron has what was put into it as long as its keys are reachable",
    .source = "OCaml's Ephemeron",
    .classes = {VIOLATION_lost_object, VIOLATION_edge_changed, VIOLATION_data_changed},
    .needs = 1u << NEED_extras,
    .weak_read = weak_read,
};
