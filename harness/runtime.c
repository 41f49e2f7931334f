/* SPDX-License-Identifier: MIT
 *
 * Operations of a language runtime: ephemerons, finalisers, lazy blocks, truncation, marshalling.
 *
 * If all collectors of a run have them (collectors/extras.h), they mean what they mean in OCaml and
 * the model says what is observable.  Else they are the nearest thing that a collector has: an
 * ephemeron is a block that keeps its fields alive, a finaliser never runs, a copy is an alias.
 */
#include "harness/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- finalisers -------------------------------------------------------------------------------
 */

enum { FINALISERS = 256, COPIED_WORDS = 1024 };

struct finalisers {
    unsigned n, n_ran;
    struct {
        uint32_t object;
        bool ran;
    } known[FINALISERS]; /* by number */
    uint64_t ran[2 * FINALISERS];
    enum party party; /* whose they are */
};

bool finalisers_open(struct runner *r) {
    r->finalisers = calloc(1, sizeof *r->finalisers);
    return r->finalisers;
}

void finalisers_reset(struct runner *r) {
    r->finalisers->n = r->finalisers->n_ran = 0;
}

void note_finalised(struct gc_hooks *hooks, uint64_t number) {
    enum party party;
    struct finalisers *f = runner_of(hooks, &party)->finalisers;
    if (f->n_ran < sizeof f->ran / sizeof *f->ran)
        f->ran[f->n_ran++] = number;
    f->party = party;
}

_Noreturn static void fail_finaliser(struct runner *r, enum violation v, enum oracle oracle,
                                     uint32_t object, const char *detail) {
    char name[16];
    object_name(r, object, name, sizeof name);
    snprintf(r->verdict.found, VERDICT_TEXT, "the finaliser of %s", name);
    fail(r, v, oracle, r->finalisers->party, detail);
}

static bool is_reachable(const struct runner *r, uint32_t object) {
    return r->model.objects[object].mark == r->model.epoch;
}

static void judge_one(struct runner *r, uint64_t number) {
    struct finalisers *f = r->finalisers;
    if (number >= f->n)
        fail(r, VIOLATION_collector_assertion, ORACLE_assertion, f->party,
             "a finaliser has run that nobody has asked for");
    uint32_t object = f->known[number].object;
    if (f->known[number].ran)
        fail_finaliser(r, VIOLATION_collector_assertion, ORACLE_assertion, object,
                       "a finaliser has run twice");
    if (is_reachable(r, object))
        fail_finaliser(r, VIOLATION_lost_object, ORACLE_isomorphism, object,
                       "the finaliser of a block has run that the program can still reach");
    f->known[number].ran = true;
}

/* What is reachable has just been marked: by the comparison of the heaps.  A block that has become
 * unreachable in this operation may be finalised in it. */
void judge_finalisers(struct runner *r, bool after_full) {
    struct finalisers *f = r->finalisers;
    if (f->n == 0 || !judges(r, ORACLE_completeness))
        return;
    for (unsigned i = 0; i < f->n_ran; i++)
        judge_one(r, f->ran[i]);
    f->n_ran = 0;
    for (unsigned i = 0; after_full && i < f->n; i++)
        if (!f->known[i].ran && !is_reachable(r, f->known[i].object))
            fail_finaliser(r, VIOLATION_garbage_retained, ORACLE_completeness, f->known[i].object,
                           "a finaliser has not run, though nothing reaches its block after a full "
                           "collection");
}

/* A number for the finaliser of the object; FINALISERS: there are too many. */
static unsigned add_finaliser(struct runner *r, uint32_t object) {
    struct finalisers *f = r->finalisers;
    if (f->n == FINALISERS)
        return FINALISERS;
    f->known[f->n].object = object;
    f->known[f->n].ran = false;
    r->model.objects[object].pinned = true;
    return f->n++;
}

/* ---- helpers ----------------------------------------------------------------------------------
 */

/* With extras there is one mutator, and the subject alone or collectors that all have them. */
#define ON_SIDES(r, p, call)                                                                       \
    for (unsigned p = 0; p < (r)->n_sides; p++) {                                                  \
        enter(r, (enum party)p);                                                                   \
        call;                                                                                      \
        leave(r, (enum party)p);                                                                   \
    }
static const struct gc_extras *extras(const struct runner *r, unsigned party) {
    return r->side[party].collector->extras;
}
static struct gc *gc(const struct runner *r, unsigned party) {
    return r->side[party].gc;
}

static bool may_allocate(struct runner *r, enum gc_result result) {
    if (result != GC_OK)
        r->verdict.counts.refusals++;
    return result == GC_OK;
}

/* The model's side of a block that the collectors have in dst. */
static uint32_t new_object(struct runner *r, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                           size_t first_scanned, const word *raw) {
    uint32_t object = model_add(&r->model, wosize, tag, first_scanned, raw);
    if (object == MODEL_NONE)
        harness_fault(r, "the model has no room left");
    r->model.objects[object].origin = -1 - (int32_t)r->verdict.op;
    r->model.objects[object].serial = (uint16_t)r->serial++;
    r->model.slots[m][dst] = model_pointer(object, 0);
    r->bound_words += wosize + 1;
    return object;
}

static void copy_value(struct runner *r, unsigned m, const struct value *v) {
    set_slot(r, m, SLOT_VALUE, v);
}

/* The object in a slot, if it has so many fields that are values. */
static unsigned scanned_object(const struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    if (object == MODEL_NONE)
        return MODEL_NONE;
    const struct model_object *o = &r->model.objects[object];
    bool values = o->first_scanned == 0 && o->tag < TAG_NO_SCAN && !o->is_static && !o->ephemeron;
    return values ? object : MODEL_NONE;
}

/* ---- ephemerons -------------------------------------------------------------------------------
 */

static unsigned ephemeron_in(const struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    return object != MODEL_NONE && r->model.objects[object].ephemeron ? object : MODEL_NONE;
}

static bool op_ephemeron(struct runner *r, const struct op *op, unsigned m) {
    if (!r->extras) {
        struct op block = {.code = OP_ALLOC, .dst = op->dst, .size = (uint16_t)(op->n + 1)};
        return alloc_block(r, &block, m);
    }
    enum gc_result result = GC_OK;
    ON_SIDES(r, p, result = extras(r, p)->ephemeron(gc(r, p), SLOT_NEW, op->n))
    if (!may_allocate(r, result))
        return true;
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    uint32_t object = new_object(r, m, SLOT_NEW, op->n + 1u, 0, 0, r->units);
    r->model.objects[object].ephemeron = true;
    r->model.has_ephemerons = true;
    set_slot(r, m, op->dst, &block);
    return true;
}

/* Which of the keys that read as unit are still there is the collector's business, and what happens
 * to the data then: so what has died is taken out before anything is changed. */
static void bury(struct runner *r, unsigned object, unsigned slot) {
    model_mark(&r->model);
    const word *fields = model_fields(&r->model, object);
    uint32_t wosize = r->model.objects[object].wosize;
    bool died = fields[0] == WORD_UNIT;
    for (uint32_t f = 1; f < wosize && died; f++)
        if (fields[f] == WORD_UNIT)
            ON_SIDES(r, p, extras(r, p)->unset(gc(r, p), slot, f))
    if (died)
        ON_SIDES(r, p, extras(r, p)->unset(gc(r, p), slot, 0))
}

static bool op_ephe_set(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    size_t i = op->i % r->model.objects[object].wosize;
    copy_parent(r, m, op->dst, SLOT_TO);
    copy_value(r, m, &op->values[0]);
    bury(r, object, SLOT_TO);
    word value = r->model.slots[m][SLOT_VALUE];
    if (i > 0 && model_is_pointer(value) && model_offset(value) && !r->infix_keys) {
        value = model_pointer(model_object(value), 0); /* a known defect: the closure instead */
        copy_parent(r, m, SLOT_VALUE, SLOT_VALUE);
    }
    ON_SIDES(r, p, extras(r, p)->set(gc(r, p), SLOT_TO, i, SLOT_VALUE))
    model_fields(&r->model, object)[i] = value;
    return true;
}

static bool op_ephe_unset(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    size_t i = op->i % r->model.objects[object].wosize;
    copy_parent(r, m, op->dst, SLOT_TO);
    bury(r, object, SLOT_TO);
    ON_SIDES(r, p, extras(r, p)->unset(gc(r, p), SLOT_TO, i))
    model_fields(&r->model, object)[i] = WORD_UNIT;
    return true;
}

static bool op_ephe_get(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->src);
    if (object == MODEL_NONE)
        return false;
    static const struct value unit = {.kind = VALUE_IMMEDIATE};
    static const struct value found = {.kind = VALUE_SLOT, .block = SLOT_VALUE};
    copy_parent(r, m, op->src, SLOT_FROM);
    model_mark(&r->model);
    size_t i = op->i % r->model.objects[object].wosize;
    word expected = model_fields(&r->model, object)[i];
    if (expected == WORD_UNIT) { /* not set, or dead: no two collectors need agree */
        set_slot(r, m, op->dst, &unit);
        return true;
    }
    for (unsigned p = 0; p < r->n_sides; p++) {
        enter(r, (enum party)p);
        bool is_set = extras(r, p)->get(gc(r, p), SLOT_VALUE, SLOT_FROM, i);
        leave(r, (enum party)p);
        if (!is_set && judges(r, ORACLE_isomorphism)) {
            describe_model(r, expected, r->verdict.expected, VERDICT_TEXT);
            snprintf(r->verdict.found, VERDICT_TEXT, "nothing is set");
            fail(r, VIOLATION_lost_object, ORACLE_isomorphism, (enum party)p,
                 "an ephemeron has lost a field whose keys the program can still reach");
        }
        check_word(r, (enum party)p, r->side[p].slots[m][SLOT_VALUE], expected);
    }
    r->model.slots[m][SLOT_VALUE] = expected;
    set_slot(r, m, op->dst, &found);
    return true;
}

/* Keys to keys, as memmove; data to data. */
static void blit_model(struct runner *r, unsigned from, size_t i, unsigned to, size_t j, size_t n) {
    memmove(model_fields(&r->model, to) + j, model_fields(&r->model, from) + i, n * sizeof(word));
}

static bool op_ephe_blit(struct runner *r, const struct op *op, unsigned m) {
    unsigned from = ephemeron_in(r, m, op->src), to = ephemeron_in(r, m, op->dst);
    if (from == MODEL_NONE || to == MODEL_NONE)
        return false;
    size_t from_size = r->model.objects[from].wosize, to_size = r->model.objects[to].wosize;
    size_t i = op->i % from_size, j = op->j % to_size, n = op->n;
    if ((i == 0) != (j == 0))
        return false;
    n = i == 0 ? 1 : n > from_size - i ? from_size - i : n;
    n = n > to_size - j ? to_size - j : n;
    copy_parent(r, m, op->src, SLOT_FROM);
    copy_parent(r, m, op->dst, SLOT_TO);
    bury(r, from, SLOT_FROM);
    bury(r, to, SLOT_TO);
    ON_SIDES(r, p, extras(r, p)->blit(gc(r, p), SLOT_FROM, i, SLOT_TO, j, n))
    blit_model(r, from, i, to, j, n);
    return true;
}

/* ---- the same for collectors without ------------------------------------------------------------
 */

static bool plain_ephemeron_operation(struct runner *r, const struct op *op, unsigned m) {
    static const uint8_t plain[] = {[OP_EPHE_SET] = OP_STORE,
                                    [OP_EPHE_UNSET] = OP_STORE,
                                    [OP_EPHE_GET] = OP_LOAD,
                                    [OP_EPHE_BLIT] = OP_BLIT};
    struct op same = *op;
    same.code = plain[op->code];
    same.n_values = same.code == OP_STORE;
    return run_plain(r, &same, m);
}

/* ---- blocks that change -------------------------------------------------------------------------
 */

static bool op_resource(struct runner *r, const struct op *op, unsigned m) {
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    if (!r->extras) {
        struct op raw = {
            .code = OP_ALLOC_RAW, .dst = op->dst, .tag = TAG_CUSTOM, .size = (uint16_t)(op->n + 1)};
        return run_plain(r, &raw, m);
    }
    struct finalisers *f = r->finalisers;
    enum gc_result result = GC_OK;
    if (f->n == FINALISERS)
        return false;
    ON_SIDES(r, p, result = extras(r, p)->resource(gc(r, p), SLOT_NEW, op->n + 1u, f->n))
    if (!may_allocate(r, result))
        return true;
    memset(r->image, 0, (op->n + 1u) * sizeof(word));
    uint32_t object = new_object(r, m, SLOT_NEW, op->n + 1u, TAG_CUSTOM, op->n + 1u, r->image);
    add_finaliser(r, object);
    set_slot(r, m, op->dst, &block);
    return true;
}

/* May the key of an ephemeron become a Forward block?  Pointers that a collector leads past it
 * leave the key to die alone, at a time of its own. */
static bool is_key(const struct runner *r, unsigned object) {
    const struct model *model = &r->model;
    for (uint32_t i = 0; model->has_ephemerons && i < model->n_order; i++) {
        const struct model_object *o = &model->objects[model->order[i]];
        for (uint32_t f = 0; o->ephemeron && f < o->wosize; f++) {
            word v = model->fields[o->first_field + f];
            if (model_is_pointer(v) && model_object(v) == object)
                return true;
        }
    }
    return false;
}

static bool stays_a_block(const struct runner *r, word field) {
    if (!model_is_pointer(field))
        return false;
    const struct model_object *o = &r->model.objects[model_object(field)];
    return o->is_static || o->tag == TAG_FORWARD || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE;
}

void make_forward(struct runner *r, unsigned m, unsigned slot) {
    copy_parent(r, m, slot, SLOT_TO);
    copy_parent(r, m, slot, SLOT_FROM);
    load_field(r, m, 0);
    ON_SIDES(r, p, extras(r, p)->forward(gc(r, p), SLOT_TO, SLOT_VALUE))
    r->model.objects[slot_object(r, m, slot)].tag = TAG_FORWARD;
}

static bool op_forward(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = scanned_object(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    struct model_object *o = &r->model.objects[object];
    if (o->tag != TAG_LAZY || o->wosize != 1)
        return false;
    copy_parent(r, m, op->dst, SLOT_TO);
    copy_value(r, m, &op->values[0]);
    word value = r->model.slots[m][SLOT_VALUE];
    if (!r->extras) {
        store_field(r, m, 0, false);
        return true;
    }
    if (is_key(r, object) && !stays_a_block(r, value))
        return false;
    ON_SIDES(r, p, extras(r, p)->forward(gc(r, p), SLOT_TO, SLOT_VALUE))
    model_fields(&r->model, object)[0] = value;
    o->tag = TAG_FORWARD;
    return true;
}

/* Elsewhere the fields that go become unit. */
static bool op_truncate(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = scanned_object(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    struct model_object *o = &r->model.objects[object];
    uint32_t n = 1 + op->n % o->wosize;
    if (n == o->wosize || o->tag == TAG_FORWARD || o->tag == TAG_LAZY)
        return false;
    static const struct value unit = {.kind = VALUE_IMMEDIATE};
    copy_parent(r, m, op->dst, SLOT_TO);
    copy_value(r, m, &unit);
    if (!r->extras) {
        for (uint32_t f = n; f < o->wosize; f++)
            store_field(r, m, f, false);
        return true;
    }
    ON_SIDES(r, p, extras(r, p)->truncate(gc(r, p), SLOT_TO, n))
    o->wosize = n;
    return true;
}

/* Blocks of these tags are refused by the runtime; a static one never dies. */
static bool op_finalise(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->dst);
    if (object == MODEL_NONE || !r->extras)
        return false;
    const struct model_object *o = &r->model.objects[object];
    if (o->is_static || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE || o->tag == TAG_FORWARD)
        return false;
    unsigned number = add_finaliser(r, object);
    if (number == FINALISERS)
        return false;
    ON_SIDES(r, p, extras(r, p)->finalise(gc(r, p), op->dst, number, op->n))
    return true;
}

/* ---- copies and counts --------------------------------------------------------------------------
 */

/* What a copy has made so far: original and copy, and the fields that are to be filled. */
struct copy {
    unsigned n;
    size_t words;
    struct {
        uint32_t from, to;
    } pair[COPIED_WORDS];
};

/* A string keeps its length in its last byte, and what is behind the length is 0. */
static bool is_proper_string(const word *fields, uint32_t wosize) {
    word last = fields[wosize - 1];
    unsigned padding = (unsigned)(last >> 56);
    return padding < 8 && (last & 0x00ffffffffffffff) >> 8 * (7 - padding) == 0;
}

static bool may_be_marshalled(const struct runner *r, const struct model_object *o) {
    if (o->is_static || o->ephemeron || o->tag == TAG_CLOSURE || o->tag == TAG_OBJECT)
        return false;
    if (o->tag == TAG_STRING)
        return is_proper_string(r->model.fields + o->first_field, o->wosize);
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
            if (is_immediate(fields[f]))
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

static bool op_marshal(struct runner *r, const struct op *op, unsigned m) {
    static struct copy copy;
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    unsigned object = slot_object(r, m, op->src);
    if (!r->extras) {
        struct value alias = {.kind = VALUE_SLOT, .block = op->src};
        set_slot(r, m, op->dst, &alias);
        return true;
    }
    if (object == MODEL_NONE || !plan_copy(r, &copy, object, op->n))
        return false;
    copy_parent(r, m, op->src, SLOT_FROM);
    enum gc_result result = GC_OK;
    ON_SIDES(r, p, result = extras(r, p)->marshal(gc(r, p), SLOT_NEW, SLOT_FROM, op->n, copy.words))
    if (!may_allocate(r, result))
        return true;
    uint32_t to = make_copy(r, &copy, m, op->n);
    r->model.slots[m][SLOT_NEW] = model_pointer(to, 0);
    set_slot(r, m, op->dst, &block);
    return true;
}

/* Blocks whose size in the collector's own heap is another, or that it may have led past. */
static bool may_be_measured(const struct model_object *o) {
    return !o->ephemeron && o->tag != TAG_CUSTOM && o->tag != TAG_FORWARD;
}

static bool op_measure(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE || !r->extras || r->model.objects[object].is_static)
        return false;
    copy_parent(r, m, op->src, SLOT_FROM);
    size_t words = 0;
    if (!model_measure(&r->model, object, may_be_measured, &words))
        return false;
    for (unsigned p = 0; p < r->n_sides; p++) {
        enter(r, (enum party)p);
        size_t found = extras(r, p)->measure(gc(r, p), SLOT_FROM);
        leave(r, (enum party)p);
        if (found == words || found == SIZE_MAX || !judges(r, ORACLE_isomorphism))
            continue;
        snprintf(r->verdict.expected, VERDICT_TEXT, "%zu words", words);
        snprintf(r->verdict.found, VERDICT_TEXT, "%zu", found);
        fail(r, VIOLATION_size_changed, ORACLE_isomorphism, (enum party)p,
             "the words that a block reaches are counted wrong");
    }
    return true;
}

/* ---- many blocks at once ------------------------------------------------------------------------
 */

/* dst := a block of these fields; false if there was no room. */
static bool build_block(struct runner *r, unsigned m, unsigned dst, const struct value *fields,
                        unsigned n) {
    struct op op = {
        .code = OP_ALLOC, .dst = (uint8_t)dst, .size = (uint16_t)n, .n_values = (uint8_t)n};
    memcpy(op.values, fields, n * sizeof *fields);
    word before = r->model.slots[m][dst];
    alloc_block(r, &op, m);
    return r->model.slots[m][dst] != before;
}

static const struct value unit = {.kind = VALUE_IMMEDIATE};
static const struct value kept = {.kind = VALUE_SLOT, .block = SLOT_FROM};

/* Allocated first, then filled with blocks. */
static void build_array(struct runner *r, const struct op *op, unsigned m) {
    struct op array = {.code = OP_ALLOC, .dst = op->dst, .size = op->n ? op->n : 1};
    alloc_block(r, &array, m);
    for (uint16_t k = 0; model_is_pointer(r->model.slots[m][op->dst]) && k < op->n; k++) {
        set_slot(r, m, SLOT_VALUE, &unit);
        if (!build_block(r, m, SLOT_VALUE, &kept, 1))
            return;
        copy_parent(r, m, op->dst, SLOT_TO);
        store_field(r, m, k, false);
    }
}

/* Each block of a list or tree holds the value and what was there before it: a tree has it twice,
 * so that there are many ways to each block. */
static bool op_build(struct runner *r, const struct op *op, unsigned m) {
    const struct value dst = {.kind = VALUE_SLOT, .block = op->dst};
    const struct value fields[] = {kept, dst, dst};
    set_slot(r, m, SLOT_FROM, &op->values[0]);
    set_slot(r, m, op->dst, &unit);
    if (op->i == BUILD_ARRAY)
        build_array(r, op, m);
    for (uint16_t k = 0; op->i != BUILD_ARRAY && k < op->n; k++)
        if (!build_block(r, m, op->dst, fields, op->i == BUILD_TREE ? 3 : 2))
            break;
    return true;
}

/* ---- dispatch -----------------------------------------------------------------------------------
 */

bool run_runtime_operation(struct runner *r, const struct op *op, unsigned m) {
    switch ((enum op_code)op->code) {
    case OP_EPHEMERON:
        return op_ephemeron(r, op, m);
    case OP_EPHE_SET:
        return r->extras ? op_ephe_set(r, op, m) : plain_ephemeron_operation(r, op, m);
    case OP_EPHE_UNSET:
        return r->extras ? op_ephe_unset(r, op, m) : plain_ephemeron_operation(r, op, m);
    case OP_EPHE_GET:
        return r->extras ? op_ephe_get(r, op, m) : plain_ephemeron_operation(r, op, m);
    case OP_EPHE_BLIT:
        return r->extras ? op_ephe_blit(r, op, m) : plain_ephemeron_operation(r, op, m);
    case OP_RESOURCE:
        return op_resource(r, op, m);
    case OP_FORWARD:
        return op_forward(r, op, m);
    case OP_TRUNCATE:
        return op_truncate(r, op, m);
    case OP_FINALISE:
        return op_finalise(r, op, m);
    case OP_MARSHAL:
        return op_marshal(r, op, m);
    case OP_MEASURE:
        return op_measure(r, op, m);
    default:
        return op_build(r, op, m);
    }
}
