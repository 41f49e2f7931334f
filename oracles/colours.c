/* SPDX-License-Identifier: MIT
 *
 * Oracle colours.
 */
#include "oracles/judge.h"

const struct oracle_module oracle_colours = {
    .meaning = "theorem property 4: only white and blue blocks after a cycle",
    .source = "long OCaml paper, Figure 28",
    .classes = {VIOLATION_wrong_colour},
    .needs = 1u << NEED_walk | 1u << NEED_whitens,
};
