/* SPDX-License-Identifier: MIT
 *
 * No silence: for every violation class a known-bad collector raises exactly it on its program in
 * crashes/<class>/, and the collector without the defect passes the same program.
 *
 * Runs happen in a child process, since a subject may crash: that is class sanitizer.
 */
#define _POSIX_C_SOURCE 200809L
#include "collectors/boehm/boehm.h"
#include "collectors/cakeml/cakeml.h"
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/concurrent/concurrent.h"
#include "collectors/counting/counting.h"
#include "collectors/faults.def"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/narrow/narrow.h"
#include "collectors/registry/registry.h"
#include "collectors/sharing/sharing.h"
#include "collectors/tower/tower.h"
#include "program/bytes/bytes.h"
#include "program/random.h"
#include "tests/support/support.h"
#include "tests/support/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

static void load_crash(const struct known_bad *bad) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s.txt", CRASHES_DIR, violation_name(bad->violation),
             bad->collector->name);
    load_program(&program, path);
}

/* A source with all of its defects, of which none is switched on, is the collector itself: the same
 * traits, and a function or a table wherever that has one. */
static void each_offers_what_its_source_offers(void **state) {
    (void)state;
    static const struct collector *const sources[] = {
#define X(source, defect, violation, text) &source,
        KNOWN_BAD(X)
#undef X
    };
    const size_t first = offsetof(struct collector, variants), pointer = sizeof(void *);
    for (unsigned i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *has = (const char *)known_bad()[i].collector,
                   *wanted = (const char *)sources[i];
        assert_memory_equal(&known_bad()[i].collector->traits, &sources[i]->traits,
                            sizeof sources[i]->traits);
        for (size_t at = first; at < sizeof(struct collector); at += pointer) {
            uintptr_t a, b;
            memcpy(&a, has + at, pointer);
            memcpy(&b, wanted + at, pointer);
            if (!a != !b)
                fail_msg("%s: member at %zu of struct collector", known_bad()[i].collector->name,
                         at);
        }
    }
}

/* Two with the same source take turns, and each keeps its defect. */
static void each_keeps_its_defect_beside_another(void **state) {
    (void)state;
    const struct collector *lost = collector_find(known_bad_collectors(), "bad_infix_root");
    const struct collector *black = collector_find(known_bad_collectors(), "bad_raw_stays_black");
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        const struct collector *subject = swapped ? black : lost,
                               *reference = swapped ? lost : black;
        load_program(&program, CRASHES_DIR "/lost_object/bad_infix_root.txt");
        struct verdict verdict = run_here(subject, reference, &program);
        assert_int_equal(verdict.violation, VIOLATION_lost_object);
        assert_int_equal(verdict.guilty, swapped ? PARTY_REFERENCE : PARTY_SUBJECT);
        load_program(&program, CRASHES_DIR "/wrong_colour/bad_raw_stays_black.txt");
        verdict = run_here(subject, reference, &program);
        assert_int_equal(verdict.violation, VIOLATION_wrong_colour);
        assert_int_equal(verdict.guilty, swapped ? PARTY_SUBJECT : PARTY_REFERENCE);
    }
}

static void each_raises_its_class(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++) {
        load_crash(bad);
        enum violation v = run_in_child(bad->collector, &cheney, &program);
        if (v != bad->violation)
            fail_msg("%s raised %s, not %s", bad->collector->name, violation_name(v),
                     violation_name(bad->violation));
    }
}

/* Those whose sources have the defects, and who judges; each in a child that it keeps. */
static const struct collector *const healthy[] = {
    &mark_sweep, &incremental, &generational, &compact, &narrow, &counting, &sharing, &cheney};
enum { HEALTHY = sizeof healthy / sizeof *healthy };
static struct trial trials[HEALTHY];

static int open_trials(void **state) {
    (void)state;
    for (unsigned i = 0; i < HEALTHY; i++)
        trial_open(&trials[i], healthy[i], healthy[i] == &cheney ? NULL : &cheney);
    return 0;
}

static int close_trials(void **state) {
    (void)state;
    for (unsigned i = 0; i < HEALTHY; i++)
        trial_close(&trials[i]);
    return 0;
}

static void must_pass_on_healthy(const char *what) {
    for (unsigned i = 0; i < HEALTHY; i++) {
        struct verdict verdict = trial_judge(&trials[i], &program);
        if (verdict.violation || verdict.harness_error)
            fail_msg("%s is a violation of %s: %s", what, healthy[i]->name, verdict.detail);
    }
}

static void the_healthy_collectors_pass(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++) {
        load_crash(bad);
        must_pass_on_healthy(bad->collector->name);
    }
}

static void replay_on_healthy(const char *path, void *context) {
    (void)context;
    load_program(&program, path);
    must_pass_on_healthy(path);
}

/* Whatever was found once stays fixed. */
static void every_crash_file_passes(void **state) {
    (void)state;
    assert_true(for_each_program(CRASHES_DIR, replay_on_healthy, NULL) >= VIOLATION_classes - 1);
}

/* A reference has a heap as large as the subject's may become, and need not grow. */
static bool is_of_growth(const struct known_bad *bad) {
    return strcmp(bad->collector->name, "bad_growth_unmarked") == 0;
}

/* A wrong reference is a finding too, and it is the reference that is named. */
static void a_bad_reference_is_found_guilty(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++) {
        if (bad->violation == VIOLATION_sanitizer || bad->violation == VIOLATION_no_progress ||
            is_of_growth(bad))
            continue;
        if (bad->collector->settled)
            continue; /* beside another its heap is smaller, and its schedule another one */
        load_crash(bad);
        struct verdict verdict = run_here(&mark_sweep, bad->collector, &program);
        if (verdict.violation != bad->violation || verdict.guilty != PARTY_REFERENCE)
            fail_msg("%s as reference: %s, guilty %s", bad->collector->name,
                     violation_name(verdict.violation), party_name(verdict.guilty));
    }
}

/* ---- what ran before --------------------------------------------------------------------------
 */

enum { PROGRAMS = 60, INPUT = 100 };
static struct program programs[PROGRAMS];
static struct verdict verdicts[PROGRAMS];

static void make_programs(void) {
    uint8_t bytes[INPUT];
    struct random random = {7};
    for (unsigned n = 0; n < PROGRAMS; n++) {
        for (unsigned i = 0; i < INPUT; i++)
            bytes[i] = (uint8_t)random_next(&random);
        program_decode(&programs[n], bytes, INPUT);
    }
}

static bool is_same(const struct verdict *a, const struct verdict *b) {
    return a->violation == b->violation && a->op == b->op && a->digest == b->digest &&
           strcmp(a->detail, b->detail) == 0;
}

/* After a reset nothing tells how a collector was used before, not even to one that reads what it
 * should not: else a finding could not be replayed. */
static void what_ran_before_does_not_matter(void **state) {
    (void)state;
    make_programs();
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++) {
        struct trial t;
        if (bad->violation == VIOLATION_no_progress)
            continue; /* every run takes as long as it may */
        trial_open(&t, bad->collector, &cheney);
        for (unsigned n = 0; n < PROGRAMS; n++)
            verdicts[n] = trial_judge(&t, &programs[n]);
        for (unsigned n = PROGRAMS; n-- > 0;) {
            struct verdict again = trial_judge(&t, &programs[n]);
            if (!is_same(&again, &verdicts[n])) {
                trial_close(&t);
                fail_msg("%s, program %u: first %s (%s), then %s (%s)", bad->collector->name, n,
                         violation_name(verdicts[n].violation), verdicts[n].detail,
                         violation_name(again.violation), again.detail);
            }
        }
        trial_close(&t);
    }
}

static void every_class_has_one(void **state) {
    (void)state;
    for (unsigned v = 1; v < VIOLATION_classes; v++) {
        const struct known_bad *bad = known_bad();
        if (v == VIOLATION_handshake_broken || v == VIOLATION_mark_lost)
            continue; /* onthefly_test.c has them */
        while (bad->collector && bad->violation != v)
            bad++;
        if (!bad->collector)
            fail_msg("no known-bad collector for %s", violation_name((enum violation)v));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_class_has_one),
        cmocka_unit_test(each_offers_what_its_source_offers),
        cmocka_unit_test(each_keeps_its_defect_beside_another),
        cmocka_unit_test(each_raises_its_class),
        cmocka_unit_test_setup_teardown(the_healthy_collectors_pass, open_trials, close_trials),
        cmocka_unit_test_setup_teardown(every_crash_file_passes, open_trials, close_trials),
        cmocka_unit_test(a_bad_reference_is_found_guilty),
        cmocka_unit_test(what_ran_before_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
