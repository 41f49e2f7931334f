/* SPDX-License-Identifier: MIT
 *
 * Oracle overlap.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_overlap = {
    .meaning = "a new block shares no word with a block that is live",
    .source = "Definition 1 of the verified OCaml collector",
    .classes = {VIOLATION_overlap},
    .needs = 1u << NEED_walk,
};
