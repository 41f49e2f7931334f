/* SPDX-License-Identifier: MIT
 *
 * Operations on finalisers and on custom blocks, which have one (operations.h).
 */
#include "harness/operations/operations.h"

#include <string.h>

/* Of the next number; MODEL_NONE: of a block that is dropped at once.  A collector that has refused
 * promises nothing. */
static void promise(struct runner *r, uint32_t object) {
    FOR_SIDES (r, s)
        if (s->answer == GC_OK)
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

/* ---- finalisers of a program's own --------------------------------------------------------------
 */

_Static_assert((int)ACT_KEEP == (int)GC_ACT_KEEP && (int)ACT_RAISE == (int)GC_ACT_RAISE &&
                   (int)FINALISER_ACTS == (int)GC_ACT_NONE,
               "the language's acts are those of the interface");

/* Blocks of these tags are refused by the runtime; a static one never dies. */
static unsigned object_to_finalise(const struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    if (object == MODEL_NONE || !r->extras)
        return MODEL_NONE;
    const struct model_object *o = &r->model.objects[object];
    bool refused =
        o->is_static || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE || o->tag == TAG_FORWARD;
    return refused ? MODEL_NONE : object;
}

/* Where two are compared, they need not run at the same moment, and do nothing. */
static bool can_act(const struct runner *r) {
    const struct gc_extras *extras = r->side[PARTY_SUBJECT].collector->extras;
    return r->model.outlives && extras->finalise_then && extras->act;
}

static bool finalise_then(struct runner *r, unsigned m, const struct op *op, unsigned object,
                          enum gc_act act) {
    unsigned number = r->n_finalisers, numbers = 1 + (act == GC_ACT_AGAIN);
    if (number + numbers > FINALISERS)
        return skip(r, SKIP_ROOM);
    const struct gc_finaliser then = {
        .given = SLOT_VALUE, .act = act, .slot = op->src, .again = number + 1};
    r->finalisers[number] = (struct finaliser){.value = r->model.slots[m][op->dst],
                                               .last = op->last,
                                               .act = (uint8_t)act,
                                               .slot = op->src,
                                               .m = (uint8_t)m,
                                               .life = r->life[m]};
    if (numbers > 1)
        r->finalisers[number + 1] =
            (struct finaliser){.value = r->finalisers[number].value, .act = GC_ACT_NONE};
    struct side *subject = &r->side[PARTY_SUBJECT];
    if (call_finalise_then(subject, op->dst, number, op->last, &then) != GC_OK) {
        r->verdict.counts.refusals++;
        return true;
    }
    promise(r, object);
    if (!op->last)
        event_ordered(judge_of(r->side), number, r->life[m]);
    r->n_finalisers = number + numbers;
    return true;
}

bool op_finalise(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = object_to_finalise(r, m, op->dst);
    if (object == MODEL_NONE)
        return skip_block(r, slot_object(r, m, op->dst));
    if (r->n_finalisers == FINALISERS)
        return skip(r, SKIP_ROOM);
    if (can_act(r))
        return finalise_then(r, m, op, object, GC_ACT_NONE);
    FOR_SIDES (r, s)
        call_finalise(s, op->dst, r->n_finalisers, op->last);
    r->verdict.counts.refusals += r->side[PARTY_SUBJECT].answer != GC_OK;
    if (any_served(r))
        promise(r, object);
    return true;
}

bool op_finalise_then(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = object_to_finalise(r, m, op->dst);
    if (object == MODEL_NONE || !can_act(r))
        return skip_block(r, slot_object(r, m, op->dst));
    return finalise_then(r, m, op, object, (enum gc_act)op->act);
}

/* ---- what they have done ------------------------------------------------------------------------
 */

/* The pair that it has made of its value and what the slot held. */
static void give_in_model(struct runner *r, unsigned m, word v) {
    const word content[2] = {v, r->model.slots[m][SLOT_VALUE]};
    uint32_t pair = model_add(&r->model, 2, 0, 0, content);
    if (pair == MODEL_NONE)
        skip_rest(r);
    name_object(r, m, SLOT_VALUE, pair);
}

/* A collector may have led the slot past Forward blocks already, or not. */
static void weaken_in_model(struct runner *r, unsigned m, unsigned slot, word v) {
    word end = model_passed_to(&r->model, r->model.slots[m][slot]);
    if (!model_is_pointer(end) || !r->model.objects[model_object(end)].ephemeron)
        return;
    unsigned object = model_object(end);
    size_t i = r->model.objects[object].wosize > 1;
    if (i)
        v = closure_for_key(r, v);
    model_mark(&r->model);
    model_put_weak(&r->model, object, i, v, false);
    note_write(r, object, i, 1);
    if (r->model.objects[object].shaky && model_most_live(&r->model, WORD_UNIT) > r->heap_words)
        skip_rest(r); /* more may be seen now than the heap of the program holds */
}

/* Is who has asked for it still there, and not m? */
static bool is_elsewhere(const struct runner *r, const struct finaliser *f, unsigned m) {
    return f->m != m && r->attached >> f->m & 1 && r->life[f->m] == f->life;
}

static void take_over_one(struct side *s, unsigned number, unsigned m) {
    struct runner *r = runner_of(s);
    const struct finaliser *f = &r->finalisers[number];
    word v = f->last ? WORD_UNIT : f->value;
    model_mark(&r->model);
    event_handed(judge_of(s), number, is_elsewhere(r, f, m));
    give_in_model(r, m, v);
    if (f->act == GC_ACT_WEAKEN)
        weaken_in_model(r, m, f->slot, v);
    else if (f->act != GC_ACT_NONE)
        r->model.slots[m][f->slot] = v;
    if (f->act != GC_ACT_AGAIN || f->last)
        return;
    r->finalisers[number + 1].m = (uint8_t)m;
    r->finalisers[number + 1].life = r->life[m];
    event_promised(judge_of(s), number + 1, model_object(v));
}

void take_over_finalisers(struct side *s) {
    struct runner *r = runner_of(s);
    unsigned n = r->n_handed;
    r->n_handed = 0;
    for (unsigned i = 0; i < n; i++) {
        const struct handed *h = &r->handed[i];
        r->acted |= 1u << h->m;
        if (h->number < r->n_finalisers)
            take_over_one(s, (unsigned)h->number, h->m);
    }
}

void run_finalisers(struct runner *r) {
    if (r->n_finalisers)
        FOR_SIDES (r, s)
            if (s->collector->extras && s->collector->extras->act)
                call_act(s);
    if (r->acted && collected(r))
        check_heaps(r, IN_BETWEEN); /* as long as what they were given is held */
}
