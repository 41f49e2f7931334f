/* SPDX-License-Identifier: MIT
 *
 * Oracle refinement_words: CakeML's words against its heap elements, and what a collection did
 * (cakeml.h).
 */
#include "oracles/levels/cakeml_record.h"

static bool shown(struct judge *j, void *view) {
    return cakeml_judge(j, &oracle_refinement_words, view);
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
    .shown = shown,
    .ended = ended,
};
