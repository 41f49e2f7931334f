/* SPDX-License-Identifier: MIT
 *
 * Oracle refinement.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_refinement = {
    .meaning = "each level of the tower refines the one above, at every step",
    .source = "Myreen, Figures 1 to 5",
    .classes = {VIOLATION_refinement_broken, VIOLATION_false_out_of_memory},
    .needs = 1u << NEED_refines,
};
