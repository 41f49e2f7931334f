/* SPDX-License-Identifier: MIT
 *
 * Oracle ageing: the young generation is used, and blocks leave it at their age.
 *
 * A block that is young by the config and has room in the nursery is young.  The minor collection
 * after as many as the config's age promotes it, if the old generation has a free block for it, and
 * none before does, unless it is part of a full collection: of those in which a call has collected
 * once and no more that is known.  Looked at are the blocks that the slots hold.
 */
#include "oracles/cycles/minor_record.h"

#include <stdio.h>

#define NEVER_YOUNG UINT64_MAX

struct ageing {
    uint64_t minors;             /* collections, ever */
    uint64_t first;              /* of them before this run */
    uint64_t call;               /* side->collected at the last one: the call in which it was, */
    unsigned in_call;            /* and how many there were in it */
    uint32_t young[GC_MUTATORS]; /* a bit for each slot: it held a young block before the last */
    uint64_t born[];             /* by object: minors when it was allocated, or NEVER_YOUNG */
};
_Static_assert(PROGRAM_SLOTS <= 32, "a bit for each slot");

static bool reset(struct judge *j) {
    struct ageing *a = j->state;
    a->first = ++a->minors; /* what is known of a block of another run is from before that */
    a->in_call = 0;
    return false;
}

/* ---- new blocks -------------------------------------------------------------------------------
 */

static void judge_new(struct judge *j, const struct request *q) {
    const struct side *s = j->side;
    size_t words = s->graph.words, half = s->config.nursery_words;
    size_t used = heap_in_use(&s->graph, words - s->graph.nursery_words, words);
    if (q->wosize + 1 >= s->config.large_words || used + q->wosize + 1 > half)
        return;
    snprintf(j->expected, VERDICT_TEXT, "a young block: %zu words of the nursery are free",
             half - used);
    snprintf(j->found, VERDICT_TEXT, "an old one of %zu words", q->wosize + 1);
    judge_fail(j, VIOLATION_nursery_unused,
               "a block that has room in the nursery has been allocated in the old generation");
}

/* The model's number of the block that has just been allocated. */
static unsigned new_object(const struct judge *j, word block) {
    for (unsigned m = 0; m < j->side->graph.mutators; m++)
        if (j->side->slots[m][SLOT_NEW] == block && model_is_pointer(j->model->slots[m][SLOT_NEW]))
            return model_object(j->model->slots[m][SLOT_NEW]);
    return MODEL_NONE;
}

static bool placed(struct judge *j, const struct request *request) {
    struct ageing *a = j->state;
    bool young = is_young(j->side, request->block);
    unsigned object = request->modelled ? new_object(j, request->block) : MODEL_NONE;
    if (object != MODEL_NONE)
        a->born[object] = young ? a->minors : NEVER_YOUNG;
    if (!young && j->side->traits.young_first)
        judge_new(j, request);
    return j->side->traits.young_first;
}

/* ---- minor collections ------------------------------------------------------------------------
 */

/* The block of the script that a slot of the model holds; MODEL_NONE: none that was ever young. */
static unsigned ageing_object(const struct judge *j, unsigned m, unsigned slot) {
    const struct ageing *a = j->state;
    word v = j->model->slots[m][slot];
    if (!model_is_pointer(v))
        return MODEL_NONE;
    uint64_t born = a->born[model_object(v)];
    bool known = born >= a->first && born != NEVER_YOUNG;
    return known && j->model->objects[model_object(v)].origin < 0 ? model_object(v) : MODEL_NONE;
}

static void note_young(struct judge *j) {
    struct ageing *a = j->state;
    for (unsigned m = 0; m < j->side->graph.mutators; m++) {
        const word *slots = j->side->slots[m];
        uint32_t young = 0;
        FOR_POINTERS (i, slots, 0, PROGRAM_SLOTS)
            if (ageing_object(j, m, (unsigned)i) != MODEL_NONE && is_young(j->side, slots[i]))
                young |= (uint32_t)1 << i;
        a->young[m] = young;
    }
}

_Noreturn static void fail_age(struct judge *j, unsigned m, unsigned slot, uint64_t survived,
                               bool late) {
    if (m == 0)
        snprintf(j->path, VERDICT_TEXT, "r%u", slot);
    else
        snprintf(j->path, VERDICT_TEXT, "mutator %u: r%u", m, slot);
    snprintf(j->expected, VERDICT_TEXT,
             "%s block: it has survived %u minor collections, and the "
             "age is %u",
             late ? "an old" : "a young", (unsigned)survived, j->side->config.promotion_age);
    snprintf(j->found, VERDICT_TEXT, "%s", late ? "a young one" : "an old one");
    judge_fail(j, VIOLATION_age_ignored,
               late
                   ? "a block is young still although it is old enough for promotion, and there is "
                     "room for it"
                   : "a minor collection has promoted a block that is not old enough");
}

/* Does every block that was young still or no longer belong where it is?  late: those alone that
 * should have been promoted by now. */
static void judge_ages(struct judge *j, bool late) {
    const struct side *s = j->side;
    const struct ageing *a = j->state;
    for (unsigned m = 0; m < s->graph.mutators; m++)
        for (uint32_t left = a->young[m]; left; left &= left - 1) {
            unsigned i = (unsigned)__builtin_ctz(left), object = ageing_object(j, m, i);
            if (object == MODEL_NONE)
                continue;
            uint64_t survived = a->minors - a->born[object];
            bool due = survived > s->config.promotion_age;
            if (due == late && due == is_young(s, s->slots[m][i]) &&
                (!late || s->facts.largest_free >= j->model->objects[object].wosize))
                fail_age(j, m, i, survived, late);
        }
}

/* Behind it the record has walked the heap: no free block is larger than it was when the last block
 * looked for one. */
static bool minor(struct judge *j, bool before) {
    struct ageing *a = j->state;
    const struct minor_record *m = j->record;
    if (!j->side->traits.ages)
        return false;
    if (before) {
        note_young(j);
        return false;
    }
    a->minors++;
    a->in_call = a->call == j->side->collected ? a->in_call + 1 : 1;
    a->call = j->side->collected;
    if (!m->known || j->side->facts.violation)
        return false;
    judge_ages(j, true);
    return true;
}

static bool worked(struct judge *j, const struct request *request, bool full) {
    struct ageing *a = j->state;
    (void)request;
    (void)full;
    bool alone = a->in_call == 1 && a->call == j->side->collected &&
                 j->side->hooks->collections == j->side->collected + 1;
    a->in_call = 0;
    if (alone)
        judge_ages(j, false);
    return alone;
}

const struct oracle_module oracle_ageing = {
    .meaning = "small blocks are young, and promoted at the age that the config says",
    .source = "the long OCaml paper, section 2: the generational hypothesis",
    .classes = {VIOLATION_nursery_unused, VIOLATION_age_ignored},
    .needs = 1u << NEED_nurses | 1u << NEED_generations | 1u << NEED_walk,
    .state = sizeof(struct ageing),
    .each = sizeof(uint64_t),
    .record = RECORD_minor_record,
    .reset = reset,
    .placed = placed,
    .minor = minor,
    .worked = worked,
};
