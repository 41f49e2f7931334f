/* SPDX-License-Identifier: MIT
 *
 * What a domain does with ephemerons of its own, and with what is told of its death (player.h).
 *
 * When an unreachable key dies, nobody knows.  So an ephemeron is changed only as long as none of
 * its keys may be dead, and what nothing else reaches is let go as soon as it is read.
 */
#include "tests/collectors/free_running/player.h"

static bool is_ephemeron(const struct player *p, unsigned id) {
    return id != MODEL_NONE && p->model.objects[id].ephemeron;
}

static size_t weak_field(const struct player *p, unsigned id, size_t i) {
    return i % p->model.objects[id].wosize;
}

/* Its keys are alive, or not set: then the data is there too. */
static bool is_certain(struct player *p, unsigned id) {
    model_mark(&p->model);
    for (size_t i = 1; i < p->model.objects[id].wosize; i++)
        if (model_weak_field(&p->model, id, i) == WEAK_EITHER)
            return false;
    return true;
}

static void make_ephemeron(struct player *p, const struct op *op) {
    size_t keys = op->keys % 4;
    p->runtime->extras->ephemeron(p->runtime->mine(), op->dst, keys);
    p->model.slots[0][op->dst] = model_pointer(model_add_ephemeron(&p->model, keys), 0);
}

/* A key is a block. */
static void set(struct player *p, const struct op *op, unsigned id, size_t i) {
    own_value(p, SLOT_VALUE, &op->values[0]);
    if (i > 0 && own_held(p, SLOT_VALUE) == MODEL_NONE)
        return;
    p->runtime->extras->set(p->runtime->mine(), op->dst, i, SLOT_VALUE);
    model_put_weak(&p->model, id, i, p->model.slots[0][SLOT_VALUE], false);
}

static void change(struct player *p, const struct op *op) {
    unsigned id = own_held(p, op->dst);
    if (!is_ephemeron(p, id) || !is_certain(p, id))
        return;
    size_t i = weak_field(p, id, op->i);
    if (op->code == OP_EPHE_SET) {
        set(p, op, id, i);
        return;
    }
    p->runtime->extras->unset(p->runtime->mine(), op->dst, i);
    model_put_weak(&p->model, id, i, MODEL_NOTHING, false);
}

/* A copy is like what it is of, and is let go. */
static void check_copy(struct player *p, word original) {
    word v = p->runtime->get(SLOT_NEW);
    const struct model_object *o = &p->model.objects[model_object(original)];
    if (model_offset(original) || o->ephemeron || o->tag == TAG_CUSTOM)
        return;
    word header = header_now(v);
    const word *found = word_pointer(v),
               *expected = model_fields(&p->model, model_object(original));
    if (header_tag(header) != o->tag || header_wosize(header) != o->wosize)
        player_fail(p, "a copy has another tag or size");
    for (size_t i = 0; i < o->wosize; i++)
        if (i >= o->first_scanned && !model_is_pointer(expected[i]) && found[i] != expected[i])
            player_fail(p, "a copy has another word");
}

static bool ask(struct player *p, const struct op *op, size_t i) {
    const struct gc_extras *extras = p->runtime->extras;
    struct gc *g = p->runtime->mine();
    bool found = false;
    if (op->code == OP_EPHE_CHECK)
        return extras->is_set(g, op->src, i);
    if (op->code == OP_EPHE_GET)
        return extras->get(g, SLOT_NEW, op->src, i);
    extras->copy(g, SLOT_NEW, op->src, i, 0, &found);
    return found;
}

static void look(struct player *p, const struct op *op) {
    unsigned id = own_held(p, op->src);
    if (!is_ephemeron(p, id))
        return;
    size_t i = weak_field(p, id, op->i);
    model_mark(&p->model);
    bool sure = model_weak_field(&p->model, id, i) == WEAK_SET;
    word kept = model_kept(&p->model, id)[i];
    bool found = ask(p, op, i);
    if (sure && !found)
        player_fail(p, "what is alive is gone from an ephemeron");
    if (sure && op->code == OP_EPHE_COPY && model_is_pointer(kept))
        check_copy(p, kept);
    if (sure && op->code == OP_EPHE_GET) {
        p->model.slots[0][op->dst] = kept;
        p->runtime->set(op->dst, p->runtime->get(SLOT_NEW));
    }
    p->runtime->set(SLOT_NEW, WORD_UNIT);
}

static void make_resource(struct player *p, const struct op *op) {
    static const word zero[8];
    size_t words = 1 + op->n % 7;
    p->runtime->extras->resource(p->runtime->mine(), op->dst, words, counted_new());
    own_made(p, op->dst, words, TAG_CUSTOM, words, zero);
}

/* Its function keeps nothing, so that the model knows nothing of it. */
static void finalise(struct player *p, const struct op *op) {
    if (own_held(p, op->dst) != MODEL_NONE)
        p->runtime->extras->finalise(p->runtime->mine(), op->dst, counted_new(), op->last & 1);
}

bool own_weak(struct player *p, const struct op *op) {
    switch (op->code) {
    case OP_EPHEMERON:
        make_ephemeron(p, op);
        return true;
    case OP_EPHE_SET:
    case OP_EPHE_UNSET:
        change(p, op);
        return true;
    case OP_EPHE_GET:
    case OP_EPHE_COPY:
    case OP_EPHE_CHECK:
        look(p, op);
        return true;
    case OP_RESOURCE:
        make_resource(p, op);
        return true;
    case OP_FINALISE:
        finalise(p, op);
        return true;
    default:
        return false;
    }
}
