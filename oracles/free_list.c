/* SPDX-License-Identifier: MIT
 *
 * Oracle free_list.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_free_list = {
    .meaning = "acyclic, blue, in the heap; sorted, merged and complete where promised",
    .source = "long OCaml paper, sections on the free list",
    .classes = {VIOLATION_free_list_corrupt},
    .needs = 1u << NEED_walk | 1u << NEED_free_list,
};
