/* SPDX-License-Identifier: MIT
 *
 * Oracle wear: a heap that has become empty serves what a fresh one serves.
 */
#include "oracles/judge.h"

#include <stdio.h>

/* Empties the heap; false: a collection was refused. */
static bool empty(struct judge *j) {
    struct side *s = j->side;
    for (unsigned m = 0; m < s->graph.mutators; m++)
        for (unsigned i = 0; i < GC_SLOTS; i++)
            s->slots[m][i] = WORD_UNIT;
    return j->services->collect_fully(j);
}

static bool ended(struct judge *j) {
    struct side *s = j->side;
    size_t largest = s->config.heap_words - 1;
    if (s->traits.max_wosize && s->traits.max_wosize < largest)
        largest = s->traits.max_wosize;
    if (!empty(j))
        return false;
    if (j->services->allocate(j, largest) == GC_OK)
        return true;
    j->services->walk(j, AFTER_FULL);
    snprintf(j->expected, VERDICT_TEXT, "a block of %zu fields, as in a fresh heap", largest);
    snprintf(j->found, VERDICT_TEXT, "out of memory, with %zu blocks in %zu words left",
             s->facts.live, s->facts.live_words);
    if (s->facts.live)
        judge_fail(j, VIOLATION_garbage_retained, "blocks survive in a heap that has no roots");
    if (s->facts.largest_free >= largest)
        judge_fail(j, VIOLATION_false_out_of_memory,
                   "an allocation was refused although a free block is large enough");
    judge_fail(j, VIOLATION_heap_worn_out,
               "the heap has become empty, but does not serve what a fresh heap serves");
}

const struct oracle_module oracle_wear = {
    .meaning = "an emptied heap serves what a fresh heap serves",
    .source = "isoheap: what a long-running program relies on",
    .classes = {VIOLATION_heap_worn_out, VIOLATION_garbage_retained, VIOLATION_false_out_of_memory},
    .needs = 1u << NEED_renews,
    .ended = ended,
};
