/* SPDX-License-Identifier: MIT
 *
 * Oracle memory.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_memory = {
    .meaning = "out of memory exactly when promised",
    .source = "Myreen, section 4",
    .classes = {VIOLATION_false_out_of_memory, VIOLATION_missed_out_of_memory},
    .needs = 1u << NEED_refusal,
};
