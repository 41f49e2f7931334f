/* SPDX-License-Identifier: MIT
 *
 * Calls of a collector (call.h).
 */
#include "harness/call.h"

#include "collectors/contract.h"
#include "harness/dead_memory.h"
#include "harness/events.h"

#include <string.h>

/* ---- before and after -------------------------------------------------------------------------
 */

/* Where the blocks are that slots of the program lead to, in the collector's own heap: a call
 * writes these slots if it moves them, and for nothing else. */
static word place_of(const struct side *s, unsigned m, unsigned slot) {
    bool copied = s->collector->shown_at && model_is_pointer(runner_of(s)->model.slots[m][slot]);
    return copied ? s->collector->shown_at(s->gc, s->slots[m][slot]) : s->slots[m][slot];
}

static void note_places(struct side *s) {
    struct runner *r = runner_of(s);
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++)
            r->places_before[s->party][m][i] = place_of(s, m, i);
}

static void note_moves(struct side *s) {
    struct runner *r = runner_of(s);
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned i = 0; i < PROGRAM_SLOTS; i++) {
            word before = r->places_before[s->party][m][i];
            if (before != place_of(s, m, i) && model_is_pointer(r->model.slots[m][i]))
                r->moved_from[s->party] = before;
        }
}

static void enter(struct side *s) {
    runner_of(s)->running = s->party;
    s->hooks->fuel = s->fuel;
    s->poisoned_before = dead_memory_poisonings();
    if (runner_of(s)->follows_moves)
        note_places(s);
}

/* Of the fuel there is as much at hand as there are steps to the next look, the rest is aside. */
static void set_fuel(struct side *s, uint64_t fuel) {
    bool looks = s->look && s->look < fuel;
    s->fuel_aside = looks ? fuel - s->look : 0;
    s->hooks->fuel = looks ? s->look : fuel;
}

void call_look_after(struct side *s, uint64_t steps) {
    uint64_t fuel = s->hooks->fuel + s->fuel_aside;
    s->look = steps;
    set_fuel(s, fuel);
}

bool call_refuel(struct side *s) {
    if (!s->fuel_aside)
        return false;
    s->look = 0;
    set_fuel(s, s->fuel_aside);
    return true;
}

/* After a call that inspects. */
static void leave(struct side *s) {
    struct runner *r = runner_of(s);
    if (s->fuel_aside)
        s->look = s->hooks->fuel;
    s->hooks->fuel += s->fuel_aside; /* as if it had never been put aside */
    s->fuel_aside = 0;
    s->steps += s->fuel - s->hooks->fuel;
    s->poisonings += dead_memory_poisonings() - s->poisoned_before;
    if (r->follows_moves)
        note_moves(s);
    r->running = PARTY_MODEL;
}

/* After a call that may have changed slots and heap; a store may have hit a header. */
static void leave_changed(struct side *s) {
    leave(s);
    s->walked = 0;
}

/* Field i of block is about to become value. */
static inline void writing(struct side *s, word block, size_t i, word value) {
    event_writing(judge_of(s), block, i, value);
    if (block - pointer_word(s->statics) < s->static_words * sizeof(word))
        event_static_writing(judge_of(s), block, i, value);
}

static void note_new(struct side *s, const struct request *request) {
    s->new.asked++;
    s->new.asked_words += request->wosize + 1;
    s->new.given_words += request->answer == GC_OK ? request->wosize + 1 : 0;
}

static bool has_worked(struct side *s) {
    bool young = s->collected_young;
    s->collected_young = false;
    return young || s->took > GC_SLOTS || s->slice.done || s->hooks->collections != s->collected;
}

static void note_quiet(struct side *s, const struct request *request) {
    bool built = runner_of(s)->panel[s->party].built;
    s->quiet.calls += built;
    s->quiet.allocations += built && request;
}

/* After a call that may have collected. */
static void leave_collected(struct side *s, const struct request *request, bool full) {
    leave_changed(s);
    s->took = s->fuel - s->hooks->fuel;
    if (request)
        note_new(s, request);
    if (runner_of(s)->over)
        return;
    if ((int64_t)(s->hooks->collections - s->collected) < 0)
        event_recounted(judge_of(s));
    if (has_worked(s))
        event_worked(judge_of(s), request, full);
    else
        note_quiet(s, request);
    event_called(judge_of(s), request, full);
    if (runner_of(s)->n_handed)
        take_over_finalisers(s);
}

static word *fields(const struct side *s, unsigned m, unsigned slot) {
    return word_pointer(s->slots[m][slot]);
}

/* ---- on which stack ---------------------------------------------------------------------------
 */

/* A call on its way to the stack on which it runs: what it is asked, and what comes of it. */
struct call {
    const struct collector *collector;
    struct gc *gc;
    struct gc_hooks *hooks;
    unsigned m, dst, src; /* obj is dst of what is written, src of what is read */
    unsigned value, tag;
    size_t i, j, n; /* n: fields, words, keys, times, a budget or a kind */
    const word *raw;
    const struct gc_config *config;
    enum gc_collection kind;
    uint64_t number;
    const struct gc_finaliser *finaliser;
    bool flag;
    /* of the answer */
    enum gc_result result;
    word *base;
    size_t words;
    bool is_set;
};
#define CALL(s, ...)                                                                               \
    (struct call) {                                                                                \
        .collector = (s)->collector, .gc = (s)->gc, .hooks = (s)->hooks, __VA_ARGS__               \
    }

/* What a runtime has besides is called by the mutator whose operation it is. */
#define CALL_IN_OPERATION(s, ...) CALL(s, .m = runner_of(s)->mutator, __VA_ARGS__)

/* name: the function of the interface, for people; has: the collector has it. */
static void run_call(struct side *s, bool has, const char *name, void (*body)(void *),
                     struct call *c) {
    struct stack *stack = stack_of(s);
    runner_of(s)->call = name;
    enter(s);
    s->collected = s->hooks->collections;
    s->hooks->mutator = c->m;
    s->calls++;
    set_fuel(s, s->fuel);
    if (!has)
        return;
    if (stack)
        stack_call(stack, body, c);
    else
        body(c);
}

/* Defines what does a call where it runs.  Names that begin with call_: what is below them in a
 * stack is the harness's (cli/campaign/stack.c). */
#define BODY(name)                                                                                 \
    static void call_of_##name(struct call *c);                                                    \
    static void call_body_##name(void *context) {                                                  \
        call_of_##name(context);                                                                   \
    }                                                                                              \
    static void call_of_##name(struct call *c)
#define RUN_IF(s, has, name, c) run_call(s, has, #name, call_body_##name, c)
#define RUN(s, name, c)         RUN_IF(s, true, name, c)

/* Where it runs: polls until there is an answer.  Each poll is a step, so that they end. */
static void wait_for(struct call *c, enum gc_result answer) {
    while (answer == GC_PENDING && c->collector->poll) {
        gc_tick(c->hooks);
        answer = c->collector->poll(c->gc, c->m);
    }
    c->result = answer;
}

/* Has the call that has just ended been done?  Else the side has refused it. */
static bool is_done(struct side *s, const struct call *c) {
    s->refused = c->result != GC_OK;
    if (s->refused && !runner_of(s)->over)
        event_replied(judge_of(s), runner_of(s)->call, c->result);
    return !s->refused;
}

/* ---- life -------------------------------------------------------------------------------------
 */

BODY(reset) {
    c->collector->reset(c->gc, c->config);
}

void call_reset(struct side *s) {
    struct call c = CALL(s, .config = lent_to(s)->config);
    RUN(s, reset, &c);
    leave_changed(s);
}

BODY(attach) {
    c->collector->attach(c->gc, c->m);
}

void call_attach(struct side *s, unsigned m) {
    struct call c = CALL(s, .m = m);
    if (!s->collector->attach)
        return;
    RUN(s, attach, &c);
    leave_collected(s, NULL, false);
}

BODY(detach) {
    c->collector->detach(c->gc, c->m);
}

void call_detach(struct side *s, unsigned m) {
    struct call c = CALL(s, .m = m);
    if (!s->collector->detach)
        return;
    RUN(s, detach, &c);
    leave_collected(s, NULL, false);
}

BODY(image) {
    c->base = c->collector->image(c->gc, &c->words);
}

word *call_image(struct side *s, size_t *words) {
    struct call c = CALL(s, .words = *words);
    RUN(s, image, &c);
    leave_changed(s);
    *words = c.words;
    return c.base;
}

BODY(adopt) {
    c->collector->adopt(c->gc, c->n);
}

void call_adopt(struct side *s, size_t words) {
    struct call c = CALL(s, .n = words);
    RUN(s, adopt, &c);
    leave_changed(s);
}

/* ---- allocation -------------------------------------------------------------------------------
 */

static enum gc_result answered(struct side *s, enum gc_result answer) {
    s->answer = answer;
    if (answer != GC_OK && !runner_of(s)->over)
        event_replied(judge_of(s), runner_of(s)->call, answer);
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
    _Static_assert(LENT_CONTENT >= sizeof(((struct runner *)0)->image) / sizeof(word),
                   "there is room for the content of every block");
    const struct runner *r = runner_of(s);
    if (raw != r->units)
        return lent_content(lent_to(s), raw, wosize);
    return wosize <= LENT_UNITS ? lent_units(lent_to(s), wosize) : r->units_end - wosize;
}

BODY(alloc) {
    wait_for(c, c->collector->alloc(c->gc, c->m, c->dst, c->n, c->tag, c->raw));
}

enum gc_result call_alloc(struct side *s, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                          const word *raw) {
    raw = own_content(s, raw, wosize);
    struct call c =
        CALL(s, .m = m, .dst = dst, .n = wosize, .tag = tag, .raw = lent_raw(s, raw, wosize));
    s->allocating = true;
    RUN(s, alloc, &c);
    s->allocating = false;
    is_done(s, &c);
    const struct request q = {.answer = s->answer = c.result,
                              .block = s->slots[m][dst],
                              .wosize = wosize,
                              .tag = tag,
                              .content = raw};
    leave_collected(s, &q, false);
    return c.result;
}

BODY(ephemeron) {
    wait_for(c, c->collector->extras->ephemeron(c->gc, c->dst, c->n));
}

enum gc_result call_ephemeron(struct side *s, unsigned dst, size_t keys) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .n = keys);
    RUN(s, ephemeron, &c);
    return answered(s, c.result);
}

BODY(resource) {
    wait_for(c, c->collector->extras->resource(c->gc, c->dst, c->n, c->number));
}

enum gc_result call_resource(struct side *s, unsigned dst, size_t words, uint64_t number) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .n = words, .number = number);
    RUN(s, resource, &c);
    return answered(s, c.result);
}

BODY(marshal) {
    wait_for(c, c->collector->extras->marshal(c->gc, c->dst, c->src, c->flag, c->n));
}

enum gc_result call_marshal(struct side *s, unsigned dst, unsigned src, bool unshared,
                            size_t words) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .src = src, .flag = unshared, .n = words);
    RUN(s, marshal, &c);
    return answered(s, c.result);
}

BODY(clone) {
    wait_for(c, c->collector->extras->clone(c->gc, c->dst, c->src, c->flag, c->n));
}

enum gc_result call_clone(struct side *s, unsigned dst, unsigned src, bool unshared, size_t words) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .src = src, .flag = unshared, .n = words);
    RUN(s, clone, &c);
    return answered(s, c.result);
}

BODY(damage) {
    wait_for(c, c->collector->extras->damage(c->gc, c->dst, c->src, (enum gc_damage)c->i, c->n));
}

enum gc_result call_damage(struct side *s, unsigned dst, unsigned src, enum gc_damage damage,
                           size_t n) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .src = src, .i = damage, .n = n);
    RUN(s, damage, &c);
    return answered(s, c.result);
}

BODY(starve) {
    c->collector->extras->starve(c->gc, (unsigned)c->n);
}

void call_starve(struct side *s, unsigned n) {
    struct call c = CALL_IN_OPERATION(s, .n = n);
    RUN(s, starve, &c);
    s->starved = n > 0;
    leave_collected(s, NULL, false);
}

BODY(sub) {
    wait_for(c, c->collector->extras->sub(c->gc, c->dst, c->src, c->i, c->n));
}

enum gc_result call_sub(struct side *s, unsigned dst, unsigned src, size_t i, size_t n) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .src = src, .i = i, .n = n);
    RUN(s, sub, &c);
    return answered(s, c.result);
}

BODY(append) {
    wait_for(c, c->collector->extras->append(c->gc, c->dst, c->src, c->value, c->flag, c->n));
}

enum gc_result call_append(struct side *s, unsigned dst, unsigned src, unsigned other, bool thrice,
                           size_t words) {
    struct call c =
        CALL_IN_OPERATION(s, .dst = dst, .src = src, .value = other, .flag = thrice, .n = words);
    RUN(s, append, &c);
    return answered(s, c.result);
}

BODY(dup) {
    wait_for(c, c->collector->extras->dup(c->gc, c->dst, c->src, c->tag, c->n));
}

enum gc_result call_dup(struct side *s, unsigned dst, unsigned src, unsigned tag, size_t words) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .src = src, .tag = tag, .n = words);
    RUN(s, dup, &c);
    return answered(s, c.result);
}

BODY(forwarding) {
    wait_for(c, c->collector->extras->forwarding(c->gc, c->dst, c->value));
}

enum gc_result call_forwarding(struct side *s, unsigned dst, unsigned value) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .value = value);
    RUN(s, forwarding, &c);
    return answered(s, c.result);
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
 *
 * A plain access needs no stack of the collector's.
 */

BODY(init) {
    c->collector->init(c->gc, c->m, c->dst, c->i, c->value);
}

void call_init(struct side *s, unsigned m, unsigned obj, size_t i, unsigned value) {
    struct call c = CALL(s, .m = m, .dst = obj, .i = i, .value = value);
    writing(s, s->slots[m][obj], i, s->slots[m][value]);
    RUN_IF(s, s->collector->init, init, &c);
    if (!s->collector->init)
        fields(s, m, obj)[i] = s->slots[m][value];
    leave_changed(s);
}

/* A refused call has written n fields with what was there before, as far as oracles are told. */
static bool is_written(struct side *s, const struct call *c, size_t first, size_t n) {
    if (is_done(s, c))
        return true;
    word block = s->slots[c->m][c->dst];
    for (size_t k = first; k < first + n; k++)
        writing(s, block, k, fields(s, c->m, c->dst)[k]);
    return false;
}

BODY(store) {
    wait_for(c, c->collector->store(c->gc, c->m, c->dst, c->i, c->value));
}

bool call_store(struct side *s, unsigned m, unsigned obj, size_t i, unsigned value) {
    struct call c = CALL(s, .m = m, .dst = obj, .i = i, .value = value);
    writing(s, s->slots[m][obj], i, s->slots[m][value]);
    RUN_IF(s, s->collector->store, store, &c);
    if (!s->collector->store)
        fields(s, m, obj)[i] = s->slots[m][value];
    leave_changed(s);
    return is_written(s, &c, i, 1);
}

BODY(load) {
    wait_for(c, c->collector->load(c->gc, c->m, c->dst, c->src, c->i));
}

bool call_load(struct side *s, unsigned m, unsigned dst, unsigned obj, size_t i) {
    struct call c = CALL(s, .m = m, .dst = dst, .src = obj, .i = i);
    RUN_IF(s, s->collector->load, load, &c);
    if (!s->collector->load)
        s->slots[m][dst] = fields(s, m, obj)[i];
    leave_changed(s);
    return is_done(s, &c);
}

BODY(blit) {
    wait_for(c, c->collector->blit(c->gc, c->m, c->src, c->i, c->dst, c->j, c->n));
}

bool call_blit(struct side *s, unsigned m, unsigned src, size_t i, unsigned dst, size_t j,
               size_t n) {
    struct call c = CALL(s, .m = m, .src = src, .i = i, .dst = dst, .j = j, .n = n);
    const word *from = fields(s, m, src) + i;
    word *to = fields(s, m, dst) + j;
    for (size_t k = 0; k < n; k++)
        writing(s, s->slots[m][dst], j + k, from[k]);
    RUN_IF(s, s->collector->blit, blit, &c);
    if (!s->collector->blit)
        memmove(to, from, n * sizeof *to);
    leave_changed(s);
    return is_written(s, &c, j, n);
}

BODY(write_raw) {
    c->collector->write_raw(c->gc, c->m, c->dst, c->i, c->number);
}

void call_write_raw(struct side *s, unsigned m, unsigned obj, size_t i, word raw) {
    struct call c = CALL(s, .m = m, .dst = obj, .i = i, .number = raw);
    writing(s, s->slots[m][obj], i, raw);
    RUN_IF(s, s->collector->write_raw, write_raw, &c);
    if (!s->collector->write_raw)
        fields(s, m, obj)[i] = raw;
    leave_changed(s);
}

/* ---- collections ------------------------------------------------------------------------------
 */

/* n: so often, unless it is refused. */
BODY(collect) {
    for (size_t k = 0; k < c->n && c->result == GC_OK; k++)
        wait_for(c, c->collector->collect(c->gc, c->kind));
}

bool call_collect(struct side *s, unsigned m, enum gc_collection kind) {
    struct call c = CALL(s, .m = m, .kind = kind,
                         .n = kind == GC_FULL ? trait_full_collections(&s->traits) : 1);
    RUN_IF(s, s->collector->collect, collect, &c);
    leave_collected(s, NULL, kind == GC_FULL && c.result == GC_OK);
    return is_done(s, &c);
}

BODY(step) {
    wait_for(c, c->collector->step(c->gc, c->n));
}

bool call_step(struct side *s, unsigned m, size_t budget) {
    struct call c = CALL(s, .m = m, .n = budget);
    bool counts = s->collector->step && s->collector->cycle;
    uint64_t begun = counts ? s->collector->cycle(s->gc).begun : 0;
    RUN_IF(s, s->collector->step, step, &c);
    if (s->collector->step)
        s->in_cycle = c.result == GC_OK;
    s->slice.done = s->collector->step && (c.result == GC_OK || c.result == GC_IDLE);
    struct gc_cycle now = counts ? s->collector->cycle(s->gc) : (struct gc_cycle){0};
    s->slice.begins = counts && now.begun != begun;
    s->slice.budget = budget;
    leave_collected(s, NULL, false);
    s->slice.done = false;
    bool idle = c.result == GC_IDLE, answers = idle || c.result == GC_OK;
    if (counts && answers && idle != (now.phase == GC_PHASE_IDLE) && !runner_of(s)->over)
        event_replied(judge_of(s), "step", c.result);
    if (c.result == GC_IDLE)
        c.result = GC_OK;
    is_done(s, &c);
    return s->collector->step;
}

BODY(switch_kind) {
    wait_for(c, c->collector->switch_kind(c->gc, (unsigned)c->n));
}

bool call_switch_kind(struct side *s, unsigned m, unsigned kind) {
    struct call c = CALL(s, .m = m, .n = kind);
    RUN_IF(s, s->collector->switch_kind, switch_kind, &c);
    if (s->collector->switch_kind && is_done(s, &c)) {
        s->config.kind = lent_to(s)->config->kind = kind;
        take_promises(s);
        panel_choose(s);
    }
    leave_collected(s, NULL, false);
    judge_promises(s);
    return s->collector->switch_kind;
}

BODY(poll) {
    c->collector->poll(c->gc, c->m);
}

bool call_poll(struct side *s, unsigned m) {
    struct call c = CALL(s, .m = m);
    RUN_IF(s, s->collector->poll, poll, &c);
    leave_collected(s, NULL, false);
    return s->collector->poll;
}

/* ---- inspection -------------------------------------------------------------------------------
 *
 * On the harness's own stack: what it visits is the harness's, and it changes nothing that a
 * program could make deep.
 */

bool call_settled(const struct side *s) {
    return !s->collector->settled || s->collector->settled(s->gc);
}

/* Each round is a step, so that they end. */
BODY(settle) {
    while (!c->collector->settled(c->gc)) {
        gc_tick(c->hooks);
        for (c->m = 0; c->m < GC_MUTATORS; c->m++)
            if (c->n >> c->m & 1) {
                c->hooks->mutator = c->m;
                c->collector->poll(c->gc, c->m);
            }
    }
}

/* Between two calls, also where an oracle looks: what it knows of the last one is still so. */
void call_settle(struct side *s) {
    if (call_settled(s))
        return;
    /* Of who does not hear that a mutator goes, all are there. */
    const struct runner *r = runner_of(s);
    struct call c = CALL(s, .n = s->collector->detach ? r->attached : (1u << r->mutators) - 1);
    uint64_t collected = s->collected;
    s->settling = true;
    RUN(s, settle, &c);
    s->settling = false;
    s->collected = collected;
    leave_changed(s);
}

void call_walk(struct side *s, unsigned checks) {
    enter(s);
    heap_walk(&s->graph, s->collector, s->gc, checks, &s->facts);
    s->young = 0;
    leave(s);
}

void call_walk_empty(struct side *s, unsigned checks) {
    uint64_t steps = s->steps;
    begin_graph(s, NULL, 0);
    call_walk(s, checks);
    s->steps = steps;
    s->walked = 0;
}

void call_walk_inside(struct side *s, unsigned checks) {
    uint64_t fuel = s->hooks->fuel;
    size_t young = heap_young(&s->graph);
    s->young = young > s->young ? young : s->young;
    heap_walk(&s->graph, s->collector, s->gc, checks, &s->facts);
    s->hooks->fuel = fuel;
    s->walked = 0;
}

void call_visit(struct side *s, gc_visit *visit, void *context) {
    if (!call_settled(s))
        return;
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

struct gc_own *call_own(struct side *s) {
    enter(s);
    struct gc_own *own = s->collector->own(s->gc);
    leave(s);
    return own;
}

struct gc_cycle call_cycle(const struct side *s) {
    enum party before = runner_of(s)->running;
    runner_of(s)->running = s->party;
    struct gc_cycle cycle = s->collector->cycle(s->gc);
    runner_of(s)->running = before;
    return cycle;
}

BODY(atom) {
    c->number = c->collector->atom(c->gc, c->tag);
}

word call_atom(struct side *s, unsigned tag) {
    struct call c = CALL(s, .tag = tag);
    RUN_IF(s, s->collector->atom, atom, &c);
    leave(s);
    return s->collector->atom ? c.number : lent_atom(lent_to(s), tag);
}

BODY(shown_at) {
    c->number = c->collector->shown_at(c->gc, c->number);
}

word call_shown_at(struct side *s, word shown) {
    struct call c = CALL(s, .number = shown);
    RUN_IF(s, s->collector->shown_at, shown_at, &c);
    leave(s);
    return s->collector->shown_at && c.number ? c.number : shown;
}

BODY(own_place) {
    c->number = c->collector->own_place(c->gc, (enum gc_place)c->tag);
}

word call_own_place(struct side *s, enum gc_place place) {
    struct call c = CALL(s, .tag = place);
    RUN_IF(s, s->collector->own_place, own_place, &c);
    leave(s);
    return s->collector->own_place ? c.number : 0;
}

/* ---- what a runtime has besides ---------------------------------------------------------------
 */

BODY(set) {
    c->collector->extras->set(c->gc, c->dst, c->i, c->value);
}

void call_ephemeron_set(struct side *s, unsigned obj, size_t i, unsigned value) {
    struct call c = CALL_IN_OPERATION(s, .dst = obj, .i = i, .value = value);
    RUN(s, set, &c);
    leave_changed(s);
}

BODY(unset) {
    c->collector->extras->unset(c->gc, c->dst, c->i);
}

void call_ephemeron_unset(struct side *s, unsigned obj, size_t i) {
    struct call c = CALL_IN_OPERATION(s, .dst = obj, .i = i);
    RUN(s, unset, &c);
    leave_changed(s);
}

BODY(get) {
    c->is_set = c->collector->extras->get(c->gc, c->dst, c->src, c->i);
}

bool call_ephemeron_get(struct side *s, unsigned dst, unsigned obj, size_t i) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .src = obj, .i = i);
    RUN(s, get, &c);
    leave_changed(s);
    return c.is_set;
}

BODY(is_set) {
    c->is_set = c->collector->extras->is_set(c->gc, c->src, c->i);
}

bool call_ephemeron_check(struct side *s, unsigned obj, size_t i) {
    struct call c = CALL_IN_OPERATION(s, .src = obj, .i = i);
    RUN(s, is_set, &c);
    leave_changed(s);
    return c.is_set;
}

BODY(copy) {
    c->result = c->collector->extras->copy(c->gc, c->dst, c->src, c->i, c->n, &c->is_set);
}

bool call_ephemeron_copy(struct side *s, unsigned dst, unsigned obj, size_t i, size_t words) {
    struct call c = CALL_IN_OPERATION(s, .dst = dst, .src = obj, .i = i, .n = words);
    RUN(s, copy, &c);
    answered(s, c.result);
    return c.is_set && c.result == GC_OK;
}

BODY(ephemeron_blit) {
    c->collector->extras->blit(c->gc, c->src, c->i, c->dst, c->j, c->n);
}

void call_ephemeron_blit(struct side *s, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    struct call c = CALL_IN_OPERATION(s, .src = src, .i = i, .dst = dst, .j = j, .n = n);
    RUN(s, ephemeron_blit, &c);
    leave_changed(s);
}

BODY(forward) {
    c->collector->extras->forward(c->gc, c->dst, c->value);
}

void call_forward(struct side *s, unsigned obj, unsigned value) {
    struct call c = CALL_IN_OPERATION(s, .dst = obj, .value = value);
    RUN(s, forward, &c);
    leave_changed(s);
}

BODY(truncate) {
    c->collector->extras->truncate(c->gc, c->dst, c->n);
}

void call_truncate(struct side *s, unsigned obj, size_t n) {
    struct call c = CALL_IN_OPERATION(s, .dst = obj, .n = n);
    RUN(s, truncate, &c);
    leave_changed(s);
}

BODY(fill) {
    c->collector->extras->fill(c->gc, c->dst, c->i, c->n, c->value);
}

void call_fill(struct side *s, unsigned m, unsigned obj, size_t i, size_t n, unsigned value) {
    struct call c = CALL(s, .m = m, .dst = obj, .i = i, .n = n, .value = value);
    for (size_t k = i; k < i + n; k++)
        writing(s, s->slots[m][obj], k, s->slots[m][value]);
    RUN(s, fill, &c);
    leave_changed(s);
}

BODY(update) {
    c->collector->extras->update(c->gc, c->dst, c->value);
}

void call_update(struct side *s, unsigned m, unsigned obj, unsigned value, size_t n) {
    struct call c = CALL(s, .m = m, .dst = obj, .value = value);
    const word *from = fields(s, m, value);
    for (size_t k = 0; k < n; k++)
        writing(s, s->slots[m][obj], k, from[k]);
    RUN(s, update, &c);
    leave_changed(s);
}

BODY(finalise) {
    wait_for(c, c->collector->extras->finalise(c->gc, c->dst, c->number, c->flag));
}

enum gc_result call_finalise(struct side *s, unsigned obj, uint64_t number, bool last) {
    struct call c = CALL_IN_OPERATION(s, .dst = obj, .number = number, .flag = last);
    RUN(s, finalise, &c);
    return answered(s, c.result);
}

BODY(finalise_then) {
    wait_for(c,
             c->collector->extras->finalise_then(c->gc, c->dst, c->number, c->flag, c->finaliser));
}

enum gc_result call_finalise_then(struct side *s, unsigned obj, uint64_t number, bool last,
                                  const struct gc_finaliser *then) {
    struct call c =
        CALL_IN_OPERATION(s, .dst = obj, .number = number, .flag = last, .finaliser = then);
    RUN(s, finalise_then, &c);
    return answered(s, c.result);
}

BODY(act) {
    c->collector->extras->act(c->gc);
}

void call_act(struct side *s) {
    struct call c = CALL_IN_OPERATION(s, .n = 0);
    RUN(s, act, &c);
    leave_collected(s, NULL, false);
}

BODY(measure) {
    c->words = c->collector->extras->measure(c->gc, c->src);
}

size_t call_measure(struct side *s, unsigned obj) {
    struct call c = CALL_IN_OPERATION(s, .src = obj);
    RUN(s, measure, &c);
    leave_changed(s);
    return c.words;
}
