/* SPDX-License-Identifier: MIT
 *
 * Oracle finalisers: each that was promised runs once, not before nothing reaches its block, and
 * not later than the next full collection.
 *
 * Every collector has finalisers of its own: two runtimes that are compared run each of them once.
 */
#include "oracles/compare.h"
#include "oracles/describe.h"

#include <stdio.h>

struct finalisers {
    unsigned n; /* promised, by number */
    struct {
        uint32_t object;
        bool ran;
    } known[FINALISERS];
    unsigned n_ran; /* told since the last comparison */
    uint64_t ran[2 * FINALISERS];
};

static bool reset(struct judge *j) {
    struct finalisers *f = j->state;
    f->n = f->n_ran = 0;
    return false;
}

static bool promised(struct judge *j, uint64_t number, uint32_t object) {
    struct finalisers *f = j->state;
    if (number != f->n || number >= FINALISERS)
        judge_fault(j, "finalisers are not promised one by one");
    f->known[f->n].object = object;
    f->known[f->n++].ran = false;
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

/* What an ephemeron has given away in this operation may have been found dead in it before. */
static void judge_one(struct judge *j, uint64_t number) {
    struct finalisers *f = j->state;
    if (number >= f->n)
        judge_fail(j, VIOLATION_collector_assertion,
                   "a finaliser has run that nobody has asked for");
    uint32_t object = f->known[number].object;
    if (f->known[number].ran && object == MODEL_NONE)
        judge_fail(j, VIOLATION_collector_assertion, "a finaliser has run twice");
    if (f->known[number].ran)
        fail_finaliser(j, VIOLATION_collector_assertion, object, "a finaliser has run twice");
    if (object != MODEL_NONE && is_marked(j->model, object) && !j->model->revived)
        fail_finaliser(j, VIOLATION_lost_object, object,
                       "the finaliser of a block has run that the program can still reach");
    f->known[number].ran = true;
}

/* A block that has become unreachable in this operation may be finalised in it. */
static bool compared(struct judge *j, enum occasion when) {
    struct finalisers *f = j->state;
    for (unsigned i = 0; i < f->n_ran; i++)
        judge_one(j, f->ran[i]);
    f->n_ran = 0;
    for (unsigned i = 0; when == AFTER_FULL && i < f->n; i++)
        if (!f->known[i].ran && f->known[i].object != MODEL_NONE &&
            !is_marked(j->model, f->known[i].object))
            fail_finaliser(j, VIOLATION_garbage_retained, f->known[i].object,
                           "a finaliser has not run, though nothing reaches its block after a full "
                           "collection");
    return f->n > 0;
}

const struct oracle_module oracle_finalisers = {
    .meaning = "a finaliser runs once, when nothing reaches its block any more",
    .source = "OCaml's Gc.finalise and Gc.finalise_last, and custom blocks",
    .classes = {VIOLATION_collector_assertion, VIOLATION_lost_object, VIOLATION_garbage_retained},
    .needs = 1u << NEED_extras,
    .state = sizeof(struct finalisers),
    .reset = reset,
    .promised = promised,
    .finalised = finalised,
    .compared = compared,
};
