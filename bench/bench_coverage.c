/* SPDX-License-Identifier: MIT
 *
 * What semantic coverage costs: the same programs on a runner with a table and on one without, in
 * turns, so that what else the machine does falls on both.
 *
 *   bench_coverage FLAVOUR    names the build in the output: asan, plain
 *
 * The programs are those of structured mutation, of at most 256 bytes.  The table is cleared before
 * every run, as libFuzzer does.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "harness/harness.h"
#include "program/bytes.h"
#include "program/mutate.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS = 400, LONGEST = 256, TURNS = 40 };

static struct program program;
static uint8_t inputs[INPUTS][LONGEST], table[COVERAGE_BYTES];
static size_t sizes[INPUTS];

static void make_inputs(void) {
    uint64_t seed = 1;
    struct mutation *m = mutation_open(NULL, NULL);
    for (unsigned i = 0; m && i < INPUTS; i++)
        for (unsigned round = 0; round < 20; round++)
            sizes[i] = mutation_mutate(m, inputs[i], sizes[i], LONGEST, seed++);
    mutation_close(m);
}

/* Seconds for all inputs. */
static double turn(struct runner *runner, bool watched) {
    struct verdict verdict;
    double start = bench_seconds();
    for (unsigned i = 0; i < INPUTS; i++) {
        if (watched)
            memset(table, 0, sizeof table);
        program_decode(&program, inputs[i], sizes[i]);
        runner_run(runner, &program, &verdict);
        if (verdict.violation || verdict.harness_error) {
            fprintf(stderr, "bench_coverage: an input raises a violation: %s\n", verdict.detail);
            exit(1);
        }
    }
    return bench_seconds() - start;
}

int main(int argc, char **argv) {
    char name[64];
    double seconds[2] = {0, 0};
    struct runner_options options = {.subject = &mark_sweep, .reference = &cheney};
    struct runner *plain = runner_open(&options);
    options.coverage = table;
    struct runner *watched = runner_open(&options);
    if (argc != 2 || !plain || !watched) {
        fprintf(stderr, "usage: bench_coverage FLAVOUR\n");
        return 2;
    }
    make_inputs();
    for (unsigned i = 0; i < TURNS; i++) {
        seconds[0] += turn(plain, false);
        seconds[1] += turn(watched, true);
    }
    double runs = (double)TURNS * INPUTS;
    snprintf(name, sizeof name, "semantic_coverage_%s", argv[1]);
    bench_line(name, "_off", runs / seconds[0], "executions/s");
    bench_line(name, "_on", runs / seconds[1], "executions/s");
    bench_line(name, "_ratio", seconds[0] / seconds[1], "on/off");
    runner_close(plain);
    runner_close(watched);
    return 0;
}
