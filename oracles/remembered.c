/* SPDX-License-Identifier: MIT
 *
 * Oracle remembered.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_remembered = {
    .meaning = "every old-to-young edge is recorded when a minor collection starts",
    .source = "long OCaml paper, section 8.2",
    .classes = {VIOLATION_remembered_set_hole},
    .needs = 1u << NEED_walk | 1u << NEED_generations,
};
