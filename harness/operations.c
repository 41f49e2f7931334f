/* SPDX-License-Identifier: MIT
 *
 * The operations of a script, on all parties.
 *
 * Here operands meet what exists: an index is taken modulo the fields that there are, and an
 * operation without a legal meaning (a load from an immediate, a store into raw words of another
 * kind) is skipped in every party alike.
 */
#include "collectors/words_copy.h"
#include "harness/internal.h"

#include <string.h>

/* An object and its scannable fields. */
struct target {
    unsigned object;     /* MODEL_NONE: the slot holds no pointer */
    size_t first, count; /* scanned fields first .. first + count - 1; raw ones are before */
    bool raw;            /* a no-scan block: count is of its raw words */
};

unsigned slot_object(const struct runner *r, unsigned m, unsigned slot) {
    word v = r->model.slots[m][slot];
    return model_is_pointer(v) ? model_object(v) : MODEL_NONE;
}

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

/* The model's word for a script value. */
static word operand(const struct runner *r, unsigned m, const struct value *v) {
    return v->kind == VALUE_SLOT ? r->model.slots[m][v->block] : atom_word(r, v);
}

void set_slot(struct runner *r, unsigned m, unsigned dst, const struct value *v) {
    word w = operand(r, m, v);
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        s->slots[m][dst] = v->kind == VALUE_SLOT ? s->slots[m][v->block] : w;
    }
    r->model.slots[m][dst] = w;
}

static void clear_slot(struct runner *r, unsigned m, unsigned slot) {
    static const struct value unit = {.kind = VALUE_IMMEDIATE};
    set_slot(r, m, slot, &unit);
}

static void clear_scratch(struct runner *r, unsigned m) {
    for (unsigned i = SLOT_NEW; i < GC_SLOTS; i++)
        r->model.slots[m][i] = WORD_UNIT;
    for (unsigned p = 0; p < r->n_sides; p++)
        for (unsigned i = SLOT_NEW; i < GC_SLOTS; i++)
            r->side[p].slots[m][i] = WORD_UNIT;
}

/* Puts the block (never an infix pointer) that slot points at into a scratch slot. */
void copy_parent(struct runner *r, unsigned m, unsigned slot, unsigned scratch) {
    word back = model_offset(r->model.slots[m][slot]);
    for (unsigned p = 0; p < r->n_sides; p++)
        r->side[p].slots[m][scratch] = r->side[p].slots[m][slot] - back * sizeof(word);
    r->model.slots[m][scratch] = model_pointer(slot_object(r, m, slot), 0);
}

/* ---- fields -----------------------------------------------------------------------------------
 */

static word *side_fields(const struct side *s, unsigned m, unsigned slot) {
    return word_pointer(s->slots[m][slot]);
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

/* Field i of the block in SLOT_TO := SLOT_VALUE. */
void store_field(struct runner *r, unsigned m, size_t i, bool initialise) {
    unsigned object = slot_object(r, m, SLOT_TO);
    word value = r->model.slots[m][SLOT_VALUE];
    if (!may_hold(r, object, value) || (!initialise && !is_writable(r, object)))
        return;
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        cycle_write(s, s->slots[m][SLOT_TO], i, s->slots[m][SLOT_VALUE]);
        enter(r, (enum party)p);
        if (initialise && s->collector->init)
            s->collector->init(s->gc, m, SLOT_TO, i, SLOT_VALUE);
        else if (!initialise && s->collector->store)
            s->collector->store(s->gc, m, SLOT_TO, i, SLOT_VALUE);
        else
            side_fields(s, m, SLOT_TO)[i] = s->slots[m][SLOT_VALUE];
        leave(r, (enum party)p);
    }
    model_fields(&r->model, object)[i] = value;
}

/* SLOT_VALUE := field i of the block in SLOT_FROM. */
void load_field(struct runner *r, unsigned m, size_t i) {
    word value = model_fields(&r->model, slot_object(r, m, SLOT_FROM))[i];
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        enter(r, (enum party)p);
        if (s->collector->load)
            s->collector->load(s->gc, m, SLOT_VALUE, SLOT_FROM, i);
        else
            s->slots[m][SLOT_VALUE] = side_fields(s, m, SLOT_FROM)[i];
        leave(r, (enum party)p);
        check_word(r, (enum party)p, s->slots[m][SLOT_VALUE], value);
    }
    r->model.slots[m][SLOT_VALUE] = value;
}

/* Raw words carry no pointers: no barrier; a plain write but for other layouts. */
static void write_raw(struct runner *r, unsigned m, size_t i, word value) {
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        cycle_write(s, s->slots[m][SLOT_TO], i, value);
        if (s->collector->write_raw)
            s->collector->write_raw(s->gc, m, SLOT_TO, i, value);
        else
            side_fields(s, m, SLOT_TO)[i] = value;
    }
    model_fields(&r->model, slot_object(r, m, SLOT_TO))[i] = value;
}

static bool op_store(struct runner *r, const struct op *op, unsigned m) {
    struct target t = target_of(r, m, op->dst);
    word value = operand(r, m, &op->values[0]);
    if (t.object == MODEL_NONE || t.count == 0 || (t.raw && model_is_pointer(value)) ||
        !may_hold(r, t.object, value))
        return false;
    bool initialise = op->code == OP_INIT && r->fresh == t.object;
    if (!initialise && !is_writable(r, t.object))
        return false;
    set_slot(r, m, SLOT_VALUE, &op->values[0]);
    copy_parent(r, m, op->dst, SLOT_TO);
    if (t.raw)
        write_raw(r, m, op->i % t.count, value);
    else
        store_field(r, m, t.first + op->i % t.count, initialise);
    return true;
}

/* As many plain stores with the barrier: caml_array_fill. */
static bool op_fill(struct runner *r, const struct op *op, unsigned m) {
    struct target t = target_of(r, m, op->dst);
    word value = operand(r, m, &op->values[0]);
    if (t.object == MODEL_NONE || t.count == 0 || (t.raw && model_is_pointer(value)) ||
        !may_hold(r, t.object, value) || !is_writable(r, t.object))
        return false;
    size_t from = op->i % t.count, n = op->n < t.count - from ? op->n : t.count - from;
    set_slot(r, m, SLOT_VALUE, &op->values[0]);
    copy_parent(r, m, op->dst, SLOT_TO);
    for (size_t i = from; i < from + n; i++) {
        if (t.raw)
            write_raw(r, m, i, value);
        else
            store_field(r, m, t.first + i, false);
    }
    return true;
}

/* One field of a blit: by load and store, so that both barriers see it. */
static void move_field(struct runner *r, unsigned m, const struct target *to, size_t i, size_t j) {
    if (to->raw) {
        write_raw(r, m, j, model_fields(&r->model, slot_object(r, m, SLOT_FROM))[i]);
        return;
    }
    load_field(r, m, i);
    store_field(r, m, j, false);
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
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        word *from = side_fields(s, m, SLOT_FROM) + i, *to = side_fields(s, m, SLOT_TO) + j;
        for (size_t k = 0; k < n; k++)
            cycle_write(s, s->slots[m][SLOT_TO], j + k, from[k]);
        enter(r, (enum party)p);
        if (s->collector->blit)
            s->collector->blit(s->gc, m, SLOT_FROM, i, SLOT_TO, j, n);
        else
            memmove(to, from, n * sizeof *to);
        leave(r, (enum party)p);
    }
    memmove(model_fields(&r->model, slot_object(r, m, SLOT_TO)) + j,
            model_fields(&r->model, slot_object(r, m, SLOT_FROM)) + i, n * sizeof(word));
}

static bool op_blit(struct runner *r, const struct op *op, unsigned m) {
    struct target from = target_of(r, m, op->src), to = target_of(r, m, op->dst);
    if (from.object == MODEL_NONE || to.object == MODEL_NONE || from.raw != to.raw ||
        from.count == 0 || to.count == 0 || !is_writable(r, to.object))
        return false;
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
        move_field(r, m, &to, i + at, j + at);
    }
    return true;
}

/* Reading back what no collection touched: raw words and the words of a closure's code too. */
static bool op_read(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->src);
    if (object == MODEL_NONE || r->model.objects[object].ephemeron ||
        r->model.objects[object].wosize == 0)
        return false;
    copy_parent(r, m, op->src, SLOT_FROM);
    size_t i = op->i % r->model.objects[object].wosize;
    if (i >= r->model.objects[object].first_scanned) {
        load_field(r, m, i);
        return true;
    }
    word expected = model_fields(&r->model, object)[i];
    for (unsigned p = 0; p < r->n_sides; p++) {
        word found = side_fields(&r->side[p], m, SLOT_FROM)[i];
        if (r->model.objects[object].tag == TAG_CLOSURE && header_tag(found) == TAG_INFIX)
            found = header_recolour(found, WHITE);
        check_raw(r, (enum party)p, found, expected);
    }
    return true;
}

static bool op_load(struct runner *r, const struct op *op, unsigned m) {
    struct target t = target_of(r, m, op->src);
    if (t.object == MODEL_NONE || t.count == 0 || t.raw)
        return op_read(r, op, m);
    static const struct value loaded = {.kind = VALUE_SLOT, .block = SLOT_VALUE};
    copy_parent(r, m, op->src, SLOT_FROM);
    load_field(r, m, t.first + op->i % t.count);
    set_slot(r, m, op->dst, &loaded);
    return true;
}

/* ---- allocation -------------------------------------------------------------------------------
 */

/* Is a collection due?  One operation makes a thousand blocks, so that a short program could ask
 * for more collections of a large heap than anybody waits for: they end when they have looked at so
 * many words. */
static bool is_stressed(struct runner *r) {
    static const uint64_t most_words = 1 << 21;
    unsigned nth = r->program->config[CONFIG_STRESS];
    if (!nth || r->allocations % nth != 0 || r->stressed_words >= most_words)
        return false;
    r->stressed_words += r->heap_words;
    return true;
}

/* What config asks for at this allocation: a collection first, or a request that must fail. */
static void before_allocation(struct runner *r, unsigned m) {
    unsigned nth = r->program->config[CONFIG_FAIL];
    r->allocations++;
    if (is_stressed(r))
        collect_all(r, GC_FULL);
    if (nth && r->allocations == nth) {
        /* larger than the heap with its header: refused, and nothing else happens */
        allocate(r, m, r->heap_words, 0, 0, r->units);
        clear_slot(r, m, SLOT_NEW);
    }
}

/* The values of an allocation, as initialising stores into the block in SLOT_NEW. */
static void initialise(struct runner *r, const struct op *op, unsigned m, size_t start) {
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    set_slot(r, m, SLOT_TO, &block);
    for (unsigned i = 0; i < op->n_values; i++) {
        set_slot(r, m, SLOT_VALUE, &op->values[i]);
        store_field(r, m, start + i, true);
    }
    set_slot(r, m, op->dst, &block);
    clear_slot(r, m, SLOT_NEW);
}

bool alloc_block(struct runner *r, const struct op *op, unsigned m) {
    before_allocation(r, m);
    bool forward = op->tag == TAG_FORWARD && r->forwards; /* as Lazy.force makes it, or nothing */
    unsigned tag = !forward ? op->tag : op->size == 1 ? TAG_LAZY : 0;
    if (allocate(r, m, op->size, tag, 0, r->units) == MODEL_NONE)
        return true;
    initialise(r, op, m, 0);
    if (forward && op->size == 1 && r->extras)
        make_forward(r, m, op->dst);
    return true;
}

static bool op_alloc_closure(struct runner *r, const struct op *op, unsigned m) {
    size_t start = closure_code_words(op->functions, op->arity);
    size_t wosize = start + op->size;
    before_allocation(r, m);
    words_copy(r->image, r->units, wosize);
    if (r->takes_closures)
        closure_words(r->image, op->functions, op->arity, PROGRAM_ITEMS + r->verdict.op);
    unsigned tag = r->takes_closures ? TAG_CLOSURE : 0;
    if (allocate(r, m, wosize, tag, r->takes_closures ? start : 0, r->image) == MODEL_NONE)
        return true;
    initialise(r, op, m, start);
    return true;
}

static bool op_alloc_raw(struct runner *r, const struct op *op, unsigned m) {
    before_allocation(r, m);
    for (size_t i = 0; i < op->size; i++)
        r->image[i] = r->takes_raw ? 0 : WORD_UNIT;
    for (unsigned i = 0; i < op->n_values; i++)
        r->image[i] = atom_word(r, &op->values[i]);
    unsigned tag = r->takes_raw ? op->tag : 0;
    if (allocate(r, m, op->size, tag, r->takes_raw ? op->size : 0, r->image) == MODEL_NONE)
        return true;
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    set_slot(r, m, op->dst, &block);
    clear_slot(r, m, SLOT_NEW);
    return true;
}

/* Fills the heap with blocks that hang together in dst until op->n words are left: the largest
 * first, smaller ones where a collector's heap is in pieces. */
static bool op_exhaust(struct runner *r, const struct op *op, unsigned m) {
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    clear_slot(r, m, op->dst);
    collect_all(r, GC_FULL);
    model_mark(&r->model);
    size_t live = r->model.live_words; /* a nursery holds more than the heap does */
    size_t free_words = live < r->heap_words ? r->heap_words - live : 0, want = PROGRAM_WOSIZE;
    while (free_words > (size_t)op->n + 1 && want > 0) {
        if (want > free_words - op->n - 1)
            want = free_words - op->n - 1;
        if (allocate(r, m, want, 0, 0, r->units) == MODEL_NONE) {
            want /= 2;
            continue;
        }
        free_words -= want + 1;
        struct op link = {.dst = op->dst, .n_values = 1};
        link.values[0] = (struct value){.kind = VALUE_SLOT, .block = op->dst};
        set_slot(r, m, SLOT_TO, &block);
        initialise(r, &link, m, 0);
    }
    return true;
}

/* ---- slots and collections --------------------------------------------------------------------
 */

/* Entry k of the closure, modulo the entries that there are; of another block itself. */
static bool op_infix(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->src), entries = 1;
    if (object == MODEL_NONE)
        return false;
    uint32_t offset[PROGRAM_FUNCTIONS] = {0};
    const struct model_object *o = &r->model.objects[object];
    const word *fields = model_fields(&r->model, object);
    if (o->tag == TAG_CLOSURE && r->takes_infix)
        for (uint32_t f = 2; f < o->first_scanned && entries < PROGRAM_FUNCTIONS; f++)
            if (header_tag(fields[f]) == TAG_INFIX && header_wosize(fields[f]) == f + 1)
                offset[entries++] = f + 1;
    word at = offset[op->i % entries];
    copy_parent(r, m, op->src, SLOT_FROM);
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        s->slots[m][op->dst] = s->slots[m][SLOT_FROM] + at * sizeof(word);
    }
    r->model.slots[m][op->dst] = model_pointer(object, (unsigned)at);
    return true;
}

void collect_all(struct runner *r, enum gc_collection kind) {
    r->fresh = MODEL_NONE;
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        unsigned times =
            kind == GC_FULL && s->traits.full_until_exact > 1 ? s->traits.full_until_exact : 1;
        s->walked = 0;
        enter(r, (enum party)p);
        for (unsigned n = 0; s->collector->collect && n < times; n++)
            s->collector->collect(s->gc, kind);
        leave(r, (enum party)p);
        if (s->summary && !(kind == GC_FULL && cycle_was_whole(r, (enum party)p)))
            cycle_look(r, (enum party)p, NULL);
    }
    check_heaps(r, kind == GC_FULL);
    if (kind == GC_COMPACT)
        check_compaction(r);
}

static bool op_collect(struct runner *r, enum gc_collection kind) {
    collect_all(r, kind);
    return true;
}

/* A slice, a switch and a poll are nothing to a collector that has none: false if no party has. */
static bool on_sides(struct runner *r, bool call(struct side *, unsigned), unsigned argument) {
    bool any = false;
    for (unsigned p = 0; p < r->n_sides; p++) {
        r->side[p].walked = 0;
        enter(r, (enum party)p);
        any |= call(&r->side[p], argument);
        leave(r, (enum party)p);
        cycle_watch(r, (enum party)p, NULL);
    }
    return any;
}

static bool step_side(struct side *s, unsigned budget) {
    if (s->collector->step)
        s->in_cycle = s->collector->step(s->gc, budget) != GC_IDLE;
    return s->collector->step;
}
static bool switch_side(struct side *s, unsigned kind) {
    if (!s->collector->switch_kind)
        return false;
    s->collector->switch_kind(s->gc, kind);
    s->config.kind = kind; /* which may promise other things */
    s->traits = promised_traits(s->collector, &s->config);
    return true;
}
static bool poll_side(struct side *s, unsigned m) {
    if (s->collector->poll)
        s->collector->poll(s->gc, m);
    return s->collector->poll;
}

static bool op_slice(struct runner *r, const struct op *op) {
    bool any = on_sides(r, step_side, op->n ? op->n : (unsigned)r->slice_words);
    if (any)
        check_heaps(r, false);
    return any;
}

/* A slot that holds a Forward block holds its field instead, as Lazy.force would give: a collector
 * may have led it there already, and an operation must mean the same block to all. */
void look_through(struct runner *r, unsigned m, unsigned slot) {
    enum { MOST = 64 };
    static const struct value loaded = {.kind = VALUE_SLOT, .block = SLOT_VALUE};
    for (unsigned n = 0; n < MOST; n++) {
        unsigned object = slot_object(r, m, slot);
        if (object == MODEL_NONE || r->model.objects[object].tag != TAG_FORWARD)
            return;
        for (unsigned p = 0; p < r->n_sides; p++) {
            struct side *s = &r->side[p];
            struct graph_ref ref = graph_resolve(&s->graph, s->slots[m][slot]);
            s->slots[m][SLOT_VALUE] = s->slots[m][SLOT_FROM] = s->slots[m][slot];
            if (ref.kind != GRAPH_BLOCK || graph_block(&s->graph, ref.id).tag != TAG_FORWARD)
                continue;
            enter(r, (enum party)p);
            if (s->collector->load)
                s->collector->load(s->gc, m, SLOT_VALUE, SLOT_FROM, 0);
            else
                s->slots[m][SLOT_VALUE] = side_fields(s, m, SLOT_FROM)[0];
            leave(r, (enum party)p);
        }
        r->model.slots[m][SLOT_VALUE] = model_fields(&r->model, object)[0];
        set_slot(r, m, slot, &loaded);
    }
    clear_slot(r, m, slot); /* Forward blocks that lead to each other */
}

/* Before an operation: the slots through which it reaches a block. */
static void look_through_operands(struct runner *r, const struct op *op, unsigned m) {
    static const uint32_t through_dst = 1u << OP_STORE | 1u << OP_INIT | 1u << OP_BLIT |
                                        1u << OP_FILL | 1u << OP_EPHE_SET | 1u << OP_EPHE_UNSET |
                                        1u << OP_EPHE_BLIT | 1u << OP_FORWARD | 1u << OP_TRUNCATE |
                                        1u << OP_FINALISE;
    if (op->code == OP_EPHE_SET && op->values[0].kind == VALUE_SLOT)
        look_through(r, m, op->values[0].block);
    if (op_shapes[op->code].operands & OPERAND_SRC)
        look_through(r, m, op->src);
    if (through_dst >> op->code & 1)
        look_through(r, m, op->dst);
    clear_scratch(r, m);
}

static bool dispatch(struct runner *r, const struct op *op, unsigned m) {
    switch ((enum op_code)op->code) {
    case OP_ALLOC:
        return alloc_block(r, op, m);
    case OP_ALLOC_CLOSURE:
        return op_alloc_closure(r, op, m);
    case OP_ALLOC_RAW:
        return op_alloc_raw(r, op, m);
    case OP_LOAD:
        return op_load(r, op, m);
    case OP_STORE:
    case OP_INIT:
        return op_store(r, op, m);
    case OP_BLIT:
        return op_blit(r, op, m);
    case OP_FILL:
        return op_fill(r, op, m);
    case OP_SET:
        set_slot(r, m, op->dst, &op->values[0]);
        return true;
    case OP_DROP:
        clear_slot(r, m, op->dst);
        return true;
    case OP_INFIX:
        return op_infix(r, op, m);
    case OP_READ:
        return op_read(r, op, m);
    case OP_MINOR:
        return op_collect(r, GC_MINOR);
    case OP_SLICE:
        return op_slice(r, op);
    case OP_FULL:
        return op_collect(r, GC_FULL);
    case OP_COMPACT:
        return op_collect(r, GC_COMPACT);
    case OP_EXHAUST:
        return op_exhaust(r, op, m);
    case OP_KIND:
        return on_sides(r, switch_side, op->n);
    case OP_POLL:
        return on_sides(r, poll_side, m);
    case OP_EPHEMERON:
    case OP_EPHE_SET:
    case OP_EPHE_UNSET:
    case OP_EPHE_GET:
    case OP_EPHE_BLIT:
    case OP_RESOURCE:
    case OP_FORWARD:
    case OP_TRUNCATE:
    case OP_FINALISE:
    case OP_MARSHAL:
    case OP_MEASURE:
    case OP_BUILD:
        return run_runtime_operation(r, op, m);
    case OP_CODES:
        break;
    }
    harness_fault(r, "an operation that does not exist");
}

bool run_plain(struct runner *r, const struct op *op, unsigned m) {
    return dispatch(r, op, m);
}

bool run_operation(struct runner *r, const struct op *op) {
    unsigned m = op->mutator % r->mutators;
    for (unsigned p = 0; p < r->n_sides; p++)
        r->side[p].walked = 0; /* even a plain store may have hit a header */
    if (r->forwards)
        look_through_operands(r, op, m);
    bool effect = dispatch(r, op, m);
    if (effect)
        r->verdict.counts.ops[op->code]++;
    else
        r->verdict.counts.skipped++;
    for (unsigned p = 0; p < r->n_sides; p++)
        if (r->side[p].summary_due)
            cycle_after_operation(r, (enum party)p);
    /* loads and stores may collect: what was fresh is so no longer */
    if (op->code != OP_ALLOC && op->code != OP_ALLOC_CLOSURE && op->code != OP_INIT &&
        op->code != OP_SET && op->code != OP_INFIX)
        r->fresh = MODEL_NONE;
    clear_scratch(r, m);
    return effect;
}
