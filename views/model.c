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
    model->has_ephemerons = false;
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
    return !model_is_pointer(v) || model->objects[model_object(v)].mark == model->epoch ||
           model->objects[model_object(v)].is_static;
}

/* All keys of the ephemeron have been reached. */
static bool keys_reached(const struct model *model, const struct model_object *o) {
    bool all = true;
    for (uint32_t f = 1; f < o->wosize; f++)
        all &= is_reached(model, model->fields[o->first_field + f]);
    return all;
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
            if (o->ephemeron && keys_reached(model, o)) {
                uint32_t from = model->n_reached;
                reach(model, model->fields[o->first_field]);
                reach_fields(model, from);
            }
        }
    }
}

static void clear_dead_keys(struct model *model) {
    for (uint32_t i = 0; i < model->n_reached; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        word *fields = model->fields + o->first_field;
        if (!o->ephemeron || keys_reached(model, o))
            continue;
        for (uint32_t f = 1; f < o->wosize; f++)
            fields[f] = is_reached(model, fields[f]) ? fields[f] : WORD_UNIT;
        fields[0] = WORD_UNIT;
    }
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
        clear_dead_keys(model);
    }
    model->bound_words = model->live_words;
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

/* filter(h, roots): drops unreachable objects, slides the fields of the others together. */
static void filter(struct model *model) {
    uint32_t kept = 0, words = 0;
    model_mark(model);
    for (uint32_t i = 0; i < model->n_order; i++) {
        uint32_t id = model->order[i];
        struct model_object *o = &model->objects[id];
        if (o->mark != model->epoch && !o->is_static && !o->pinned) {
            o->in_use = false;
            model->free[model->n_free++] = id;
            continue;
        }
        memmove(model->fields + words, model->fields + o->first_field, o->wosize * sizeof(word));
        o->first_field = words;
        words += o->wosize;
        model->order[kept++] = id;
    }
    model->n_order = kept;
    model->n_words = words;
}

static bool fits(const struct model *model, size_t objects, size_t words) {
    return words <= model->most_words - model->n_words &&
           objects <= model->most_objects - model->n_order;
}

bool model_has_room(struct model *model, size_t objects, size_t words) {
    if (fits(model, objects, words))
        return true;
    filter(model);
    return fits(model, objects, words);
}

unsigned model_add(struct model *model, size_t wosize, unsigned tag, size_t first_scanned,
                   const word *raw) {
    if (!model_has_room(model, 1, wosize))
        return MODEL_NONE;
    uint32_t id = model->n_free ? model->free[--model->n_free] : model->n_objects++;
    model->objects[id] = (struct model_object){.first_field = model->n_words,
                                               .wosize = (uint32_t)wosize,
                                               .first_scanned = (uint32_t)first_scanned,
                                               .tag = (uint8_t)tag,
                                               .in_use = true};
    words_copy(model->fields + model->n_words, raw, wosize);
    model->n_words += (uint32_t)wosize;
    model->bound_words += wosize + 1;
    model->order[model->n_order++] = id;
    return id;
}

bool model_measure(struct model *model, unsigned object, bool may(const struct model_object *),
                   size_t *words) {
    model->epoch++;
    model->live_objects = model->live_words = model->n_reached = 0;
    reach(model, model_pointer(object, 0));
    for (uint32_t i = 0; i < model->n_reached; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        const word *fields = model->fields + o->first_field;
        if (!o->is_static && !may(o))
            return false;
        for (uint32_t f = o->first_scanned; f < o->wosize && !o->is_static; f++)
            reach(model, fields[f]);
    }
    *words = model->live_words;
    return true;
}
