/* SPDX-License-Identifier: MIT
 *
 * Operations of the mutators under stress, and their replay (onthefly_log.h).
 */
#include "tests/models/onthefly_log.h"

#include <string.h>

/* ---- operations -------------------------------------------------------------------------------
 */

/* Two functions, and two fields of environment. */
static void make_closure(word *raw, uint32_t number) {
    raw[0] = code_pointer(number);
    raw[1] = closinfo_make(1, 5);
    raw[2] = header_make(3, WHITE, TAG_INFIX);
    raw[3] = code_pointer(number + 1);
    raw[4] = closinfo_make(2, 2);
    raw[5] = immediate(number);
    raw[6] = WORD_UNIT;
}

static bool new_block(struct heap *h, const struct operation *x, unsigned tag) {
    word raw[OTF_WOSIZE];
    size_t wosize = x->kind == CLOSURE ? 7 : x->kind == TREE ? 4 : 1 + x->b % OTF_WOSIZE;
    for (size_t i = 0; i < wosize; i++)
        raw[i] = x->kind == STRING ? code_pointer(x->number) : immediate(x->number + (i > 0));
    if (x->kind == CLOSURE)
        make_closure(raw, x->number);
    return h->alloc(h, x->a, wosize, tag, raw);
}

bool log_is_tree(unsigned tag) {
    return tag >= TAG_TREE && tag <= TAG_TREE + HEIGHT_MAX;
}

/* Its children are the trees in two slots, if these are not too high. */
static bool new_tree(struct heap *h, const struct operation *x) {
    const unsigned child[] = {x->b, x->c};
    unsigned height = 0;
    bool takes[2];
    for (unsigned i = 0; i < 2; i++) {
        unsigned tag = h->tag(h, h->slots[child[i]]);
        takes[i] = log_is_tree(tag) && tag < TAG_TREE + HEIGHT_MAX && child[i] != x->a;
        if (takes[i] && tag - TAG_TREE >= height)
            height = tag - TAG_TREE + 1;
    }
    if (!new_block(h, x, TAG_TREE + height))
        return false;
    for (unsigned i = 0; i < 2; i++)
        if (takes[i])
            h->store(h, x->a, i + 1, child[i]);
    return true;
}

/* A field that may hold a value, or 0 for none in a closure's code. */
static size_t field_of(struct heap *h, word v, unsigned chosen) {
    if (h->tag(h, v) == TAG_CLOSURE)
        return 5 + chosen % 2;
    return chosen % h->wosize(h, v);
}

static void take(struct heap *h, const struct operation *x) {
    unsigned scratch = SLOTS;
    size_t field = field_of(h, h->slots[x->b], x->c);
    h->load(h, scratch, x->b, field);
    h->store(h, x->b, field, EMPTY);
    h->slots[x->a] = h->slots[scratch];
    h->slots[scratch] = WORD_UNIT;
}

bool log_operate(struct heap *h, const struct operation *x) {
    unsigned tag = h->tag(h, h->slots[x->a]), tag_b = h->tag(h, h->slots[x->b]);
    switch ((enum kind)x->kind) {
    case PLAIN:
        return new_block(h, x, x->c % 4);
    case CLOSURE:
        return new_block(h, x, TAG_CLOSURE);
    case STRING:
        return new_block(h, x, TAG_STRING);
    case TREE:
        return new_tree(h, x);
    case LOAD:
        if (tag_b >= TAG_STRING)
            return false;
        h->load(h, x->a, x->b, field_of(h, h->slots[x->b], x->c));
        return true;
    case STORE:
        if (tag >= 4 && tag != TAG_CLOSURE)
            return false;
        h->store(h, x->a, field_of(h, h->slots[x->a], x->c), x->b);
        return true;
    case TAKE:
        if (tag_b >= 4 && tag_b != TAG_CLOSURE)
            return false;
        take(h, x);
        return true;
    case INFIX:
        if (tag_b != TAG_CLOSURE)
            return false;
        h->slots[x->a] = h->offset(h->slots[x->b], 3);
        return true;
    case COPY:
        h->slots[x->a] = h->slots[x->b];
        return true;
    default: /* CLEAR */
        h->slots[x->a] = WORD_UNIT;
        return true;
    }
}

/* ---- the model's heap -------------------------------------------------------------------------
 */

static unsigned model_tag(struct heap *h, word v) {
    if (!model_is_pointer(v) || model_offset(v))
        return 256;
    return h->model->objects[model_object(v)].tag;
}

static size_t model_wosize(struct heap *h, word v) {
    return h->model->objects[model_object(v)].wosize;
}

static word model_offset_by(word v, size_t fields) {
    return model_pointer(model_object(v), (unsigned)fields);
}

static bool model_alloc(struct heap *h, unsigned dst, size_t wosize, unsigned tag,
                        const word *raw) {
    size_t first = tag == TAG_CLOSURE ? 5 : tag >= TAG_NO_SCAN ? wosize : 0;
    unsigned object = model_add(h->model, wosize, tag, first, raw);
    if (object == MODEL_NONE)
        return false;
    h->slots[dst] = model_pointer(object, 0);
    return true;
}

static void model_load(struct heap *h, unsigned dst, unsigned obj, size_t i) {
    h->slots[dst] = model_fields(h->model, model_object(h->slots[obj]))[i];
}

static void model_store(struct heap *h, unsigned obj, size_t i, unsigned value) {
    model_fields(h->model, model_object(h->slots[obj]))[i] = h->slots[value];
}

/* ---- replay -----------------------------------------------------------------------------------
 */

/* Trees of all mutators by their numbers, as the replays have come to them. */
static word trees[OTF_MUTATORS][OPERATIONS + 1];

word log_tree(uint32_t number) {
    bool legal = number >> 24 < OTF_MUTATORS && (number & 0xffffff) <= OPERATIONS;
    return legal ? trees[number >> 24][number & 0xffffff] : 0;
}

/* One log as far as it goes: to its end, or to what is not there yet.  Returns where. */
static unsigned replay(struct heap *h, const struct log *log, unsigned from) {
    unsigned i = from;
    for (; i < log->n; i++) {
        const struct operation *x = &log->operation[i];
        if (x->kind == RECEIVE) {
            if (x->number && !log_tree(x->number))
                break;
            h->slots[x->a] = x->number ? log_tree(x->number) : WORD_UNIT;
            continue;
        }
        if (!log_operate(h, x))
            break;
        if (x->kind == TREE)
            trees[x->number >> 24][x->number & 0xffffff] = h->slots[x->a];
    }
    return i;
}

unsigned log_replay(struct model *model, const struct log *const *logs, unsigned n) {
    unsigned at[OTF_MUTATORS] = {0}, m;
    bool moved = true;
    memset(trees, 0, sizeof trees);
    while (moved) {
        moved = false;
        for (m = 0; m < n; m++) {
            struct heap h = {.alloc = model_alloc,
                             .load = model_load,
                             .store = model_store,
                             .tag = model_tag,
                             .wosize = model_wosize,
                             .offset = model_offset_by,
                             .slots = model->slots[m],
                             .model = model};
            unsigned before = at[m];
            at[m] = replay(&h, logs[m], before);
            moved |= at[m] != before;
        }
    }
    for (m = 0; m < n && at[m] == logs[m]->n;)
        m++;
    return m;
}
