/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime as a collector: a run does not depend on those before it, its seeds pass in
 * each build, and in the runtime of OCaml 4 as reference.
 */
#include "collectors/ocaml/ocaml.h"
#include "collectors/ocaml5/ocaml5.h"
#include "tests/support/passing.h"
#include "tests/support/runtimes.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML5

static struct program program;

static const struct collector *const variants[] = {&ocaml5,
#ifdef ISOHEAP_HAS_OCAML5_DEBUG
                                                   &ocaml5_debug,
#endif
#ifdef ISOHEAP_HAS_OCAML5_TINY
                                                   &ocaml5_tiny,
#endif
                                                   NULL};

static void runs_do_not_see_each_other(void **state) {
    (void)state;
    runs_must_not_see_each_other(variants);
}

static void who_looks_changes_nothing(void **state) {
    (void)state;
    who_looks_must_change_nothing(variants);
}

static void run_seed(const char *path, void *context) {
    load_program(&program, path);
    must_pass(context, &program, path, NULL);
}

static void seeds_pass(const struct collector *subject, const struct collector *reference) {
    struct runner *runner = open_pair(subject, reference);
    assert_true(for_each_program(SEEDS_DIR "/ocaml5", run_seed, runner) >= 3);
    assert_true(for_each_program(SEEDS_DIR "/ocaml", run_seed, runner) >= 40);
    runner_close(runner);
}

static void seeds_pass_in_each_build(void **state) {
    (void)state;
    for (const struct collector *const *c = variants; *c; c++)
        seeds_pass(*c, NULL);
}

/* A minor collection in the middle of: a look at what is not there, which gives nothing and does
 * what the runtime has put off; a copy of a custom block, which is given as it is. */
static void what_looks_at_ephemerons_may_collect(void **state) {
    (void)state;
    static const char *const sources[] = {
        "isoheap program 1\nconfig variant=3\nheap\n  free 1\n  free 1\nscript\n  kind 0\n"
        "  r0 = alloc tag=246 size=1\n  r2 = ephemeron 0\n  r1 = alloc tag=0 size=1\n"
        "  r1 = weak r2.0\n  forward r0 := 0\n",
        "isoheap program 1\nconfig variant=3 kind=3\nscript\n  r1 = ephemeron 1\n  full\n"
        "  r0 = custom size=1\n  weak r1.1 := r0\n  drop r0\n  minor\n  r0 = weakcopy r1.1\n"};
    for (const struct collector *const *c = variants; *c; c++)
        for (size_t n = 0; n < sizeof sources / sizeof *sources; n++) {
            struct runner *runner = open_pair(*c, NULL);
            parse_program(&program, sources[n]);
            must_pass(runner, &program, (*c)->name, NULL);
            runner_close(runner);
        }
}

static void both_runtimes_do_the_same(void **state) {
    (void)state;
#ifdef ISOHEAP_HAS_OCAML
    seeds_pass(&ocaml5, &ocaml);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_do_not_see_each_other),
        cmocka_unit_test(who_looks_changes_nothing),
        cmocka_unit_test(seeds_pass_in_each_build),
        cmocka_unit_test(what_looks_at_ephemerons_may_collect),
        cmocka_unit_test(both_runtimes_do_the_same),
    };
    return cmocka_run_group_tests_name("collectors/ocaml5", tests, NULL, NULL);
}

#else

int main(void) {
    puts("this build has no OCaml 5 runtime");
    return 0;
}

#endif
