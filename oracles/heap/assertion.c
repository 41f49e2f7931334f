/* SPDX-License-Identifier: MIT
 *
 * Oracle assertion: what the collector says of itself.
 */
#include "oracles/judge.h"

static bool inspected(struct judge *j) {
    if (!j->side->collector->check)
        return false;
    const char *sentence = j->services->check(j);
    if (sentence)
        judge_fail(j, VIOLATION_collector_assertion, sentence);
    return true;
}

static bool broken(struct judge *j, const char *sentence) {
    judge_fail(j, VIOLATION_collector_assertion, sentence);
}

const struct oracle_module oracle_assertion = {
    .meaning = "the collector's own check",
    .source = "the collector",
    .classes = {VIOLATION_collector_assertion},
    .emptied = inspected,
    .inspected = inspected,
    .broken = broken,
};
