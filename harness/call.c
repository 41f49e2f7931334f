/* SPDX-License-Identifier: MIT
 *
 * Calls of a collector (call.h).
 */
#include "harness/call.h"

#include "harness/dead_memory.h"
#include "harness/events.h"

#include <string.h>

/* ---- before and after -------------------------------------------------------------------------
 */

static void enter(struct side *s) {
    runner_of(s)->running = s->party;
    s->hooks->fuel = s->fuel;
    s->poisoned_before = dead_memory_poisonings();
}

/* After a call that inspects. */
static void leave(struct side *s) {
    struct runner *r = runner_of(s);
    s->steps += s->fuel - s->hooks->fuel;
    s->poisonings += dead_memory_poisonings() - s->poisoned_before;
    r->running = PARTY_MODEL;
}

/* After a call that may have changed slots and heap; a store may have hit a header. */
static void leave_changed(struct side *s) {
    leave(s);
    s->walked = 0;
}

/* After a call that may have collected. */
static void leave_collected(struct side *s, const struct request *request, bool full) {
    leave_changed(s);
    if (!runner_of(s)->over)
        event_called(judge_of(s), request, full);
}

static word *fields(const struct side *s, unsigned m, unsigned slot) {
    return word_pointer(s->slots[m][slot]);
}

/* ---- life -------------------------------------------------------------------------------------
 */

void call_reset(struct side *s) {
    enter(s);
    s->collector->reset(s->gc, lent_to(s)->config);
    leave_changed(s);
}

word *call_image(struct side *s, size_t *words) {
    enter(s);
    word *base = s->collector->image(s->gc, words);
    leave_changed(s);
    return base;
}

void call_adopt(struct side *s, size_t words) {
    enter(s);
    s->collector->adopt(s->gc, words);
    leave_changed(s);
}

/* ---- allocation -------------------------------------------------------------------------------
 */

static enum gc_result answered(struct side *s, enum gc_result answer) {
    s->answer = answer;
    leave_collected(s, NULL, false);
    return answer;
}

/* The words that this collector is to have where the model has addresses by number. */
static const word *own_content(struct side *s, const word *raw, size_t wosize) {
    struct runner *r = runner_of(s);
    if (raw == r->units || !r->model.n_addresses)
        return raw;
    for (size_t i = 0; i < wosize; i++)
        r->own[i] = model_data(&r->model, s->party, raw[i]);
    return r->own;
}

/* The collector's own copy: what it writes there is neither in the model nor asked of another. */
static const word *lent_raw(struct side *s, const word *raw, size_t wosize) {
    _Static_assert((int)LENT_UNITS >= (int)PROGRAM_HEAP_WORDS &&
                       LENT_CONTENT >= sizeof(((struct runner *)0)->image) / sizeof(word),
                   "there is room for the content of every block");
    return raw == runner_of(s)->units ? lent_units(lent_to(s), wosize)
                                      : lent_content(lent_to(s), raw, wosize);
}

enum gc_result call_alloc(struct side *s, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                          const word *raw) {
    raw = own_content(s, raw, wosize);
    const word *lent = lent_raw(s, raw, wosize);
    enter(s);
    enum gc_result answer = s->collector->alloc(s->gc, m, dst, wosize, tag, lent);
    while (answer == GC_PENDING && s->collector->poll)
        answer = s->collector->poll(s->gc, m);
    const struct request q = {.answer = s->answer = answer,
                              .block = s->slots[m][dst],
                              .wosize = wosize,
                              .tag = tag,
                              .content = raw};
    leave_collected(s, &q, false);
    return answer;
}

enum gc_result call_ephemeron(struct side *s, unsigned dst, size_t keys) {
    enter(s);
    return answered(s, s->collector->extras->ephemeron(s->gc, dst, keys));
}

enum gc_result call_resource(struct side *s, unsigned dst, size_t words, uint64_t number) {
    enter(s);
    return answered(s, s->collector->extras->resource(s->gc, dst, words, number));
}

enum gc_result call_marshal(struct side *s, unsigned dst, unsigned src, bool unshared,
                            size_t words) {
    enter(s);
    return answered(s, s->collector->extras->marshal(s->gc, dst, src, unshared, words));
}

bool all_served(struct runner *r, unsigned m) {
    bool all = true;
    r->verdict.counts.refusals += r->side[PARTY_SUBJECT].answer != GC_OK;
    FOR_SIDES (r, s)
        all &= s->answer == GC_OK;
    FOR_SIDES (r, s)
        if (!all)
            s->slots[m][SLOT_NEW] = WORD_UNIT;
    return all;
}

/* ---- fields -----------------------------------------------------------------------------------
 */

void call_init(struct side *s, unsigned m, unsigned obj, size_t i, unsigned value) {
    event_writing(judge_of(s), s->slots[m][obj], i, s->slots[m][value]);
    enter(s);
    if (s->collector->init)
        s->collector->init(s->gc, m, obj, i, value);
    else
        fields(s, m, obj)[i] = s->slots[m][value];
    leave_changed(s);
}

void call_store(struct side *s, unsigned m, unsigned obj, size_t i, unsigned value) {
    event_writing(judge_of(s), s->slots[m][obj], i, s->slots[m][value]);
    enter(s);
    if (s->collector->store)
        s->collector->store(s->gc, m, obj, i, value);
    else
        fields(s, m, obj)[i] = s->slots[m][value];
    leave_changed(s);
}

void call_load(struct side *s, unsigned m, unsigned dst, unsigned obj, size_t i) {
    enter(s);
    if (s->collector->load)
        s->collector->load(s->gc, m, dst, obj, i);
    else
        s->slots[m][dst] = fields(s, m, obj)[i];
    leave_changed(s);
}

void call_blit(struct side *s, unsigned m, unsigned src, size_t i, unsigned dst, size_t j,
               size_t n) {
    const word *from = fields(s, m, src) + i;
    word *to = fields(s, m, dst) + j;
    for (size_t k = 0; k < n; k++)
        event_writing(judge_of(s), s->slots[m][dst], j + k, from[k]);
    enter(s);
    if (s->collector->blit)
        s->collector->blit(s->gc, m, src, i, dst, j, n);
    else
        memmove(to, from, n * sizeof *to);
    leave_changed(s);
}

void call_write_raw(struct side *s, unsigned m, unsigned obj, size_t i, word raw) {
    event_writing(judge_of(s), s->slots[m][obj], i, raw);
    enter(s);
    if (s->collector->write_raw)
        s->collector->write_raw(s->gc, m, obj, i, raw);
    else
        fields(s, m, obj)[i] = raw;
    leave_changed(s);
}

/* ---- collections ------------------------------------------------------------------------------
 */

void call_collect(struct side *s, enum gc_collection kind) {
    unsigned most = s->traits.full_until_exact;
    unsigned times = kind == GC_FULL && most > 1 ? most : 1;
    enter(s);
    for (unsigned n = 0; s->collector->collect && n < times; n++)
        s->collector->collect(s->gc, kind);
    leave_collected(s, NULL, kind == GC_FULL);
}

bool call_step(struct side *s, size_t budget) {
    enter(s);
    if (s->collector->step)
        s->in_cycle = s->collector->step(s->gc, budget) != GC_IDLE;
    leave_collected(s, NULL, false);
    return s->collector->step;
}

bool call_switch_kind(struct side *s, unsigned kind) {
    enter(s);
    if (s->collector->switch_kind) {
        s->collector->switch_kind(s->gc, kind);
        s->config.kind = lent_to(s)->config->kind = kind;
        take_promises(s);
        panel_choose(s);
    }
    leave_collected(s, NULL, false);
    judge_promises(s);
    return s->collector->switch_kind;
}

bool call_poll(struct side *s, unsigned m) {
    enter(s);
    if (s->collector->poll)
        s->collector->poll(s->gc, m);
    leave_collected(s, NULL, false);
    return s->collector->poll;
}

/* ---- inspection -------------------------------------------------------------------------------
 */

void call_walk(struct side *s, unsigned checks) {
    enter(s);
    heap_walk(&s->graph, s->collector, s->gc, checks, &s->facts);
    leave(s);
}

void call_walk_inside(struct side *s, unsigned checks) {
    uint64_t fuel = s->hooks->fuel;
    heap_walk(&s->graph, s->collector, s->gc, checks, &s->facts);
    s->hooks->fuel = fuel;
    s->walked = 0;
}

void call_visit(struct side *s, gc_visit *visit, void *context) {
    enter(s);
    s->collector->walk(s->gc, visit, context);
    runner_of(s)->running = PARTY_MODEL;
}

const char *call_check(struct side *s) {
    enter(s);
    const char *broken = s->collector->check(s->gc);
    leave(s);
    return broken;
}

struct gc_cycle call_cycle(const struct side *s) {
    enum party before = runner_of(s)->running;
    runner_of(s)->running = s->party;
    struct gc_cycle cycle = s->collector->cycle(s->gc);
    runner_of(s)->running = before;
    return cycle;
}

/* ---- what a runtime has besides ---------------------------------------------------------------
 */

void call_ephemeron_set(struct side *s, unsigned obj, size_t i, unsigned value) {
    enter(s);
    s->collector->extras->set(s->gc, obj, i, value);
    leave_changed(s);
}

void call_ephemeron_unset(struct side *s, unsigned obj, size_t i) {
    enter(s);
    s->collector->extras->unset(s->gc, obj, i);
    leave_changed(s);
}

bool call_ephemeron_get(struct side *s, unsigned dst, unsigned obj, size_t i) {
    enter(s);
    bool is_set = s->collector->extras->get(s->gc, dst, obj, i);
    leave_changed(s);
    return is_set;
}

void call_ephemeron_blit(struct side *s, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    enter(s);
    s->collector->extras->blit(s->gc, src, i, dst, j, n);
    leave_changed(s);
}

void call_forward(struct side *s, unsigned obj, unsigned value) {
    enter(s);
    s->collector->extras->forward(s->gc, obj, value);
    leave_changed(s);
}

void call_truncate(struct side *s, unsigned obj, size_t n) {
    enter(s);
    s->collector->extras->truncate(s->gc, obj, n);
    leave_changed(s);
}

void call_finalise(struct side *s, unsigned obj, uint64_t number, bool last) {
    enter(s);
    s->collector->extras->finalise(s->gc, obj, number, last);
    leave_changed(s);
}

size_t call_measure(struct side *s, unsigned obj) {
    enter(s);
    size_t words = s->collector->extras->measure(s->gc, obj);
    leave_changed(s);
    return words;
}
