/* SPDX-License-Identifier: MIT
 *
 * Oracle progress.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_progress = {
    .meaning = "a bound on the steps of every operation",
    .source = "ours",
    .classes = {VIOLATION_no_progress},
};
