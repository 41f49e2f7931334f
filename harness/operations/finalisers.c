/* SPDX-License-Identifier: MIT
 *
 * Operations on finalisers and on custom blocks, which have one (operations.h).
 */
#include "harness/operations/operations.h"

#include <string.h>

/* Of the next number; MODEL_NONE: of a block that is dropped at once. */
static void promise(struct runner *r, uint32_t object) {
    FOR_SIDES (r, s)
        event_promised(judge_of(s), r->n_finalisers, object);
    r->n_finalisers++;
    if (object != MODEL_NONE)
        r->model.objects[object].pinned = true;
}

/* Has any collector a block?  Where another one refused, that is garbage with a finaliser. */
static bool any_served(const struct runner *r) {
    bool any = false;
    for (unsigned p = 0; p < r->n_sides; p++)
        any |= r->side[p].answer == GC_OK;
    return any;
}

bool op_resource(struct runner *r, const struct op *op, unsigned m) {
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    if (r->n_finalisers == FINALISERS || !model_has_room(&r->model, 1, op->words + 1u))
        return skip(r, SKIP_ROOM);
    FOR_SIDES (r, s)
        call_resource(s, SLOT_NEW, op->words + 1u, r->n_finalisers);
    if (!all_served(r, m)) {
        if (any_served(r))
            promise(r, MODEL_NONE);
        return true;
    }
    memset(r->image, 0, (op->words + 1u) * sizeof(word));
    uint32_t object =
        new_object(r, m, SLOT_NEW, op->words + 1u, TAG_CUSTOM, op->words + 1u, r->image);
    promise(r, object);
    set_slot(r, m, op->dst, &block);
    return true;
}

/* Blocks of these tags are refused by the runtime; a static one never dies. */
bool op_finalise(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->dst);
    if (object == MODEL_NONE || !r->extras)
        return false;
    const struct model_object *o = &r->model.objects[object];
    if (o->is_static || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE || o->tag == TAG_FORWARD)
        return skip(r, SKIP_UNFIT);
    if (r->n_finalisers == FINALISERS)
        return skip(r, SKIP_ROOM);
    FOR_SIDES (r, s)
        call_finalise(s, op->dst, r->n_finalisers, op->last);
    promise(r, object);
    return true;
}
