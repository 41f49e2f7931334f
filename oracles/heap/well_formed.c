/* SPDX-License-Identifier: MIT
 *
 * Oracle well_formed: the heap is densely packed with legal blocks, and a new block is what was
 * asked for.  That every reachable pointer leads to one of the blocks is what isomorphism says.
 */
#include "oracles/walk.h"

/* A reset leaves nothing of what was there before; image and adopt would hide it. */
static bool emptied(struct judge *j) {
    const struct heap_facts *facts = &j->side->facts;
    snprintf(j->expected, VERDICT_TEXT, "an empty heap: free blocks, fragments and unused words");
    if (facts->violation == VIOLATION_ill_formed_heap)
        judge_fail(j, VIOLATION_ill_formed_heap, facts->detail);
    snprintf(j->found, VERDICT_TEXT, "%zu live blocks", facts->live);
    if (facts->live)
        judge_fail(j, VIOLATION_ill_formed_heap, "a heap that has just been reset is not empty");
    j->expected[0] = j->found[0] = 0;
    return true;
}

static bool walked(struct judge *j) {
    return walk_is_without(j, VIOLATION_ill_formed_heap);
}

_Noreturn static void fail_block(struct judge *j, const struct request *q, const char *sentence) {
    snprintf(j->expected, VERDICT_TEXT, "a new block with tag %u and %zu fields", q->tag,
             q->wosize);
    snprintf(j->found, VERDICT_TEXT, "the word 0x%llx in the slot", (unsigned long long)q->block);
    judge_fail(j, VIOLATION_ill_formed_heap, sentence);
}

static bool placed(struct judge *j, const struct request *q) {
    if (is_immediate(q->block) || q->block % sizeof(word))
        fail_block(j, q, "an allocation left no block in its slot");
    if (!q->claimed)
        return false; /* what the block is cannot be told then */
    word header = word_pointer(q->block)[-1];
    struct graph_ref ref = graph_resolve(&j->side->graph, q->block);
    if (ref.kind != GRAPH_BLOCK || ref.offset != 0 || header_wosize(header) != q->wosize ||
        header_tag(header) != q->tag)
        fail_block(j, q, "a new block has not the header that was asked for");
    return true;
}

const struct oracle_module oracle_well_formed = {
    .meaning = "omega: the walk tiles the heap, every header is legal",
    .source = "Definition 1 of the verified OCaml collector",
    .classes = {VIOLATION_ill_formed_heap},
    .needs = 1u << NEED_walk,
    .emptied = emptied,
    .walked = walked,
    .placed = placed,
};
