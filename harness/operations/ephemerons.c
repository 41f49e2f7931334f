/* SPDX-License-Identifier: MIT
 *
 * Operations on ephemerons (operations.h).
 *
 * What nothing but an ephemeron reaches may be there or gone.  One collector alone is asked, and
 * the model takes over what it answers: a block that it gives away lives on, one that it has lost
 * is dead for all ephemerons.
 */
#include "harness/operations/operations.h"

#include <stdio.h>
#include <string.h>

/* MODEL_NONE: there is none; the operation is skipped for that. */
static unsigned ephemeron_in(struct runner *r, unsigned m, unsigned slot) {
    unsigned object = slot_object(r, m, slot);
    if (object != MODEL_NONE && r->model.objects[object].ephemeron)
        return object;
    skip_block(r, object);
    return MODEL_NONE;
}

bool op_ephemeron(struct runner *r, const struct op *op, unsigned m) {
    if (!model_has_room(&r->model, 1, 2 * (op->keys + 1u)))
        return skip(r, SKIP_ROOM);
    FOR_SIDES (r, s)
        call_ephemeron(s, SLOT_NEW, op->keys);
    if (!all_served(r, m))
        return true;
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    name_object(r, m, SLOT_NEW, model_add_ephemeron(&r->model, op->keys));
    set_slot(r, m, op->dst, &block);
    return true;
}

/* ---- changes ----------------------------------------------------------------------------------
 */

static void unset_field(struct runner *r, unsigned slot, size_t i) {
    FOR_SIDES (r, s)
        call_ephemeron_unset(s, slot, i);
}

/* Which of the keys that read as unit are still there is the collector's business, and what happens
 * to the data then.  Where two are compared, what has died is taken out before anything is changed;
 * one alone is followed by the model. */
static void bury(struct runner *r, unsigned object, unsigned slot) {
    model_mark(&r->model);
    if (r->model.outlives)
        return;
    const word *fields = model_fields(&r->model, object);
    uint32_t wosize = r->model.objects[object].wosize;
    bool died = fields[0] == WORD_UNIT;
    for (uint32_t f = 1; f < wosize && died; f++)
        if (fields[f] == WORD_UNIT)
            unset_field(r, slot, f);
    if (died)
        unset_field(r, slot, 0);
}

static void put(struct runner *r, unsigned object, size_t i, word value, bool unsure) {
    model_put_weak(&r->model, object, i, value, unsure);
    note_write(r, object, i, 1);
}

/* Keeps what the ephemeron was given before it is changed: in r->image, and whether it was shaky.
 */
static bool remember(struct runner *r, unsigned object) {
    const struct model_object *o = &r->model.objects[object];
    memcpy(r->image, model_kept(&r->model, object), o->wosize * sizeof(word));
    return o->shaky;
}

/* A key that may be dead gives way, and then data is there that was not to be seen: the heap of the
 * program must hold that too, or the change is taken back. */
static bool is_too_much(struct runner *r, unsigned object, bool was_shaky) {
    struct model_object *o = &r->model.objects[object];
    if (!o->shaky || model_most_live(&r->model, WORD_UNIT) <= r->heap_words)
        return false;
    memcpy(model_kept(&r->model, object), r->image, o->wosize * sizeof(word));
    o->shaky = was_shaky;
    model_mark(&r->model);
    return true;
}

word closure_for_key(struct runner *r, word v) {
    if (r->infix_keys || !model_is_pointer(v) || !model_offset(v))
        return v;
    r->verdict.counts.closure_keys++;
    return model_pointer(model_object(v), 0);
}

bool op_weak_set(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    size_t i = op->i % r->model.objects[object].wosize;
    copy_parent(r, m, op->dst, SLOT_TO);
    set_slot(r, m, SLOT_VALUE, &op->values[0]);
    if (i > 0 && leads_to_infix(r, r->model.slots[m][SLOT_VALUE]))
        return skip(r, SKIP_LAZY_KEY); /* the same, once a collector has led it there */
    bury(r, object, SLOT_TO);
    word given = r->model.slots[m][SLOT_VALUE], value = i ? closure_for_key(r, given) : given;
    if (value != given)
        copy_parent(r, m, SLOT_VALUE, SLOT_VALUE);
    bool was_shaky = remember(r, object);
    put(r, object, i, value, false);
    if (is_too_much(r, object, was_shaky))
        return skip(r, SKIP_ROOM);
    FOR_SIDES (r, s)
        call_ephemeron_set(s, SLOT_TO, i, SLOT_VALUE);
    return true;
}

bool op_weak_unset(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = ephemeron_in(r, m, op->dst);
    if (object == MODEL_NONE)
        return false;
    size_t i = op->i % r->model.objects[object].wosize;
    copy_parent(r, m, op->dst, SLOT_TO);
    bury(r, object, SLOT_TO);
    bool was_shaky = remember(r, object);
    put(r, object, i, MODEL_NOTHING, false);
    if (is_too_much(r, object, was_shaky))
        return skip(r, SKIP_ROOM);
    unset_field(r, SLOT_TO, i);
    return true;
}

/* Keys to keys, as memmove; data to data. */
static void blit_model(struct runner *r, unsigned from, size_t i, unsigned to, size_t j, size_t n) {
    bool unsure = i == 0 && model_weak_field(&r->model, from, 0) == WEAK_EITHER;
    for (size_t k = 0; k < n; k++) {
        size_t at = j <= i ? k : n - 1 - k;
        put(r, to, j + at, model_kept(&r->model, from)[i + at], unsure);
    }
}

bool op_weak_blit(struct runner *r, const struct op *op, unsigned m) {
    unsigned from = ephemeron_in(r, m, op->src);
    unsigned to = from == MODEL_NONE ? MODEL_NONE : ephemeron_in(r, m, op->dst);
    if (to == MODEL_NONE)
        return false;
    size_t from_size = r->model.objects[from].wosize, to_size = r->model.objects[to].wosize;
    size_t i = op->i % from_size, j = op->j % to_size, n = op->n;
    if ((i == 0) != (j == 0))
        return skip(r, SKIP_UNFIT);
    n = i == 0 ? 1 : n > from_size - i ? from_size - i : n;
    n = n > to_size - j ? to_size - j : n;
    copy_parent(r, m, op->src, SLOT_FROM);
    copy_parent(r, m, op->dst, SLOT_TO);
    bury(r, from, SLOT_FROM);
    bury(r, to, SLOT_TO);
    bool was_shaky = remember(r, to);
    blit_model(r, from, i, to, j, n);
    if (is_too_much(r, to, was_shaky))
        return skip(r, SKIP_ROOM);
    FOR_SIDES (r, s)
        call_ephemeron_blit(s, SLOT_FROM, i, SLOT_TO, j, n);
    return true;
}

/* ---- questions --------------------------------------------------------------------------------
 */

/* A field of an ephemeron that is asked for, as the model has it. */
struct asked {
    unsigned ephemeron;
    size_t i;
    word given; /* what it was given, which may be dead */
    enum model_weak may;
};

/* Puts the ephemeron into SLOT_FROM.  False: there is none. */
static bool ask(struct runner *r, const struct op *op, unsigned m, struct asked *asked) {
    asked->ephemeron = ephemeron_in(r, m, op->src);
    if (asked->ephemeron == MODEL_NONE)
        return false;
    asked->i = op->i % r->model.objects[asked->ephemeron].wosize;
    copy_parent(r, m, op->src, SLOT_FROM);
    model_mark(&r->model);
    asked->given = model_kept(&r->model, asked->ephemeron)[asked->i];
    asked->may = model_weak_field(&r->model, asked->ephemeron, asked->i);
    return true;
}

/* Could the heap of the program hold what may be given away, and so many words more? */
static bool has_room_for(struct runner *r, const struct asked *asked, size_t words) {
    return asked->may != WEAK_EITHER ||
           model_most_live(&r->model, asked->given) + words <= r->heap_words;
}

/* Who can ask no more than whether a field is set. */
static bool can(const struct runner *r, bool check) {
    const struct gc_extras *extras = r->side[PARTY_SUBJECT].collector->extras;
    return r->model.outlives && (check ? extras->is_set != NULL : extras->copy != NULL);
}

/* There is no data.  With a key that may be passed it is uncertain, unless all keys are still there
 * in the collector's own words. */
static void insist(struct side *s, struct asked *asked) {
    struct runner *r = runner_of(s);
    const struct model_object *o = &r->model.objects[asked->ephemeron];
    bool all = asked->i == 0 && asked->may == WEAK_EITHER && !o->shaky && can(r, true) &&
               model_has_passed(&r->model, asked->ephemeron);
    for (uint32_t f = 1; all && f < o->wosize; f++)
        all = model_kept(&r->model, asked->ephemeron)[f] == MODEL_NOTHING ||
              call_ephemeron_check(s, SLOT_FROM, f);
    if (all)
        asked->may = WEAK_SET;
}

/* The field is not set.  If it was a key, or data with one key that nothing reaches, that is dead.
 */
static void take_over_nothing(struct runner *r, const struct asked *asked) {
    if (asked->may != WEAK_EITHER)
        return;
    if (asked->i == 0)
        model_data_is(&r->model, asked->ephemeron, false);
    else if (model_may_be_passed(&r->model, asked->given))
        model_passed_is_gone(&r->model, asked->ephemeron, asked->i);
    else if (asked->given == MODEL_FORGOTTEN)
        model_kept(&r->model, asked->ephemeron)[asked->i] = MODEL_NOTHING;
    else
        model_died(&r->model, model_object(asked->given));
}

/* dst := what the slot SLOT_VALUE holds, or unit. */
static void take_over(struct runner *r, const struct op *op, unsigned m, const struct asked *asked,
                      bool is_set) {
    static const struct value found = {.kind = VALUE_SLOT, .block = SLOT_VALUE};
    if (!is_set)
        take_over_nothing(r, asked);
    if (!is_set || asked->given == MODEL_NOTHING || asked->given == MODEL_FORGOTTEN) {
        clear_slot(r, m, op->dst); /* what was forgotten, nobody can judge */
        return;
    }
    r->model.revived |= asked->may == WEAK_EITHER;
    r->model.slots[m][SLOT_VALUE] = asked->given;
    set_slot(r, m, op->dst, &found);
}

bool op_weak_get(struct runner *r, const struct op *op, unsigned m) {
    struct asked asked;
    if (!ask(r, op, m, &asked))
        return false;
    if (!r->model.outlives && asked.may != WEAK_SET) { /* not set: no two collectors need agree */
        clear_slot(r, m, op->dst);
        return true;
    }
    if (!has_room_for(r, &asked, 0))
        return skip(r, SKIP_ROOM);
    bool is_set = false;
    FOR_SIDES (r, s) {
        is_set = call_ephemeron_get(s, SLOT_VALUE, SLOT_FROM, asked.i);
        if (!is_set)
            insist(s, &asked);
        event_weak_read(judge_of(s), is_set, asked.may, s->slots[m][SLOT_VALUE], asked.given);
    }
    take_over(r, op, m, &asked, is_set);
    return true;
}

bool op_weak_check(struct runner *r, const struct op *op, unsigned m) {
    struct asked asked;
    if (!ask(r, op, m, &asked))
        return false;
    if (!can(r, true))
        return skip(r, SKIP_UNFIT);
    FOR_SIDES (r, s) {
        bool is_set = call_ephemeron_check(s, SLOT_FROM, asked.i);
        if (!is_set)
            insist(s, &asked);
        event_weak_read(judge_of(s), is_set, asked.may, WORD_UNIT, MODEL_NOTHING);
        if (!is_set)
            take_over_nothing(r, &asked);
    }
    return true;
}

/* ---- copies -----------------------------------------------------------------------------------
 */

/* Blocks that are given away themselves: custom ones, and what lies in no heap. */
static bool is_copied(const struct runner *r, word v) {
    if (!model_is_pointer(v))
        return false;
    const struct model_object *o = &r->model.objects[model_object(v)];
    return !model_is_foreign(&r->model, o) && o->tag != TAG_CUSTOM;
}

/* A shallow copy of what the word leads to, and the word that leads there. */
static word copy_object(struct runner *r, unsigned m, word v) {
    const struct model_object o = r->model.objects[model_object(v)];
    uint32_t to = new_object(r, m, SLOT_VALUE, o.wosize, o.tag, o.first_scanned, r->units);
    memcpy(model_fields(&r->model, to), model_fields(&r->model, model_object(v)),
           o.wosize * sizeof(word));
    return model_pointer(to, model_offset(v));
}

/* What may be copied; *words: of the copy. */
static bool may_be_copied(struct runner *r, const struct asked *asked, size_t *words) {
    *words = 0;
    /* of a Forward block, or of what it leads to */
    const word either[2] = {asked->given, model_passed_to(&r->model, asked->given)};
    bool ephemeron = false;
    for (unsigned n = 0; n < 2; n++)
        if (is_copied(r, either[n])) {
            const struct model_object *o = &r->model.objects[model_object(either[n])];
            *words = o->wosize > *words ? o->wosize : *words;
            ephemeron |= o->ephemeron; /* a copy of an ephemeron is none */
        }
    return !ephemeron && asked->given != MODEL_FORGOTTEN; /* which may be a block of any size */
}

static bool leads_to(const struct graph *g, word v, uint32_t block) {
    struct graph_ref ref = graph_resolve(g, v);
    return ref.kind == GRAPH_BLOCK && ref.id == block;
}

/* Do others lead to the block that SLOT_VALUE holds?  To a copy that has just been made nobody
 * does. */
static bool is_held_elsewhere(const struct side *s, unsigned m, uint32_t block) {
    const struct graph *g = &s->graph;
    for (unsigned n = 0; n < g->mutators * GC_SLOTS; n++)
        if (n != m * GC_SLOTS + SLOT_VALUE && leads_to(g, g->slots[n], block))
            return true;
    for (uint32_t id = 0; id < g->universe; id++) {
        if (!graph_starts(g, id))
            continue;
        struct graph_block b = graph_block(g, id);
        for (uint32_t f = b.first_scanned; f < b.wosize; f++)
            if (leads_to(g, b.fields[f], block))
                return true;
    }
    return false;
}

/* What weakcopy may give for a Forward block: a copy of that, a copy of what it leads to, if the
 * key or data has been led past it, or what it leads to itself, if the copy has been. */
enum passing { PASSES_NOTHING, PASSED_BEFORE, PASSED_AFTER };
static enum passing passing_of(struct side *s, unsigned m, word given) {
    if (!model_may_be_passed(&runner_of(s)->model, given))
        return PASSES_NOTHING;
    walk_side(s, IN_BETWEEN);
    struct graph_ref ref = graph_resolve(&s->graph, s->slots[m][SLOT_VALUE]);
    if (ref.kind == GRAPH_BLOCK && graph_block(&s->graph, ref.id).tag == TAG_FORWARD)
        return PASSES_NOTHING;
    return ref.kind == GRAPH_BLOCK && is_held_elsewhere(s, m, ref.id) ? PASSED_AFTER
                                                                      : PASSED_BEFORE;
}

bool op_weak_copy(struct runner *r, const struct op *op, unsigned m) {
    struct asked asked;
    size_t words;
    if (!ask(r, op, m, &asked))
        return false;
    if (!can(r, false) || !may_be_copied(r, &asked, &words))
        return skip(r, SKIP_UNFIT);
    if (!model_has_room(&r->model, 1, words))
        return skip(r, SKIP_ROOM);
    if (!ask(r, op, m, &asked) || /* the room may have been what is asked for */
        !may_be_copied(r, &asked, &words))
        return skip(r, SKIP_UNFIT);
    if (!has_room_for(r, &asked, words + 1))
        return skip(r, SKIP_ROOM);
    struct side *s = &r->side[PARTY_SUBJECT];
    bool is_set = call_ephemeron_copy(s, SLOT_VALUE, SLOT_FROM, asked.i, words);
    if (!is_set && s->answer != GC_OK) {
        r->verdict.counts.refusals++;
        clear_slot(r, m, op->dst);
        return true;
    }
    enum passing passing = is_set ? passing_of(s, m, asked.given) : PASSES_NOTHING;
    if (passing != PASSES_NOTHING)
        asked.given = model_passed_to(&r->model, asked.given);
    if (is_set && passing != PASSED_AFTER && is_copied(r, asked.given))
        asked.given = copy_object(r, m, asked.given);
    event_weak_read(judge_of(s), is_set, asked.may, s->slots[m][SLOT_VALUE], asked.given);
    take_over(r, op, m, &asked, is_set);
    return true;
}
