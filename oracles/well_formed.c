/* SPDX-License-Identifier: MIT
 *
 * Oracle well_formed: the heap is densely packed with legal blocks, and a new block is what was
 * asked for.  That every reachable pointer leads to one of the blocks is what isomorphism says.
 */
#include "oracles/walk.h"

static bool walked(struct judge *j) {
    return walk_is_without(j, VIOLATION_ill_formed_heap);
}

const struct oracle_module oracle_well_formed = {
    .meaning = "omega: the walk tiles the heap, every header is legal",
    .source = "Definition 1 of the verified OCaml collector",
    .classes = {VIOLATION_ill_formed_heap},
    .needs = 1u << NEED_walk,
    .walked = walked,
};
