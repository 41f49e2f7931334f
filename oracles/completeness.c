/* SPDX-License-Identifier: MIT
 *
 * Oracle completeness.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_completeness = {
    .meaning = "exactly the reachable blocks are left after a full collection",
    .source = "Definition 5(2) of the verified OCaml collector",
    .classes = {VIOLATION_garbage_retained},
    .needs = 1u << NEED_walk | 1u << NEED_exact,
};
