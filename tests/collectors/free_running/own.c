/* SPDX-License-Identifier: MIT
 *
 * What a domain does with blocks of its own, and with the model of them (player.h).
 */
#include "tests/collectors/free_running/player.h"

#include "harness/harness.h"

#include <string.h>

static word *slot(struct player *p, unsigned s) {
    return &p->model.slots[0][s];
}

unsigned own_held(const struct player *p, unsigned s) {
    word v = p->model.slots[0][s];
    return model_is_pointer(v) && !model_offset(v) ? model_object(v) : MODEL_NONE;
}

static const struct model_object *object(const struct player *p, unsigned id) {
    return &p->model.objects[id];
}

/* Are its fields values, and has it one? */
static bool is_scanned(const struct player *p, unsigned id) {
    return id != MODEL_NONE && !object(p, id)->ephemeron && object(p, id)->tag < TAG_NO_SCAN &&
           object(p, id)->first_scanned < object(p, id)->wosize;
}

static size_t field(const struct player *p, unsigned id, size_t i) {
    size_t first = object(p, id)->first_scanned;
    return first + i % (object(p, id)->wosize - first);
}

void own_copy(struct player *p, unsigned dst, unsigned src) {
    *slot(p, dst) = *slot(p, src);
    p->runtime->set(dst, p->runtime->get(src));
}

static void put(struct player *p, unsigned dst, word v) {
    *slot(p, dst) = v;
    p->runtime->set(dst, v);
}

void own_clear(struct player *p, unsigned dst) {
    put(p, dst, WORD_UNIT);
}

void own_value(struct player *p, unsigned dst, const struct value *v) {
    if (v->kind == VALUE_SLOT)
        own_copy(p, dst, v->block);
    else
        put(p, dst, plain_word(v));
}

/* ---- fields -------------------------------------------------------------------------------------
 */

static void load(struct player *p, unsigned dst, unsigned src, size_t i) {
    *slot(p, dst) = model_fields(&p->model, own_held(p, src))[i];
    p->runtime->load(dst, src, i);
}

static void store(struct player *p, unsigned dst, size_t i, unsigned v) {
    model_fields(&p->model, own_held(p, dst))[i] = *slot(p, v);
    p->runtime->store(dst, i, v);
}

static void fill(struct player *p, const struct op *op, unsigned id) {
    size_t i = field(p, id, op->i), n = least(op->n, object(p, id)->wosize - i);
    own_value(p, SLOT_VALUE, &op->values[0]);
    for (size_t k = 0; k < n; k++)
        model_fields(&p->model, id)[i + k] = *slot(p, SLOT_VALUE);
    p->runtime->extras->fill(p->runtime->mine(), op->dst, i, n, SLOT_VALUE);
}

static void blit(struct player *p, const struct op *op, unsigned from, unsigned to) {
    size_t i = field(p, from, op->i), j = field(p, to, op->j);
    size_t n = least(op->n, least(object(p, from)->wosize - i, object(p, to)->wosize - j));
    memmove(model_fields(&p->model, to) + j, model_fields(&p->model, from) + i, n * sizeof(word));
    p->runtime->blit(op->src, i, op->dst, j, n);
}

static void operate_on_fields(struct player *p, const struct op *op) {
    unsigned dst = own_held(p, op->dst), src = own_held(p, op->src);
    if ((op->code == OP_LOAD || op->code == OP_READ) && is_scanned(p, src))
        load(p, op->code == OP_LOAD ? op->dst : SLOT_VALUE, op->src, field(p, src, op->i));
    if ((op->code == OP_STORE || op->code == OP_INIT) && is_scanned(p, dst)) {
        own_value(p, SLOT_VALUE, &op->values[0]);
        store(p, op->dst, field(p, dst, op->i), SLOT_VALUE);
    }
    if (op->code == OP_FILL && is_scanned(p, dst) && object(p, dst)->tag != TAG_CLOSURE)
        fill(p, op, dst);
    if (op->code == OP_BLIT && is_scanned(p, dst) && is_scanned(p, src))
        blit(p, op, src, dst);
}

/* ---- blocks -------------------------------------------------------------------------------------
 */

void own_made(struct player *p, unsigned dst, size_t wosize, unsigned tag, size_t first,
              const word *like) {
    *slot(p, dst) = model_pointer(model_add(&p->model, wosize, tag, first, like), 0);
}

static void new_block(struct player *p, unsigned dst, size_t wosize, unsigned tag, size_t first,
                      const word *raw) {
    p->runtime->alloc(dst, wosize, tag, raw);
    own_made(p, dst, wosize, tag, first, raw);
}

/* Into SLOT_NEW, then its values, then where it is to be. */
static void make(struct player *p, const struct op *op, size_t wosize, unsigned tag, size_t first,
                 const word *raw) {
    new_block(p, SLOT_NEW, wosize, tag, first, raw);
    for (size_t i = 0; i < op->n_values && first + i < wosize; i++) {
        own_value(p, SLOT_VALUE, &op->values[i]);
        store(p, SLOT_NEW, first + i, SLOT_VALUE);
    }
    own_copy(p, op->dst, SLOT_NEW);
    own_clear(p, SLOT_NEW);
}

static void make_raw(struct player *p, const struct op *op) {
    word raw[LONGEST];
    size_t n = op->tag == TAG_DOUBLE ? 1 : size_of(op);
    for (size_t i = 0; i < n; i++)
        raw[i] = i < op->n_values ? op->values[i].bits : 0;
    make(p, &(struct op){.dst = op->dst}, n, op->tag, n, raw);
}

static void make_list(struct player *p, const struct op *op) {
    word raw[2] = {WORD_UNIT, WORD_UNIT};
    own_value(p, SLOT_ALL, &op->values[0]);
    own_clear(p, op->dst);
    for (unsigned k = 0; k < op->blocks % 32; k++) {
        new_block(p, SLOT_NEW, 2, 0, 0, raw);
        store(p, SLOT_NEW, 0, SLOT_ALL);
        store(p, SLOT_NEW, 1, op->dst);
        own_copy(p, op->dst, SLOT_NEW);
    }
    own_clear(p, SLOT_NEW);
    own_clear(p, SLOT_ALL);
}

static void operate_new(struct player *p, const struct op *op) {
    word raw[LONGEST + PROGRAM_FUNCTIONS * 4];
    size_t n = size_of(op), code;
    switch (op->code) {
    case OP_ALLOC:
        units(raw, n);
        make(p, op, n, plain_tag(op->tag), 0, raw);
        break;
    case OP_ALLOC_CLOSURE:
        code = closure_words(raw, op->functions, op->arity, 0);
        units(raw + code, n);
        make(p, op, code + n, TAG_CLOSURE, code, raw);
        break;
    case OP_ALLOC_RAW:
        make_raw(p, op);
        break;
    case OP_BUILD:
        make_list(p, op);
        break;
    default:
        break;
    }
}

/* Array.sub, Array.append, Obj.dup. */
static void operate_copy(struct player *p, const struct op *op) {
    word raw[2 * LONGEST];
    unsigned src = own_held(p, op->src);
    if (!is_scanned(p, src) || object(p, src)->tag == TAG_CLOSURE ||
        object(p, src)->wosize > LONGEST)
        return;
    const struct gc_extras *extras = p->runtime->extras;
    struct gc *g = p->runtime->mine();
    size_t wosize = object(p, src)->wosize, i = op->code == OP_SUB ? op->i % wosize : 0;
    size_t n = op->code == OP_SUB ? 1 + op->n % (wosize - i) : wosize;
    unsigned tag = op->code == OP_DUP ? object(p, src)->tag : 0;
    if (op->code == OP_SUB)
        extras->sub(g, SLOT_NEW, op->src, i, n);
    else if (op->code == OP_DUP)
        extras->dup(g, SLOT_NEW, op->src, tag, n);
    else
        extras->append(g, SLOT_NEW, op->src, op->src, false, 2 * n);
    memcpy(raw, model_fields(&p->model, src) + i, n * sizeof(word));
    if (op->code == OP_APPEND) {
        memcpy(raw + n, raw, n * sizeof(word));
        n *= 2;
    }
    own_made(p, SLOT_NEW, n, tag, 0, raw);
    own_copy(p, op->dst, SLOT_NEW);
    own_clear(p, SLOT_NEW);
}

static void make_infix(struct player *p, const struct op *op) {
    unsigned src = own_held(p, op->src);
    if (src == MODEL_NONE || object(p, src)->tag != TAG_CLOSURE)
        return;
    const word *fields = model_fields(&p->model, src);
    for (unsigned i = 2; i < object(p, src)->first_scanned; i++)
        if (header_tag(fields[i]) == TAG_INFIX && header_wosize(fields[i]) == i + 1) {
            word v = p->runtime->get(op->src) + (i + 1) * sizeof(word);
            *slot(p, op->dst) = model_pointer(src, i + 1);
            p->runtime->set(op->dst, v);
            return;
        }
}

/* ---- the collector ------------------------------------------------------------------------------
 */

/* Each stops all, and a full one again and again: where the program asks for one, it is one of four
 * minor or of eight full ones, in turn with the domains; else a slice. */
static void collect(struct player *p, const struct op *op) {
    unsigned n = p->collections++;
    if (n % 8 == p->m)
        p->runtime->collect(op->code == OP_MINOR     ? GC_MINOR
                            : op->code == OP_COMPACT ? GC_COMPACT
                                                     : GC_FULL);
    else if (n % 4 == p->m)
        p->runtime->collect(GC_MINOR);
    else
        p->runtime->slice(0);
}

static bool operate_on_collector(struct player *p, const struct op *op) {
    switch (op->code) {
    case OP_MINOR:
    case OP_FULL:
    case OP_COMPACT:
        collect(p, op);
        return true;
    case OP_SLICE:
        p->runtime->slice(op->n);
        return true;
    case OP_KIND:
        p->runtime->kind(op->n);
        return true;
    case OP_POLL:
        p->runtime->poll();
        return true;
    default:
        return false;
    }
}

void own_operate(struct player *p, const struct op *op) {
    p->runtime->row(OWN);
    if (operate_on_collector(p, op) || !model_has_room(&p->model, 64, 4 * LONGEST) ||
        own_weak(p, op))
        return;
    switch (op->code) {
    case OP_SET:
        own_value(p, op->dst, &op->values[0]);
        break;
    case OP_DROP:
        own_clear(p, op->dst);
        break;
    case OP_INFIX:
        make_infix(p, op);
        break;
    case OP_SUB:
    case OP_APPEND:
    case OP_DUP:
        operate_copy(p, op);
        break;
    default:
        operate_on_fields(p, op);
        operate_new(p, op);
        break;
    }
}

/* ---- the initial heap ---------------------------------------------------------------------------
 */

static void make_item(struct player *p, const struct item *it) {
    word raw[PROGRAM_WOSIZE + 1];
    size_t first = 0, n = it->wosize;
    unsigned tag = plain_tag(it->tag);
    units(raw, n);
    if (it->kind == ITEM_CLOSURE) {
        first = closure_words(raw, it->functions, it->arity, 0);
        tag = TAG_CLOSURE;
    } else if (it->kind == ITEM_RAW) {
        for (size_t i = 0; i < n; i++)
            raw[i] = p->program->fields[it->first_field + i].bits;
        first = n, tag = it->tag;
    }
    make(p, &(struct op){.dst = SLOT_VALUE}, n, tag, first, raw);
}

/* dst := a value of the heap section; SLOT_ALL has the named blocks. */
static void heap_value(struct player *p, unsigned dst, const struct value *v) {
    if (!value_is_reference(v) || own_held(p, SLOT_ALL) == MODEL_NONE) {
        own_value(p, dst, v);
        return;
    }
    load(p, dst, SLOT_ALL, v->block);
    if (v->kind == VALUE_INFIX) {
        *slot(p, dst) += model_pointer(0, v->offset) - MODEL_POINTER;
        p->runtime->set(dst, p->runtime->get(dst) + v->offset * sizeof(word));
    }
}

static void fill_item(struct player *p, unsigned n, const struct item *it) {
    if (it->kind == ITEM_RAW)
        return;
    for (size_t i = 0; i < it->n_fields; i++) {
        load(p, SLOT_NEW, SLOT_ALL, n);
        heap_value(p, SLOT_VALUE, &p->program->fields[it->first_field + i]);
        store(p, SLOT_NEW, it->wosize - it->n_fields + i, SLOT_VALUE);
    }
}

void own_begin(struct player *p) {
    word raw[PROGRAM_ITEMS];
    const struct program *x = p->program;
    unsigned n = program_named(x), b = 0;
    p->runtime->row(OWN);
    units(raw, PROGRAM_ITEMS);
    for (unsigned s = 0; s < GC_SLOTS; s++)
        own_clear(p, s);
    if (n > 0)
        new_block(p, SLOT_ALL, n, 0, 0, raw);
    for (unsigned i = 0; i < x->n_items; i++)
        if (item_is_named(&x->items[i])) {
            make_item(p, &x->items[i]);
            store(p, SLOT_ALL, b++, SLOT_VALUE);
        }
    b = 0;
    for (unsigned i = 0; i < x->n_items; i++)
        if (item_is_named(&x->items[i]))
            fill_item(p, b++, &x->items[i]);
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
        heap_value(p, s, &x->roots[p->m % program_mutators(x)][s]);
    for (unsigned s = PROGRAM_SLOTS; s < GC_SLOTS; s++)
        own_clear(p, s);
}
