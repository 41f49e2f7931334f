/* SPDX-License-Identifier: MIT
 *
 * Oracle remembered: when a minor collection begins, every edge from a reachable old block to a
 * young one is in the remembered set; others may be.  Keeping the set complete is the barrier's
 * part.  By trait remembered_once a field is in it once: a set that takes the same field again and
 * again overflows in the end.
 */
#include "oracles/cycles/minor_record.h"
#include "oracles/describe.h"

#include <stdio.h>

/* Place q of the witness is an old block: are its edges to young ones recorded? */
static void check_edges(struct judge *j, uint32_t q) {
    const struct side *s = j->side;
    const struct minor_record *m = j->record;
    uint32_t id = j->iso->queue[q].a;
    struct graph_block block = graph_block(&s->graph, id);
    FOR_POINTERS (i, block.fields, block.first_scanned, block.wosize) {
        word v = block.fields[i];
        if (!is_young(s, v) || bit_at(m->recorded, id + i))
            continue;
        j->iso->parent = q;
        j->iso->field = (uint32_t)i;
        isomorphism_path(j->iso, j->path, VERDICT_TEXT);
        describe_heap(j, v, j->found, VERDICT_TEXT);
        snprintf(j->expected, VERDICT_TEXT, "this field in the remembered set");
        judge_fail(j, VIOLATION_remembered_set_hole,
                   "a field of an old block points at a young one and is not recorded");
    }
}

static void check_once(struct judge *j) {
    const struct minor_record *m = j->record;
    if (!j->side->traits.remembered_once || !m->twice)
        return;
    describe_heap(j, m->twice, j->path, VERDICT_TEXT);
    snprintf(j->found, VERDICT_TEXT, "field %zu of this block twice", m->twice_field);
    snprintf(j->expected, VERDICT_TEXT, "each field once");
    judge_fail(j, VIOLATION_promise_broken, "the remembered set has a field twice");
}

/* A heap that is not as it should be is left to the checks after the operation. */
static bool minor(struct judge *j, bool before) {
    const struct side *s = j->side;
    const struct minor_record *m = j->record;
    if (!before || !m->known)
        return false;
    check_once(j);
    for (uint32_t q = 0; m->unrecorded && q < j->iso->pairs; q++) {
        uint32_t id = j->iso->queue[q].a;
        if (id < s->graph.words && !is_young(s, graph_word(&s->graph, id)))
            check_edges(j, q);
    }
    return true;
}

const struct oracle_module oracle_remembered = {
    .meaning = "every old-to-young edge is recorded when a minor collection starts",
    .source = "the long OCaml paper, section 8.2",
    .classes = {VIOLATION_remembered_set_hole, VIOLATION_promise_broken},
    .needs = 1u << NEED_walk | 1u << NEED_generations,
    .record = RECORD_minor_record,
    .minor = minor,
};
