/* SPDX-License-Identifier: MIT
 *
 * Oracle isomorphism.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_isomorphism = {
    .meaning =
        "object graph of a collector against the model: one to one, same tags, sizes, data, edges",
    .source = "Definitions 5(2), 5(3) and 7 of the verified OCaml collector; Myreen, L1",
    .classes = {VIOLATION_lost_object, VIOLATION_dangling_pointer, VIOLATION_edge_changed,
                VIOLATION_data_changed, VIOLATION_tag_changed, VIOLATION_size_changed,
                VIOLATION_sharing_changed},
};
