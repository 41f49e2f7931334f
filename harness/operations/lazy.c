/* SPDX-License-Identifier: MIT
 *
 * The operations of a runtime on blocks that change: lazy ones, and truncation (operations.h).
 */
#include "harness/operations/operations.h"

/* The object in a slot, if it has so many fields that are values. */
static unsigned scanned_object(const struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    if (object == MODEL_NONE)
        return MODEL_NONE;
    const struct model_object *o = &r->model.objects[object];
    bool values = o->first_scanned == 0 && o->tag < TAG_NO_SCAN && !o->is_static && !o->ephemeron;
    return values ? object : MODEL_NONE;
}

/* The end of a chain of Forward blocks that begins at the word v; a Forward block itself if the
 * chain is longer than any but a made-up one.  *passes: the chain goes through that object, or may.
 */
static word end_of_chain(const struct model *model, word v, unsigned object, bool *passes) {
    enum { LONGEST = 16 };
    for (unsigned n = 0; model_is_pointer(v); n++) {
        unsigned at = model_object(v);
        const struct model_object *o = &model->objects[at];
        *passes |= (object != MODEL_NONE && at == object) || n == LONGEST;
        if (o->tag != TAG_FORWARD || model_is_foreign(model, o) || n == LONGEST)
            break;
        v = model->fields[o->first_field];
    }
    return v;
}

/* Is the object the key of an ephemeron, or does a key that is a Forward block lead to it? */
static bool is_key(const struct runner *r, unsigned object) {
    const struct model *model = &r->model;
    bool passes = false;
    for (uint32_t i = 0; model->has_ephemerons && i < model->n_order && !passes; i++) {
        const struct model_object *o = &model->objects[model->order[i]];
        for (uint32_t f = 0; o->ephemeron && f < 2 * o->wosize; f++) /* what it was given, too */
            end_of_chain(model, model->fields[o->first_field + f], object, &passes);
    }
    return passes;
}

/* Does the word lead to a Forward block, and from there to the object? */
static bool is_led_past(const struct model *model, word v, unsigned object) {
    bool passes = false;
    if (model_is_pointer(v) && model->objects[model_object(v)].tag == TAG_FORWARD)
        end_of_chain(model, v, object, &passes);
    return passes;
}

bool is_forwarded(struct runner *r, unsigned object) {
    const struct model *model = &r->model;
    model_mark(&r->model);
    bool led = false;
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
        for (unsigned m = 0; m < model->mutators; m++)
            led |= is_led_past(model, model->slots[m][s], object);
    for (uint32_t i = 0; i < model->n_order && !led; i++) {
        const struct model_object *o = &model->objects[model->order[i]];
        uint32_t end = o->ephemeron                              ? 2 * o->wosize
                       : o->mark == model->epoch || o->is_static ? o->wosize
                                                                 : 0;
        for (uint32_t f = o->first_scanned; f < end && !led; f++)
            led = is_led_past(model, model->fields[o->first_field + f], object);
    }
    return led;
}

/* A collector leads no pointer past a Forward block with this field: where its chain ends there is
 * a block with a tag that whoever forces a lazy value must see. */
static bool stays_a_block(const struct runner *r, word field) {
    word end = end_of_chain(&r->model, field, MODEL_NONE, &(bool){false});
    if (!model_is_pointer(end))
        return false;
    const struct model_object *o = &r->model.objects[model_object(end)];
    return model_is_foreign(&r->model, o) || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE;
}

bool leads_to_infix(const struct runner *r, word v) {
    if (r->infix_keys || !model_is_pointer(v) ||
        r->model.objects[model_object(v)].tag != TAG_FORWARD)
        return false;
    word end = end_of_chain(&r->model, v, MODEL_NONE, &(bool){false});
    return model_is_pointer(end) && model_offset(end) > 0;
}

/* What may not become of a lazy block that is a key.  Where two are compared, pointers that one
 * leads past it leave it to die alone, at a time of its own; else the model follows, but not to
 * where a known defect is. */
static bool may_not_be_key(const struct runner *r, unsigned object, word value) {
    if (!r->model.outlives)
        return !stays_a_block(r, value) && is_key(r, object);
    word end = end_of_chain(&r->model, value, MODEL_NONE, &(bool){false});
    return !r->infix_keys && model_is_pointer(end) && model_offset(end) > 0 && is_key(r, object);
}

void make_forward(struct runner *r, unsigned m, unsigned slot) {
    copy_parent(r, m, slot, SLOT_TO);
    copy_parent(r, m, slot, SLOT_FROM);
    if (!load_field(r, m, 0))
        return; /* it stays the lazy block that it is */
    FOR_SIDES (r, s)
        call_forward(s, SLOT_TO, SLOT_VALUE);
    r->model.objects[slot_object(r, m, slot)].tag = TAG_FORWARD;
}

bool op_forward(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = scanned_object(r, m, op->dst);
    if (object == MODEL_NONE)
        return skip_block(r, slot_object(r, m, op->dst));
    struct model_object *o = &r->model.objects[object];
    if (o->tag != TAG_LAZY || o->wosize != 1)
        return skip(r, SKIP_UNFIT);
    copy_parent(r, m, op->dst, SLOT_TO);
    set_slot(r, m, SLOT_VALUE, &op->values[0]);
    word value = r->model.slots[m][SLOT_VALUE];
    if (!r->extras) {
        store_field(r, m, 0, false);
        return true;
    }
    if (may_not_be_key(r, object, value))
        return skip(r, SKIP_LAZY_KEY);
    FOR_SIDES (r, s)
        call_forward(s, SLOT_TO, SLOT_VALUE);
    model_fields(&r->model, object)[0] = value;
    note_write(r, object, 0, 1);
    o->tag = TAG_FORWARD;
    return true;
}

/* ---- a block that becomes shorter -------------------------------------------------------------
 */

/* How many fields a block must keep, if any of them may go; 0: none.  A closure keeps its code; a
 * custom block has words that are not the program's. */
static uint32_t least_kept(const struct runner *r, const struct model_object *o) {
    if (o->is_static || o->ephemeron || o->tag == TAG_FORWARD || o->tag == TAG_LAZY)
        return 0;
    bool raw = o->tag == TAG_STRING || o->tag == TAG_DOUBLE_ARRAY || o->tag == TAG_ABSTRACT;
    if (raw || o->tag == TAG_CLOSURE)
        return !r->extras ? 0 : raw ? 1 : o->first_scanned;
    return o->tag < TAG_NO_SCAN && o->first_scanned == 0;
}

/* The last byte of a string says where it ends: it is a string of n words before it is cut. */
static bool end_string(struct runner *r, unsigned m, unsigned object, uint32_t n) {
    word *last = model_fields(&r->model, object) + n - 1;
    if (model_is_address(&r->model, *last))
        return false;
    *last &= UINT64_MAX >> 8;
    FOR_SIDES (r, s)
        call_write_raw(s, m, SLOT_TO, n - 1, *last);
    note_write(r, object, n - 1, 1);
    return true;
}

/* Elsewhere the fields that go become unit. */
bool op_truncate(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->dst);
    uint32_t least = object == MODEL_NONE ? 0 : least_kept(r, &r->model.objects[object]);
    if (!least)
        return skip_block(r, object);
    struct model_object *o = &r->model.objects[object];
    uint32_t n = least + op->kept % (o->wosize - least + 1);
    bool by_stores = !r->extras || !ALL_HAVE(r, truncate);
    if (n == o->wosize || (by_stores && o->first_scanned > n))
        return skip(r, SKIP_UNFIT);
    copy_parent(r, m, op->dst, SLOT_TO);
    clear_slot(r, m, SLOT_VALUE);
    if (by_stores) {
        for (uint32_t f = n; f < o->wosize && store_field(r, m, f, false);)
            f++;
        return true;
    }
    if (o->tag == TAG_STRING && !end_string(r, m, object, n))
        return skip(r, SKIP_UNFIT);
    FOR_SIDES (r, s)
        call_truncate(s, SLOT_TO, n);
    o->wosize = n;
    if (o->first_scanned > n)
        o->first_scanned = n;
    return true;
}
