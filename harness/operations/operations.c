/* SPDX-License-Identifier: MIT
 *
 * The operations of a script, on all parties.
 *
 * Here operands meet what exists: an index is taken modulo the fields that there are, and an
 * operation without a legal meaning (a load from an immediate, a store into raw words of another
 * kind) is skipped in every party alike.
 */
#include "harness/operations/operations.h"

unsigned slot_object(const struct runner *r, unsigned m, unsigned slot) {
    word v = r->model.slots[m][slot];
    return model_is_pointer(v) ? model_object(v) : MODEL_NONE;
}

word operand_word(struct runner *r, unsigned m, const struct value *v, enum address_form form) {
    if (v->kind == VALUE_ADDRESS)
        return script_address(r, m, v, form);
    word w = v->kind == VALUE_SLOT ? r->model.slots[m][v->block] : atom_word(r, v);
    return form == ADDRESS_RAW && !model_is_pointer(w) ? raw_word(r, w) : w;
}

void set_slot_word(struct runner *r, unsigned m, unsigned dst, const struct value *v, word w) {
    FOR_SIDES (r, s)
        s->slots[m][dst] =
            v->kind == VALUE_SLOT ? s->slots[m][v->block] : model_data(&r->model, s->party, w);
    r->model.slots[m][dst] = w;
}

void set_slot(struct runner *r, unsigned m, unsigned dst, const struct value *v) {
    set_slot_word(r, m, dst, v, operand_word(r, m, v, ADDRESS_IMMEDIATE));
}

void clear_slot(struct runner *r, unsigned m, unsigned slot) {
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

/* A bit for each mutator: who runs a finaliser need not be the one whose operation it is. */
static void clear_scratch_of(struct runner *r, unsigned mutators) {
    for (unsigned m = 0; m < r->mutators; m++)
        if (mutators >> m & 1)
            clear_scratch(r, m);
}

/* Puts the block (never an infix pointer) that slot points at into a scratch slot. */
void copy_parent(struct runner *r, unsigned m, unsigned slot, unsigned scratch) {
    word back = model_offset(r->model.slots[m][slot]);
    for (unsigned p = 0; p < r->n_sides; p++)
        r->side[p].slots[m][scratch] = r->side[p].slots[m][slot] - back * sizeof(word);
    r->model.slots[m][scratch] = model_pointer(slot_object(r, m, slot), 0);
}

/* ---- any operation ----------------------------------------------------------------------------
 */

/* A slot that holds a Forward block holds its field instead, as Lazy.force would give: a collector
 * may have led it there already, and an operation must mean the same block to all. */
static void look_through(struct runner *r, unsigned m, unsigned slot) {
    enum { MOST = 64 };
    static const struct value loaded = {.kind = VALUE_SLOT, .block = SLOT_VALUE};
    for (unsigned n = 0; n < MOST; n++) {
        unsigned object = slot_object(r, m, slot);
        if (object == MODEL_NONE || r->model.objects[object].tag != TAG_FORWARD)
            return;
        FOR_SIDES (r, s) {
            struct graph_ref ref = graph_resolve(&s->graph, s->slots[m][slot]);
            s->slots[m][SLOT_VALUE] = s->slots[m][SLOT_FROM] = s->slots[m][slot];
            if (ref.kind == GRAPH_BLOCK && graph_block(&s->graph, ref.id).tag == TAG_FORWARD &&
                is_refused(s, call_load(s, m, SLOT_VALUE, SLOT_FROM, 0)))
                return;
        }
        r->model.slots[m][SLOT_VALUE] = model_fields(&r->model, object)[0];
        set_slot(r, m, slot, &loaded);
    }
    clear_slot(r, m, slot); /* Forward blocks that lead to each other */
}

/* Before an operation: the slots through which it reaches a block. */
static void look_through_operands(struct runner *r, const struct op *op, unsigned m) {
    bool followed =
        r->model.outlives && op_has(op->code, ON_EPHEMERON); /* whatever becomes of it */
    if (op_has(op->code, READS_VALUE) && op->values[0].kind == VALUE_SLOT && !followed)
        look_through(r, m, op->values[0].block);
    if (op_shapes[op->code].operands & OPERAND_SRC)
        look_through(r, m, op->src);
    if (op_has(op->code, READS_DST))
        look_through(r, m, op->dst);
    clear_scratch(r, m);
}

/* What each operation does; one without a function does not link. */
static bool (*const run[OP_CODES])(struct runner *, const struct op *, unsigned m) = {
#define OP(id, name, ...) [OP_##id] = op_##name,
#include "program/operations.def"
#undef OP
};

/* Only one thing is left to do for a mutator that is gone. */
static bool is_there(const struct runner *r, const struct op *op, unsigned m) {
    return r->attached >> m & 1 || op->code == OP_ATTACH;
}

const char *skip_meaning(enum skip why) {
    static const char *const meanings[] = {
#define X(id, meaning) meaning,
        SKIPS(X)
#undef X
    };
    return meanings[why];
}

bool skip(struct runner *r, enum skip why) {
    r->skip = why;
    return false;
}

bool skip_block(struct runner *r, unsigned object) {
    return object == MODEL_NONE ? false : skip(r, SKIP_UNFIT);
}

void count_skipped(struct runner *r, unsigned code, enum skip why) {
    r->verdict.counts.skipped++;
    r->verdict.counts.skips[why][code]++;
}

bool run_operation(struct runner *r, const struct op *op) {
    unsigned m = op->mutator % r->mutators;
    struct op plain;
    r->skip = SKIP_NOTHING;
    r->mutator = m;
    if (!is_there(r, op, m)) {
        count_skipped(r, op->code, SKIP_AWAY);
        return false;
    }
    if (r->forwards)
        look_through_operands(r, op, m);
    r->model.revived = false;
    FOR_SIDES (r, s)
        s->changes = !op_has(op->code, COLLECTS) && op->code != OP_SLICE;
    bool is_lowered = !r->extras && op_has(op->code, RUNTIME) && op_without_runtime(op, &plain);
    bool effect = is_lowered ? run[plain.code](r, &plain, m) : run[op->code](r, op, m);
    if (effect)
        r->verdict.counts.ops[op->code]++;
    else
        count_skipped(r, op->code, r->skip);
    run_finalisers(r);
    FOR_SIDES (r, s)
        panel_operated(s);
    /* loads and stores may collect: what was fresh is so no longer */
    if (!op_has(op->code, KEEPS_FRESH))
        r->fresh = MODEL_NONE;
    clear_scratch_of(r, r->acted | 1u << m);
    r->acted = 0;
    return effect;
}
