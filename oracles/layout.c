/* SPDX-License-Identifier: MIT
 *
 * Oracle layout.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_layout = {
    .meaning = "CakeML: gc_kind_inv, unused_space_inv, gen_state_ok, heap_ok, roots_ok",
    .source = "CakeML paper, Figures 4 and 5",
    .classes = {VIOLATION_layout_broken, VIOLATION_generation_order_broken,
                VIOLATION_dangling_pointer},
    .needs = 1u << NEED_refines_words,
};
