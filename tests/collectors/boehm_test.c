/* SPDX-License-Identifier: MIT
 *
 * boehm: what a program does depends on no program before it, in every variant; and garbage is
 * freed.
 */
#include "collectors/boehm/boehm.h"
#include "collectors/cheney/cheney.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { MOST = 400, VARIANTS = 4 };

static struct program programs[MOST];
static unsigned n_programs;
static struct runner *runner;

static void keep(const char *path, void *context) {
    (void)context;
    assert_true(n_programs < MOST);
    load_program(&programs[n_programs++], path);
}

static uint64_t digest_of(unsigned i, unsigned variant) {
    static struct verdict verdict;
    programs[i].config[CONFIG_VARIANT] = (uint16_t)variant;
    runner_run(runner, &programs[i], &verdict);
    if (verdict.violation || verdict.harness_error)
        fail_msg("program %u in variant %u: %s, %s", i, variant, violation_name(verdict.violation),
                 verdict.detail);
    return verdict.digest;
}

/* Forwards, backwards, and each one twice: the same digest of verdict, graph and steps. */
static void no_run_depends_on_another(void **state) {
    static uint64_t digests[MOST][VARIANTS];
    (void)state;
    for (unsigned v = 0; v < VARIANTS; v++)
        for (unsigned i = 0; i < n_programs; i++)
            digests[i][v] = digest_of(i, v);
    for (unsigned v = VARIANTS; v-- > 0;)
        for (unsigned i = n_programs; i-- > 0;)
            for (unsigned twice = 0; twice < 2; twice++)
                if (digest_of(i, v) != digests[i][v])
                    fail_msg("program %u in variant %u depends on the runs before", i, v);
}

/* It may keep garbage, by accident much of it; it does not keep all of it. */
static void garbage_is_freed(void **state) {
    (void)state;
    struct boehm_statistics s = boehm_statistics();
    assert_true(s.collections > 100);
    assert_true(s.garbage_words > 1000);
    assert_true(s.kept_words < s.garbage_words);
}

int main(void) {
    const struct runner_options options = {.subject = &boehm, .reference = &cheney, .digest = true};
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_run_depends_on_another),
        cmocka_unit_test(garbage_is_freed),
    };
    for_each_program(SEEDS_DIR "/boehm", keep, NULL);
    for_each_program(SEEDS_DIR "/mark_sweep", keep, NULL);
    runner = runner_open(&options);
    if (!runner)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    runner_close(runner);
    return failed;
}
