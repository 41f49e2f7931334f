/* SPDX-License-Identifier: MIT
 *
 * The model: an abstract heap (model.h).
 */
#include "views/model.h"
#include "collectors/words_copy.h"
#include "views/large.h"

#include <stdlib.h>
#include <string.h>

void model_close(struct model *model) {
    large_free(model->objects);
    large_free(model->order);
    large_free(model->free);
    large_free(model->work);
    large_free(model->fields);
    model->objects = NULL;
    model->order = model->free = model->work = NULL;
    model->fields = NULL;
    model->most_objects = model->most_words = 0;
    model->room_objects = model->room_words = 0;
}

/* Memory that is never written costs nothing: as much as a model could need may be asked for. */
static bool make_room(struct model *model, size_t objects, size_t words) {
    if (objects <= model->room_objects && words <= model->room_words)
        return true;
    model_close(model);
    model->objects = large_calloc(objects, sizeof *model->objects);
    model->order = large_calloc(objects, sizeof *model->order);
    model->free = large_calloc(objects, sizeof *model->free);
    model->work = large_calloc(objects, sizeof *model->work);
    model->fields = large_calloc(words, sizeof *model->fields);
    if (!model->objects || !model->order || !model->free || !model->work || !model->fields) {
        model_close(model);
        return false;
    }
    model->room_objects = objects;
    model->room_words = words;
    return true;
}

bool model_room(struct model *model, size_t objects, size_t words) {
    if (!make_room(model, objects, words))
        return false;
    model->most_objects = objects;
    model->most_words = words;
    return true;
}

void model_reset(struct model *model, unsigned mutators) {
    model->mutators = mutators;
    for (unsigned m = 0; m < mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            model->slots[m][s] = WORD_UNIT;
    model->epoch++;
    model->has_ephemerons = model->revived = false;
    model->data = DATA_SEEN;
    model->n_objects = model->n_order = model->n_words = model->n_free = 0;
    model->live_objects = model->live_words = model->n_reached = 0;
    model->bound_words = 0;
    model->n_addresses = model->n_atoms = 0;
}

word model_add_address(struct model *model, const struct value *value, bool script,
                       bool immediate) {
    if (model->n_addresses == MODEL_ADDRESSES)
        return 0;
    uint32_t n = model->n_addresses++;
    word nothing = immediate ? WORD_UNIT : 0;
    model->addresses[n] =
        (struct model_address){.words = {nothing, nothing}, .value = *value, .script = script};
    return MODEL_ADDRESS | (word)n << 1 | immediate;
}

static void reach(struct model *model, word v) {
    if (!model_is_pointer(v))
        return;
    struct model_object *o = &model->objects[model_object(v)];
    if (o->mark == model->epoch)
        return;
    o->mark = model->epoch;
    model->work[model->n_reached++] = model_object(v);
    if (!o->is_static) {
        model->live_objects++;
        model->live_words += o->wosize + 1;
    }
}

/* Static blocks never die. */
static bool is_reached(const struct model *model, word v) {
    if (!model_is_pointer(v))
        return v != MODEL_FORGOTTEN;
    return model->objects[model_object(v)].mark == model->epoch ||
           model->objects[model_object(v)].is_static;
}

static const word *kept_words(const struct model *model, const struct model_object *o) {
    return model->fields + o->first_field + o->wosize;
}

/* As isomorphism's. */
word model_passed_to(const struct model *model, word v) {
    enum { LONGEST = 64 };
    word end = v;
    for (unsigned n = 0; n < LONGEST && model_is_pointer(end); n++) {
        const struct model_object *o = &model->objects[model_object(end)];
        if (model_is_foreign(model, o) || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE)
            return v;
        if (o->tag != TAG_FORWARD || o->wosize != 1)
            return end;
        end = model->fields[o->first_field];
    }
    return is_immediate(end) || model_is_atom(model, end) ? end : v;
}

bool model_may_be_passed(const struct model *model, word key) {
    return model->outlives && model_is_pointer(key) &&
           model->objects[model_object(key)].tag == TAG_FORWARD &&
           model_passed_to(model, key) != key;
}

bool model_has_passed(const struct model *model, unsigned ephemeron) {
    const struct model_object *o = &model->objects[ephemeron];
    const word *kept = kept_words(model, o);
    bool any = false;
    for (uint32_t f = 1; f < o->wosize; f++)
        any |= model_may_be_passed(model, kept[f]);
    return any;
}

/* The key may have become what its chain leads to. */
static bool is_reached_behind(const struct model *model, word key) {
    return model_may_be_passed(model, key) && is_reached(model, model_passed_to(model, key));
}

/* Has a key not been reached, but for those that may be passed if certain? */
static bool any_unreached(const struct model *model, const struct model_object *o, bool certain) {
    const word *kept = kept_words(model, o);
    bool any = false;
    for (uint32_t f = 1; f < o->wosize; f++)
        any |= !is_reached(model, kept[f]) && !(certain && model_may_be_passed(model, kept[f]));
    return any;
}

bool model_keys_reached(const struct model *model, unsigned ephemeron) {
    return !any_unreached(model, &model->objects[ephemeron], false);
}

static bool may_be_dead(const struct model *model, word key) {
    return !is_reached(model, key) && !is_reached_behind(model, key);
}

static bool any_may_be_dead(const struct model *model, const struct model_object *o) {
    const word *kept = kept_words(model, o);
    bool any = false;
    for (uint32_t f = 1; f < o->wosize; f++)
        any |= may_be_dead(model, kept[f]);
    return any;
}

/* Is there data that keeps something alive? */
static bool has_data(const struct model *model, uint32_t object) {
    const struct model_object *o = &model->objects[object];
    bool passed = model_has_passed(model, object);
    if (model->data == DATA_FOLLOWS)
        return !any_may_be_dead(model, o);
    if (model->data == DATA_ALL && (passed || o->shaky))
        return true;
    if (passed)
        return o->seen && model->data == DATA_SEEN && !any_unreached(model, o, true);
    return !o->shaky && !any_unreached(model, o, false);
}

static void reach_fields(struct model *model, uint32_t from) {
    for (uint32_t i = from; i < model->n_reached; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        const word *fields = model->fields + o->first_field;
        size_t n = o->ephemeron ? 0 : o->wosize;
        FOR_POINTERS (f, fields, o->first_scanned, n)
            reach(model, fields[f]);
    }
}

/* Data whose ephemeron and keys are reached, until there is no more of it. */
static void reach_data(struct model *model) {
    for (uint32_t before = 0; before != model->n_reached;) {
        before = model->n_reached;
        for (uint32_t i = 0; i < model->n_reached; i++) {
            const struct model_object *o = &model->objects[model->work[i]];
            if (o->ephemeron && has_data(model, model->work[i])) {
                uint32_t from = model->n_reached;
                reach(model, kept_words(model, o)[0]);
                reach_fields(model, from);
            }
        }
    }
}

/* What the ephemeron reads as.  Where nothing outlives that, it is all that it was given. */
static void show_ephemeron(struct model *model, struct model_object *o) {
    word *fields = model->fields + o->first_field, *kept = fields + o->wosize;
    bool data = has_data(model, (uint32_t)(o - model->objects));
    for (uint32_t f = 0; f < o->wosize; f++) {
        bool there = f ? is_reached(model, kept[f]) : data;
        if (!there && !model->outlives)
            kept[f] = MODEL_NOTHING;
        fields[f] = there && kept[f] != MODEL_NOTHING ? kept[f] : WORD_UNIT;
    }
}

static void show_ephemerons(struct model *model) {
    for (uint32_t i = 0; i < model->n_reached; i++)
        if (model->objects[model->work[i]].ephemeron)
            show_ephemeron(model, &model->objects[model->work[i]]);
}

/* The inductive definition of reach(h, roots) in section 3.1, breadth first. */
void model_mark(struct model *model) {
    model->epoch++;
    model->live_objects = model->live_words = model->n_reached = 0;
    for (unsigned m = 0; m < model->mutators; m++)
        FOR_POINTERS (s, model->slots[m], 0, GC_SLOTS)
            reach(model, model->slots[m][s]);
    reach_fields(model, 0);
    if (model->has_ephemerons) {
        reach_data(model);
        show_ephemerons(model);
    }
    model->bound_words = model->live_words;
}

bool model_certainly_reached(struct model *model, unsigned object) {
    model->data = DATA_SURE;
    model_mark(model);
    bool is_reached_so = model->objects[object].mark == model->epoch;
    model->data = DATA_SEEN;
    model_mark(model);
    return is_reached_so;
}

void model_reached(struct model *model, const uint32_t *ids, size_t stride, size_t n) {
    model->epoch++;
    model->live_objects = model->live_words = 0;
    model->n_reached = (uint32_t)n;
    for (size_t i = 0; i < n; i++) {
        struct model_object *o = &model->objects[ids[i * stride]];
        o->mark = model->epoch;
        model->work[i] = ids[i * stride];
        model->live_objects += !o->is_static;
        model->live_words += o->is_static ? 0 : o->wosize + 1;
    }
    model->bound_words = model->live_words;
}

/* ---- room -------------------------------------------------------------------------------------
 */

static size_t stored_words(const struct model_object *o) {
    return o->ephemeron ? 2 * (size_t)o->wosize : o->wosize;
}

static void hold(struct model *model, uint32_t *n, uint32_t id) {
    struct model_object *o = &model->objects[id];
    if (o->mark == model->epoch || o->held == model->epoch)
        return;
    o->held = model->epoch;
    model->work[(*n)++] = id;
}

/* What ephemerons were given, and what finalisers are for, with all that they reach: behind what is
 * reachable, in work. */
static void hold_unreachable(struct model *model) {
    uint32_t n = model->n_reached;
    for (uint32_t i = 0; i < model->n_order; i++)
        if (model->objects[model->order[i]].pinned)
            hold(model, &n, model->order[i]);
    for (uint32_t i = 0; i < n; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        const word *words = model->fields + o->first_field;
        FOR_POINTERS (f, words, o->first_scanned, stored_words(o))
            if (model_is_pointer(words[f]))
                hold(model, &n, model_object(words[f]));
    }
}

static bool stays(const struct model *model, const struct model_object *o) {
    return o->mark == model->epoch || o->held == model->epoch || o->is_static;
}

/* filter(h, roots): drops objects that nothing holds, slides the fields of the others together. */
static void filter(struct model *model) {
    uint32_t kept = 0, words = 0;
    model_mark(model);
    hold_unreachable(model);
    for (uint32_t i = 0; i < model->n_order; i++) {
        uint32_t id = model->order[i];
        struct model_object *o = &model->objects[id];
        if (!stays(model, o)) {
            o->in_use = false;
            model->free[model->n_free++] = id;
            continue;
        }
        memmove(model->fields + words, model->fields + o->first_field,
                stored_words(o) * sizeof(word));
        o->first_field = words;
        words += (uint32_t)stored_words(o);
        model->order[kept++] = id;
    }
    model->n_order = kept;
    model->n_words = words;
}

/* What ephemerons were given, and nothing reaches. */
static void forget_unreachable(struct model *model) {
    for (uint32_t i = 0; i < model->n_order; i++) {
        const struct model_object *o = &model->objects[model->order[i]];
        word *words = model->fields + o->first_field;
        for (uint32_t f = 0; o->ephemeron && f < 2 * o->wosize; f++)
            words[f] = is_reached(model, words[f]) ? words[f] : MODEL_FORGOTTEN;
    }
}

static bool fits(const struct model *model, size_t objects, size_t words) {
    return words <= model->most_words - model->n_words &&
           objects <= model->most_objects - model->n_order;
}

bool model_has_room(struct model *model, size_t objects, size_t words) {
    if (fits(model, objects, words))
        return true;
    filter(model);
    if (fits(model, objects, words) || !model->has_ephemerons)
        return fits(model, objects, words);
    forget_unreachable(model);
    filter(model);
    return fits(model, objects, words);
}

/* A new object with so many fields, which are not written yet. */
static uint32_t new_object(struct model *model, size_t stored, struct model_object o) {
    uint32_t id = model->n_free ? model->free[--model->n_free] : model->n_objects++;
    o.first_field = model->n_words;
    o.in_use = true;
    model->objects[id] = o;
    model->n_words += (uint32_t)stored;
    model->bound_words += o.wosize + 1;
    model->order[model->n_order++] = id;
    return id;
}

unsigned model_add(struct model *model, size_t wosize, unsigned tag, size_t first_scanned,
                   const word *raw) {
    if (!model_has_room(model, 1, wosize))
        return MODEL_NONE;
    uint32_t id = new_object(model, wosize,
                             (struct model_object){.wosize = (uint32_t)wosize,
                                                   .first_scanned = (uint32_t)first_scanned,
                                                   .tag = (uint8_t)tag});
    words_copy(model_fields(model, id), raw, wosize);
    return id;
}

/* ---- ephemerons -------------------------------------------------------------------------------
 */

unsigned model_add_ephemeron(struct model *model, size_t keys) {
    size_t wosize = keys + 1;
    if (!model_has_room(model, 1, 2 * wosize))
        return MODEL_NONE;
    uint32_t id = new_object(
        model, 2 * wosize,
        (struct model_object){.wosize = (uint32_t)wosize, .ephemeron = true, .seen = true});
    for (size_t f = 0; f < wosize; f++) {
        model_fields(model, id)[f] = WORD_UNIT;
        model_kept(model, id)[f] = MODEL_NOTHING;
    }
    model->has_ephemerons = true;
    return id;
}

void model_put_weak(struct model *model, unsigned ephemeron, size_t i, word v, bool unsure) {
    struct model_object *o = &model->objects[ephemeron];
    word *kept = model_kept(model, ephemeron);
    bool died = any_unreached(model, o, false) || (i > 0 && model_has_passed(model, ephemeron));
    kept[i] = v;
    died |= any_unreached(model, o, false);
    o->shaky =
        ((i > 0 && o->shaky) || died || unsure) && kept[0] != MODEL_NOTHING && model->outlives;
    o->seen = true;
}

enum model_weak model_weak_field(struct model *model, unsigned ephemeron, size_t i) {
    const struct model_object *o = &model->objects[ephemeron];
    word v = model_kept(model, ephemeron)[i];
    if (v == MODEL_NOTHING)
        return WEAK_NOTHING;
    bool sure =
        i ? is_reached(model, v) && !model_may_be_passed(model, v)
          : !o->shaky && !any_unreached(model, o, false) && !model_has_passed(model, ephemeron);
    return sure ? WEAK_SET : WEAK_EITHER;
}

/* The key is no more; of data that was there before it died neither is. */
static void lose_key(struct model *model, unsigned ephemeron, size_t i) {
    word *kept = model_kept(model, ephemeron);
    kept[i] = MODEL_NOTHING;
    if (!model->objects[ephemeron].shaky)
        kept[0] = MODEL_NOTHING;
}

size_t model_most_live(struct model *model, word v) {
    word slot = model->slots[0][GC_SLOTS - 1];
    model->slots[0][GC_SLOTS - 1] = v;
    model->data = DATA_ALL;
    model_mark(model);
    size_t words = model->live_words;
    model->slots[0][GC_SLOTS - 1] = slot;
    model->data = DATA_SEEN;
    model_mark(model);
    return words;
}

void model_died(struct model *model, unsigned object) {
    for (uint32_t n = 0; n < model->n_order; n++) {
        unsigned id = model->order[n];
        const struct model_object *o = &model->objects[id];
        for (uint32_t f = 1; o->ephemeron && f < o->wosize; f++) {
            word v = model_kept(model, id)[f];
            if (model_is_pointer(v) && model_object(v) == object)
                lose_key(model, id, f);
        }
    }
}

void model_passed_is_gone(struct model *model, unsigned ephemeron, size_t i) {
    word *kept = model_kept(model, ephemeron);
    kept[i] = MODEL_NOTHING;
    model->objects[ephemeron].shaky = kept[0] != MODEL_NOTHING;
}

void model_data_is(struct model *model, unsigned ephemeron, bool there) {
    struct model_object *o = &model->objects[ephemeron];
    word *kept = model_kept(model, ephemeron);
    for (uint32_t f = 1; there && f < o->wosize; f++)
        if (!is_reached(model, kept[f])) {
            word key = kept[f];
            kept[f] = MODEL_NOTHING;
            if (model_is_pointer(key))
                model_died(model, model_object(key));
        }
    if (!there)
        kept[0] = MODEL_NOTHING;
    model->revived |= there;
    o->shaky = false;
}

void model_data_seen(struct model *model) {
    for (uint32_t i = 0; i < model->n_reached; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        if (o->ephemeron && o->shaky && !any_unreached(model, o, false) &&
            !model_has_passed(model, model->work[i]) &&
            model_passed_to(model, kept_words(model, o)[0]) != WORD_UNIT)
            model_data_is(model, model->work[i], false);
    }
}

/* A key that may be passed may have gone before the data was put there; where that is unit nobody
 * has seen which of them was there. */
static void lose_dead_key(struct model *model, unsigned ephemeron, size_t i) {
    const word *kept = model_kept(model, ephemeron);
    if (model_may_be_passed(model, kept[i]) && model_passed_to(model, kept[0]) == WORD_UNIT)
        model_passed_is_gone(model, ephemeron, i);
    else
        lose_key(model, ephemeron, i);
}

void model_all_died(struct model *model) {
    model->data = DATA_FOLLOWS;
    model_mark(model);
    model->data = DATA_SEEN;
    for (uint32_t n = 0; n < model->n_order; n++) {
        unsigned id = model->order[n];
        const struct model_object *o = &model->objects[id];
        for (uint32_t f = 1; o->ephemeron && f < o->wosize; f++)
            if (may_be_dead(model, model_kept(model, id)[f]))
                lose_dead_key(model, id, f);
    }
    model_mark(model);
}

/* ---- measures ---------------------------------------------------------------------------------
 */

bool model_measure(struct model *model, unsigned object, bool may(const struct model_object *),
                   size_t *words) {
    model->epoch++;
    model->live_objects = model->live_words = model->n_reached = 0;
    reach(model, model_pointer(object, 0));
    for (uint32_t i = 0; i < model->n_reached; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        const word *fields = model->fields + o->first_field;
        if (model_is_foreign(model, o))
            continue;
        if (!may(o))
            return false;
        model->live_words += o->is_static ? o->wosize + 1 : 0;
        for (uint32_t f = o->first_scanned; f < o->wosize; f++) {
            if (model->statics_alike && model_is_atom(model, fields[f]))
                return false;
            reach(model, fields[f]);
        }
    }
    *words = model->live_words;
    return true;
}
