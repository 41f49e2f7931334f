/* SPDX-License-Identifier: MIT
 *
 * The operations on slots (operations.h).
 */
#include "harness/operations/operations.h"

bool op_set(struct runner *r, const struct op *op, unsigned m) {
    set_slot(r, m, op->dst, &op->values[0]);
    return true;
}

bool op_drop(struct runner *r, const struct op *op, unsigned m) {
    clear_slot(r, m, op->dst);
    return true;
}

/* Entry k of the closure, modulo the entries that there are; of another block itself. */
bool op_infix(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->src), entries = 1;
    if (object == MODEL_NONE)
        return false;
    uint32_t offset[PROGRAM_FUNCTIONS] = {0};
    const struct model_object *o = &r->model.objects[object];
    const word *fields = model_fields(&r->model, object);
    if (o->tag == TAG_CLOSURE && r->takes_infix)
        for (uint32_t f = 2; f < o->first_scanned && entries < PROGRAM_FUNCTIONS; f++)
            if (header_tag(fields[f]) == TAG_INFIX && header_wosize(fields[f]) == f + 1)
                offset[entries++] = f + 1;
    word at = offset[op->entry % entries];
    copy_parent(r, m, op->src, SLOT_FROM);
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        s->slots[m][op->dst] = s->slots[m][SLOT_FROM] + at * sizeof(word);
    }
    r->model.slots[m][op->dst] = model_pointer(object, (unsigned)at);
    return true;
}
