/* SPDX-License-Identifier: MIT
 *
 * Oracle assertion.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_assertion = {
    .meaning = "the collector's own check",
    .source = "ours",
    .classes = {VIOLATION_collector_assertion},
};
