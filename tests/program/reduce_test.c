/* SPDX-License-Identifier: MIT
 *
 * Reduction: a random finding of every violation class becomes small within 2,000 runs, nothing
 * slips to another violation, and the end is a fixed point.
 */
#include "program/reduction/reduce.h"

#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"
#include "tests/support/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* An allocation that is done beforehand leaves a block for an operation. */
enum { OPS = 200, RUNS = 2000, OPS_LEFT = 10, OPS_AND_BLOCKS_LEFT = 16 };

static struct reduction reduction;

/* One of them takes 2,291. */
static unsigned runs_for(const struct known_bad *bad) {
    return strcmp(bad->collector->name, "bad_promoted_white") == 0 ? 2 * RUNS : RUNS;
}

static void reduce(struct trial *t, struct program *p, unsigned runs) {
    t->wanted = trial_judge(t, p);
    reduction.max_runs = runs;
    trial_reduce(t, &reduction, p);
    assert_int_equal(t->invalid, 0);
    assert_true(reduction.runs <= runs);
    assert_null(program_valid(p));
    assert_true(trial_keeps(p, t));
}

/* ---- known-bad collectors ---------------------------------------------------------------------
 */

/* Random bytes seldom say a list of many blocks, and never one of more than their heap has; some
 * wrong interleavings come once in ten thousand (tests/collectors/concurrent_test.c looks for
 * those).  A run of the last ones takes tens of milliseconds, since they do too much, end the
 * process or need one of their own: half of the time of all went into theirs from random programs.
 */
static bool begins_small(const struct known_bad *bad) {
    static const char *const names[] = {
        "bad_deep_mark",        "bad_small_table",  "bad_otf_",
        "bad_recorded_again",   "bad_rover_kept",   "bad_boehm_atomic",
        "bad_boehm_short_type", "bad_ck_never_done"};
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strncmp(bad->collector->name, names[i], strlen(names[i])) == 0)
            return true;
    return false;
}

static void load_crash(const struct known_bad *bad, struct program *p) {
    char path[512];
    snprintf(path, sizeof path, CRASHES_DIR "/%s/%s.txt", violation_name(bad->violation),
             bad->collector->name);
    load_program(p, path);
}

/* A program of OPS operations that raises the class; or the crash that is there. */
static void find(struct trial *t, const struct known_bad *bad, struct program *p) {
    if (begins_small(bad))
        load_crash(bad, p);
    else if (!trial_find(t, bad->violation, OPS, p))
        fail_msg("%s: no random program raises %s", bad->collector->name,
                 violation_name(bad->violation));
}

static void check_small(const struct known_bad *bad, const struct program *p) {
    if (p->n_ops > OPS_LEFT || p->n_ops + program_named(p) > OPS_AND_BLOCKS_LEFT)
        fail_msg("%s: %u operations and %u blocks are left", bad->collector->name, p->n_ops,
                 program_named(p));
    if (!reduction.complete && p->n_ops > 4) /* what is left of the budget goes into exact limits */
        fail_msg("%s: %u runs were not enough", bad->collector->name, RUNS);
}

/* Every run of theirs takes as long as it may, which is a minute or two in all: bench_reduce. */
static bool takes_minutes(const struct known_bad *bad) {
    return strcmp(bad->collector->name, "bad_endless_rescan") == 0 ||
           strcmp(bad->collector->name, "bad_fragment_stuck") == 0;
}

static bool is_first_of_class(const struct known_bad *bad) {
    const struct known_bad *first = known_bad();
    while (first->violation != bad->violation || takes_minutes(first))
        first++;
    return first == bad;
}

/* For one of each class. */
static void check_fixed_point(const struct known_bad *bad, struct trial *t, struct program *p) {
    static struct program again;
    if (!reduction.complete || !is_first_of_class(bad))
        return;
    again = *p;
    reduce(t, &again, RUNS);
    if (!program_equal(p, &again) || !program_is_minimal(&reduction, p))
        fail_msg("%s: the result is no fixed point", bad->collector->name);
}

static void every_random_finding_becomes_small(void **state) {
    static struct program p;
    (void)state;
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++) {
        struct trial t;
        if (takes_minutes(bad))
            continue;
        trial_open(&t, bad->collector, &cheney);
        find(&t, bad, &p);
        reduce(&t, &p, runs_for(bad));
        check_small(bad, &p);
        check_fixed_point(bad, &t, &p);
        trial_close(&t);
    }
}

static void a_second_run_gives_the_same(void **state) {
    static struct program p, q;
    (void)state;
    struct trial t;
    trial_open(&t, known_bad_collectors()[0], &cheney);
    find(&t, &known_bad()[0], &p);
    q = p;
    reduce(&t, &p, RUNS);
    unsigned runs = reduction.runs;
    reduce(&t, &q, RUNS);
    assert_true(program_equal(&p, &q));
    assert_int_equal(runs, reduction.runs);
    trial_close(&t);
}

/* What a defect writes over the heap may send its collector round for ever: such a run ends too,
 * and is another defect than a crash. */
static enum gc_result go_round(struct gc *gc, enum gc_collection how) {
    (void)gc;
    (void)how;
    for (volatile bool going = true; going;)
        ;
    return GC_OK;
}

static void a_hang_ends_and_is_no_crash(void **state) {
    static struct collector endless;
    static struct program p;
    struct trial t;
    (void)state;
    parse_program(&p, "isoheap program 1\nscript\n  full\n");
    endless = cheney;
    endless.collect = go_round;
    trial_open(&t, &endless, &cheney);
    t.wanted = (struct verdict){.violation = VIOLATION_sanitizer, .detail = "a crash"};
    struct verdict v = trial_judge(&t, &p);
    assert_int_equal(v.violation, VIOLATION_sanitizer);
    assert_string_equal(v.detail, "a hang");
    assert_false(trial_keeps(&p, &t));
    trial_close(&t);
}

/* A smaller program would fall out of the sample in which the oracle looks: a search that did not
 * look at all would take thousands of runs. */
static void what_a_sample_has_found_is_looked_for_everywhere(void **state) {
    static const char *const names[] = {"bad_early_sweep", "bad_garbage_blackened",
                                        "bad_raw_unpushed", "bad_history_kept"};
    static struct program p;
    (void)state;
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        const struct known_bad *bad = known_bad();
        struct trial t;
        while (strcmp(bad->collector->name, names[i]) != 0)
            bad++;
        trial_open(&t, bad->collector, &cheney);
        find(&t, bad, &p);
        assert_true(verdict_sampled(&t.wanted));
        reduce(&t, &p, 400);
        assert_true(reduction.complete);
        trial_close(&t);
    }
}

/* ---- numbers ----------------------------------------------------------------------------------
 */

/* A heap that holds a block exactly, or with one word to spare: neither number goes down alone by
 * more than that. */
static bool is_nearly_full(const struct program *p, void *context) {
    (void)context;
    if (p->n_ops != 1 || p->ops[0].code != OP_ALLOC)
        return false;
    unsigned block = 1u + p->ops[0].size, heap = p->config[CONFIG_HEAP];
    return heap == block || heap == block + 1;
}

static void numbers_that_hold_each_other_go_down_together(void **state) {
    static struct program p;
    (void)state;
    parse_program(&p, "isoheap program 1\nconfig heap=4000\nscript\n"
                      "  r0 = alloc tag=0 size=3999 []\n");
    reduction.keeps = is_nearly_full;
    reduction.max_runs = RUNS / 4;
    program_reduce(&reduction, &p);
    assert_true(reduction.complete);
    assert_in_range(p.config[CONFIG_HEAP], 0, config_ranges[CONFIG_HEAP].min + 1);
}

/* ---- slips ------------------------------------------------------------------------------------
 */

static const struct collector *bad(const char *name) {
    for (const struct known_bad *b = known_bad(); b->collector; b++)
        if (strcmp(b->collector->name, name) == 0)
            return b->collector;
    fail_msg("there is no %s", name);
    return NULL;
}

/* Operation 2 breaks the reference; without the object the subject is found guilty at the end. */
static void the_guilty_party_stays(void **state) {
    static const char text[] = "isoheap program 1\n"
                               "heap\n  b0 = block tag=248 [1]\n  b1 = string [0x5]\n"
                               "roots\n  r0 = b0\n  r1 = b1\n"
                               "script\n  r2 = r0.0\n  r3 = alloc tag=0 [1]\n  full\n";
    static struct program p;
    (void)state;
    for (unsigned guilty = 0; guilty < 2; guilty++) {
        struct trial t;
        const struct collector *one = bad("bad_object_tag"), *other = bad("bad_raw_stays_black");
        trial_open(&t, guilty ? other : one, guilty ? one : other);
        parse_program(&p, text);
        reduce(&t, &p, RUNS);
        struct verdict v = trial_judge(&t, &p);
        assert_int_equal(v.violation, t.wanted.violation);
        assert_int_equal(v.guilty, t.wanted.guilty);
        trial_close(&t);
    }
}

/* Two defects in one program, as a property without a collector: the one that is asked for stays,
 * though a program with the other alone is smaller. */
static bool has_two_fulls_or_compact(const struct program *p, void *context) {
    unsigned fulls = 0, compacts = 0;
    for (unsigned i = 0; i < p->n_ops; i++) {
        fulls += p->ops[i].code == OP_FULL;
        compacts += p->ops[i].code == OP_COMPACT;
    }
    ++*(unsigned *)context;
    return fulls >= 2 && compacts == 0;
}

static void what_has_another_property_is_refused(void **state) {
    static struct program p;
    unsigned asked = 0;
    (void)state;
    parse_program(&p, "isoheap program 1\nscript\n  full\n  r0 = 1\n  full\n  drop r0\n  full\n");
    reduction.keeps = has_two_fulls_or_compact;
    reduction.context = &asked;
    reduction.max_runs = RUNS;
    program_reduce(&reduction, &p);
    assert_int_equal(p.n_ops, 2);
    assert_int_equal(asked, reduction.runs);
}

/* ---- fixed point and budget -------------------------------------------------------------------
 */

static bool always(const struct program *p, void *context) {
    (void)context;
    return program_valid(p) == NULL;
}

/* If everything is kept nothing is left: every kind of step is on the way. */
static void anything_becomes_the_empty_program(void **state) {
    static struct program p, empty;
    (void)state;
    program_clear(&empty);
    for (uint64_t seed = 1; seed <= 30; seed++) {
        struct rng rng = {seed};
        random_program(&rng, &p, 40, 60);
        reduction.keeps = always;
        reduction.max_runs = 100000;
        program_reduce(&reduction, &p);
        assert_true(reduction.complete);
        assert_true(program_equal(&p, &empty));
        assert_true(program_is_minimal(&reduction, &p));
    }
}

/* Keeps about every second program: wild ways through all steps, each to a fixed point. */
static bool now_and_then(const struct program *p, void *context) {
    unsigned *invalid = context;
    *invalid += program_valid(p) != NULL;
    return program_digest(p) % 5 < 2;
}

static void every_way_ends_in_a_fixed_point(void **state) {
    static struct program p, again;
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rng rng = {seed};
        unsigned invalid = 0;
        random_program(&rng, &p, 20, 30);
        reduction.keeps = now_and_then;
        reduction.context = &invalid;
        reduction.max_runs = 1000000;
        program_reduce(&reduction, &p);
        assert_true(reduction.complete);
        assert_int_equal(invalid, 0);
        assert_true(program_is_minimal(&reduction, &p));
        again = p;
        program_reduce(&reduction, &again);
        assert_true(program_equal(&p, &again));
    }
}

static void what_can_be_removed_is_not_minimal(void **state) {
    static struct program p;
    (void)state;
    parse_program(&p, "isoheap program 1\nscript\n  full\n");
    reduction.keeps = always;
    reduction.max_runs = RUNS;
    assert_false(program_is_minimal(&reduction, &p));
    assert_string_equal(reduction.possible, "remove an operation");
}

static bool stop_at_once(void *context) {
    (void)context;
    return true;
}

static void the_budget_is_kept(void **state) {
    static struct program p, before;
    (void)state;
    struct rng rng = {7};
    random_program(&rng, &before, 20, 50);
    for (unsigned runs = 0; runs < 20; runs++) {
        p = before;
        reduction.keeps = now_and_then;
        reduction.context = &(unsigned){0};
        reduction.max_runs = runs;
        program_reduce(&reduction, &p);
        assert_int_equal(reduction.runs, runs);
        assert_false(reduction.complete);
    }
    p = before;
    reduction.stop = stop_at_once;
    program_reduce(&reduction, &p);
    reduction.stop = NULL;
    assert_int_equal(reduction.runs, 0);
    assert_true(program_equal(&p, &before));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_random_finding_becomes_small),
        cmocka_unit_test(a_second_run_gives_the_same),
        cmocka_unit_test(a_hang_ends_and_is_no_crash),
        cmocka_unit_test(what_a_sample_has_found_is_looked_for_everywhere),
        cmocka_unit_test(numbers_that_hold_each_other_go_down_together),
        cmocka_unit_test(the_guilty_party_stays),
        cmocka_unit_test(what_has_another_property_is_refused),
        cmocka_unit_test(anything_becomes_the_empty_program),
        cmocka_unit_test(every_way_ends_in_a_fixed_point),
        cmocka_unit_test(what_can_be_removed_is_not_minimal),
        cmocka_unit_test(the_budget_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
