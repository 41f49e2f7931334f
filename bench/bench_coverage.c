/* SPDX-License-Identifier: MIT
 *
 * What semantic coverage costs: the same programs on runners without it, with its default parts and
 * with all, in turns, so that what else the machine does falls on both.
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
#include "harness/coverage.h"
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"

#include <stdlib.h>
#include <string.h>

enum { INPUTS = 400, LONGEST = 256, TURNS = 30, RUNNERS = 3 };

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

static struct runner *open_runner(unsigned parts) {
    struct runner_options options = {.subject = &mark_sweep, .reference = &cheney};
    options.coverage = parts ? table : NULL;
    options.coverage_parts = parts;
    return runner_open(&options);
}

int main(int argc, char **argv) {
    static const char *const names[RUNNERS] = {"off", "default", "all"};
    static const unsigned parts[RUNNERS] = {0, COVER_DEFAULT, COVER_ALL};
    struct runner *runners[RUNNERS];
    double seconds[RUNNERS] = {0};
    char name[64];
    for (unsigned i = 0; i < RUNNERS; i++)
        runners[i] = open_runner(parts[i]);
    if (argc != 2 || !runners[0] || !runners[1] || !runners[2]) {
        fprintf(stderr, "usage: bench_coverage FLAVOUR\n");
        return 2;
    }
    make_inputs();
    for (unsigned t = 0; t < TURNS; t++)
        for (unsigned i = 0; i < RUNNERS; i++)
            seconds[i] += turn(runners[i], i > 0);
    for (unsigned i = 0; i < RUNNERS; i++) {
        snprintf(name, sizeof name, "semantic_coverage_%s_%s", argv[1], names[i]);
        bench_line(name, "", TURNS * INPUTS / seconds[i], "executions/s");
        if (i > 0)
            bench_line(name, "_ratio", seconds[0] / seconds[i], "of off");
        runner_close(runners[i]);
    }
    return 0;
}
