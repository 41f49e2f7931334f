/* SPDX-License-Identifier: MIT
 *
 * Operations of a language runtime: lazy blocks, truncation, many blocks at once; and which file
 * has the others (runtime_internal.h).
 *
 * If all collectors of a run have them (collectors/extras.h), they mean what they mean in OCaml and
 * the model says what is observable.  Else they are the nearest thing that a collector has: an
 * ephemeron is a block that keeps its fields alive, a finaliser never runs, a copy is an alias.
 */
#include "harness/runtime_internal.h"

#include <string.h>

static const struct value unit = {.kind = VALUE_IMMEDIATE};
static const struct value kept = {.kind = VALUE_SLOT, .block = SLOT_FROM};

/* ---- helpers ----------------------------------------------------------------------------------
 */

uint32_t new_object(struct runner *r, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                    size_t first_scanned, const word *raw) {
    uint32_t object = model_add(&r->model, wosize, tag, first_scanned, raw);
    if (object == MODEL_NONE)
        harness_fault(r, "the model has no room left");
    r->model.objects[object].origin = -1 - (int32_t)r->verdict.op;
    r->model.objects[object].serial = (uint16_t)r->serial++;
    r->model.slots[m][dst] = model_pointer(object, 0);
    r->bound_words += wosize + 1;
    return object;
}

/* The object in a slot, if it has so many fields that are values. */
static unsigned scanned_object(const struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    if (object == MODEL_NONE)
        return MODEL_NONE;
    const struct model_object *o = &r->model.objects[object];
    bool values = o->first_scanned == 0 && o->tag < TAG_NO_SCAN && !o->is_static && !o->ephemeron;
    return values ? object : MODEL_NONE;
}

/* ---- blocks that change -------------------------------------------------------------------------
 */

/* The end of a chain of Forward blocks that begins at the word v; a Forward block itself if the
 * chain is longer than any but a made-up one.  *passes: the chain goes through that object, or may.
 */
static word end_of_chain(const struct model *model, word v, unsigned object, bool *passes) {
    enum { LONGEST = 16 };
    for (unsigned n = 0; model_is_pointer(v); n++) {
        const struct model_object *o = &model->objects[model_object(v)];
        *passes |= model_object(v) == object || n == LONGEST;
        if (o->tag != TAG_FORWARD || o->is_static || n == LONGEST)
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
        for (uint32_t f = 0; o->ephemeron && f < o->wosize; f++)
            end_of_chain(model, model->fields[o->first_field + f], object, &passes);
    }
    return passes;
}

/* A collector leads no pointer past a Forward block with this field: where its chain ends there is
 * a block with a tag that whoever forces a lazy value must see. */
static bool stays_a_block(const struct runner *r, word field) {
    word end = end_of_chain(&r->model, field, MODEL_NONE, &(bool){false});
    if (!model_is_pointer(end))
        return false;
    const struct model_object *o = &r->model.objects[model_object(end)];
    return o->is_static || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE;
}

void make_forward(struct runner *r, unsigned m, unsigned slot) {
    copy_parent(r, m, slot, SLOT_TO);
    copy_parent(r, m, slot, SLOT_FROM);
    load_field(r, m, 0);
    FOR_SIDES(r, s)
    call_forward(s, SLOT_TO, SLOT_VALUE);
    r->model.objects[slot_object(r, m, slot)].tag = TAG_FORWARD;
}

static bool op_forward(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = scanned_object(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    struct model_object *o = &r->model.objects[object];
    if (o->tag != TAG_LAZY || o->wosize != 1)
        return false;
    copy_parent(r, m, op->dst, SLOT_TO);
    set_slot(r, m, SLOT_VALUE, &op->values[0]);
    word value = r->model.slots[m][SLOT_VALUE];
    if (!r->extras) {
        store_field(r, m, 0, false);
        return true;
    }
    /* Pointers that a collector leads past a key leave it to die alone, at a time of its own. */
    if (!stays_a_block(r, value) && is_key(r, object))
        return false;
    FOR_SIDES(r, s)
    call_forward(s, SLOT_TO, SLOT_VALUE);
    model_fields(&r->model, object)[0] = value;
    o->tag = TAG_FORWARD;
    return true;
}

/* Elsewhere the fields that go become unit. */
static bool op_truncate(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = scanned_object(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    struct model_object *o = &r->model.objects[object];
    uint32_t n = 1 + op->n % o->wosize;
    if (n == o->wosize || o->tag == TAG_FORWARD || o->tag == TAG_LAZY)
        return false;
    copy_parent(r, m, op->dst, SLOT_TO);
    set_slot(r, m, SLOT_VALUE, &unit);
    if (!r->extras) {
        for (uint32_t f = n; f < o->wosize; f++)
            store_field(r, m, f, false);
        return true;
    }
    FOR_SIDES(r, s)
    call_truncate(s, SLOT_TO, n);
    o->wosize = n;
    return true;
}

/* ---- many blocks at once ------------------------------------------------------------------------
 */

/* dst := a block of these fields; false if there was no room. */
static bool build_block(struct runner *r, unsigned m, unsigned dst, const struct value *fields,
                        unsigned n) {
    struct op op = {
        .code = OP_ALLOC, .dst = (uint8_t)dst, .size = (uint16_t)n, .n_values = (uint8_t)n};
    memcpy(op.values, fields, n * sizeof *fields);
    word before = r->model.slots[m][dst];
    alloc_block(r, &op, m);
    return r->model.slots[m][dst] != before;
}

/* Allocated first, then filled with blocks. */
static void build_array(struct runner *r, const struct op *op, unsigned m) {
    struct op array = {.code = OP_ALLOC, .dst = op->dst, .size = op->n ? op->n : 1};
    alloc_block(r, &array, m);
    for (uint16_t k = 0; model_is_pointer(r->model.slots[m][op->dst]) && k < op->n; k++) {
        set_slot(r, m, SLOT_VALUE, &unit);
        if (!build_block(r, m, SLOT_VALUE, &kept, 1))
            return;
        copy_parent(r, m, op->dst, SLOT_TO);
        store_field(r, m, k, false);
    }
}

/* Each block of a list or tree holds the value and what was there before it: a tree has it twice,
 * so that there are many ways to each block. */
static bool op_build(struct runner *r, const struct op *op, unsigned m) {
    const struct value dst = {.kind = VALUE_SLOT, .block = op->dst};
    const struct value fields[] = {kept, dst, dst};
    set_slot(r, m, SLOT_FROM, &op->values[0]);
    set_slot(r, m, op->dst, &unit);
    if (op->i == BUILD_ARRAY)
        build_array(r, op, m);
    for (uint16_t k = 0; op->i != BUILD_ARRAY && k < op->n; k++)
        if (!build_block(r, m, op->dst, fields, op->i == BUILD_TREE ? 3 : 2))
            break;
    return true;
}

/* ---- dispatch -----------------------------------------------------------------------------------
 */

bool run_runtime_operation(struct runner *r, const struct op *op, unsigned m) {
    switch ((enum op_code)op->code) {
    case OP_EPHEMERON:
        return op_ephemeron(r, op, m);
    case OP_EPHE_SET:
    case OP_EPHE_UNSET:
    case OP_EPHE_GET:
    case OP_EPHE_BLIT:
        return op_on_ephemeron(r, op, m);
    case OP_RESOURCE:
        return op_resource(r, op, m);
    case OP_FORWARD:
        return op_forward(r, op, m);
    case OP_TRUNCATE:
        return op_truncate(r, op, m);
    case OP_FINALISE:
        return op_finalise(r, op, m);
    case OP_MARSHAL:
        return op_marshal(r, op, m);
    case OP_MEASURE:
        return op_measure(r, op, m);
    default:
        return op_build(r, op, m);
    }
}
