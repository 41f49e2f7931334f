/* SPDX-License-Identifier: MIT
 *
 * Operations on whole blocks of a runtime, by its own functions (operations.h): parts of arrays and
 * arrays put together, copies of a block, a block that becomes like another one.
 */
#include "harness/initial/lowering.h"
#include "harness/operations/operations.h"

#include <string.h>

static const struct value made = {.kind = VALUE_SLOT, .block = SLOT_NEW};

/* Has all sides made the block?  Then dst is it, and the model has it, with fields to be filled in.
 * MODEL_NONE: it was refused. */
static uint32_t take_over_block(struct runner *r, unsigned m, unsigned dst, size_t wosize,
                                unsigned tag, size_t first_scanned) {
    if (!all_served(r, m))
        return MODEL_NONE;
    uint32_t object = new_object(r, m, SLOT_NEW, wosize, tag, first_scanned, r->units);
    set_slot(r, m, dst, &made);
    return object;
}

/* ---- arrays -------------------------------------------------------------------------------------
 */

/* The object in a slot, if it can pass for an array: of values, or of numbers. */
static unsigned array_in(const struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    if (object == MODEL_NONE)
        return MODEL_NONE;
    const struct model_object *o = &r->model.objects[object];
    bool values = o->tag < TAG_NO_SCAN && o->first_scanned == 0 && !o->ephemeron;
    return values || o->tag == TAG_DOUBLE_ARRAY ? object : MODEL_NONE;
}

static bool is_numbers(const struct runner *r, unsigned object) {
    return r->model.objects[object].tag == TAG_DOUBLE_ARRAY;
}

/* The model's fields at *at and the next ones := n of the object's from i on. */
static void take_fields(struct runner *r, word **at, unsigned object, size_t i, size_t n) {
    memcpy(*at, model_fields(&r->model, object) + i, n * sizeof(word));
    *at += n;
}

bool op_sub(struct runner *r, const struct op *op, unsigned m) {
    unsigned from = array_in(r, m, op->src);
    if (from == MODEL_NONE || !ALL_HAVE(r, sub))
        return skip(r, SKIP_UNFIT);
    size_t wosize = r->model.objects[from].wosize, i = op->i % wosize, n = op->n;
    n = n == 0 ? 1 : n < wosize - i ? n : wosize - i;
    bool numbers = is_numbers(r, from);
    if (!model_has_room(&r->model, 1, n))
        return skip(r, SKIP_ROOM);
    copy_parent(r, m, op->src, SLOT_FROM);
    FOR_SIDES (r, s)
        call_sub(s, SLOT_NEW, SLOT_FROM, i, n);
    uint32_t to =
        take_over_block(r, m, op->dst, n, numbers ? TAG_DOUBLE_ARRAY : 0, numbers ? n : 0);
    if (to == MODEL_NONE)
        return true;
    word *at = model_fields(&r->model, to);
    take_fields(r, &at, from, i, n);
    return true;
}

bool op_append(struct runner *r, const struct op *op, unsigned m) {
    if (op->values[0].kind != VALUE_SLOT || !ALL_HAVE(r, append))
        return skip(r, SKIP_UNFIT);
    unsigned first = array_in(r, m, op->src), other = array_in(r, m, op->values[0].block);
    if (first == MODEL_NONE || other == MODEL_NONE || is_numbers(r, first) != is_numbers(r, other))
        return skip(r, SKIP_UNFIT);
    size_t n = r->model.objects[first].wosize, k = r->model.objects[other].wosize;
    size_t all = n + k + (op->thrice ? n : 0);
    if (all > PROGRAM_WOSIZE || !model_has_room(&r->model, 1, all))
        return skip(r, SKIP_ROOM);
    bool numbers = is_numbers(r, first);
    copy_parent(r, m, op->src, SLOT_FROM);
    copy_parent(r, m, op->values[0].block, SLOT_VALUE);
    FOR_SIDES (r, s)
        call_append(s, SLOT_NEW, SLOT_FROM, SLOT_VALUE, op->thrice, all);
    uint32_t to =
        take_over_block(r, m, op->dst, all, numbers ? TAG_DOUBLE_ARRAY : 0, numbers ? all : 0);
    if (to == MODEL_NONE)
        return true;
    word *at = model_fields(&r->model, to);
    take_fields(r, &at, first, 0, n);
    take_fields(r, &at, other, 0, k);
    take_fields(r, &at, first, 0, op->thrice ? n : 0);
    return true;
}

/* ---- any block ----------------------------------------------------------------------------------
 */

/* A copy of a custom block would have its finaliser, one of an ephemeron is none, and what a
 * Forward block would be is made elsewhere.  Only a block of values has another tag in a copy. */
static bool may_be_dup(const struct model_object *o, unsigned tag) {
    bool values = o->tag < TAG_NO_SCAN && o->first_scanned == 0;
    if (o->ephemeron || o->tag == TAG_CUSTOM || o->tag == TAG_FORWARD)
        return false;
    return tag == o->tag || (values && (tag <= TAG_LAZY || tag == TAG_OBJECT));
}

bool op_dup(struct runner *r, const struct op *op, unsigned m) {
    unsigned from = slot_object(r, m, op->src);
    if (from == MODEL_NONE)
        return false;
    const struct model_object o = r->model.objects[from];
    unsigned tag = op->retagged ? lowered_own_tag(op->retagged - 1u, r->own_tags) : o.tag;
    if (!may_be_dup(&o, tag) || !ALL_HAVE(r, dup))
        return skip(r, SKIP_UNFIT);
    if (!model_has_room(&r->model, 1, o.wosize))
        return skip(r, SKIP_ROOM);
    copy_parent(r, m, op->src, SLOT_FROM);
    FOR_SIDES (r, s)
        call_dup(s, SLOT_NEW, SLOT_FROM, tag, o.wosize);
    uint32_t to = take_over_block(r, m, op->dst, o.wosize, tag, o.first_scanned);
    if (to == MODEL_NONE)
        return true;
    word *at = model_fields(&r->model, to);
    take_fields(r, &at, from, 0, o.wosize);
    return true;
}

/* As recursive definitions fill in a block that has been promised.  Not every block becomes lazy:
 * one with a finaliser, since nobody could have asked for the finaliser of a lazy one; and one that
 * a Forward block leads to, past which pointers may have been led to what was not lazy then.  The
 * language has no recursive definition with `lazy x` of an x that is promised. */
static bool may_become_lazy(struct runner *r, unsigned object) {
    return r->model.objects[object].wosize == 1 && !r->model.objects[object].pinned &&
           !is_forwarded(r, object);
}

bool op_update(struct runner *r, const struct op *op, unsigned m) {
    if (op->values[0].kind != VALUE_SLOT || !ALL_HAVE(r, update))
        return skip(r, SKIP_UNFIT);
    unsigned to = array_in(r, m, op->dst), from = array_in(r, m, op->values[0].block);
    if (to == MODEL_NONE || from == MODEL_NONE)
        return skip(r, SKIP_UNFIT);
    struct model_object *o = &r->model.objects[to];
    const struct model_object *like = &r->model.objects[from];
    bool refused = like->tag == TAG_LAZY && !may_become_lazy(r, to);
    if (o->is_static || o->wosize != like->wosize || is_numbers(r, to) || is_numbers(r, from) ||
        o->tag == TAG_FORWARD || like->tag == TAG_FORWARD || refused)
        return skip(r, SKIP_UNFIT);
    copy_parent(r, m, op->dst, SLOT_TO);
    copy_parent(r, m, op->values[0].block, SLOT_VALUE);
    FOR_SIDES (r, s)
        call_update(s, m, SLOT_TO, SLOT_VALUE, o->wosize);
    memmove(model_fields(&r->model, to), model_fields(&r->model, from), o->wosize * sizeof(word));
    o->tag = like->tag;
    note_write(r, to, 0, o->wosize);
    return true;
}

bool op_forwarding(struct runner *r, const struct op *op, unsigned m) {
    if (!ALL_HAVE(r, forwarding))
        return skip(r, SKIP_UNFIT);
    if (!model_has_room(&r->model, 1, 1))
        return skip(r, SKIP_ROOM);
    set_slot(r, m, SLOT_VALUE, &op->values[0]);
    word value = r->model.slots[m][SLOT_VALUE];
    FOR_SIDES (r, s)
        call_forwarding(s, SLOT_NEW, SLOT_VALUE);
    uint32_t to = take_over_block(r, m, op->dst, 1, TAG_FORWARD, 0);
    if (to != MODEL_NONE)
        model_fields(&r->model, to)[0] = value;
    return true;
}
