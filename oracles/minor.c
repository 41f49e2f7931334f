/* SPDX-License-Identifier: MIT
 *
 * Oracle minor.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_minor = {
    .meaning = "Definition 7: a minor collection keeps what it must and touches nothing else",
    .source = "long OCaml paper, section 8.2 and Definition 7",
    .classes = {VIOLATION_lost_object, VIOLATION_dangling_pointer, VIOLATION_edge_changed,
                VIOLATION_sharing_changed, VIOLATION_tag_changed, VIOLATION_size_changed,
                VIOLATION_data_changed, VIOLATION_garbage_retained, VIOLATION_field_written},
    .needs = 1u << NEED_walk | 1u << NEED_generations,
};
