/* SPDX-License-Identifier: MIT
 *
 * Oracle isomorphism: the object graph of a collector is the model's, up to addresses.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>

static const char *const sentences[VIOLATION_classes] = {
    [VIOLATION_lost_object] = "a block that the program can still reach has been freed",
    [VIOLATION_dangling_pointer] = "a word that must be a pointer points at no block",
    [VIOLATION_edge_changed] = "a pointer leads to another place than before",
    [VIOLATION_data_changed] = "data of a reachable block is not what it was",
    [VIOLATION_tag_changed] = "the tag of a reachable block is not what it was",
    [VIOLATION_size_changed] = "the size of a reachable block is not what it was",
    [VIOLATION_sharing_changed] = "blocks that were one are two now, or the other way round",
};

/* ---- whole graphs -----------------------------------------------------------------------------
 */

static void describe_difference(struct judge *j, enum violation v) {
    const struct isomorphism *iso = j->iso;
    unsigned long long found = iso->left, expected = iso->right;
    isomorphism_path(iso, j->path, VERDICT_TEXT);
    if (!iso->in_block) {
        describe_heap(j, iso->left, j->found, VERDICT_TEXT);
        describe_model(j->model, iso->right, j->expected, VERDICT_TEXT);
    } else if (v == VIOLATION_tag_changed) {
        snprintf(j->found, VERDICT_TEXT, "tag %llu", found);
        snprintf(j->expected, VERDICT_TEXT, "tag %llu", expected);
    } else if (v == VIOLATION_size_changed) {
        snprintf(j->found, VERDICT_TEXT, "%llu fields", found);
        snprintf(j->expected, VERDICT_TEXT, "%llu fields", expected);
    } else {
        snprintf(j->found, VERDICT_TEXT, "the word 0x%llx", found);
        describe_word(j->model, iso->right, j->expected, VERDICT_TEXT);
    }
}

static bool any_unsure(const struct model *model) {
    bool any = false;
    for (uint32_t i = 0; model->outlives && i < model->n_reached && !any; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        any = o->ephemeron && (o->shaky || model_has_passed(model, model->work[i]));
    }
    return any;
}

/* Of those pairs the ephemerons whose data may be gone, and is there: with keys that are reached
 * all of them, or else one, whose keys are dead unless other data reaches them, which comes first.
 */
static bool takes_over_some(struct judge *j, bool with_keys) {
    struct isomorphism *iso = j->iso;
    bool any = false;
    for (size_t q = 0; q < iso->pairs && (with_keys || !any); q++) {
        unsigned ephemeron = iso->queue[q].b;
        if (!j->model->objects[ephemeron].shaky ||
            graph_block(&j->side->graph, iso->queue[q].a).fields[0] == WORD_UNIT ||
            (with_keys && !model_keys_reached(j->model, ephemeron)))
            continue;
        model_data_is(j->model, ephemeron, true);
        any = true;
    }
    return any;
}

/* A key that may be passed is shown to be what its chain leads to; or it is not shown and the data
 * is, so that the key must be gone. */
static bool takes_over_key(struct judge *j, word *key, const word *shown, size_t i) {
    word end = model_passed_to(j->model, *key);
    struct graph_ref ref = graph_resolve(&j->side->graph, shown[i]);
    if (end == WORD_UNIT ||
        (ref.kind == GRAPH_BLOCK && graph_block(&j->side->graph, ref.id).tag == TAG_FORWARD))
        return false;
    if (shown[i] == WORD_UNIT && shown[0] == WORD_UNIT)
        return false;
    *key = shown[i] == WORD_UNIT ? MODEL_NOTHING : end;
    return true;
}

/* An ephemeron with keys that may be passed.  Its data is there or not, as is shown; but it must be
 * if all keys are shown. */
static bool takes_over_ephemeron(struct judge *j, unsigned ephemeron, const word *shown) {
    struct model_object *o = &j->model->objects[ephemeron];
    word *kept = model_kept(j->model, ephemeron);
    bool any = false, all = true, before = o->seen;
    for (uint32_t f = 1; f < o->wosize; f++) {
        if (model_may_be_passed(j->model, kept[f]))
            any |= takes_over_key(j, &kept[f], shown, f);
        all &= kept[f] == MODEL_NOTHING || kept[f] == WORD_UNIT || shown[f] != WORD_UNIT;
    }
    if (all && o->shaky && shown[0] == WORD_UNIT && model_passed_to(j->model, kept[0]) != WORD_UNIT)
        model_data_is(j->model, ephemeron, false);
    o->seen = shown[0] != WORD_UNIT || (all && kept[0] != MODEL_NOTHING);
    return any || o->seen != before;
}

static bool takes_over_passed(struct judge *j) {
    const struct isomorphism *iso = j->iso;
    bool any = false;
    for (size_t q = 0; q < iso->pairs; q++)
        if (j->model->objects[iso->queue[q].b].ephemeron &&
            model_has_passed(j->model, iso->queue[q].b))
            any |= takes_over_ephemeron(j, iso->queue[q].b,
                                        graph_block(&j->side->graph, iso->queue[q].a).fields);
    return any;
}

/* Is there a difference?  Has an ephemeron data or keys that may be gone?  The model takes that
 * over, and what that reaches is to be compared too. */
static bool takes_over(struct judge *j, enum violation v) {
    struct isomorphism *iso = j->iso;
    if (!j->model->has_ephemerons || !any_unsure(j->model))
        return false;
    if (v) {
        iso->gaps = true;
        isomorphism_compare(iso, &j->side->graph, j->model_graph);
        iso->gaps = false;
    }
    bool any =
        takes_over_passed(j) || (v && (takes_over_some(j, true) || takes_over_some(j, false)));
    if (any || v)
        model_mark(j->model);
    return any;
}

enum violation compare_with_model(struct judge *j) {
    enum violation v;
    isomorphism_allow(j->iso, j->side->collector, &j->side->traits);
    v = isomorphism_compare(j->iso, &j->side->graph, j->model_graph);
    while (takes_over(j, v))
        v = isomorphism_compare(j->iso, &j->side->graph, j->model_graph);
    if (v && j->model->outlives) /* the last one was without the fields of ephemerons */
        v = isomorphism_compare(j->iso, &j->side->graph, j->model_graph);
    if (v)
        describe_difference(j, v);
    return v;
}

static bool compared(struct judge *j, enum occasion when) {
    (void)when;
    enum violation v = compare_with_model(j);
    if (v)
        judge_fail(j, v, sentences[v]);
    j->side->paired = true;
    if (j->model->outlives)
        model_data_seen(j->model);
    return true;
}

/* ---- words ------------------------------------------------------------------------------------
 */

/* One step deep. */
static bool same_block(const struct judge *j, word found, word expected) {
    const struct side *s = j->side;
    struct graph_ref ref = graph_resolve(&s->graph, found);
    if (s->traits.forwards)
        expected = isomorphism_forwarded(&s->graph, j->model_graph, found, expected);
    if (!model_is_pointer(expected))
        return ref.kind == GRAPH_ATOM && found == side_word(j->model, s->party, expected);
    if (ref.kind != GRAPH_BLOCK || ref.offset != model_offset(expected))
        return false;
    if (!s->traits.moves)
        return found == side_word(j->model, s->party, expected);
    const struct model_object *o = &j->model->objects[model_object(expected)];
    struct graph_block block = graph_block(&s->graph, ref.id);
    return block.tag == o->tag && block.wosize == o->wosize;
}

bool judge_word(struct judge *j, word found, word expected) {
    if (j->side->hooks->collections != j->side->collections)
        return false; /* a collection in the barrier: the comparison after it will see */
    if (same_block(j, found, expected))
        return true;
    describe_model(j->model, expected, j->expected, VERDICT_TEXT);
    describe_heap(j, found, j->found, VERDICT_TEXT);
    bool data = is_immediate(found) && is_immediate(expected);
    judge_fail(j, data ? VIOLATION_data_changed : VIOLATION_edge_changed,
               "a field reads back as something else than was written");
}

static bool raw_read(struct judge *j, word found, word expected) {
    if (found == model_data(j->model, j->side->party, expected))
        return true;
    describe_word(j->model, expected, j->expected, VERDICT_TEXT);
    snprintf(j->found, VERDICT_TEXT, "0x%llx", (unsigned long long)found);
    judge_fail(j, VIOLATION_data_changed,
               "a raw word reads back as something else than was written");
}

const struct oracle_module oracle_isomorphism = {
    .meaning = "object graph of a collector against the model: one to one, the same tags, sizes, "
               "data and edges",
    .source = "Definitions 5(2), 5(3) and 7 of the verified OCaml collector; L1 of Myreen's",
    .classes = {VIOLATION_lost_object, VIOLATION_dangling_pointer, VIOLATION_edge_changed,
                VIOLATION_data_changed, VIOLATION_tag_changed, VIOLATION_size_changed,
                VIOLATION_sharing_changed},
    .marks = true,
    .compared = compared,
    .loaded = judge_word,
    .raw_read = raw_read,
};
