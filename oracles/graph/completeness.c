/* SPDX-License-Identifier: MIT
 *
 * Oracle completeness: after a full collection, or a compaction, the heap has the reachable blocks
 * and no other.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>

static bool compared(struct judge *j, enum occasion when) {
    const struct side *s = j->side;
    bool compacted = when == AFTER_COMPACTION && s->traits.compacts;
    if (when != AFTER_FULL && !compacted)
        return false;
    if (s->facts.live == j->model->live_objects || compare_with_model(j))
        return true; /* of a difference the other oracles will say what it is */
    const word *garbage = heap_unreached(&s->graph, j->iso);
    if (s->traits.forwards && !garbage)
        return true; /* Forward blocks that pointers were led past */
    snprintf(j->expected, VERDICT_TEXT, "%u live blocks", (unsigned)j->model->live_objects);
    char block[VERDICT_TEXT / 2] = "not known";
    if (garbage)
        describe_block(j, (uint32_t)(garbage + 1 - s->graph.base), block, sizeof block);
    snprintf(j->found, VERDICT_TEXT, "%zu; the first that nothing reaches is %s", s->facts.live,
             block);
    judge_fail(j, VIOLATION_garbage_retained, "an unreachable block survived a full collection");
}

const struct oracle_module oracle_completeness = {
    .meaning = "exactly the reachable blocks are left after a full collection",
    .source = "Definition 5(2) of the verified OCaml collector",
    .classes = {VIOLATION_garbage_retained},
    .needs = 1u << NEED_walk | 1u << NEED_exact,
    .compared = compared,
};
