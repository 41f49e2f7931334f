/* SPDX-License-Identifier: MIT
 *
 * Oracle refinement_words: CakeML's words against its heap elements, and what a collection did
 * (cakeml.h).
 */
#include "oracles/levels/cakeml_record.h"

static bool shown(struct judge *j, void *view) {
    return cakeml_judge(j, &oracle_refinement_words, view);
}

/* The last state of a call that has changed something is shown. */
static bool called(struct judge *j, const struct request *request, bool full) {
    const struct cakeml_record *c = j->record;
    bool collected = j->side->hooks->collections > j->side->collected;
    unsigned last = c->oracle.shown;
    (void)full;
    if (!c->seen)
        return false;
    if (collected && c->oracle.request != (request ? request->wosize + 1 : 0))
        judge_fail(j, VIOLATION_promise_broken,
                   "a collection is shown as one for another request than there was");
    if (request && !request->unasked && c->lists && request->answer == GC_OK &&
        last != CAKEML_CHANGED + 1)
        judge_fail(j, VIOLATION_promise_broken, "an allocation is not shown");
    if (request && !request->unasked && c->lists && request->answer == GC_OUT_OF_MEMORY &&
        last != CAKEML_REFUSED + 1)
        judge_fail(j, VIOLATION_promise_broken, "NotEnoughSpace is not shown");
    if (!request && collected && last != CAKEML_DONE + 1)
        judge_fail(j, VIOLATION_promise_broken, "the end of a collection is not shown");
    return true;
}

static bool ended(struct judge *j) {
    const struct cakeml_record *c = j->record;
    return judge_shown(j, c->before, c->seen);
}

const struct oracle_module oracle_refinement_words = {
    .meaning = "each level of cakeml refines the one above, at every step; gc_related",
    .source = "the CakeML paper, Figure 6 and sections 3.4 and 4.3",
    .classes = {VIOLATION_refinement_broken, VIOLATION_garbage_retained,
                VIOLATION_false_out_of_memory, VIOLATION_promise_broken},
    .needs = 1u << NEED_refines_words,
    .record = RECORD_cakeml_record,
    .fine = true,
    .called = called,
    .shown = shown,
    .ended = ended,
};
