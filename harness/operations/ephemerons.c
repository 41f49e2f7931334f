/* SPDX-License-Identifier: MIT
 *
 * Operations on ephemerons (operations.h).
 */
#include "harness/operations/operations.h"

#include <stdio.h>
#include <string.h>

static unsigned ephemeron_in(const struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    return object != MODEL_NONE && r->model.objects[object].ephemeron ? object : MODEL_NONE;
}

bool op_ephemeron(struct runner *r, const struct op *op, unsigned m) {
    if (!model_has_room(&r->model, 1, op->keys + 1u))
        return false;
    FOR_SIDES (r, s)
        call_ephemeron(s, SLOT_NEW, op->keys);
    if (!all_served(r, m))
        return true;
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    uint32_t object = new_object(r, m, SLOT_NEW, op->keys + 1u, 0, 0, r->units);
    r->model.objects[object].ephemeron = true;
    r->model.has_ephemerons = true;
    set_slot(r, m, op->dst, &block);
    return true;
}

static void unset_field(struct runner *r, unsigned slot, size_t i) {
    FOR_SIDES (r, s)
        call_ephemeron_unset(s, slot, i);
}

/* Which of the keys that read as unit are still there is the collector's business, and what happens
 * to the data then: so what has died is taken out before anything is changed. */
static void bury(struct runner *r, unsigned object, unsigned slot) {
    model_mark(&r->model);
    const word *fields = model_fields(&r->model, object);
    uint32_t wosize = r->model.objects[object].wosize;
    bool died = fields[0] == WORD_UNIT;
    for (uint32_t f = 1; f < wosize && died; f++)
        if (fields[f] == WORD_UNIT)
            unset_field(r, slot, f);
    if (died)
        unset_field(r, slot, 0);
}

bool op_weak_set(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    size_t i = op->i % r->model.objects[object].wosize;
    copy_parent(r, m, op->dst, SLOT_TO);
    set_slot(r, m, SLOT_VALUE, &op->values[0]);
    bury(r, object, SLOT_TO);
    word value = r->model.slots[m][SLOT_VALUE];
    if (i > 0 && model_is_pointer(value) && model_offset(value) && !r->infix_keys) {
        value = model_pointer(model_object(value), 0); /* a known defect: the closure instead */
        copy_parent(r, m, SLOT_VALUE, SLOT_VALUE);
    }
    FOR_SIDES (r, s)
        call_ephemeron_set(s, SLOT_TO, i, SLOT_VALUE);
    model_fields(&r->model, object)[i] = value;
    note_write(r, object, i, 1);
    return true;
}

bool op_weak_unset(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    size_t i = op->i % r->model.objects[object].wosize;
    copy_parent(r, m, op->dst, SLOT_TO);
    bury(r, object, SLOT_TO);
    unset_field(r, SLOT_TO, i);
    model_fields(&r->model, object)[i] = WORD_UNIT;
    note_write(r, object, i, 1);
    return true;
}

bool op_weak_get(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->src);
    if (object == MODEL_NONE)
        return false;
    static const struct value found = {.kind = VALUE_SLOT, .block = SLOT_VALUE};
    copy_parent(r, m, op->src, SLOT_FROM);
    model_mark(&r->model);
    size_t i = op->i % r->model.objects[object].wosize;
    word expected = model_fields(&r->model, object)[i];
    if (expected == WORD_UNIT) { /* not set, or dead: no two collectors need agree */
        clear_slot(r, m, op->dst);
        return true;
    }
    FOR_SIDES (r, s) {
        bool is_set = call_ephemeron_get(s, SLOT_VALUE, SLOT_FROM, i);
        event_weak_read(judge_of(s), is_set, s->slots[m][SLOT_VALUE], expected);
    }
    r->model.slots[m][SLOT_VALUE] = expected;
    set_slot(r, m, op->dst, &found);
    return true;
}

/* Keys to keys, as memmove; data to data. */
static void blit_model(struct runner *r, unsigned from, size_t i, unsigned to, size_t j, size_t n) {
    memmove(model_fields(&r->model, to) + j, model_fields(&r->model, from) + i, n * sizeof(word));
    note_write(r, to, j, n);
}

bool op_weak_blit(struct runner *r, const struct op *op, unsigned m) {
    unsigned from = ephemeron_in(r, m, op->src), to = ephemeron_in(r, m, op->dst);
    if (from == MODEL_NONE || to == MODEL_NONE)
        return false;
    size_t from_size = r->model.objects[from].wosize, to_size = r->model.objects[to].wosize;
    size_t i = op->i % from_size, j = op->j % to_size, n = op->n;
    if ((i == 0) != (j == 0))
        return false;
    n = i == 0 ? 1 : n > from_size - i ? from_size - i : n;
    n = n > to_size - j ? to_size - j : n;
    copy_parent(r, m, op->src, SLOT_FROM);
    copy_parent(r, m, op->dst, SLOT_TO);
    bury(r, from, SLOT_FROM);
    bury(r, to, SLOT_TO);
    FOR_SIDES (r, s)
        call_ephemeron_blit(s, SLOT_FROM, i, SLOT_TO, j, n);
    blit_model(r, from, i, to, j, n);
    return true;
}
