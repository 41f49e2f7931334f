/* SPDX-License-Identifier: MIT
 *
 * The operations of a script, on all parties.
 *
 * Here operands meet what exists: an index is taken modulo the fields that there are, and an
 * operation without a legal meaning (a load from an immediate, a store into raw words of another
 * kind) is skipped in every party alike.
 */
#include "collectors/words_copy.h"
#include "harness/call.h"

unsigned slot_object(const struct runner *r, unsigned m, unsigned slot) {
    word v = r->model.slots[m][slot];
    return model_is_pointer(v) ? model_object(v) : MODEL_NONE;
}

word operand_word(const struct runner *r, unsigned m, const struct value *v) {
    return v->kind == VALUE_SLOT ? r->model.slots[m][v->block] : atom_word(r, v);
}

void set_slot(struct runner *r, unsigned m, unsigned dst, const struct value *v) {
    word w = operand_word(r, m, v);
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
    FOR_SIDES(r, s)
    call_collect(s, kind);
    check_heaps(r, kind == GC_FULL);
    if (kind == GC_COMPACT)
        check_compaction(r);
}

static bool op_collect(struct runner *r, enum gc_collection kind) {
    collect_all(r, kind);
    return true;
}

/* A slice, a switch and a poll are nothing to a collector that has none: false if no party has. */
static bool op_slice(struct runner *r, const struct op *op) {
    bool any = false;
    FOR_SIDES(r, s)
    any |= call_step(s, op->n ? op->n : r->slice_words);
    if (any)
        check_heaps(r, false);
    return any;
}
static bool op_kind(struct runner *r, const struct op *op) {
    bool any = false;
    FOR_SIDES(r, s)
    any |= call_switch_kind(s, op->n);
    return any;
}
static bool op_poll(struct runner *r, unsigned m) {
    bool any = false;
    FOR_SIDES(r, s)
    any |= call_poll(s, m);
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
        FOR_SIDES(r, s) {
            struct graph_ref ref = graph_resolve(&s->graph, s->slots[m][slot]);
            s->slots[m][SLOT_VALUE] = s->slots[m][SLOT_FROM] = s->slots[m][slot];
            if (ref.kind == GRAPH_BLOCK && graph_block(&s->graph, ref.id).tag == TAG_FORWARD)
                call_load(s, m, SLOT_VALUE, SLOT_FROM, 0);
        }
        r->model.slots[m][SLOT_VALUE] = model_fields(&r->model, object)[0];
        set_slot(r, m, slot, &loaded);
    }
    clear_slot(r, m, slot); /* Forward blocks that lead to each other */
}

/* Before an operation: the slots through which it reaches a block. */
static void look_through_operands(struct runner *r, const struct op *op, unsigned m) {
    if (op_has(op->code, READS_VALUE) && op->values[0].kind == VALUE_SLOT)
        look_through(r, m, op->values[0].block);
    if (op_shapes[op->code].operands & OPERAND_SRC)
        look_through(r, m, op->src);
    if (op_has(op->code, READS_DST))
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
        return op_kind(r, op);
    case OP_POLL:
        return op_poll(r, m);
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
    if (!op_has(op->code, KEEPS_FRESH))
        r->fresh = MODEL_NONE;
    clear_scratch(r, m);
    return effect;
}
