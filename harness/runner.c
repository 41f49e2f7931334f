/* SPDX-License-Identifier: MIT
 *
 * The runner: life of a run, from the initial heap to the verdict (harness.h).
 */
#include "collectors/contract.h"
#include "harness/call.h"
#include "harness/events.h"
#include "harness/history.h"
#include "program/text/text.h"
#include "views/large.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *party_name(enum party party) {
    static const char *const names[PARTIES] = {"subject", "reference", "model"};
    return names[party];
}

/* ---- verdicts ---------------------------------------------------------------------------------
 */

_Noreturn void fail(struct runner *r, enum violation violation, enum oracle oracle,
                    enum party guilty, const char *detail) {
    r->verdict.violation = violation;
    r->verdict.oracle = oracle;
    r->verdict.guilty = guilty;
    snprintf(r->verdict.detail, sizeof r->verdict.detail, "%s", detail);
    longjmp(r->end, 1);
}

_Noreturn void harness_fault(struct runner *r, const char *detail) {
    r->verdict.harness_error = true;
    snprintf(r->verdict.detail, sizeof r->verdict.detail, "%s", detail);
    longjmp(r->end, 1);
}

_Noreturn void skip_rest(struct runner *r) {
    bool begun = r->verdict.op != OP_INITIAL;
    for (unsigned n = begun ? r->verdict.op : 0; n < r->program->n_ops; n++)
        count_skipped(r, r->program->ops[n].code, SKIP_ENDED);
    longjmp(r->end, 1);
}

void leave_unrun(struct side *s, const char *why) {
    struct runner *r = runner_of(s);
    r->verdict.not_run = true;
    snprintf(r->verdict.detail, VERDICT_TEXT, "%s %s", s->collector->name, why);
    skip_rest(r);
}

/* ---- life -------------------------------------------------------------------------------------
 */

const char *runner_fault(const struct runner_options *options) {
    static struct program initial;
    program_clear(&initial);
    struct gc_config config = program_gc_config(&initial);
    const char *fault = promises_fault(options->subject, &config);
    if (!fault && options->stack_kib && options->subject->traits.conservative)
        return "a conservative collector scans the stack that the process has: it cannot be given "
               "another one";
    return fault || !options->reference ? fault : promises_fault(options->reference, &config);
}

/* What the subject has and the reference lacks would mean something else to each of them; and what
 * has one state in a process cannot be beside itself. */
static bool are_comparable(const struct collector *subject, const struct collector *reference) {
    return reference && (!subject->extras || reference->extras) &&
           !(subject->traits.single && reference == subject);
}

struct runner *runner_open(const struct runner_options *options) {
    const struct collector *collectors[COLLECTING_PARTIES] = {options->subject, options->reference};
    struct runner *r = runner_fault(options) ? NULL : calloc(1, sizeof *r);
    if (!r)
        return NULL;
    bool comparable = are_comparable(options->subject, options->reference);
    r->n_sides = comparable ? 2 : 1;
    r->oracles = options->oracles ? options->oracles : ORACLES_ALL;
    r->digest = options->digest;
    r->unmask = options->unmask;
    r->replay = options->replay;
    r->subject_name = options->subject_name;
    r->explain = options->explain;
    r->thorough = options->thorough;
    r->observe = options->observe;
    r->listen = options->listen;
    r->switches = options->switches;
    r->sections = options->sections;
    r->context = options->context;
    r->stack_asked = options->stack_kib;
    if ((r->stack_asked || !options->ordinary_stack) &&
        !(r->stack = stack_open(r->stack_asked ? options->stack_kib : STACK_KIB))) {
        runner_close(r);
        return NULL;
    }
    if (options->coverage) {
        r->coverage = coverage_open(options->coverage, options->coverage_parts);
        if (!r->coverage) {
            runner_close(r);
            return NULL;
        }
    }
    if (!room_make(r, PROGRAM_HEAP_WORDS)) {
        runner_close(r);
        return NULL;
    }
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        s->collector = collectors[p];
        s->party = (enum party)p;
        panel_open(r, s->party);
        bool lent = hooks_open(s, options->fill, options->tight);
        s->gc = lent ? collectors[p]->open() : NULL;
        if (!lent ||
            (!s->gc && s->party != PARTY_SUBJECT)) { /* of a subject it is a verdict: reset */
            runner_close(r);
            return NULL;
        }
    }
    return r;
}

void runner_close(struct runner *r) {
    for (unsigned p = 0; r && p < r->n_sides; p++) {
        if (r->side[p].gc)
            r->side[p].collector->close(r->side[p].gc);
        lent_close(&r->lent[p]);
    }
    for (unsigned p = 0; r && p < COLLECTING_PARTIES; p++)
        large_free(r->memories[p]);
    if (r) {
        room_close(r);
        free(r->coverage);
        history_close(r->history);
        stack_close(r->stack);
    }
    free(r);
}

struct gc_config program_gc_config(const struct program *p) {
    const uint32_t *config = p->config;
    return (struct gc_config){.heap_words = config[CONFIG_HEAP],
                              .nursery_words = config[CONFIG_NURSERY],
                              .mark_stack = config[CONFIG_MARK_STACK],
                              .slice_words = config[CONFIG_SLICE],
                              .large_words = config[CONFIG_LARGE],
                              .promotion_age = config[CONFIG_AGE],
                              .variant = config[CONFIG_VARIANT],
                              .kind = config[CONFIG_KIND],
                              .schedule = config[CONFIG_SCHEDULE],
                              .preempt = config[CONFIG_PREEMPT],
                              .decisions = p->switches,
                              .n_decisions = p->n_switches};
}

struct collector_traits promised_traits(const struct collector *collector,
                                        const struct gc_config *config) {
    struct collector_traits traits = collector->traits;
    struct gc_config copy = *config; /* whatever it writes there */
    if (collector->promise)
        collector->promise(&copy, &traits);
    return traits;
}

void take_promises(struct side *s) {
    s->traits = promised_traits(s->collector, &s->config);
    if (!s->collector->promise || memcmp(&s->traits, &s->sound, sizeof s->sound) == 0)
        return; /* they have been looked at */
    const char *fault = traits_fault(s->collector, &s->traits);
    if (fault)
        s->traits = s->collector->traits;
    else
        s->sound = s->traits;
    s->fault = fault ? fault : s->fault;
}

static void reset_side(struct runner *r, struct side *s) {
    s->config = program_gc_config(r->program);
    if (s->party == PARTY_REFERENCE)
        s->config.heap_words = r->heap_words; /* what the subject's may grow to */
    s->config.hooks = s->hooks;
    s->config.masks = ~unmasked(s->collector, r->unmask);
    s->thorough = r->thorough;
    s->operations = r->program->n_ops;
    s->fault = NULL;
    take_promises(s);
    size_t most = heap_most_words(&s->traits, &s->config);
    r->heap_words = most > r->heap_words ? most : r->heap_words;
    s->collections = s->compared = s->steps = s->poisonings = 0;
    s->in_cycle = s->slice.done = s->settling = s->starved = false;
    s->collected_young = s->allocating = false;
    s->quiet.calls = s->quiet.allocations = 0;
    s->walked = 0;
    s->fuel = UINT64_MAX;
    s->calls = s->look = s->fuel_aside = 0;
}

/* What the collector gets pointers to, for this run. */
static void lend(struct runner *r, struct side *s, size_t words) {
    struct lent *lent = lent_to(s);
    s->static_words = words;
    lent_begin(lent, r->mutators, s->static_words);
    s->config.slots = s->slots = lent->slots;
    s->config.mutators = r->mutators;
    s->statics = lent->statics;
    *lent->config = s->config;
}

/* One program in so many, among them the empty one.  The program says which, and not how many have
 * run: it has the same verdict each time. */
static bool shows_empty_heap(const struct program *p) {
    enum { SHARE = 8 };
    return (p->n_ops + 3 * p->n_items + 5 * p->n_fields + p->config[CONFIG_HEAP]) % SHARE == 0;
}

static bool is_wanted_empty(const struct runner *r) {
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        if (r->thorough & ORACLE_BIT(o) && oracle_modules[o]->emptied)
            return true;
    return shows_empty_heap(r->program);
}

static void look_at_empty_heap(struct runner *r, struct side *s) {
    if (s->collector->walk && is_wanted_empty(r)) {
        call_walk_empty(s, checks_wanted(s, AT_START));
        event_emptied(judge_of(s));
    }
}

static bool asks_for_moves(const struct program *p) {
    for (unsigned i = 0; i < p->n_ops; i++)
        for (unsigned v = 0; v < p->ops[i].n_values; v++)
            if (p->ops[i].values[v].kind == VALUE_ADDRESS &&
                address_place(&p->ops[i].values[v]) == ADDRESS_FROM)
                return true;
    return false;
}

/* A heap that a side's collector cannot have, or the machine has no memory for. */
static void give_room(struct runner *r) {
    struct side *subject = &r->side[PARTY_SUBJECT];
    char why[VERDICT_TEXT / 2];
    FOR_SIDES (r, s) {
        size_t most = s->traits.max_heap_words;
        if (!most || s->config.heap_words <= most)
            continue;
        snprintf(why, sizeof why, "has no heap of more than %zu words (max_heap_words)", most);
        leave_unrun(s, why);
    }
    if (room_is_short(r->heap_words, why, sizeof why))
        leave_unrun(subject, why);
    if (!room_make(r, r->heap_words))
        leave_unrun(subject, "is not run: the system refuses memory for a heap of that size");
}

/* Is there one left for a block of any size? */
static bool has_raw_tag(unsigned lacks_raw) {
    const unsigned any_size = 31 & ~(1u << (TAG_DOUBLE - TAG_NO_SCAN));
    return any_size & ~lacks_raw;
}

/* What two runtimes make of a static block is the same only if both or neither take it for their
 * own. */
static void agree_on_statics(struct runner *r) {
    bool alike = false, all = true;
    for (unsigned p = 0; p < r->n_sides; p++)
        alike |= r->side[p].traits.statics;
    for (unsigned p = 0; p < r->n_sides; p++) {
        const struct collector_traits *t = &r->side[p].traits;
        all &= t->statics || (t->outside && !(alike && r->extras));
    }
    r->takes_statics = all;
    r->model.statics_alike = alike;
}

/* One bound for both: the operations mean the same to subject and reference. */
static void reset(struct runner *r, const struct program *program) {
    r->program = program;
    if (!r->side[PARTY_SUBJECT].gc)
        fail(r, VIOLATION_collector_assertion, ORACLE_assertion, PARTY_SUBJECT,
             "the collector cannot be opened: open returns NULL");
    r->run++;
    r->serial = r->n_finalisers = r->n_handed = r->acted = r->mutator = 0;
    r->n_ids = 0;
    r->heap_words = program->config[CONFIG_HEAP];
    r->slice_words = program->config[CONFIG_SLICE];
    r->mutators = program_mutators(program); /* every collection scans their rows */
    r->takes_infix = r->takes_closures = r->takes_raw = true;
    r->takes_outside = r->takes_any_word = r->takes_atoms = true;
    r->immutables = r->forwards = r->over = false;
    r->lacks_raw = r->own_tags = 0;
    r->word_bits = 64;
    r->extras = r->infix_keys = true;
    r->fresh = MODEL_NONE;
    r->allocations = r->stressed_words = 0;
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        reset_side(r, s);
        r->takes_infix &= s->traits.infix;
        r->takes_closures &= s->traits.start_env;
        if (s->traits.word_bits && s->traits.word_bits < r->word_bits)
            r->word_bits = s->traits.word_bits;
        r->lacks_raw |= s->traits.lacks_raw;
        if (s->traits.own_tags && (!r->own_tags || s->traits.own_tags < r->own_tags))
            r->own_tags = s->traits.own_tags;
        r->takes_raw &= s->traits.raw && has_raw_tag(r->lacks_raw);
        r->takes_outside &= s->traits.outside;
        r->takes_any_word &= s->traits.any_word;
        r->takes_atoms &= s->traits.atoms;
        r->immutables |= s->collector->writable != NULL;
        r->forwards |= s->traits.forwards;
        r->infix_keys &= !s->traits.closure_keys;
        r->extras &= s->collector->extras != NULL;
        if (s->traits.max_mutators < r->mutators)
            r->mutators = s->traits.max_mutators;
    }
    agree_on_statics(r);
    r->attached = (1u << r->mutators) - 1;
    r->lives = 0;
    for (unsigned m = 0; m < r->mutators; m++)
        r->life[m] = r->lives++;
    give_room(r);
    r->covers = r->coverage && !program_is_large(program);
    r->stack_used = r->stack && (r->stack_asked || r->side[PARTY_SUBJECT].traits.shallow);
    model_reset(&r->model, r->mutators);
    r->model.outlives = r->extras && r->n_sides == 1 && r->side[PARTY_SUBJECT].traits.moves;
    r->follows_moves = asks_for_moves(program);
    memset(r->moved_from, 0, sizeof r->moved_from);
    memset(r->address_before, 0, sizeof r->address_before);
    if (r->has_outsiders)
        memset(r->outsiders, 0, sizeof r->outsiders);
    r->has_outsiders = false;
    graph_of_model(&r->model_graph, &r->model, r->model_cells);
    if (r->close)
        history_begin(r);
    size_t statics = program_static_words(program);
    FOR_SIDES (r, s) {
        lend(r, s, statics);
        panel_begin(s);
        hooks_begin(s);
        call_reset(s);
        for (unsigned m = 0; m < r->mutators; m++)
            call_attach(s, m);
    }
    FOR_SIDES (r, s)
        look_at_empty_heap(r, s);
}

void judge_promises(struct side *s) {
    if (s->fault)
        fail(runner_of(s), VIOLATION_collector_assertion, ORACLE_assertion, s->party, s->fault);
}

static void observe(struct runner *r, bool before) {
    if (!r->observe)
        return;
    r->observe(r->context, r, r->verdict.op, before);
    if (r->panel[PARTY_SUBJECT].built)
        heaps_were_shown(r);
}

/* Of the final graph as the subject has it, without addresses. */
static void digest_graph(struct runner *r) {
    const struct side *s = &r->side[PARTY_SUBJECT];
    const struct graph *subject = &s->graph;
    isomorphism_allow(&r->iso, s->collector, &s->traits);
    if (!isomorphism_compare(&r->iso, subject, &r->model_graph))
        r->verdict.digest = isomorphism_digest(&r->iso, subject, &r->model_graph);
}

/* The graphs of a heap that the harness itself has just written are compared only if something is
 * wrong later (runner_run): otherwise that would be a fifth of a short run. */
static void check_initial(struct runner *r) {
    bool built = false;
    for (unsigned p = 0; p < r->n_sides; p++)
        built |= !r->side[p].collector->image;
    if (built || r->doubts || r->observe) {
        check_heaps(r, AT_START);
        return;
    }
    for (unsigned p = 0; p < r->n_sides; p++)
        walk_side(&r->side[p], AT_START);
    r->changed = true;
}

static bool is_judged(const struct runner *r) {
    return r->verdict.violation || r->verdict.harness_error;
}

static bool is_damaged(struct runner *r) {
    bool damaged = false;
    FOR_SIDES (r, s)
        damaged |= lent_damage(lent_to(s)) != NULL;
    return damaged;
}

/* Has a collector written beside what it was lent, or beside its heap?  In the first run that is
 * looked at in the end; in one that repeats it, or is observed, after each operation. */
static void judge_fences(struct runner *r) {
    FOR_SIDES (r, s) {
        const char *detail = lent_damage(lent_to(s));
        if (detail)
            fail(r, VIOLATION_sanitizer, ORACLE_progress, s->party, detail);
    }
}

static void run_script(struct runner *r) {
    const struct program *p = r->program;
    FOR_SIDES (r, s)
        judge_promises(s);
    observe(r, true);
    if (r->covers)
        coverage_start(r);
    build_heap(r);
    if (r->close)
        history_operation(r);
    check_initial(r);
    FOR_SIDES (r, s)
        panel_built(s);
    if (r->doubts || r->observe)
        judge_fences(r);
    observe(r, false);
    for (unsigned i = 0; i < p->n_ops; i++) {
        r->verdict.op = i;
        r->serial = 0;
        observe(r, true);
        r->changed = true; /* check_heaps takes it back */
        bool effect = run_operation(r, &p->ops[i]);
        if (r->doubts || r->observe)
            judge_fences(r);
        if (r->close)
            history_operation(r);
        if (collected(r))
            check_heaps(r, IN_BETWEEN);
        if (effect && r->covers)
            coverage_operation(r, &p->ops[i]);
        observe(r, false);
    }
    r->verdict.op = p->n_ops;
    observe(r, true);
    if (r->changed)
        check_heaps(r, AT_END);
    if (r->digest)
        digest_graph(r);
    observe(r, false);
    r->over = true;
    FOR_SIDES (r, s)
        event_ended(judge_of(s));
}

static uint64_t fold(uint64_t digest, uint64_t value) {
    return (digest ^ value) * 0x100000001b3;
}

static void finish_digest(struct runner *r) {
    uint64_t digest = fold(r->verdict.digest, r->verdict.violation);
    digest = fold(digest, r->verdict.op);
    for (unsigned p = 0; p < r->n_sides; p++) {
        r->verdict.steps[p] = r->side[p].steps;
        digest = fold(digest, r->side[p].steps);
        digest = fold(digest, r->side[p].hooks->collections);
    }
    r->verdict.digest = digest;
}

/* False if it has not come to its end. */
static bool run_to_the_end(struct runner *r, const struct program *program) {
    if (setjmp(r->end) != 0) {
        if (r->stack)
            stack_abandon(r->stack);
        return false;
    }
    reset(r, program);
    run_script(r);
    return true;
}

static void name_operation(struct runner *r) {
    struct verdict *v = &r->verdict;
    if (v->op != OP_INITIAL && v->op < r->program->n_ops)
        op_print(&r->program->ops[v->op], v->operation, VERDICT_TEXT);
    else
        snprintf(v->operation, VERDICT_TEXT, "%s",
                 v->op == OP_INITIAL ? "the initial heap" : "the checks after the script");
}

/* closely: with history, if there is memory for it. */
static void run_once(struct runner *r, const struct program *program, bool closely) {
    if (closely && !r->history)
        r->history = history_open();
    r->close = closely && r->history;
    r->strange = false;
    memset(&r->verdict, 0, sizeof r->verdict);
    r->verdict.op = OP_INITIAL;
    bool ended = run_to_the_end(r, program), judged = is_judged(r);
    FOR_SIDES (r, s)
        lent_to(s)->renew |= judged;
    if (!judged && is_damaged(r) && setjmp(r->end) == 0)
        judge_fences(r);
    FOR_SIDES (r, s)
        panel_ended(s);
    if (!ended || r->verdict.violation)
        name_operation(r);
    finish_digest(r);
}

void runner_run(struct runner *r, const struct program *program, struct verdict *verdict) {
    r->doubts = false;
    run_once(r, program, r->explain);
    if (r->verdict.violation && !r->observe) { /* was it there from the start? */
        struct verdict first = r->verdict;
        r->doubts = true;
        run_once(r, program, r->explain);
        if (!r->verdict.violation && !r->verdict.harness_error) { /* it does not come again */
            r->verdict = first;
            r->strange = true;
        }
    }
    *verdict = r->verdict;
}

static bool ends_alike(const struct verdict *a, const struct verdict *b) {
    return a->violation == b->violation && a->harness_error == b->harness_error &&
           a->guilty == b->guilty && a->op == b->op;
}

/* An observer has seen the run already, and what is told to a listener has been told. */
void runner_explain(struct runner *r, const struct program *program, struct verdict *verdict) {
    runner_observer *observer = r->observe;
    runner_listener *listener = r->listen;
    runner_switches *switches = r->switches;
    runner_sections *sections = r->sections;
    struct verdict now;
    r->observe = NULL;
    r->listen = NULL;
    r->switches = NULL;
    r->sections = NULL;
    r->doubts = true;
    run_once(r, program, true);
    r->observe = observer;
    r->listen = listener;
    r->switches = switches;
    r->sections = sections;
    now = r->verdict;
    r->strange = !ends_alike(&now, verdict);
    if (!r->strange) {
        memcpy(verdict->path, now.path, sizeof now.path);
        memcpy(verdict->expected, now.expected, sizeof now.expected);
        memcpy(verdict->found, now.found, sizeof now.found);
    }
    r->verdict = *verdict;
}

const struct verdict *runner_current(const struct runner *r, enum party *running) {
    if (running)
        *running = r->running;
    return &r->verdict;
}

bool runner_used_up(const struct runner *r, const void *fault, char *out) {
    if (!r->stack_used || !stack_is_on(r->stack) || (fault && !stack_is_behind(r->stack, fault)))
        return false;
    snprintf(out, VERDICT_TEXT, "the stack of %zu KiB is used up in %s", stack_kib(r->stack),
             r->call);
    return true;
}
