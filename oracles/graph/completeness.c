/* SPDX-License-Identifier: MIT
 *
 * Oracle completeness: after a full collection, or a compaction, the heap has the reachable blocks
 * and no other; or no more of them than the traits say: cycles, so many words.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>

/* Names a block of garbage in the verdict, and ends the run. */
_Noreturn static void fail_garbage(struct judge *j, const word *garbage, const char *sentence) {
    const struct side *s = j->side;
    char block[VERDICT_TEXT / 2] = "not known";
    if (garbage)
        describe_block(j, (uint32_t)(garbage + 1 - s->graph.base), block, sizeof block);
    snprintf(j->expected, VERDICT_TEXT, "%u live blocks", (unsigned)j->model->live_objects);
    snprintf(j->found, VERDICT_TEXT, "%zu; the first that nothing reaches is %s", s->facts.live,
             block);
    judge_fail(j, VIOLATION_garbage_retained, sentence);
}

/* Less than all garbage is promised to go: so many words of it may stay, or what a cycle keeps. */
static bool judge_less(struct judge *j, const word *garbage) {
    const struct side *s = j->side;
    size_t words = s->traits.most_retained ? heap_unreached_words(&s->graph, j->iso) : 0;
    if (words > s->traits.most_retained) {
        snprintf(j->expected, VERDICT_TEXT, "%zu words of garbage at most (most_retained)",
                 s->traits.most_retained);
        snprintf(j->found, VERDICT_TEXT, "%zu words", words);
        judge_fail(j, VIOLATION_garbage_retained,
                   "a full collection has left more garbage than is promised");
    }
    garbage = garbage && s->traits.acyclic_until_exact ? heap_unkept(&s->graph, j->iso) : NULL;
    if (garbage)
        fail_garbage(j, garbage,
                     "an unreachable block that no cycle keeps survived full collections");
    return true;
}

static bool compared(struct judge *j, enum occasion when) {
    const struct side *s = j->side;
    bool compacted = when == AFTER_COMPACTION && s->traits.compacts;
    if (when != AFTER_FULL && !compacted)
        return false;
    bool shares = s->traits.shares_values;
    if ((s->facts.live == j->model->live_objects && !shares) || compare_with_model(j))
        return true; /* of a difference the other oracles will say what it is */
    const word *garbage = heap_unreached(&s->graph, j->iso);
    if (!compacted && !s->traits.full_until_exact)
        return judge_less(j, garbage);
    if ((s->traits.forwards || shares) && !garbage)
        return true; /* Forward blocks that pointers were led past, or equal ones that are one */
    fail_garbage(j, garbage, "an unreachable block survived a full collection");
}

const struct oracle_module oracle_completeness = {
    .meaning = "the reachable blocks alone are left after a full collection, or what is promised",
    .source = "Definition 5(2) of the verified OCaml collector",
    .classes = {VIOLATION_garbage_retained},
    .needs = 1u << NEED_walk | 1u << NEED_complete,
    .compared = compared,
};
