/* SPDX-License-Identifier: MIT
 *
 * The threaded on-the-fly collector and the model take the same steps to the same states.
 */
#include "tests/models/onthefly_gate.h"
#include "tests/support/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t scramble(uint64_t seed) {
    seed = (seed ^ seed >> 31) * 0x9e3779b97f4a7c15;
    return seed ^ seed >> 29;
}

static void run_model(uint64_t variant, uint64_t seed, struct driver_result *r) {
    const struct driver_options o = {variant, INVARIANTS_SAFETY, 0, NULL};
    uint64_t bytes = scramble(seed);
    driver_run(&o, (const uint8_t *)&bytes, sizeof bytes, r);
}

/* Every configuration and strategy of the driver. */
static void model_and_code_agree(void **state) {
    static struct driver_result run;
    enum { RUNS = 60 };
    unsigned long long steps = 0, cycles = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        run_model(0, seed, &run);
        struct replay_result r = gate_replay(&run);
        steps += r.steps;
        cycles += r.cycles;
        if (!r.agree)
            fail_msg("run %u, step %u: %s", (unsigned)seed, r.steps, r.difference);
    }
    figure("steps that model and code take alike", steps);
    figure("cycles in them", cycles);
}

/* Wherever a schedule ends, the threads that run on by themselves lose nothing: they begin where
 * the model has left each of them, in the middle of a handshake or of a block, in any order. */
static void any_end_of_a_schedule_is_safe(void **state) {
    static struct driver_result run;
    enum { RUNS = 6, APART = 29 /* steps; prime, so that all labels have their turn */ };
    unsigned long long ends = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        run_model(0, seed, &run);
        for (unsigned whole = run.n, n = seed % APART; n < whole; n += APART, ends++) {
            run.n = n;
            struct replay_result r = gate_replay(&run);
            if (r.dangling)
                fail_msg("run %u, cut after step %u: %u blocks lost", (unsigned)seed, n,
                         r.dangling);
        }
    }
    figure("schedules cut short", ends);
}

/* The comparison sees when the two are not the same algorithm; the figures: in how
 * many of 20 runs. */
static void another_algorithm_differs(void **state) {
    static struct driver_result run;
    static const struct {
        const char *name;
        uint64_t set;
    } variants[] = {
#define X(name) {#name, VARIANT(name)}
        X(figure_5_order),      X(no_insertion_barrier),
        X(no_deletion_barrier), X(skip_init),
        X(skip_mark),           X(early_fA),
        X(old_sense),           X(plain_mark),
        X(no_gc_fence)
#undef X
    };
    enum { RUNS = 20, VARIANTS = sizeof variants / sizeof *variants };
    (void)state;
    for (unsigned i = 0; i < VARIANTS; i++) {
        unsigned different = 0;
        for (uint64_t seed = 1; seed <= RUNS; seed++) {
            run_model(variants[i].set, seed, &run);
            different += !gate_replay(&run).agree;
        }
        if (!different)
            fail_msg("variant %s: no difference", variants[i].name);
        figure(variants[i].name, different);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_and_code_agree),
        cmocka_unit_test(any_end_of_a_schedule_is_safe),
        cmocka_unit_test(another_algorithm_differs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
