/* SPDX-License-Identifier: MIT
 *
 * Oracle snapshot.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_snapshot = {
    .meaning = "Definition 6: a cycle keeps its snapshot and what the mutator made of it",
    .source = "Definition 6 of the long OCaml paper",
    .classes = {VIOLATION_snapshot_lost, VIOLATION_barrier_missed, VIOLATION_wrong_colour,
                VIOLATION_garbage_retained, VIOLATION_edge_changed, VIOLATION_data_changed},
    .needs = 1u << NEED_walk | 1u << NEED_cycle | 1u << NEED_old_stays,
};
