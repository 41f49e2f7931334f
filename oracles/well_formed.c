/* SPDX-License-Identifier: MIT
 *
 * Oracle well_formed.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_well_formed = {
    .meaning = "omega: the walk tiles the heap, every header is legal",
    .source = "Definition 1 of the verified OCaml collector",
    .classes = {VIOLATION_ill_formed_heap},
    .needs = 1u << NEED_walk,
};
