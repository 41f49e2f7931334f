/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly model: steps a second of a fuzzing run, with all invariants and with safety alone;
 * states a second and bytes a state of an exploration.
 */
#define _POSIX_C_SOURCE 200809L
#include "bench/bench.h"
#include "models/onthefly/schedules/driver.h"

static void steps_per_second(const char *name, const char *suffix, unsigned invariants) {
    static struct driver_result result;
    const struct driver_options options = {0, invariants, 0, NULL};
    uint64_t seed = 1, steps = 0;
    double began = bench_seconds(), took;
    do {
        for (unsigned i = 0; i < 100; i++) {
            uint64_t input[8];
            for (unsigned k = 0; k < 8; k++)
                input[k] = bench_random(&seed);
            driver_run(&options, (const uint8_t *)input, sizeof input, &result);
            steps += result.n;
        }
        took = bench_seconds() - began;
    } while (took < 2);
    bench_line(name, suffix, (double)steps / took, "steps/s");
}

static void exploration(const char *suffix) {
    struct explore_options o = {
        .model = {.mutators = 2, .refs = 1, .fields = 1, .buffer = 2, .gc_buffer = 2},
        .reduction = REDUCE_LOCAL,
        .symmetry = true,
        .invariants = INVARIANTS_ALL,
        .memory = (uint64_t)1 << 30};
    double began = bench_seconds();
    struct explore_result r = explore(&o);
    double took = bench_seconds() - began;
    bench_line("onthefly_explore", suffix, (double)r.figures.states / took, "states/s");
    bench_line("onthefly_explore_states", suffix, (double)r.figures.states, "states");
    bench_line("onthefly_state", suffix, (double)r.figures.bytes / (double)r.figures.states,
               "bytes");
}

int main(int argc, char **argv) {
    char suffix[32] = "";
    if (argc > 1)
        snprintf(suffix, sizeof suffix, "_%s", argv[1]);
    steps_per_second("onthefly_steps_all", suffix, INVARIANTS_ALL);
    steps_per_second("onthefly_steps_safety", suffix, INVARIANTS_SAFETY);
    exploration(suffix);
    return 0;
}
