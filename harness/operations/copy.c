/* SPDX-License-Identifier: MIT
 *
 * What marshalling makes of a graph (copy.h): which blocks can be written, their copies in the
 * model, and the numbers that objects get anew.
 */
#include "harness/operations/copy.h"

#include "harness/operations/operations.h"

#include <string.h>

struct copy *copy_begin(bool unshared, bool closures, bool whole) {
    static struct copy copy;
    memset(&copy, 0, offsetof(struct copy, pair));
    copy.unshared = unshared;
    copy.closures = closures;
    copy.whole = whole;
    return &copy;
}

/* ---- which blocks -----------------------------------------------------------------------------
 */

/* UNKNOWN: a runtime does this or that. */
enum fit { FITS, RAISES, UNKNOWN };

/* A string keeps its length in its last byte, and what is behind the length is 0. */
static bool is_proper_string(const struct model *model, const word *fields, uint32_t wosize) {
    word last = fields[wosize - 1];
    if (model_is_address(model, last))
        return false;
    unsigned padding = (unsigned)(last >> 56);
    return padding < 8 && (last & 0x00ffffffffffffff) >> 8 * (7 - padding) == 0;
}

static bool is_code(word v) {
    return v - code_pointer(0) <= INT32_MAX;
}

/* Are these the words before the environment that the harness makes?  A program may have written an
 * address over one. */
static bool has_code(const word *fields, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (!is_immediate(fields[i]) && !is_code(fields[i]))
            return false;
    return n > 0;
}

/* Its number is what new ones are counted by. */
static bool is_proper_object(const struct model *model, const word *fields, uint32_t wosize) {
    return wosize >= 2 && is_immediate(fields[1]) && !model_is_address(model, fields[1]);
}

static enum fit fit_of(const struct runner *r, struct copy *c, const struct model_object *o) {
    const word *fields = r->model.fields + o->first_field;
    if (model_is_foreign(&r->model, o) || o->ephemeron || o->tag == TAG_ABSTRACT)
        return RAISES;
    switch (o->tag) {
    case TAG_CLOSURE:
        c->named = true;
        return !has_code(fields, o->first_scanned) ? UNKNOWN : c->closures ? FITS : RAISES;
    case TAG_OBJECT:
        if (!c->whole || !is_proper_object(&r->model, fields, o->wosize))
            return UNKNOWN;
        c->numbered |= immediate_value(fields[1]) >= 0;
        return FITS;
    case TAG_STRING:
        return is_proper_string(&r->model, fields, o->wosize) ? FITS : UNKNOWN;
    case TAG_CUSTOM: /* a pinned one may have a finaliser, and a static one has no functions */
        c->named = true;
        return c->whole && !o->pinned && !o->is_static ? FITS : UNKNOWN;
    default:
        return FITS;
    }
}

/* ---- the plan ---------------------------------------------------------------------------------
 */

/* Finds the copy's number for an object, or adds it; COPIED_WORDS: there is none. */
static unsigned copy_of(struct runner *r, struct copy *c, uint32_t object) {
    for (unsigned i = 0; i < c->n && !c->unshared; i++)
        if (c->pair[i].from == object)
            return i;
    const struct model_object *o = &r->model.objects[object];
    if (c->n == COPIED_WORDS || c->words + o->wosize + 1 > COPIED_WORDS)
        return COPIED_WORDS;
    c->words += o->wosize + 1;
    c->pair[c->n].from = object;
    return c->n++;
}

/* A word that is no block's: a number beside every heap is none of code either. */
static enum fit fit_of_word(const struct runner *r, word v) {
    if (is_immediate(v) || model_is_atom(&r->model, v))
        return FITS;
    return model_is_address(&r->model, v) || is_code(v) ? UNKNOWN : RAISES;
}

static bool plan_fields(struct runner *r, struct copy *c, const struct model_object *o) {
    const word *fields = r->model.fields + o->first_field;
    for (uint32_t f = o->first_scanned; f < o->wosize; f++) {
        if (model_is_pointer(fields[f])) {
            if (copy_of(r, c, model_object(fields[f])) == COPIED_WORDS)
                return false;
            continue;
        }
        enum fit fit = fit_of_word(r, fields[f]);
        if (fit == UNKNOWN)
            return false;
        c->raises |= fit == RAISES;
    }
    return true;
}

/* Breadth first. */
bool copy_plan(struct runner *r, struct copy *c, uint32_t object) {
    if (copy_of(r, c, object) == COPIED_WORDS)
        return false;
    for (unsigned i = 0; i < c->n; i++) {
        const struct model_object *o = &r->model.objects[c->pair[i].from];
        enum fit fit = fit_of(r, c, o);
        if (fit == UNKNOWN)
            return false;
        c->raises |= fit == RAISES;
        if (fit == FITS && !plan_fields(r, c, o))
            return false;
    }
    return true;
}

/* ---- the numbers of objects ---------------------------------------------------------------------
 *
 * Reading goes from each block to what its fields lead to, one after the other, and gives an object
 * the next number when it has its first two fields.
 */

struct visit {
    uint32_t object, field;
};

static void number_object(struct runner *r, uint32_t object) {
    word *fields = model_fields(&r->model, object);
    if (r->model.objects[object].tag == TAG_OBJECT && immediate_value(fields[1]) >= 0)
        fields[1] = immediate(r->n_ids++);
}

/* True the first time. */
static bool is_new(const struct copy *c, uint32_t object, bool seen[COPIED_WORDS]) {
    for (unsigned i = 0; i < c->n; i++)
        if (c->pair[i].to == object) {
            bool new = !seen[i];
            seen[i] = true;
            return new;
        }
    return false;
}

static void number_objects(struct runner *r, const struct copy *c) {
    static struct visit stack[COPIED_WORDS];
    static bool seen[COPIED_WORDS];
    unsigned depth = 0;
    memset(seen, 0, sizeof seen);
    is_new(c, c->pair[0].to, seen);
    stack[depth++] = (struct visit){c->pair[0].to, 0};
    while (depth > 0) {
        struct visit *top = &stack[depth - 1];
        const struct model_object *o = &r->model.objects[top->object];
        uint32_t f = top->field++;
        if (f == 2)
            number_object(r, top->object);
        if (f >= o->wosize) {
            depth--;
            continue;
        }
        word v = f < o->first_scanned ? WORD_UNIT : model_fields(&r->model, top->object)[f];
        if (model_is_pointer(v) && is_new(c, model_object(v), seen))
            stack[depth++] = (struct visit){model_object(v), 0};
    }
}

/* ---- the copy ---------------------------------------------------------------------------------
 */

static void add_objects(struct runner *r, struct copy *c, unsigned m) {
    for (unsigned i = 0; i < c->n; i++) {
        const struct model_object o = r->model.objects[c->pair[i].from];
        c->pair[i].to = new_object(r, m, SLOT_NEW, o.wosize, o.tag, o.first_scanned, r->units);
        r->model.objects[c->pair[i].to].pinned = true;
    }
}

/* Without sharing the n-th pointer that is met leads to the n-th copy. */
uint32_t copy_make(struct runner *r, struct copy *c, unsigned m) {
    unsigned next = 1;
    add_objects(r, c, m);
    for (unsigned i = 0; i < c->n; i++) {
        const struct model_object *o = &r->model.objects[c->pair[i].from];
        word *to = model_fields(&r->model, c->pair[i].to);
        memcpy(to, r->model.fields + o->first_field, o->wosize * sizeof(word));
        for (uint32_t f = o->first_scanned; f < o->wosize; f++) {
            if (!model_is_pointer(to[f]))
                continue;
            unsigned k = c->unshared ? next++ : copy_of(r, c, model_object(to[f]));
            to[f] = model_pointer(c->pair[k].to, model_offset(to[f]));
        }
    }
    for (unsigned i = 0; i < c->n; i++)
        r->model.objects[c->pair[i].to].pinned = false;
    if (c->numbered)
        number_objects(r, c);
    return c->pair[0].to;
}
