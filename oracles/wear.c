/* SPDX-License-Identifier: MIT
 *
 * Oracle wear.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_wear = {
    .meaning = "an emptied heap serves what a fresh heap serves",
    .source = "ours",
    .classes = {VIOLATION_heap_worn_out, VIOLATION_garbage_retained, VIOLATION_false_out_of_memory},
    .needs = 1u << NEED_renews,
};
