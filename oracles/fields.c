/* SPDX-License-Identifier: MIT
 *
 * Oracle fields.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_fields = {
    .meaning = "theorem property 5: a non-moving collector writes no field of a live block",
    .source = "long OCaml paper, Figure 28",
    .classes = {VIOLATION_field_written, VIOLATION_lost_object},
    .needs = 1u << NEED_walk | 1u << NEED_stays,
};
