/* SPDX-License-Identifier: MIT
 *
 * What a collector may answer, and what the harness makes of it: calls that are refused, that are
 * pending, and answers that are none.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "program/bytes/bytes.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 1000 };

static struct program program;
static struct verdict verdict;

/* ---- a collector that refuses -----------------------------------------------------------------
 *
 * Every n-th of its calls; which collector is behind it, `real` says.
 */

static const struct collector *real;
static unsigned every, calls; /* since the reset */
static enum gc_result refusal;
static struct gc_config config;

static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    calls = 0;
    real->reset(gc, c);
}

static bool refuses(void) {
    return every && ++calls % every == 0;
}

static enum gc_result some_stores(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    if (refuses()) {
        if (calls % 2)
            real->collect(gc, GC_FULL); /* which it may do first */
        return refusal;
    }
    if (real->store)
        return real->store(gc, m, obj, i, value);
    word_pointer(config.slots[m][obj])[i] = config.slots[m][value];
    return GC_OK;
}

static enum gc_result some_loads(struct gc *gc, unsigned m, unsigned dst, unsigned obj, size_t i) {
    (void)gc;
    if (refuses())
        return refusal;
    config.slots[m][dst] = word_pointer(config.slots[m][obj])[i];
    return GC_OK;
}

/* For a collector whose blits need no barrier. */
static enum gc_result some_blits(struct gc *gc, unsigned m, unsigned src, size_t i, unsigned dst,
                                 size_t j, size_t n) {
    (void)gc;
    if (refuses())
        return refusal;
    memmove(word_pointer(config.slots[m][dst]) + j, word_pointer(config.slots[m][src]) + i,
            n * sizeof(word));
    return GC_OK;
}

static enum gc_result some_collections(struct gc *gc, enum gc_collection kind) {
    return refuses() ? refusal : real->collect(gc, kind);
}

static enum gc_result some_steps(struct gc *gc, size_t budget) {
    return refuses() ? refusal : real->step(gc, budget);
}

static enum gc_result some_switches(struct gc *gc, unsigned kind) {
    return refuses() ? refusal : real->switch_kind(gc, kind);
}

static struct collector refusing(const struct collector *c, unsigned nth) {
    struct collector x = *c;
    real = c;
    every = nth;
    refusal = GC_OUT_OF_MEMORY;
    x.name = "refusing";
    x.traits.may_refuse = true;
    x.reset = note_config;
    x.store = some_stores;
    x.load = some_loads;
    x.collect = some_collections;
    x.step = c->step ? some_steps : NULL;
    x.switch_kind = c->switch_kind ? some_switches : NULL;
    return x;
}

/* ---- who says so may refuse -------------------------------------------------------------------
 */

static uint64_t refused;

static void seed_passes(const char *path, void *runner) {
    struct run_counts sum = {0};
    load_program(&program, path);
    must_pass(runner, &program, path, &sum);
    refused += sum.refusals;
}

static void all_pass(const struct collector *c) {
    struct runner *r = open_pair(c, &cheney);
    uint8_t bytes[RANDOM_BYTES];
    uint64_t state = 1;
    struct run_counts sum = {0};
    refused = 0;
    assert_true(for_each_program(SEEDS_DIR "/generational", seed_passes, r) > 40);
    assert_true(for_each_program(SEEDS_DIR "/incremental", seed_passes, r) > 40);
    for (unsigned n = 0; n < RUNS; n++) {
        state = next_bytes(state, bytes, sizeof bytes);
        program_decode(&program, bytes, sizeof bytes);
        must_pass(r, &program, "a random program", &sum);
    }
    assert_true(refused > 20);
    assert_true(sum.refusals > RUNS / 4);
    assert_true(sum.subject[ORACLE_answers] > RUNS);
    runner_close(r);
}

static void refusals_are_legal_where_they_are_announced(void **state) {
    (void)state;
    static const unsigned rates[] = {2, 3, 7};
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++) {
        struct collector c = refusing(&generational, rates[i]);
        all_pass(&c);
        c = refusing(&mark_sweep, rates[i]);
        c.blit = some_blits;
        all_pass(&c);
        c = refusing(&incremental, rates[i]);
        all_pass(&c);
    }
}

/* What the model has stays as it was, one operation for each kind of call. */
static void what_is_refused_has_no_effect(void **state) {
    (void)state;
    struct collector c = refusing(&mark_sweep, 1);
    c.blit = some_blits;
    struct runner *r = open_pair(&c, &cheney);
    parse_program(&program,
                  "isoheap program 1\nheap\n  b0 = block tag=0 [1, 2]\n  b1 = block tag=0 [3, 4]\n"
                  "roots\n  r0 = b0\n  r1 = b1\nscript\n  r0.0 := r1\n  fill r0.0, 2 := 5\n"
                  "  r2 = r0.0\n  blit r1.0 -> r0.0, 2\n  minor\n  full\n  compact\n");
    must_pass(r, &program, "every call refused", NULL);
    runner_run(r, &program, &verdict);
    assert_int_equal(verdict.counts.refusals, 7);
    runner_close(r);
}

/* A full collection that was refused is not judged as one: the dead block stays. */
static void a_refused_collection_is_no_collection(void **state) {
    (void)state;
    struct collector c = refusing(&mark_sweep, 1);
    struct runner *r = open_pair(&c, &cheney);
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nscript\n  full\n");
    must_pass(r, &program, "a refused collection", NULL);
    every = 0;
    c.traits.may_refuse = false;
    must_pass(r, &program, "the same, not refused", NULL);
    runner_close(r);
}

/* The initial heap cannot be built by a collector that refuses its stores: it is not run. */
static void a_heap_that_is_refused_is_not_run(void **state) {
    (void)state;
    struct collector c = refusing(&mark_sweep, 1);
    c.image = NULL;
    c.adopt = NULL;
    struct runner *r = open_pair(&c, &cheney);
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\n"
                            "script\n  full\n");
    runner_run(r, &program, &verdict);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_true(verdict.not_run);
    assert_string_equal(verdict.detail,
                        "refusing refuses a store into a block of the initial heap");
    runner_close(r);
}

/* What the subject has done and the reference refuses: the rest has no meaning, nobody is guilty.
 */
static void a_reference_may_refuse_too(void **state) {
    (void)state;
    struct collector c = refusing(&mark_sweep, 3);
    struct runner *r = open_pair(&incremental, &c);
    assert_true(for_each_program(SEEDS_DIR "/mark_sweep", seed_passes, r) > 40);
    runner_close(r);
}

/* ---- who does not, may not --------------------------------------------------------------------
 */

static void must_break_with(const struct collector *c, const char *source, enum violation v,
                            enum oracle oracle, const char *detail, const char *found) {
    parse_program(&program, source);
    verdict = must_be_found(c, &program, oracle, v, detail);
    assert_string_equal(verdict.found, found);
}

#define HEAP "isoheap program 1\nheap\n  b0 = block tag=0 [1, 2]\nroots\n  r0 = b0\nscript\n"

static void refusals_without_a_word_are_found(void **state) {
    (void)state;
    static const char *const programs[][2] = {
        {HEAP "  r0.0 := r0\n", "store says out of memory"},
        {HEAP "  r1 = r0.0\n", "load says out of memory"},
        {HEAP "  blit r0.1 -> r0.0, 1\n", "blit says out of memory"},
        {HEAP "  full\n", "collect says out of memory"}};
    struct collector c = refusing(&mark_sweep, 1);
    c.blit = some_blits;
    c.traits.may_refuse = false;
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++)
        must_break_with(
            &c, programs[i][0], VIOLATION_promise_broken, ORACLE_answers,
            "a call was refused that only a collector with the trait may_refuse may refuse",
            programs[i][1]);
    c = refusing(&incremental, 1);
    c.traits.may_refuse = false;
    must_break_with(&c, HEAP "  slice\n", VIOLATION_promise_broken, ORACLE_answers,
                    "a call was refused that only a collector with the trait may_refuse may refuse",
                    "step says out of memory");
    c = refusing(&generational, 1);
    c.traits.may_refuse = false;
    must_break_with(&c, HEAP "  kind 1\n", VIOLATION_promise_broken, ORACLE_answers,
                    "a call was refused that only a collector with the trait may_refuse may refuse",
                    "switch_kind says out of memory");
}

static void answers_that_are_none_are_found(void **state) {
    (void)state;
    struct collector c = refusing(&mark_sweep, 1);
    refusal = GC_IDLE;
    must_break_with(&c, HEAP "  r0.0 := r0\n", VIOLATION_promise_broken, ORACLE_answers,
                    "a call has an answer that is none to it", "store says idle");
    refusal = (enum gc_result)17;
    must_break_with(&c, HEAP "  full\n", VIOLATION_promise_broken, ORACLE_answers,
                    "a call has an answer that is none to it", "collect says 17");
    refusal = GC_PENDING;
    must_break_with(&c, HEAP "  full\n", VIOLATION_promise_broken, ORACLE_answers,
                    "a call is pending, and there is no function poll", "collect says pending");
    c = refusing(&incremental, 1);
    refusal = GC_OK; /* and does nothing */
    must_break_with(&c, HEAP "  slice\n", VIOLATION_promise_broken, ORACLE_answers,
                    "a slice says that a cycle is under way while none is",
                    "step says ok, and cycle idle");
}

/* What a runtime has besides: three more ways to allocate, with that answer. */
static enum gc_result answers_ephemeron(struct gc *gc, unsigned dst, size_t keys) {
    (void)gc, (void)dst, (void)keys;
    return refusal;
}
static enum gc_result answers_resource(struct gc *gc, unsigned dst, size_t words, uint64_t n) {
    (void)gc, (void)dst, (void)words, (void)n;
    return refusal;
}
static enum gc_result answers_marshal(struct gc *gc, unsigned dst, unsigned src, bool unshared,
                                      size_t words) {
    (void)gc, (void)dst, (void)src, (void)unshared, (void)words;
    return refusal;
}
static void sets(struct gc *gc, unsigned obj, size_t i, unsigned value) {
    (void)gc, (void)obj, (void)i, (void)value;
}
static void unsets(struct gc *gc, unsigned obj, size_t i) {
    (void)gc, (void)obj, (void)i;
}
static bool gets(struct gc *gc, unsigned dst, unsigned obj, size_t i) {
    (void)gc, (void)dst, (void)obj, (void)i;
    return false;
}
static void blits(struct gc *gc, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    (void)gc, (void)src, (void)i, (void)dst, (void)j, (void)n;
}
static void forwards(struct gc *gc, unsigned obj, unsigned value) {
    (void)gc, (void)obj, (void)value;
}
static enum gc_result finalises(struct gc *gc, unsigned obj, uint64_t number, bool last) {
    (void)gc, (void)obj, (void)number, (void)last;
    return refuses() ? refusal : GC_OK;
}
static void starves(struct gc *gc, unsigned n) {
    (void)gc, (void)n;
}
static size_t measures(struct gc *gc, unsigned obj) {
    (void)gc, (void)obj;
    return SIZE_MAX;
}
static const struct gc_extras answering = {.ephemeron = answers_ephemeron,
                                           .set = sets,
                                           .unset = unsets,
                                           .get = gets,
                                           .blit = blits,
                                           .resource = answers_resource,
                                           .forward = forwards,
                                           .truncate = unsets,
                                           .finalise = finalises,
                                           .marshal = answers_marshal,
                                           .measure = measures,
                                           .starve = starves};

static void what_a_runtime_allocates_has_an_answer(void **state) {
    (void)state;
    static const char *const programs[][2] = {{HEAP "  r1 = ephemeron 1\n", "ephemeron says idle"},
                                              {HEAP "  r1 = resource 2\n", "resource says idle"},
                                              {HEAP "  r1 = marshal r0\n", "marshal says idle"}};
    struct collector c = mark_sweep;
    c.extras = &answering;
    for (unsigned i = 0; i < sizeof programs / sizeof *programs; i++) {
        refusal = GC_IDLE;
        must_break_with(&c, programs[i][0], VIOLATION_promise_broken, ORACLE_answers,
                        "a call has an answer that is none to it", programs[i][1]);
        refusal = GC_OUT_OF_MEMORY; /* they allocate */
        struct runner *r = open_pair(&c, NULL);
        parse_program(&program, programs[i][0]);
        must_pass(r, &program, "refuses", NULL);
        runner_close(r);
    }
    refusal = GC_OUT_OF_MEMORY;
}

/* What needs memory of the system's, and gives no block: refused where that has been taken away,
 * and nowhere else. */
static void only_the_starved_refuse_to_finalise(void **state) {
    (void)state;
    static const char *const without[] = {HEAP "  finalise r0, 0\n", HEAP "  finalise r0, 1\n",
                                          HEAP "  starve 1\n  starve 0\n  finalise r0, 0\n"};
    struct collector c = mark_sweep;
    c.extras = &answering;
    for (unsigned i = 0; i < sizeof without / sizeof *without; i++) {
        refusal = GC_OUT_OF_MEMORY;
        must_break_with(&c, without[i], VIOLATION_promise_broken, ORACLE_answers,
                        "a call was refused that only a collector with the trait may_refuse may "
                        "refuse",
                        "finalise says out of memory");
        refusal = GC_IDLE;
        must_break_with(&c, without[i], VIOLATION_promise_broken, ORACLE_answers,
                        "a call has an answer that is none to it", "finalise says idle");
    }
    refusal = GC_OUT_OF_MEMORY;
    struct runner *r = open_pair(&c, NULL);
    parse_program(&program, HEAP "  starve 1\n  finalise r0, 0\n  drop r0\n  full\n");
    assert_true(must_pass(r, &program, "starved", NULL)->counts.refusals > 0);
    runner_close(r);
}

/* A store that has been refused, and done all the same. */
static enum gc_result store_and_refuse(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                       unsigned value) {
    (void)gc;
    word_pointer(config.slots[m][obj])[i] = config.slots[m][value];
    return GC_OUT_OF_MEMORY;
}

static void a_refusal_with_an_effect_is_found(void **state) {
    (void)state;
    struct collector c = refusing(&mark_sweep, 0);
    c.store = store_and_refuse;
    struct runner *r = open_pair(&c, &cheney);
    parse_program(&program, HEAP "  r0.0 := r0\n  full\n");
    runner_run(r, &program, &verdict);
    assert_string_equal(violation_name(verdict.violation), violation_name(VIOLATION_field_written));
    runner_close(r);
}

/* ---- pending ----------------------------------------------------------------------------------
 */

static struct {
    bool any;
    unsigned m, obj, value;
    size_t i;
    unsigned polls;
} waiting;
static unsigned polls_needed;

static enum gc_result store_later(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                  unsigned value) {
    (void)gc;
    waiting.any = true;
    waiting.m = m;
    waiting.obj = obj;
    waiting.value = value;
    waiting.i = i;
    waiting.polls = 0;
    return GC_PENDING;
}

static enum gc_result poll_store(struct gc *gc, unsigned m) {
    (void)gc;
    if (!waiting.any)
        return GC_OK;
    if (++waiting.polls < polls_needed)
        return GC_PENDING;
    word_pointer(config.slots[m][waiting.obj])[waiting.i] = config.slots[m][waiting.value];
    waiting.any = false;
    return GC_OK;
}

static void a_pending_call_is_polled(void **state) {
    (void)state;
    struct collector c = refusing(&mark_sweep, 0);
    c.traits.may_refuse = false;
    c.store = store_later;
    c.poll = poll_store;
    polls_needed = 3;
    struct runner *r = open_pair(&c, &cheney);
    assert_true(for_each_program(SEEDS_DIR "/mark_sweep", seed_passes, r) > 40);
    runner_close(r);
    polls_needed = ~0u; /* for ever */
    must_break_with(&c, HEAP "  r0.0 := r0\n", VIOLATION_no_progress, ORACLE_progress,
                    "the collector took more steps in one call than its heap has work for", "");
}

/* ---- the number of collections ----------------------------------------------------------------
 */

static uint64_t leap;
static enum gc_result collect_and_leap(struct gc *gc, enum gc_collection kind) {
    enum gc_result result = real->collect(gc, kind);
    config.hooks->collections += leap;
    return result;
}

static void the_number_of_collections_may_leap_and_never_goes_back(void **state) {
    (void)state;
    static const char text[] = "isoheap program 1\nroots\n  r0 = 1\nscript\n  full\n  full\n";
    struct collector c = mark_sweep;
    real = &mark_sweep;
    c.reset = note_config;
    c.collect = collect_and_leap;
    leap = 1000;
    struct runner *r = open_pair(&c, &cheney);
    parse_program(&program, text);
    must_pass(r, &program, "it leaps", NULL);
    runner_close(r);
    leap = (uint64_t)-2;
    verdict = *must_break(&c, &program, text, VIOLATION_promise_broken);
    assert_string_equal(verdict.detail, "the number of collections has gone back");
    assert_int_equal(verdict.oracle, ORACLE_answers);
    assert_int_equal(verdict.op, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusals_are_legal_where_they_are_announced),
        cmocka_unit_test(what_is_refused_has_no_effect),
        cmocka_unit_test(a_refused_collection_is_no_collection),
        cmocka_unit_test(a_heap_that_is_refused_is_not_run),
        cmocka_unit_test(a_reference_may_refuse_too),
        cmocka_unit_test(refusals_without_a_word_are_found),
        cmocka_unit_test(what_a_runtime_allocates_has_an_answer),
        cmocka_unit_test(only_the_starved_refuse_to_finalise),
        cmocka_unit_test(answers_that_are_none_are_found),
        cmocka_unit_test(a_refusal_with_an_effect_is_found),
        cmocka_unit_test(a_pending_call_is_polled),
        cmocka_unit_test(the_number_of_collections_may_leap_and_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
