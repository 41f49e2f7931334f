/* SPDX-License-Identifier: MIT
 *
 * Oracle free_list: every free block is on the free list once, and nothing else is.
 */
#include "oracles/walk.h"

static unsigned checks(const struct side *s, enum occasion when) {
    unsigned sorted = s->traits.sorted_free_list ? HEAP_SORTED : 0;
    unsigned merged = s->traits.merged_free_list && when == AFTER_FULL ? HEAP_MERGED : 0;
    return HEAP_FREE_LIST | sorted | merged;
}

static bool walked(struct judge *j) {
    return walk_is_without(j, VIOLATION_free_list_corrupt);
}

const struct oracle_module oracle_free_list = {
    .meaning = "acyclic, blue, in the heap; sorted, merged and complete where promised",
    .source = "the long OCaml paper, section 6",
    .classes = {VIOLATION_free_list_corrupt},
    .needs = 1u << NEED_walk | 1u << NEED_free_list,
    .checks = checks,
    .emptied = walked,
    .walked = walked,
};
