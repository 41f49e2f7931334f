/* SPDX-License-Identifier: MIT
 *
 * The model: an abstract heap (model.h).
 */
#include "oracles/model.h"

#include <string.h>

void model_reset(struct model *model, unsigned mutators) {
    model->mutators = mutators;
    for (unsigned m = 0; m < mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            model->slots[m][s] = WORD_UNIT;
    model->epoch++;
    model->n_objects = model->n_order = model->n_words = model->n_free = 0;
    model->live_objects = model->live_words = model->n_reached = 0;
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

/* The inductive definition of reach(h, roots) in section 3.1, breadth first. */
void model_mark(struct model *model) {
    model->epoch++;
    model->live_objects = model->live_words = model->n_reached = 0;
    for (unsigned m = 0; m < model->mutators; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            reach(model, model->slots[m][s]);
    for (uint32_t i = 0; i < model->n_reached; i++) {
        const struct model_object *o = &model->objects[model->work[i]];
        const word *fields = model->fields + o->first_field;
        for (uint32_t f = o->first_scanned; f < o->wosize; f++)
            reach(model, fields[f]);
    }
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
}

/* filter(h, roots): drops unreachable objects, slides the fields of the others together. */
static void filter(struct model *model) {
    uint32_t kept = 0, words = 0;
    model_mark(model);
    for (uint32_t i = 0; i < model->n_order; i++) {
        uint32_t id = model->order[i];
        struct model_object *o = &model->objects[id];
        if (o->mark != model->epoch && !o->is_static) {
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

static bool has_room(const struct model *model, size_t wosize) {
    return wosize <= MODEL_WORDS - model->n_words && model->n_order < MODEL_OBJECTS &&
           (model->n_free || model->n_objects < MODEL_OBJECTS);
}

unsigned model_add(struct model *model, size_t wosize, unsigned tag, size_t first_scanned,
                   const word *raw) {
    if (!has_room(model, wosize)) {
        filter(model);
        if (!has_room(model, wosize))
            return MODEL_NONE;
    }
    uint32_t id = model->n_free ? model->free[--model->n_free] : model->n_objects++;
    model->objects[id] = (struct model_object){.first_field = model->n_words,
                                               .wosize = (uint32_t)wosize,
                                               .first_scanned = (uint32_t)first_scanned,
                                               .tag = (uint8_t)tag,
                                               .in_use = true};
    memcpy(model->fields + model->n_words, raw, wosize * sizeof(word));
    model->n_words += (uint32_t)wosize;
    model->order[model->n_order++] = id;
    return id;
}
