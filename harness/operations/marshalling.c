/* SPDX-License-Identifier: MIT
 *
 * Operations on all that a block reaches (operations.h): marshalling, texts that are damaged, and
 * counting its words.
 *
 * What can be written has a copy.  What the runtime refuses to write raises an exception there, and
 * so does every damage: the slot is unit then, and nothing else has changed.
 */
#include "harness/operations/operations.h"

#include "harness/operations/copy.h"

static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};

_Static_assert((int)DAMAGE_CUT == (int)GC_DAMAGE_CUT && (int)DAMAGE_NAME == (int)GC_DAMAGE_NAME &&
                   (int)DAMAGES == (int)GC_DAMAGE_NONE,
               "the language's damages are those of the interface");

/* Do all sides have damaged texts? */
static bool all_have_damage(const struct runner *r) {
    bool all = true;
    for (unsigned p = 0; p < r->n_sides; p++)
        all &= r->side[p].collector->extras->damage != NULL;
    return all;
}

static bool all_have_clone(const struct runner *r) {
    bool all = true;
    for (unsigned p = 0; p < r->n_sides; p++)
        all &= r->side[p].collector->extras->clone != NULL;
    return all;
}

/* dst := unit, since writing or reading raises. */
static bool raises(struct runner *r, const struct op *op, unsigned m, enum gc_damage damage,
                   size_t n) {
    copy_parent(r, m, op->src, SLOT_FROM);
    FOR_SIDES (r, s)
        call_damage(s, SLOT_NEW, SLOT_FROM, damage, n);
    r->model.slots[m][SLOT_NEW] = WORD_UNIT;
    set_slot(r, m, op->dst, &block);
    return true;
}

static bool copies(struct runner *r, const struct op *op, unsigned m, struct copy *c) {
    if (!model_has_room(&r->model, c->n, c->words))
        return skip(r, SKIP_ROOM);
    copy_parent(r, m, op->src, SLOT_FROM);
    FOR_SIDES (r, s) {
        if (c->closures)
            call_clone(s, SLOT_NEW, SLOT_FROM, c->unshared, c->words);
        else
            call_marshal(s, SLOT_NEW, SLOT_FROM, c->unshared, c->words);
    }
    if (!all_served(r, m))
        return true;
    r->model.slots[m][SLOT_NEW] = model_pointer(copy_make(r, c, m), 0);
    set_slot(r, m, op->dst, &block);
    return true;
}

static bool marshals(struct runner *r, const struct op *op, unsigned m, bool closures) {
    struct copy *copy = copy_begin(op->unshared, closures, all_have_clone(r));
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE)
        return false;
    if (!copy_plan(r, copy, object))
        return skip(r, SKIP_UNFIT);
    if (!copy->raises)
        return copies(r, op, m, copy);
    return all_have_damage(r) ? raises(r, op, m, GC_DAMAGE_NONE, op->unshared + 2u * closures)
                              : skip(r, SKIP_UNFIT);
}

bool op_marshal(struct runner *r, const struct op *op, unsigned m) {
    return marshals(r, op, m, false);
}

bool op_clone(struct runner *r, const struct op *op, unsigned m) {
    return all_have_clone(r) ? marshals(r, op, m, true) : skip(r, SKIP_UNFIT);
}

/* Objects that get a number are left out: reading raises before or after it is given. */
bool op_damage(struct runner *r, const struct op *op, unsigned m) {
    struct copy *copy = copy_begin(false, true, all_have_clone(r));
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE)
        return false;
    if (!all_have_damage(r) || r->model.objects[object].tag == TAG_FORWARD ||
        !copy_plan(r, copy, object) || copy->raises || copy->numbered ||
        (op->damage == DAMAGE_NAME && !copy->named))
        return skip(r, SKIP_UNFIT);
    return raises(r, op, m, (enum gc_damage)op->damage, op->place);
}

/* Blocks whose size in the collector's own heap is another, or that it may have led past. */
static bool may_be_measured(const struct model_object *o) {
    return !o->ephemeron && o->tag != TAG_CUSTOM && o->tag != TAG_FORWARD;
}

bool op_measure(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE || !r->extras ||
        model_is_foreign(&r->model, &r->model.objects[object]))
        return skip_block(r, object);
    copy_parent(r, m, op->src, SLOT_FROM);
    size_t words = 0;
    if (!model_measure(&r->model, object, may_be_measured, &words))
        return skip(r, SKIP_UNFIT);
    FOR_SIDES (r, s) {
        size_t found = call_measure(s, SLOT_FROM);
        event_measured(judge_of(s), found, words);
    }
    return true;
}
