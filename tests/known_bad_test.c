/* SPDX-License-Identifier: MIT
 *
 * No silence: for every violation class a known-bad collector raises exactly it on its program in
 * crashes/<class>/, and the collector without the defect passes the same program.
 *
 * Runs happen in a child process, since a subject may crash: that is class sanitizer.
 */
#define _POSIX_C_SOURCE 200809L
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "tests/known_bad/known_bad.h"
#include "tests/support.h"

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

static void each_raises_its_class(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad; bad->collector; bad++) {
        load_crash(bad);
        enum violation v = run_in_child(bad->collector, &cheney, &program);
        if (v != bad->violation)
            fail_msg("%s raised %s, not %s", bad->collector->name, violation_name(v),
                     violation_name(bad->violation));
    }
}

/* Those whose sources have the defects. */
static const struct collector *const healthy[] = {&mark_sweep, &incremental, &generational,
                                                  &compact, NULL};

static void the_healthy_collectors_pass(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad; bad->collector; bad++) {
        load_crash(bad);
        for (const struct collector *const *c = healthy; *c; c++)
            assert_int_equal(run_in_child(*c, &cheney, &program), VIOLATION_none);
        assert_int_equal(run_in_child(&cheney, NULL, &program), VIOLATION_none);
    }
}

static void replay_on_healthy(const char *path, void *context) {
    (void)context;
    load_program(&program, path);
    for (const struct collector *const *c = healthy; *c; c++)
        if (run_in_child(*c, &cheney, &program) != VIOLATION_none)
            fail_msg("%s is a violation of %s", path, (*c)->name);
}

/* Whatever was found once stays fixed. */
static void every_crash_file_passes(void **state) {
    (void)state;
    assert_true(for_each_program(CRASHES_DIR, replay_on_healthy, NULL) >= VIOLATION_classes - 1);
}

/* A wrong reference is a finding too, and it is the reference that is named. */
static void a_bad_reference_is_found_guilty(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad; bad->collector; bad++) {
        if (bad->violation == VIOLATION_sanitizer || bad->violation == VIOLATION_no_progress)
            continue;
        load_crash(bad);
        struct verdict verdict = run_here(&mark_sweep, bad->collector, &program);
        if (verdict.violation != bad->violation || verdict.guilty != PARTY_REFERENCE)
            fail_msg("%s as reference: %s, guilty %s", bad->collector->name,
                     violation_name(verdict.violation), party_name(verdict.guilty));
    }
}

static void every_class_has_one(void **state) {
    (void)state;
    for (unsigned v = 1; v < VIOLATION_classes; v++) {
        const struct known_bad *bad = known_bad;
        if (v == VIOLATION_tricolour_broken || v == VIOLATION_handshake_broken ||
            v == VIOLATION_mark_lost)
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
        cmocka_unit_test(each_raises_its_class),
        cmocka_unit_test(the_healthy_collectors_pass),
        cmocka_unit_test(every_crash_file_passes),
        cmocka_unit_test(a_bad_reference_is_found_guilty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
