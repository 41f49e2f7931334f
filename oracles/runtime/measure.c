/* SPDX-License-Identifier: MIT
 *
 * Oracle measure: a runtime counts the words that a block reaches as the model does.
 */
#include "oracles/judge.h"

#include <stdio.h>

static bool measured(struct judge *j, size_t found, size_t expected) {
    if (found == SIZE_MAX)
        return false; /* no answer */
    if (found == expected)
        return true;
    snprintf(j->expected, VERDICT_TEXT, "%zu words", expected);
    snprintf(j->found, VERDICT_TEXT, "%zu", found);
    judge_fail(j, VIOLATION_size_changed, "the words that a block reaches are counted wrong");
}

const struct oracle_module oracle_measure = {
    .meaning = "the words that a block reaches are counted as they are",
    .source = "OCaml's Obj.reachable_words",
    .classes = {VIOLATION_size_changed},
    .needs = 1u << NEED_extras,
    .measured = measured,
};
