/* SPDX-License-Identifier: MIT
 *
 * Executions per second of the whole runner: subject, reference, model and every oracle.
 *
 *   bench_exec FLAVOUR [COLLECTOR]    FLAVOUR names the build in the output: asan, plain;
 *                                     COLLECTOR is the subject, mark_sweep if none is named
 *
 * The inputs are random byte strings of 256 and of 64 bytes of whose operations one in eight
 * collects (between 1/10 and 1/6 of those that run), in heaps of at most 512 words, the same in
 * every build.  They are run in passes; the figure is that of the fastest pass, because whatever
 * else a machine does only ever adds time.  `_mean` is the figure over all passes.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry.h"
#include "harness/harness.h"
#include "program/bytes.h"

#include <stdlib.h>
#include <sys/resource.h>

enum { INPUTS = 1000, LONGEST = 256 };
static const double bench_time = 2.0; /* seconds a figure */

static struct program program;
static const struct collector *subject = &mark_sweep;
static uint8_t inputs[INPUTS][LONGEST];

/* Does one operation in eight collect, and is there enough of a script to say so?  What counts is
 * what ran: allocations that collect, too.  Every collection is one check; one more is made at the
 * end. */
static int is_typical(struct runner *runner, const struct program *p, size_t size) {
    struct verdict verdict;
    runner_run(runner, p, &verdict);
    uint64_t collecting = verdict.counts.checks - 1;
    return p->config[CONFIG_HEAP] <= 512 && p->n_ops >= size / 12 && verdict.counts.checks >= 1 &&
           collecting * 10 >= p->n_ops && collecting * 6 <= p->n_ops;
}

static void make_inputs(struct runner *runner, size_t size) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (unsigned i = 0; i < INPUTS;) {
        for (size_t b = 0; b < size; b++)
            inputs[i][b] = (uint8_t)(bench_random(&state) >> 56);
        program_decode(&program, inputs[i], size);
        i += is_typical(runner, &program, size);
    }
}

struct totals {
    uint64_t passes, operations, checks, words;
};

/* Every input once; the time it took. */
static double pass(struct runner *runner, size_t size, struct totals *totals) {
    struct verdict verdict;
    double start = bench_seconds();
    for (unsigned i = 0; i < INPUTS; i++) {
        program_decode(&program, inputs[i], size);
        runner_run(runner, &program, &verdict);
        totals->operations += program.n_ops;
        totals->checks += verdict.counts.checks;
        totals->words += program.config[CONFIG_HEAP];
        if (verdict.violation || verdict.harness_error) {
            fprintf(stderr, "bench_exec: an input raises %s: %s\n",
                    violation_name(verdict.violation), verdict.detail);
            exit(1);
        }
    }
    totals->passes++;
    return bench_seconds() - start;
}

static void run(struct runner *runner, const char *flavour, size_t size) {
    char name[64];
    struct totals totals = {0};
    double elapsed = 0, best = 1e9;
    make_inputs(runner, size);
    while (elapsed < bench_time) {
        double time = pass(runner, size, &totals);
        best = time < best ? time : best;
        elapsed += time;
    }
    double executions = (double)totals.passes * INPUTS;
    double length = (double)totals.operations / executions;
    snprintf(name, sizeof name, "%s_%s_%zu", subject->name, flavour, size);
    bench_line(name, "", INPUTS / best, "executions/s");
    bench_line(name, "_mean", executions / elapsed, "executions/s");
    bench_line(name, "_operations", length * INPUTS / best, "operations/s");
    bench_line(name, "_checks", (double)totals.checks / executions, "checks/execution");
    bench_line(name, "_length", length, "operations/execution");
    bench_line(name, "_heap", (double)totals.words / executions, "words/execution");
}

int main(int argc, char **argv) {
    char name[64];
    double start = bench_seconds();
    if (argc == 3)
        subject = collector_find(registered_collectors, argv[2]);
    struct runner_options options = {.subject = subject, .reference = &cheney};
    struct runner *runner = subject ? runner_open(&options) : NULL;
    struct verdict verdict;
    struct rusage usage;
    if (argc < 2 || argc > 3 || !runner) {
        fprintf(stderr, "usage: bench_exec FLAVOUR [COLLECTOR]\n");
        return 2;
    }
    program_decode(&program, NULL, 0);
    runner_run(runner, &program, &verdict);
    snprintf(name, sizeof name, "%s_%s", subject->name, argv[1]);
    bench_line(name, "_start", (bench_seconds() - start) * 1e3, "ms");
    run(runner, argv[1], 256);
    run(runner, argv[1], 64);
    getrusage(RUSAGE_SELF, &usage);
    bench_line(name, "_memory", (double)usage.ru_maxrss / 1024, "MiB");
    runner_close(runner);
    return 0;
}
