/* SPDX-License-Identifier: MIT
 *
 * Operations on all that a block reaches (operations.h): marshalling, and counting its words.
 */
#include "harness/operations/operations.h"

#include <stdio.h>
#include <string.h>

enum { COPIED_WORDS = 1024 };

/* What a copy has made so far: original and copy, and the fields that are to be filled. */
struct copy {
    unsigned n;
    size_t words;
    struct {
        uint32_t from, to;
    } pair[COPIED_WORDS];
};

/* A string keeps its length in its last byte, and what is behind the length is 0. */
static bool is_proper_string(const struct model *model, const word *fields, uint32_t wosize) {
    word last = fields[wosize - 1];
    if (model_is_address(model, last))
        return false;
    unsigned padding = (unsigned)(last >> 56);
    return padding < 8 && (last & 0x00ffffffffffffff) >> 8 * (7 - padding) == 0;
}

static bool may_be_marshalled(const struct runner *r, const struct model_object *o) {
    if (o->is_static || o->ephemeron || o->tag == TAG_CLOSURE || o->tag == TAG_OBJECT)
        return false;
    if (o->tag == TAG_STRING)
        return is_proper_string(&r->model, r->model.fields + o->first_field, o->wosize);
    return o->tag != TAG_ABSTRACT && o->tag != TAG_CUSTOM;
}

/* Finds the copy's number for an object, or adds it; COPIED_WORDS: cannot be done. */
static unsigned copy_of(struct runner *r, struct copy *c, uint32_t object, bool unshared) {
    for (unsigned i = 0; i < c->n && !unshared; i++)
        if (c->pair[i].from == object)
            return i;
    const struct model_object *o = &r->model.objects[object];
    if (c->n == COPIED_WORDS || c->words + o->wosize + 1 > COPIED_WORDS || !may_be_marshalled(r, o))
        return COPIED_WORDS;
    c->words += o->wosize + 1;
    c->pair[c->n].from = object;
    return c->n++;
}

/* Plans the copy, breadth first: false if something in it cannot be marshalled, or it is endless.
 */
static bool plan_copy(struct runner *r, struct copy *c, uint32_t object, bool unshared) {
    c->n = 0;
    c->words = 0;
    if (copy_of(r, c, object, unshared) == COPIED_WORDS)
        return false;
    for (unsigned i = 0; i < c->n; i++) {
        const struct model_object *o = &r->model.objects[c->pair[i].from];
        const word *fields = r->model.fields + o->first_field;
        for (uint32_t f = o->first_scanned; f < o->wosize; f++) {
            if (is_immediate(fields[f]) || model_is_atom(&r->model, fields[f]))
                continue;
            if (!model_is_pointer(fields[f]) ||
                copy_of(r, c, model_object(fields[f]), unshared) == COPIED_WORDS)
                return false;
        }
    }
    return true;
}

/* The model's copy.  Without sharing the n-th pointer that is met leads to the n-th copy. */
static uint32_t make_copy(struct runner *r, struct copy *c, unsigned m, bool unshared) {
    for (unsigned i = 0; i < c->n; i++) {
        const struct model_object o = r->model.objects[c->pair[i].from];
        c->pair[i].to = new_object(r, m, SLOT_NEW, o.wosize, o.tag, o.first_scanned, r->units);
        r->model.objects[c->pair[i].to].pinned = true;
    }
    unsigned next = 1;
    for (unsigned i = 0; i < c->n; i++) {
        const struct model_object *o = &r->model.objects[c->pair[i].from];
        word *to = model_fields(&r->model, c->pair[i].to);
        memcpy(to, r->model.fields + o->first_field, o->wosize * sizeof(word));
        for (uint32_t f = o->first_scanned; f < o->wosize; f++) {
            if (!model_is_pointer(to[f]))
                continue;
            unsigned k = unshared ? next++ : copy_of(r, c, model_object(to[f]), false);
            to[f] = model_pointer(c->pair[k].to, 0);
        }
    }
    for (unsigned i = 0; i < c->n; i++)
        r->model.objects[c->pair[i].to].pinned = false;
    return c->pair[0].to;
}

bool op_marshal(struct runner *r, const struct op *op, unsigned m) {
    static struct copy copy;
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE)
        return false;
    if (!plan_copy(r, &copy, object, op->unshared))
        return skip(r, SKIP_UNFIT);
    if (!model_has_room(&r->model, copy.n, copy.words))
        return skip(r, SKIP_ROOM);
    copy_parent(r, m, op->src, SLOT_FROM);
    FOR_SIDES (r, s)
        call_marshal(s, SLOT_NEW, SLOT_FROM, op->unshared, copy.words);
    if (!all_served(r, m))
        return true;
    uint32_t to = make_copy(r, &copy, m, op->unshared);
    r->model.slots[m][SLOT_NEW] = model_pointer(to, 0);
    set_slot(r, m, op->dst, &block);
    return true;
}

/* Blocks whose size in the collector's own heap is another, or that it may have led past. */
static bool may_be_measured(const struct model_object *o) {
    return !o->ephemeron && o->tag != TAG_CUSTOM && o->tag != TAG_FORWARD;
}

bool op_measure(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE || !r->extras || r->model.objects[object].is_static)
        return false;
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
