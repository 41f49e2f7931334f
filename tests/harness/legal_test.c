/* SPDX-License-Identifier: MIT
 *
 * Nothing illegal is made: programs at random, from nothing and by mutation, pass on collectors
 * whose heaps, sizes and tags are restricted, and what cannot be built there is not run, with a
 * reason.
 */
#include "collectors/cheney/cheney.h"
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"
#include "tests/conformance/odd.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"
#include "tests/support/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ISOHEAP_ROUNDS in the environment: more. */
enum { ROUNDS = 600, ROOM = 1 << 12 };

static struct mutation *mutation;
static uint8_t bytes[ROOM];

static unsigned rounds(void) {
    const char *more = getenv("ISOHEAP_ROUNDS");
    return more ? (unsigned)strtoul(more, NULL, 10) : ROUNDS;
}

/* Of every three one is from nothing, one mutated again, one made of random items and operations.
 */
static const struct program *make(struct program *own, unsigned round) {
    struct rng rng = {round};
    if (round % 3 < 2) {
        size_t size = mutation_generate(mutation, bytes, 400, round);
        if (round % 3)
            mutation_mutate(mutation, bytes, size, ROOM, round);
        return mutation_program(mutation);
    }
    unsigned items = 1 + rng_below(&rng, 12);
    random_program(&rng, own, items, 1 + rng_below(&rng, 30));
    return own;
}

static void judge_many(const struct collector *c) {
    static struct program own;
    struct trial t;
    unsigned run = 0, not_run = 0;
    trial_open(&t, c, &cheney);
    for (unsigned round = 0; round < rounds(); round++) {
        struct verdict v = trial_judge(&t, make(&own, round));
        if (v.violation || v.harness_error)
            fail_msg("%s, round %u: %s at %u (%s): %s", c->name, round, violation_name(v.violation),
                     v.op, v.operation, v.detail);
        run += !v.not_run;
        not_run += v.not_run;
        if (v.not_run)
            assert_non_null(strstr(v.detail, c->name));
    }
    trial_close(&t);
    print_message("%s: %u programs run, %u not\n", c->name, run, not_run);
    assert_true(run > rounds() / 2);
}

static void nothing_illegal_is_made(void **state) {
    (void)state;
    mutation = mutation_open(NULL, NULL);
    assert_non_null(mutation);
    for (unsigned n = 0; odd_collector(n); n++)
        judge_many(odd_collector(n));
    mutation_close(mutation);
}

/* Where nothing would have been written, nothing is looked at: i of the one block is a field that
 * the other has not. */
static void a_blit_of_no_field_may_be_refused(void **state) {
    static struct program program;
    const struct collector *refuses = NULL;
    (void)state;
    for (unsigned n = 0; odd_collector(n); n++)
        if (strcmp(odd_collector(n)->name, "odd_refuses") == 0)
            refuses = odd_collector(n);
    assert_non_null(refuses);
    parse_program(&program, "isoheap program 1\n"
                            "heap\n"
                            "  b0 = block tag=0 size=9 []\n"
                            "  b1 = block tag=0 [b0]\n"
                            "roots\n"
                            "  r0 = b0\n"
                            "  r1 = b1\n"
                            "script\n"
                            "  blit r0.8 -> r1.0, 0\n"
                            "  blit r0.8 -> r1.0, 0\n"
                            "  blit r0.8 -> r1.0, 0\n"
                            "  full\n");
    struct verdict v = run_here(refuses, &cheney, &program);
    assert_int_equal(v.violation, VIOLATION_none);
    assert_false(v.harness_error);
    assert_int_equal(v.counts.refusals, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(nothing_illegal_is_made),
                                       cmocka_unit_test(a_blit_of_no_field_may_be_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
