/* SPDX-License-Identifier: MIT
 *
 * Oracle colours: the colour bits of every block, as far as the collector promises them.
 */
#include "oracles/walk.h"

static unsigned checks(const struct side *s, enum occasion when) {
    (void)s, (void)when;
    return HEAP_COLOURS;
}

static bool walked(struct judge *j) {
    return walk_is_without(j, VIOLATION_wrong_colour);
}

const struct oracle_module oracle_colours = {
    .meaning = "theorem property 4: only white and blue blocks after a cycle",
    .source = "the long OCaml paper, Figure 28, property 4",
    .classes = {VIOLATION_wrong_colour},
    .needs = 1u << NEED_walk | 1u << NEED_whitens,
    .checks = checks,
    .walked = walked,
};
