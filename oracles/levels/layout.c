/* SPDX-License-Identifier: MIT
 *
 * Oracle layout: CakeML's invariants on heap, roots and generations (cakeml.h).
 */
#include "oracles/levels/cakeml_record.h"

static bool shown(struct judge *j, void *view) {
    return cakeml_judge(j, &oracle_layout, view);
}

const struct oracle_module oracle_layout = {
    .meaning = "CakeML: gc_kind_inv, unused_space_inv, gen_state_ok, heap_ok, roots_ok",
    .source = "the CakeML paper, Figures 4 and 5",
    .classes = {VIOLATION_layout_broken, VIOLATION_generation_order_broken,
                VIOLATION_dangling_pointer},
    .needs = 1u << NEED_refines_words,
    .record = RECORD_cakeml_record,
    .fine = true,
    .shown = shown,
};
