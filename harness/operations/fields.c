/* SPDX-License-Identifier: MIT
 *
 * The operations on fields (operations.h): store, init, fill, blit, load, read.
 */
#include "harness/operations/operations.h"

#include <string.h>

/* An object and its scannable fields. */
struct target {
    unsigned object;     /* MODEL_NONE: the slot holds no pointer */
    size_t first, count; /* scanned fields first .. first + count - 1; raw ones are before */
    bool raw;            /* a no-scan block: count is of its raw words */
};

static struct target target_of(const struct runner *r, unsigned m, unsigned slot) {
    struct target t = {.object = slot_object(r, m, slot)};
    if (t.object == MODEL_NONE)
        return t;
    const struct model_object *o = &r->model.objects[t.object];
    t.raw = o->tag >= TAG_NO_SCAN;
    if (o->ephemeron) { /* has operations of its own */
        t.object = MODEL_NONE;
        return t;
    }
    t.first = t.raw ? 0 : o->first_scanned;
    t.count = o->wosize - t.first;
    return t;
}

/* Static blocks hold no pointers into the heap: they would have to be roots. */
static bool may_hold(const struct runner *r, unsigned object, word value) {
    return !model_is_pointer(value) || !r->model.objects[object].is_static ||
           r->model.objects[model_object(value)].is_static;
}

/* Some collectors have blocks that nobody may write once they are initialised. */
static bool is_writable(const struct runner *r, unsigned object) {
    for (unsigned p = 0; r->immutables && p < r->n_sides; p++) {
        const struct collector *c = r->side[p].collector;
        if (c->writable && !c->writable(r->model.objects[object].tag))
            return false;
    }
    return true;
}

bool is_refused(struct side *s, bool done) {
    struct runner *r = runner_of(s);
    if (done)
        return false;
    r->verdict.counts.refusals += s->party == PARTY_SUBJECT;
    if (s != r->side)
        skip_rest(r);
    return true;
}

/* Field i of the block in SLOT_TO := SLOT_VALUE. */
bool store_field(struct runner *r, unsigned m, size_t i, bool initialise) {
    unsigned object = slot_object(r, m, SLOT_TO);
    word value = r->model.slots[m][SLOT_VALUE];
    if (!may_hold(r, object, value) || (!initialise && !is_writable(r, object)))
        return true;
    FOR_SIDES (r, s) {
        if (initialise)
            call_init(s, m, SLOT_TO, i, SLOT_VALUE);
        else if (is_refused(s, call_store(s, m, SLOT_TO, i, SLOT_VALUE)))
            return false;
    }
    model_fields(&r->model, object)[i] = value;
    note_write(r, object, i, 1);
    return true;
}

/* SLOT_VALUE := field i of the block in SLOT_FROM. */
bool load_field(struct runner *r, unsigned m, size_t i) {
    word value = model_fields(&r->model, slot_object(r, m, SLOT_FROM))[i];
    FOR_SIDES (r, s) {
        if (is_refused(s, call_load(s, m, SLOT_VALUE, SLOT_FROM, i)))
            return false;
        event_loaded(judge_of(s), s->slots[m][SLOT_VALUE], value);
    }
    r->model.slots[m][SLOT_VALUE] = value;
    return true;
}

/* Raw words carry no pointers: no barrier; a plain write but for other layouts. */
static void write_raw(struct runner *r, unsigned m, size_t i, word value) {
    FOR_SIDES (r, s)
        call_write_raw(s, m, SLOT_TO, i, model_data(&r->model, s->party, value));
    model_fields(&r->model, slot_object(r, m, SLOT_TO))[i] = value;
    note_write(r, slot_object(r, m, SLOT_TO), i, 1);
}

/* An address may also become a code word of a closure, where the index has one: that is data too,
 * and no word of a program's own is ever written there otherwise.  The even words before the
 * environment are those. */
static bool is_code_word(const struct runner *r, const struct op *op, const struct target *t) {
    if (op->values[0].kind != VALUE_ADDRESS || t->object == MODEL_NONE ||
        r->model.objects[t->object].tag != TAG_CLOSURE)
        return false;
    const struct model_object *o = &r->model.objects[t->object];
    size_t i = op->i % o->wosize;
    return i < o->first_scanned && is_pointer(r->model.fields[o->first_field + i]);
}

static bool store_code(struct runner *r, const struct op *op, unsigned m, const struct target *t) {
    if (!is_writable(r, t->object))
        return skip(r, SKIP_UNFIT);
    word value = operand_word(r, m, &op->values[0], ADDRESS_CODE);
    copy_parent(r, m, op->dst, SLOT_TO);
    write_raw(r, m, op->i % r->model.objects[t->object].wosize, value);
    return true;
}

/* The model's word for what is stored there. */
static word stored_word(struct runner *r, const struct op *op, unsigned m, const struct target *t) {
    return operand_word(r, m, &op->values[0], t->raw ? ADDRESS_RAW : ADDRESS_IMMEDIATE);
}

static bool store(struct runner *r, const struct op *op, unsigned m, bool fresh) {
    struct target t = target_of(r, m, op->dst);
    if (is_code_word(r, op, &t))
        return store_code(r, op, m, &t);
    word value = stored_word(r, op, m, &t);
    if (t.object == MODEL_NONE || t.count == 0 || (t.raw && model_is_pointer(value)) ||
        !may_hold(r, t.object, value))
        return skip_block(r, t.object);
    bool initialise = fresh && r->fresh == t.object;
    if (!initialise && !is_writable(r, t.object))
        return skip(r, SKIP_UNFIT);
    copy_parent(r, m, op->dst, SLOT_TO);
    if (!t.raw)
        set_slot_word(r, m, SLOT_VALUE, &op->values[0], value);
    if (t.raw)
        write_raw(r, m, op->i % t.count, value);
    else
        store_field(r, m, t.first + op->i % t.count, initialise);
    return true;
}

bool op_store(struct runner *r, const struct op *op, unsigned m) {
    return store(r, op, m, false);
}

/* Initialises the block that was allocated last, and stores into any other. */
bool op_init(struct runner *r, const struct op *op, unsigned m) {
    return store(r, op, m, true);
}

/* All collectors have a function for that, with barriers of its own. */
static bool fills_at_once(const struct runner *r) {
    for (unsigned p = 0; p < r->n_sides; p++)
        if (!r->side[p].collector->extras || !r->side[p].collector->extras->fill)
            return false;
    return true;
}

static void fill_fields(struct runner *r, unsigned m, size_t i, size_t n) {
    unsigned object = slot_object(r, m, SLOT_TO);
    FOR_SIDES (r, s)
        call_fill(s, m, SLOT_TO, i, n, SLOT_VALUE);
    for (size_t k = i; k < i + n; k++)
        model_fields(&r->model, object)[k] = r->model.slots[m][SLOT_VALUE];
    note_write(r, object, i, n);
}

/* As many plain stores with the barrier, or Array.fill. */
bool op_fill(struct runner *r, const struct op *op, unsigned m) {
    struct target t = target_of(r, m, op->dst);
    word value = stored_word(r, op, m, &t);
    if (t.object == MODEL_NONE || t.count == 0 || (t.raw && model_is_pointer(value)) ||
        !may_hold(r, t.object, value) || !is_writable(r, t.object))
        return skip_block(r, t.object);
    size_t from = op->i % t.count, n = op->n < t.count - from ? op->n : t.count - from;
    if (!t.raw)
        set_slot_word(r, m, SLOT_VALUE, &op->values[0], value);
    copy_parent(r, m, op->dst, SLOT_TO);
    if (!t.raw && !r->model.objects[t.object].is_static && fills_at_once(r)) {
        fill_fields(r, m, t.first + from, n);
        return true;
    }
    for (size_t i = from; i < from + n; i++) {
        if (t.raw)
            write_raw(r, m, i, value);
        else if (!store_field(r, m, t.first + i, false))
            break;
    }
    return true;
}

/* One field of a blit: by load and store, so that both barriers see it.  False: it is refused. */
static bool move_field(struct runner *r, unsigned m, const struct target *to, size_t i, size_t j) {
    if (to->raw) {
        write_raw(r, m, j, model_fields(&r->model, slot_object(r, m, SLOT_FROM))[i]);
        return true;
    }
    return load_field(r, m, i) && store_field(r, m, j, false);
}

/* Some collector copies fields in one call, and all others are plain memory. */
static bool blits_at_once(const struct runner *r) {
    bool any = false;
    for (unsigned p = 0; p < r->n_sides; p++) {
        const struct collector *c = r->side[p].collector;
        if (!c->blit && (c->load || c->store))
            return false;
        any |= c->blit != NULL;
    }
    return any;
}

static void blit_fields(struct runner *r, unsigned m, size_t i, size_t j, size_t n) {
    FOR_SIDES (r, s)
        if (is_refused(s, call_blit(s, m, SLOT_FROM, i, SLOT_TO, j, n)))
            return;
    memmove(model_fields(&r->model, slot_object(r, m, SLOT_TO)) + j,
            model_fields(&r->model, slot_object(r, m, SLOT_FROM)) + i, n * sizeof(word));
    note_write(r, slot_object(r, m, SLOT_TO), j, n);
}

bool op_blit(struct runner *r, const struct op *op, unsigned m) {
    struct target from = target_of(r, m, op->src), to = target_of(r, m, op->dst);
    if (from.object == MODEL_NONE || to.object == MODEL_NONE || from.raw != to.raw ||
        from.count == 0 || to.count == 0 || !is_writable(r, to.object))
        return skip_block(r, from.object == MODEL_NONE ? MODEL_NONE : to.object);
    size_t i = op->i % from.count, j = op->j % to.count, n = op->n;
    if (n > from.count - i)
        n = from.count - i;
    if (n > to.count - j)
        n = to.count - j;
    copy_parent(r, m, op->src, SLOT_FROM);
    copy_parent(r, m, op->dst, SLOT_TO);
    i += from.first;
    j += to.first;
    if (!to.raw && !r->model.objects[to.object].is_static && blits_at_once(r)) {
        blit_fields(r, m, i, j, n);
        return true;
    }
    bool backwards = from.object == to.object && i < j; /* as memmove */
    for (size_t k = 0; k < n; k++) {
        size_t at = backwards ? n - 1 - k : k;
        if (!move_field(r, m, &to, i + at, j + at))
            break;
    }
    return true;
}

/* Reading back what no collection touched: raw words and the words of a closure's code too. */
bool op_read(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE || r->model.objects[object].ephemeron ||
        r->model.objects[object].wosize == 0)
        return skip_block(r, object);
    copy_parent(r, m, op->src, SLOT_FROM);
    size_t i = op->i % r->model.objects[object].wosize;
    if (i >= r->model.objects[object].first_scanned) {
        load_field(r, m, i);
        return true;
    }
    word expected = model_fields(&r->model, object)[i];
    FOR_SIDES (r, s) {
        word found = word_pointer(s->slots[m][SLOT_FROM])[i];
        found = isomorphism_comparable(found, r->model.objects[object].tag);
        event_raw_read(judge_of(s), found, expected);
    }
    return true;
}

bool op_load(struct runner *r, const struct op *op, unsigned m) {
    struct target t = target_of(r, m, op->src);
    if (t.object == MODEL_NONE || t.count == 0 || t.raw)
        return op_read(r, op, m);
    static const struct value loaded = {.kind = VALUE_SLOT, .block = SLOT_VALUE};
    copy_parent(r, m, op->src, SLOT_FROM);
    if (load_field(r, m, t.first + op->i % t.count))
        set_slot(r, m, op->dst, &loaded);
    return true;
}
