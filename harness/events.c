/* SPDX-License-Identifier: MIT
 *
 * The dispatcher (events.h).
 */
#include "harness/events.h"

#include "harness/allocated/allocated.h"
#include "harness/call.h"
#include "views/large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct panel *panel_of(struct judge *j) {
    return (struct panel *)(void *)((char *)j - offsetof(struct panel, judge));
}
static bool has(oracle_set set, unsigned oracle) {
    return set >> oracle & 1;
}

/* ---- one oracle is asked ----------------------------------------------------------------------
 */

/* An oracle that is asked may ask for a walk, which others judge: so who was asked is kept. */
struct asked {
    void *state, *record;
    unsigned module;
};

static struct asked asked_now(const struct panel *p) {
    return (struct asked){p->judge.state, p->judge.record, p->asked};
}

static void ask(struct panel *p, unsigned module) {
    p->asked = module;
    p->judge.state = p->states[module];
    p->judge.record = p->records[module];
}

static void count(struct panel *p) {
    p->counts->oracles[p->asked]++;
    p->counts->subject[p->asked] += p->of_subject;
}

static void answer(struct panel *p, bool judged) {
    if (judged && p->asked < ORACLE_COUNT)
        count(p);
}

static void ask_again(struct panel *p, struct asked before) {
    p->asked = before.module;
    p->judge.state = before.state;
    p->judge.record = before.record;
}

/* ---- events -----------------------------------------------------------------------------------
 */

#define EVENT_BIT(name) ((uint64_t)1 << EVENT_##name)

/* Heard of while the initial heap is being built, too. */
static const uint64_t heard_early = EVENT_BIT(reset) | EVENT_BIT(emptied) | EVENT_BIT(walked) |
                                    EVENT_BIT(inspected) | EVENT_BIT(compared) | EVENT_BIT(broken) |
                                    EVENT_BIT(stuck) | EVENT_BIT(exhausted) | EVENT_BIT(replied);

/* Who hears of an event, ended by ORACLE_MODULES. */
static const uint8_t *listeners(const struct panel *p, enum oracle_event_code event) {
    static const uint8_t nobody[] = {ORACLE_MODULES};
    return p->built || heard_early >> event & 1 ? p->seating->hears[event] : nobody;
}

#define X(name, parameters, arguments)                                                             \
    void event_##name parameters {                                                                 \
        struct panel *p = panel_of(j);                                                             \
        const uint8_t *o = listeners(p, EVENT_##name);                                             \
        if (*o == ORACLE_MODULES)                                                                  \
            return;                                                                                \
        struct asked outer = asked_now(p);                                                         \
        for (; *o < ORACLE_MODULES; o++) {                                                         \
            ask(p, *o);                                                                            \
            answer(p, oracle_modules[*o]->name arguments);                                         \
        }                                                                                          \
        ask_again(p, outer);                                                                       \
    }
ORACLE_EVENTS(X)
#undef X

unsigned checks_wanted(struct side *s, enum occasion when) {
    const struct panel *p = panel_of(judge_of(s));
    unsigned checks = heap_legal(&s->traits);
    for (const uint8_t *o = p->seating->checking; *o < ORACLE_COUNT; o++)
        checks |= oracle_modules[*o]->checks(s, when);
    return checks;
}

/* ---- comparisons ------------------------------------------------------------------------------
 */

static void compare_by(struct panel *p, unsigned oracle, enum occasion when) {
    struct asked outer = asked_now(p);
    ask(p, oracle);
    answer(p, oracle_modules[oracle]->compared(&p->judge, when));
    ask_again(p, outer);
}

/* The one by which the reachable objects of the model are found; ORACLE_COUNT: none judges. */
static unsigned marking(const struct panel *p) {
    for (const uint8_t *o = p->seating->hears[EVENT_compared]; *o < ORACLE_MODULES; o++)
        if (oracle_modules[*o]->marks)
            return *o;
    return ORACLE_COUNT;
}

/* The first comparison also tells what the program can reach. */
static unsigned mark(struct runner *r, struct panel *p, enum occasion when) {
    unsigned oracle = marking(p);
    if (r->model.has_ephemerons && r->model.outlives && when == AFTER_FULL &&
        p->judge.side->traits.full_until_exact)
        model_all_died(&r->model);
    else if (r->model.has_ephemerons)
        model_mark(&r->model); /* keys that have died */
    if (oracle == ORACLE_COUNT) {
        model_mark(&r->model);
        return ORACLE_COUNT;
    }
    compare_by(p, oracle, when);
    model_reached(&r->model, &r->iso.queue[0].b, sizeof *r->iso.queue / sizeof(uint32_t),
                  r->iso.pairs);
    return oracle;
}

/* Every collector is compared with the model, and so with every other: a difference between subject
 * and reference is found, who of them is wrong is known at once, and an error that both share is
 * found too. */
void compare_all(struct runner *r, enum occasion when) {
    for (unsigned p = 0; p < r->n_sides; p++)
        event_inspected(&r->panel[p].judge);
    for (unsigned n = r->n_sides, done = ORACLE_COUNT; n-- > 0;) {
        struct panel *p = &r->panel[n];
        p->comparing = true;
        r->side[n].paired = false;
        if (n == r->n_sides - 1)
            done = mark(r, p, when);
        for (const uint8_t *o = p->seating->hears[EVENT_compared]; *o < ORACLE_MODULES; o++)
            if (*o != done && !has(p->replaced, *o))
                compare_by(p, *o, when);
        p->comparing = false;
        done = ORACLE_COUNT;
    }
}

/* ---- services ---------------------------------------------------------------------------------
 */

static void walk(struct judge *j, enum occasion when) {
    walk_side(j->side, when);
}

static void walk_inside(struct judge *j) {
    call_walk_inside(j->side, heap_legal(&j->side->traits));
}

static bool collect_fully(struct judge *j) {
    return call_collect(j->side, 0, GC_FULL);
}

static bool collect_young(struct judge *j) {
    return call_collect(j->side, 0, GC_MINOR);
}

static bool step(struct judge *j, size_t budget) {
    call_step(j->side, 0, budget);
    return j->side->in_cycle;
}

static enum gc_result allocate_units(struct judge *j, size_t wosize) {
    return call_alloc(j->side, 0, SLOT_NEW, wosize, 0, runner_of(j->side)->units);
}

static const char *check(struct judge *j) {
    return call_check(j->side);
}

static struct gc_cycle cycle(struct judge *j) {
    return call_cycle(j->side);
}

static struct gc_own *own(struct judge *j) {
    return call_own(j->side);
}

/* What is done on the stack of the harness. */
struct roomy {
    struct judge *judge;
    void (*with)(struct judge *);
};
static void do_with_room(void *context) {
    const struct roomy *r = context;
    r->with(r->judge);
}
static void with_room(struct judge *j, void (*with)(struct judge *)) {
    struct stack *stack = stack_of(j->side);
    struct roomy r = {j, with};
    if (stack)
        stack_back(stack, do_with_room, &r);
    else
        with(j);
}

static void look_after(struct judge *j, uint64_t steps) {
    call_look_after(j->side, steps);
}

static void listen(struct judge *j) {
    hooks_listen(j->side);
}

/* Pictures take time: the names are those of a run that is looked at. */
static void name(struct judge *j, word v, char out[NAME_TEXT]) {
    struct runner *r = runner_of(j->side);
    out[0] = 0;
    if (r->close && j->side->collector->walk)
        name_of_word(r, j->side->party, v, out);
}

/* In a comparison: those that judge in the place of the one that has found something. */
static void ask_replacing(struct panel *p, unsigned oracle) {
    p->comparing = false; /* once */
    model_mark(p->judge.model);
    for (const uint8_t *o = p->seating->hears[EVENT_compared]; *o < ORACLE_MODULES; o++)
        if (has(oracle_modules[*o]->replaces, oracle))
            compare_by(p, *o, IN_BETWEEN);
}

/* If the heap can be walked, its graph is compared with the model: not for the whole verdict, for
 * the cause of what has been found. */
static void seek_cause(struct panel *p) {
    struct side *s = p->judge.side;
    if (!s->collector->walk || !call_settled(s))
        return;
    call_walk(s, heap_legal(&s->traits));
    s->walked = 0; /* nobody has judged that walk */
    if (s->facts.violation)
        return;
    s->collections = s->hooks->collections;
    p->comparing = true;
    model_mark(p->judge.model);
    for (const uint8_t *o = p->seating->hears[EVENT_compared]; *o < ORACLE_MODULES; o++)
        if (oracle_modules[*o]->marks || oracle_modules[*o]->replaces)
            compare_by(p, *o, IN_BETWEEN);
    p->comparing = false;
}

/* The cause is the verdict; if there is none, the texts are still those of what was found. */
static void seek_cause_of(struct panel *p) {
    char expected[VERDICT_TEXT], found[VERDICT_TEXT];
    memcpy(expected, p->judge.expected, sizeof expected);
    memcpy(found, p->judge.found, sizeof found);
    seek_cause(p);
    memcpy(p->judge.expected, expected, sizeof expected);
    memcpy(p->judge.found, found, sizeof found);
}

static void fail_oracle(struct judge *j, enum violation v, const char *detail) {
    struct panel *p = panel_of(j);
    if (p->comparing && has(p->replaced, p->asked))
        ask_replacing(p, p->asked);
    if (oracle_modules[p->asked]->follows)
        seek_cause_of(p);
    count(p);
    fail(runner_of(j->side), v, (enum oracle)p->asked, j->side->party, detail);
}

static void fault(struct judge *j, const char *detail) {
    harness_fault(runner_of(j->side), detail);
}

static const struct judge_services services = {.is_poisoned = dead_memory_is_poisoned,
                                               .allocated = memory_allocated,
                                               .mapped = memory_mapped,
                                               .walk = walk,
                                               .walk_inside = walk_inside,
                                               .collect_fully = collect_fully,
                                               .collect_young = collect_young,
                                               .step = step,
                                               .allocate = allocate_units,
                                               .check = check,
                                               .cycle = cycle,
                                               .own = own,
                                               .with_room = with_room,
                                               .look_after = look_after,
                                               .listen = listen,
                                               .name = name,
                                               .fail = fail_oracle,
                                               .fault = fault};

/* ---- who judges -------------------------------------------------------------------------------
 */

static oracle_set judging(const struct runner *r, const struct side *s) {
    unsigned met = oracle_needs_met(s->collector, &s->traits);
    oracle_set set = 0;
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        if (has(r->oracles, o) && !(oracle_modules[o]->needs & ~met))
            set |= ORACLE_BIT(o);
    return set;
}

/* By module a bit for each event that it hears: who listens changes with the programs. */
static uint64_t heard_by[ORACLE_MODULES];

static oracle_set may_sit_out;

static void note_heard(unsigned module) {
    const struct oracle_module *m = oracle_modules[module];
    may_sit_out |= m->sits_out ? ORACLE_BIT(module) : 0;
    uint64_t heard = 0;
#define X(name, parameters, arguments) heard |= m->name ? EVENT_BIT(name) : 0;
    ORACLE_EVENTS(X)
#undef X
    heard_by[module] = heard;
}

/* What who sits a run out hears all the same. */
static const uint64_t heard_always = EVENT_BIT(reset) | EVENT_BIT(emptied) | EVENT_BIT(built);

/* Records come first.  It is by what is heard, and not by all that could be. */
static void list_listeners(struct seating *t) {
    unsigned listening[ORACLE_EVENT_COUNT] = {0}, checking = 0;
    t->heard = 0;
    for (unsigned n = ORACLE_COUNT; n < ORACLE_MODULES + ORACLE_COUNT; n++) {
        unsigned m = n % ORACLE_MODULES;
        if (!has(t->seated, m))
            continue;
        uint64_t heard = heard_by[m];
        t->heard |= heard;
        for (uint64_t left = has(t->out, m) ? heard & heard_always : heard; left;
             left &= left - 1) {
            unsigned e = (unsigned)__builtin_ctzll(left);
            t->hears[e][listening[e]++] = (uint8_t)m;
        }
        if (m < ORACLE_COUNT && oracle_modules[m]->checks)
            t->checking[checking++] = (uint8_t)m;
    }
    for (unsigned e = 0; e < ORACLE_EVENT_COUNT; e++)
        t->hears[e][listening[e]] = ORACLE_MODULES;
    t->checking[checking] = ORACLE_COUNT;
}

static void take_seats(struct panel *p, oracle_set seated, oracle_set out) {
    for (unsigned i = 0; i < SEATINGS && i < p->taken; i++)
        if (p->seatings[i].seated == seated && p->seatings[i].out == out) {
            p->seating = &p->seatings[i];
            return;
        }
    struct seating *t = &p->seatings[p->taken++ % SEATINGS];
    t->seated = seated;
    t->out = out;
    list_listeners(t);
    p->seating = t;
}

static void make_states(struct runner *r, struct panel *p, oracle_set modules) {
    for (unsigned m = 0; m < ORACLE_MODULES; m++) {
        if (!has(modules, m) || p->states[m] || !oracle_modules[m]->state)
            continue;
        p->states[m] = large_calloc(1, oracle_modules[m]->state +
                                           oracle_modules[m]->each * p->judge.side->room);
        if (!p->states[m])
            harness_fault(r, "no memory for the state of an oracle");
    }
    for (unsigned m = 0; m < ORACLE_MODULES; m++) {
        unsigned record = oracle_modules[m]->record;
        p->records[m] = record ? p->states[record] : NULL;
    }
}

/* Those who judge from now on. */
static void seat(struct runner *r, struct panel *p, oracle_set chosen) {
    oracle_set modules = chosen, replaced = 0;
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        if (!has(chosen, o))
            continue;
        replaced |= oracle_modules[o]->replaces;
        if (oracle_modules[o]->record)
            modules |= ORACLE_BIT(oracle_modules[o]->record);
    }
    make_states(r, p, modules);
    /* most sit most programs out: so nobody is listed again for them */
    take_seats(p, modules, p->seating->out & modules);
    p->judging = chosen;
    p->replaced = replaced & chosen;
    p->chosen = true;
}

/* Most programs are in nobody's sample: then it costs nothing to ask. */
static void excuse(struct panel *p) {
    struct asked outer = asked_now(p);
    oracle_set out = 0;
    for (oracle_set left = p->seating->seated & may_sit_out; left; left &= left - 1) {
        unsigned o = (unsigned)__builtin_ctzll(left);
        ask(p, o);
        out |= oracle_modules[o]->sits_out(&p->judge) ? ORACLE_BIT(o) : 0;
    }
    ask_again(p, outer);
    if (out != p->seating->out)
        take_seats(p, p->seating->seated, out);
}

/* Tells one that joins in the middle of a run what the others have heard. */
static void brief(struct panel *p, unsigned oracle) {
    const struct oracle_module *m = oracle_modules[oracle];
    struct asked outer = asked_now(p);
    ask(p, oracle);
    if (m->reset)
        m->reset(&p->judge);
    if (m->built)
        m->built(&p->judge);
    ask_again(p, outer);
}

void panel_choose(struct side *s) {
    struct panel *p = panel_of(judge_of(s));
    if (p->chosen && memcmp(&p->traits, &s->traits, sizeof p->traits) == 0)
        return;
    oracle_set chosen = judging(runner_of(s), s), before = p->chosen ? p->judging : 0;
    if (!p->chosen || chosen != before)
        seat(runner_of(s), p, chosen);
    p->traits = s->traits;
    for (unsigned o = 0; p->built && o < ORACLE_COUNT; o++)
        if (has(chosen & ~before, o))
            brief(p, o);
    if (p->built)
        excuse(p);
}

void panel_begin(struct side *s) {
    struct panel *p = panel_of(judge_of(s));
    p->built = p->comparing = p->judge.noted = false;
    p->operations = 0;
    p->asked = ORACLE_COUNT;
    panel_choose(s);
    event_reset(&p->judge);
}

void panel_built(struct side *s) {
    struct panel *p = panel_of(judge_of(s));
    p->built = true;
    event_built(&p->judge);
    excuse(p);
}

/* Most of them have nothing to say of most operations. */
void panel_operated(struct side *s) {
    struct panel *p = panel_of(judge_of(s));
    p->operations += p->built;
    if (p->judge.noted)
        event_noted(&p->judge);
    event_operated(&p->judge);
}

static void count_more(struct panel *p, unsigned oracle, uint64_t n) {
    p->counts->oracles[oracle] += n;
    p->counts->subject[oracle] += p->of_subject ? n : 0;
}

void panel_ended(struct side *s) {
    struct panel *p = panel_of(judge_of(s));
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        const struct oracle_module *m = oracle_modules[o];
        if (!has(p->seating->seated, o))
            continue;
        if (m->each_operation)
            count_more(p, o, p->operations);
        if (m->each_quiet_call)
            count_more(p, o, s->quiet.calls);
        if (m->each_quiet_allocation)
            count_more(p, o, s->quiet.allocations);
    }
}

bool event_is_heard(struct side *s, enum oracle_event_code event) {
    return panel_of(judge_of(s))->seating->heard >> event & 1;
}

void panel_open(struct runner *r, enum party party) {
    for (unsigned m = 0; m < ORACLE_MODULES; m++)
        note_heard(m);
    r->panel[party].counts = &r->verdict.counts;
    r->panel[party].of_subject = party == PARTY_SUBJECT;
    r->panel[party].judge = (struct judge){.side = &r->side[party],
                                           .model = &r->model,
                                           .model_graph = &r->model_graph,
                                           .iso = &r->iso,
                                           .path = r->verdict.path,
                                           .expected = r->verdict.expected,
                                           .found = r->verdict.found,
                                           .services = &services};
    take_seats(&r->panel[party], 0, 0);
}

void panel_close(struct panel *p) {
    for (unsigned m = 0; m < ORACLE_MODULES; m++) {
        large_free(p->states[m]);
        p->states[m] = NULL;
    }
    p->chosen = false;
}
