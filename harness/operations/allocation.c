/* SPDX-License-Identifier: MIT
 *
 * The operations that allocate blocks (operations.h).
 */
#include "collectors/words_copy.h"
#include "harness/initial/lowering.h"
#include "harness/operations/operations.h"

#include <assert.h>
#include <string.h>

static const struct value kept = {.kind = VALUE_SLOT, .block = SLOT_FROM};

/* ---- one block ----------------------------------------------------------------------------------
 */

void name_object(struct runner *r, unsigned m, unsigned dst, uint32_t object) {
    assert(object != MODEL_NONE); /* there was room before anybody was asked */
    r->model.objects[object].origin = -1 - (int32_t)r->verdict.op;
    r->model.objects[object].serial = r->serial++;
    r->model.slots[m][dst] = model_pointer(object, 0);
}

uint32_t new_object(struct runner *r, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                    size_t first_scanned, const word *raw) {
    uint32_t object = model_add(&r->model, wosize, tag, first_scanned, raw);
    name_object(r, m, dst, object);
    return object;
}

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
        collect_all(r, m, GC_FULL);
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

/* False if there was no room: dst has then what it had, or what a finaliser has put there. */
static bool make_block(struct runner *r, const struct op *op, unsigned m) {
    before_allocation(r, m);
    bool forward = op->tag == TAG_FORWARD && r->forwards; /* as Lazy.force makes it, or nothing */
    unsigned tag = !forward ? lowered_own_tag(op->tag, r->own_tags) : op->size == 1 ? TAG_LAZY : 0;
    if (allocate(r, m, op->size, tag, 0, r->units) == MODEL_NONE)
        return false;
    initialise(r, op, m, 0);
    if (forward && op->size == 1 && r->extras)
        make_forward(r, m, op->dst);
    return true;
}

bool op_alloc(struct runner *r, const struct op *op, unsigned m) {
    make_block(r, op, m);
    return true;
}

bool op_closure(struct runner *r, const struct op *op, unsigned m) {
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

bool op_raw(struct runner *r, const struct op *op, unsigned m) {
    before_allocation(r, m);
    for (size_t i = 0; i < op->size; i++)
        r->image[i] = r->takes_raw ? 0 : WORD_UNIT;
    for (unsigned i = 0; i < op->n_values; i++)
        r->image[i] =
            operand_word(r, m, &op->values[i], r->takes_raw ? ADDRESS_RAW : ADDRESS_IMMEDIATE);
    unsigned tag = raw_tag(r, op->tag);
    if (allocate(r, m, op->size, tag, r->takes_raw ? op->size : 0, r->image) == MODEL_NONE)
        return true;
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    set_slot(r, m, op->dst, &block);
    clear_slot(r, m, SLOT_NEW);
    return true;
}

/* Fills the heap with blocks that hang together in dst until op->left words are left: the largest
 * first, smaller ones where a collector's heap is in pieces. */
bool op_exhaust(struct runner *r, const struct op *op, unsigned m) {
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    clear_slot(r, m, op->dst);
    collect_all(r, m, GC_FULL);
    model_mark(&r->model);
    size_t live = r->model.live_words; /* a nursery holds more than the heap does */
    size_t free_words = live < r->heap_words ? r->heap_words - live : 0, want = PROGRAM_WOSIZE;
    while (free_words > (size_t)op->left + 1 && want > 0) {
        if (want > free_words - op->left - 1)
            want = free_words - op->left - 1;
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

/* ---- many blocks at once ------------------------------------------------------------------------
 */

/* dst := a block of these fields; false if there was no room. */
static bool build_block(struct runner *r, unsigned m, unsigned dst, const struct value *fields,
                        unsigned n) {
    struct op op = {
        .code = OP_ALLOC, .dst = (uint8_t)dst, .size = (uint16_t)n, .n_values = (uint8_t)n};
    memcpy(op.values, fields, n * sizeof *fields);
    return make_block(r, &op, m);
}

/* Allocated first, then filled with blocks, as long as no finaliser puts something else there. */
static void build_array(struct runner *r, const struct op *op, unsigned m) {
    struct op array = {.code = OP_ALLOC, .dst = op->dst, .size = op->blocks ? op->blocks : 1};
    if (!make_block(r, &array, m))
        return;
    word made = r->model.slots[m][op->dst];
    for (uint16_t k = 0; k < op->blocks; k++) {
        clear_slot(r, m, SLOT_VALUE);
        if (!build_block(r, m, SLOT_VALUE, &kept, 1) || r->model.slots[m][op->dst] != made)
            return;
        copy_parent(r, m, op->dst, SLOT_TO);
        if (!store_field(r, m, k, false))
            return;
    }
}

/* Each block of a list or tree holds the value and what was there before it: a tree has it twice,
 * so that there are many ways to each block. */
bool op_build(struct runner *r, const struct op *op, unsigned m) {
    const struct value dst = {.kind = VALUE_SLOT, .block = op->dst};
    const struct value fields[] = {kept, dst, dst};
    set_slot(r, m, SLOT_FROM, &op->values[0]);
    clear_slot(r, m, op->dst);
    if (op->shape == BUILD_ARRAY)
        build_array(r, op, m);
    for (uint16_t k = 0; op->shape != BUILD_ARRAY && k < op->blocks; k++)
        if (!build_block(r, m, op->dst, fields, op->shape == BUILD_TREE ? 3 : 2))
            break;
    return true;
}
