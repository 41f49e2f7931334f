/* SPDX-License-Identifier: MIT
 *
 * Oracle finalisers: each that was promised runs once, not before nothing reaches its block, and
 * not later than the next full collection; of blocks that died together, the last one first.
 *
 * Every collector has finalisers of its own: two runtimes that are compared run each of them once.
 * Which died together: no collection came between their deaths, and so no cycle has begun there.
 * With several mutators each runs its own, and nobody orders those of two.  Those of
 * one that has ended wait until another has them: what has once been found dead is told of then,
 * also if the finaliser of another block has brought it back.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>
#include <string.h>

enum { ALIVE = 0, UNKNOWN = -1 };

struct finalisers {
    unsigned n;   /* numbers, from 0 on */
    int32_t tick; /* of deaths that have been seen */
    struct {
        uint32_t object;
        bool promised, ran, in_order; /* in_order: one after the other, as they are handed over, */
        unsigned life;                /* with those of the same one */
        int32_t died;                 /* a tick */
    } known[FINALISERS];
    unsigned n_ran; /* told since the last comparison */
    uint64_t ran[2 * FINALISERS];
};

static bool reset(struct judge *j) {
    struct finalisers *f = j->state;
    for (unsigned i = 0; i < f->n; i++)
        f->known[i].promised = false;
    f->n = f->n_ran = 0;
    f->tick = 1;
    return false;
}

static bool promised(struct judge *j, uint64_t number, uint32_t object) {
    struct finalisers *f = j->state;
    if (number >= FINALISERS || (number < f->n && f->known[number].promised))
        judge_fault(j, "a finaliser is promised twice");
    for (; f->n <= number; f->n++)
        f->known[f->n].promised = f->known[f->n].ran = false;
    f->known[number].object = object;
    f->known[number].promised = true;
    f->known[number].ran = f->known[number].in_order = false;
    f->known[number].died = ALIVE;
    return false;
}

static bool finalised(struct judge *j, uint64_t number) {
    struct finalisers *f = j->state;
    if (f->n_ran < sizeof f->ran / sizeof *f->ran)
        f->ran[f->n_ran++] = number;
    return false;
}

_Noreturn static void fail_finaliser(struct judge *j, enum violation v, uint32_t object,
                                     const char *sentence) {
    char name[NAME_TEXT];
    object_name(j->model, object, name, sizeof name);
    snprintf(j->found, VERDICT_TEXT, "the finaliser of %s", name);
    judge_fail(j, v, sentence);
}

static bool is_alive(const struct judge *j, uint32_t object) {
    return object != MODEL_NONE && is_marked(j->model, object);
}

/* What an ephemeron has given away in this operation may have been found dead in it before. */
static void judge_one(struct judge *j, uint64_t number) {
    struct finalisers *f = j->state;
    if (number >= f->n || !f->known[number].promised)
        judge_fail(j, VIOLATION_collector_assertion,
                   "a finaliser has run that nobody has asked for");
    uint32_t object = f->known[number].object;
    if (f->known[number].ran && object == MODEL_NONE)
        judge_fail(j, VIOLATION_collector_assertion, "a finaliser has run twice");
    if (f->known[number].ran)
        fail_finaliser(j, VIOLATION_collector_assertion, object, "a finaliser has run twice");
    if (is_alive(j, object) && f->known[number].died == ALIVE && !j->model->revived &&
        model_certainly_reached(j->model, object))
        fail_finaliser(j, VIOLATION_lost_object, object,
                       "the finaliser of a block has run that the program can still reach");
    f->known[number].ran = true;
}

/* ---- order ------------------------------------------------------------------------------------
 */

static bool is_shared(const struct judge *j) {
    return j->model->mutators > 1;
}

/* Who is unreachable now, and was not before?  Finalisers that run together are for blocks of which
 * one may bring back another. */
static void note_deaths(struct judge *j, bool come_back) {
    struct finalisers *f = j->state;
    for (unsigned i = 0; i < f->n; i++) {
        if (!f->known[i].promised || f->known[i].ran)
            continue;
        if (is_alive(j, f->known[i].object)) {
            if (is_shared(j) && f->known[i].died != ALIVE)
                f->known[i].died = UNKNOWN;
            else if (come_back)
                f->known[i].died = ALIVE;
        } else if (f->known[i].died == ALIVE)
            f->known[i].died = j->side->changes || j->model->revived ? UNKNOWN : f->tick;
    }
    f->tick++;
}

/* It has, before this one, also if it could not do anything: then it is judged later. */
static bool has_run(const struct finalisers *f, unsigned number, unsigned before) {
    bool told = f->known[number].ran;
    for (unsigned i = 0; i < f->n_ran && !told && f->ran[i] != before; i++)
        told = f->ran[i] == number;
    return told;
}

/* What a dead block reaches that has a finaliser is alive for the collection which finds that: so
 * the block of another mutator keeps one of two that died together. */
static bool is_of_another(const struct finalisers *f, unsigned i, unsigned number) {
    return f->known[i].promised && f->known[i].in_order &&
           f->known[i].life != f->known[number].life && f->known[i].died != ALIVE;
}

static bool may_be_kept_apart(const struct finalisers *f, unsigned number) {
    for (unsigned i = 0; i < f->n; i++)
        if (is_of_another(f, i, number) && !f->known[i].ran)
            return true;
    return false;
}

/* One that has run, and could not do anything: what it has kept the model does not know. */
static void forget_order(struct finalisers *f, unsigned number) {
    for (unsigned i = 0; i < f->n; i++)
        if (is_of_another(f, i, number))
            f->known[i].died = UNKNOWN;
}

/* Of Gc.finalise alone: the last one that was asked for runs first. */
static void judge_order(struct judge *j, unsigned number) {
    struct finalisers *f = j->state;
    int32_t died = may_be_kept_apart(f, number) ? UNKNOWN : f->known[number].died;
    for (unsigned later = number + 1; later < f->n && died > 0; later++)
        if (f->known[later].promised && f->known[later].in_order && !has_run(f, later, number) &&
            f->known[later].life == f->known[number].life && f->known[later].died == died)
            fail_finaliser(j, VIOLATION_collector_assertion, f->known[number].object,
                           "a finaliser has run before that of a block which died together with "
                           "its own, and was asked for later");
}

static bool ordered(struct judge *j, uint64_t number, unsigned life) {
    struct finalisers *f = j->state;
    if (number < f->n) {
        f->known[number].in_order = true;
        f->known[number].life = life;
    }
    return false;
}

static bool handed(struct judge *j, uint64_t number, bool elsewhere) {
    struct finalisers *f = j->state;
    note_deaths(j, false);
    if (number < f->n && f->known[number].in_order)
        judge_order(j, (unsigned)number);
    judge_one(j, number);
    if (elsewhere)
        fail_finaliser(j, VIOLATION_collector_assertion, f->known[number].object,
                       "a finaliser has been run by another mutator than the one that asked for "
                       "it, which is still there");
    unsigned at = 0;
    while (at < f->n_ran && f->ran[at] != number)
        at++;
    if (at < f->n_ran)
        memmove(f->ran + at, f->ran + at + 1, (--f->n_ran - at) * sizeof *f->ran);
    return true;
}

/* ---- comparisons ------------------------------------------------------------------------------
 */

/* A block that has become unreachable in this operation may be finalised in it. */
static bool compared(struct judge *j, enum occasion when) {
    struct finalisers *f = j->state;
    for (unsigned i = 0; i < f->n_ran; i++) {
        judge_one(j, f->ran[i]);
        if (f->known[f->ran[i]].in_order)
            forget_order(f, (unsigned)f->ran[i]);
    }
    f->n_ran = 0;
    note_deaths(j, true);
    for (unsigned i = 0; when == AFTER_FULL && i < f->n; i++)
        if (f->known[i].promised && !f->known[i].ran && f->known[i].object != MODEL_NONE &&
            !is_marked(j->model, f->known[i].object))
            fail_finaliser(j, VIOLATION_garbage_retained, f->known[i].object,
                           "a finaliser has not run, though nothing reaches its block after a full "
                           "collection");
    return f->n > 0;
}

const struct oracle_module oracle_finalisers = {
    .meaning = "a finaliser runs once, when nothing reaches its block any more, and in the order "
               "that is promised",
    .source = "OCaml's Gc.finalise and Gc.finalise_last, and custom blocks",
    .classes = {VIOLATION_collector_assertion, VIOLATION_lost_object, VIOLATION_garbage_retained},
    .needs = 1u << NEED_extras,
    .state = sizeof(struct finalisers),
    .reset = reset,
    .promised = promised,
    .ordered = ordered,
    .finalised = finalised,
    .handed = handed,
    .compared = compared,
};
