/* SPDX-License-Identifier: MIT
 *
 * Finalisers and custom blocks, which have one (operations.h): each runs once, not
 * before its block is unreachable, and not later than the next full collection.
 */
#include "harness/operations/operations.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FINALISERS = 256 };

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
    enum party party = side_of(hooks)->party;
    struct finalisers *f = runner_of(side_of(hooks))->finalisers;
    if (f->n_ran < sizeof f->ran / sizeof *f->ran)
        f->ran[f->n_ran++] = number;
    f->party = party;
}

_Noreturn static void fail_finaliser(struct runner *r, enum violation v, enum oracle oracle,
                                     uint32_t object, const char *detail) {
    char name[16];
    object_name(&r->model, object, name, sizeof name);
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

/* ---- operations -------------------------------------------------------------------------------
 */

bool op_resource(struct runner *r, const struct op *op, unsigned m) {
    static const struct value block = {.kind = VALUE_SLOT, .block = SLOT_NEW};
    if (!r->extras) {
        struct op raw = {.code = OP_ALLOC_RAW,
                         .dst = op->dst,
                         .tag = TAG_CUSTOM,
                         .size = (uint16_t)(op->words + 1)};
        return op_raw(r, &raw, m);
    }
    struct finalisers *f = r->finalisers;
    if (f->n == FINALISERS)
        return false;
    FOR_SIDES(r, s)
    call_resource(s, SLOT_NEW, op->words + 1u, f->n);
    if (!all_served(r, m))
        return true;
    memset(r->image, 0, (op->words + 1u) * sizeof(word));
    uint32_t object =
        new_object(r, m, SLOT_NEW, op->words + 1u, TAG_CUSTOM, op->words + 1u, r->image);
    add_finaliser(r, object);
    set_slot(r, m, op->dst, &block);
    return true;
}

/* Blocks of these tags are refused by the runtime; a static one never dies. */
bool op_finalise(struct runner *r, const struct op *op, unsigned m) {
    unsigned object = slot_object(r, m, op->dst);
    if (object == MODEL_NONE || !r->extras)
        return false;
    const struct model_object *o = &r->model.objects[object];
    if (o->is_static || o->tag == TAG_LAZY || o->tag == TAG_DOUBLE || o->tag == TAG_FORWARD)
        return false;
    unsigned number = add_finaliser(r, object);
    if (number == FINALISERS)
        return false;
    FOR_SIDES(r, s)
    call_finalise(s, op->dst, number, op->last);
    return true;
}
