/* SPDX-License-Identifier: MIT
 *
 * Oracle fields: a collector that does not move writes no word of a live block, pointer or not, and
 * no slot.
 *
 * With addresses that stay this says all that isomorphism says, and more: so it judges in the place
 * of that one.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>

_Noreturn static void fail_object(struct judge *j, enum violation v, unsigned object,
                                  const char *sentence) {
    char name[NAME_TEXT];
    if (!compare_with_model(j)) { /* then there is no path to show */
        object_name(j->model, object, name, sizeof name);
        snprintf(j->found, VERDICT_TEXT, "in block %s", name);
    }
    judge_fail(j, v, sentence);
}

static void check_object(struct judge *j, unsigned object) {
    enum party party = j->side->party;
    const struct model_object *o = &j->model->objects[object];
    struct graph_ref ref = graph_resolve(&j->side->graph, o->address[party]);
    if (ref.kind != GRAPH_BLOCK)
        fail_object(j, VIOLATION_lost_object, object,
                    "a block that the program can still reach has been freed");
    const word *found = word_pointer(o->address[party]), *expected = model_fields(j->model, object);
    if (header_wosize(found[-1]) != o->wosize || header_tag(found[-1]) != o->tag)
        fail_object(j, VIOLATION_field_written, object,
                    "the collector changed the header of a live block");
    bool same = true;
    for (uint32_t f = 0; f < o->first_scanned; f++)
        same &=
            isomorphism_comparable(found[f], o->tag) == model_data(j->model, party, expected[f]);
    for (uint32_t f = o->first_scanned; f < o->wosize; f++)
        same &= found[f] == side_word(j->model, party, expected[f]);
    if (!same)
        fail_object(j, VIOLATION_field_written, object,
                    "the collector changed a field of a live block");
}

/* Slots are the words of the program itself. */
static void check_slot(struct judge *j, unsigned m, unsigned slot) {
    const struct side *s = j->side;
    word found = s->slots[m][slot], v = j->model->slots[m][slot];
    if (s->traits.forwards)
        v = isomorphism_forwarded(&s->graph, j->model_graph, found, v);
    if (found == side_word(j->model, s->party, v))
        return;
    if (!compare_with_model(j)) { /* then there is no path to show */
        snprintf(j->path, VERDICT_TEXT, "mutator %u: r%u", m, slot);
        snprintf(j->expected, VERDICT_TEXT, "0x%llx",
                 (unsigned long long)side_word(j->model, s->party, v));
        snprintf(j->found, VERDICT_TEXT, "0x%llx", (unsigned long long)found);
    }
    judge_fail(j, VIOLATION_edge_changed, "the collector has changed a slot of the program");
}

static bool compared(struct judge *j, enum occasion when) {
    (void)when;
    for (uint32_t i = 0; i < j->model->n_reached; i++)
        check_object(j, j->model->work[i]);
    for (unsigned m = 0; m < j->side->graph.mutators; m++)
        for (unsigned slot = 0; slot < GC_SLOTS; slot++)
            check_slot(j, m, slot);
    return true;
}

const struct oracle_module oracle_fields = {
    .meaning =
        "theorem property 5: a non-moving collector writes no field of a live block, no slot",
    .source = "the long OCaml paper, Figure 28, property 5 (field_reads_equal)",
    .classes = {VIOLATION_field_written, VIOLATION_lost_object, VIOLATION_edge_changed},
    .needs = 1u << NEED_walk | 1u << NEED_stays,
    .replaces = ORACLE_BIT(ORACLE_isomorphism),
    .compared = compared,
};
