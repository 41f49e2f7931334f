/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime as a collector: a run does not depend on those before it, its seeds pass in
 * each build, and in the runtime of OCaml 4 as reference.
 */
#include "collectors/ocaml/ocaml.h"
#include "collectors/ocaml5/ocaml5.h"
#include "program/bytes/bytes.h"
#include "tests/support/passing.h"
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

enum { INPUTS = 60, INPUT_SIZE = 160 };

static void random_program_of(unsigned n) {
    uint8_t bytes[INPUT_SIZE];
    next_bytes(n * 0x9e3779b97f4a7c15u + 1, bytes, sizeof bytes);
    program_decode(&program, bytes, sizeof bytes);
}

static uint64_t digest_of(struct runner *runner, unsigned n) {
    random_program_of(n);
    return must_pass(runner, &program, "random bytes", NULL)->digest;
}

/* A, B, A: the digest has the final graph and the number of collections. */
static void runs_do_not_see_each_other(void **state) {
    (void)state;
    static uint64_t digest[INPUTS];
    for (const struct collector *const *c = variants; *c; c++) {
        struct runner *runner = open_pair(*c, NULL);
        for (unsigned n = 0; n < INPUTS; n++)
            digest[n] = digest_of(runner, n);
        for (unsigned n = INPUTS; n-- > 0;)
            assert_int_equal(digest_of(runner, n), digest[n]);
        for (unsigned n = 0; n < INPUTS; n += 7)
            assert_int_equal(digest_of(runner, n), digest[n]);
        runner_close(runner);
    }
}

static void look(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot snapshot;
    (void)context, (void)op;
    if (!before) /* then there may be no heap yet */
        runner_snapshot(r, PARTY_SUBJECT, &snapshot);
}

/* The shadow is written anew where slots have changed: who looks in between must not harm it. */
static void who_looks_harms_nothing(void **state) {
    (void)state;
    for (const struct collector *const *c = variants; *c; c++) {
        struct runner *runner = runner_open(
            &(struct runner_options){.subject = *c, .oracles = ORACLES_ALL, .observe = look});
        assert_non_null(runner);
        for (unsigned n = 0; n < 2 * INPUTS; n++) {
            random_program_of(n);
            must_pass(runner, &program, "random bytes, looked at", NULL);
        }
        runner_close(runner);
    }
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

static void both_runtimes_do_the_same(void **state) {
    (void)state;
#ifdef ISOHEAP_HAS_OCAML
    seeds_pass(&ocaml5, &ocaml);
#endif
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_do_not_see_each_other),
        cmocka_unit_test(who_looks_harms_nothing),
        cmocka_unit_test(seeds_pass_in_each_build),
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
