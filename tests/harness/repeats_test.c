/* SPDX-License-Identifier: MIT
 *
 * The same program, the same verdict: whatever ran before, and whatever memory holds that nobody
 * has written.  Every seed and every crash file runs on every registered collector, then the next
 * one, then the first again, and on a runner whose unwritten and dead memory holds other words.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <unistd.h>

static struct program first, second;

static struct runner *open_with(const struct collector *subject, enum memory_fill fill) {
    struct runner_options options = {
        .subject = subject, .reference = &cheney, .digest = true, .fill = fill};
    struct runner *r = runner_open(&options);
    assert_non_null(r);
    return r;
}

static void expect_same(const struct collector *subject, const char *path, const char *when,
                        const struct verdict *a, const struct verdict *b) {
    if (a->violation != b->violation || a->digest != b->digest)
        fail_msg("%s: %s %s: %s, digest %016llx, then %s, digest %016llx", subject->name, path,
                 when, violation_name(a->violation), (unsigned long long)a->digest,
                 violation_name(b->violation), (unsigned long long)b->digest);
}

/* Runs A, B, A and A with the other fill. */
static void a_b_a(const struct collector *subject, struct runner *usual, struct runner *other,
                  const char *path) {
    struct verdict before, between, after;
    runner_run(usual, &first, &before);
    runner_run(usual, &second, &between);
    runner_run(usual, &first, &after);
    expect_same(subject, path, "after another program", &before, &after);
    runner_run(other, &first, &after);
    expect_same(subject, path, "with other words where nobody wrote", &before, &after);
}

/* ---- registered collectors ---- */

struct pass {
    const struct collector *subject;
    struct runner *usual, *other;
    char last[4096]; /* the program before: B of A, B, A */
    unsigned compared;
};

static void play(const char *path, void *context) {
    struct pass *pass = context;
    load_program(&first, path);
    if (pass->last[0]) {
        load_program(&second, pass->last);
        a_b_a(pass->subject, pass->usual, pass->other, path);
        pass->compared++;
    }
    snprintf(pass->last, sizeof pass->last, "%s", path);
}

/* Seeds of its own, if it has any, those of mark_sweep, and everything that was ever found. */
static unsigned play_on(const struct collector *subject) {
    static struct pass pass;
    char own[4096];
    pass = (struct pass){subject, open_with(subject, FILL_USUAL), open_with(subject, FILL_OTHER),
                         "", 0};
    snprintf(own, sizeof own, SEEDS_DIR "/%s", subject->name);
    if (access(own, R_OK) == 0)
        for_each_program(own, play, &pass);
    for_each_program(SEEDS_DIR "/mark_sweep", play, &pass);
    for_each_program(CRASHES_DIR, play, &pass);
    runner_close(pass.usual);
    runner_close(pass.other);
    return pass.compared;
}

static void what_ran_before_changes_no_verdict(void **state) {
    (void)state;
    for (const struct collector *const *c = registered_collectors; *c; c++)
        if (play_on(*c) < 150)
            fail_msg("%s: too few programs", (*c)->name);
}

/* ---- known-bad ones: what they read wrongly is the same again ---- */

static bool ends_the_process(enum violation violation) {
    return violation == VIOLATION_sanitizer || violation == VIOLATION_no_progress;
}

static void findings_repeat(void **state) {
    (void)state;
    unsigned compared = 0;
    load_program(&second, SEEDS_DIR "/mark_sweep/alloc_chain.txt");
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++) {
        char path[4096];
        if (ends_the_process(bad->violation))
            continue;
        snprintf(path, sizeof path, CRASHES_DIR "/%s/%s.txt", violation_name(bad->violation),
                 bad->collector->name);
        load_program(&first, path);
        struct runner *usual = open_with(bad->collector, FILL_USUAL);
        struct runner *other = open_with(bad->collector, FILL_OTHER);
        a_b_a(bad->collector, usual, other, path);
        runner_close(usual);
        runner_close(other);
        compared++;
    }
    assert_true(compared > 90);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_ran_before_changes_no_verdict),
        cmocka_unit_test(findings_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
