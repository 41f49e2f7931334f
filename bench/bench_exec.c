/* SPDX-License-Identifier: MIT
 *
 * Executions per second of the whole runner: subject, reference, model and every oracle.
 *
 *   bench_exec FLAVOUR [COLLECTOR [ORACLE...]]
 *                           FLAVOUR names the build in the output: asan, plain; COLLECTOR is the
 *                           subject, mark_sweep if none is named; all: every registered one on each
 *                           input, as fuzz_all does it; the ORACLEs are left out
 *   bench_exec --names      the registered collectors
 *
 * The inputs are random byte strings of 256 and of 64 bytes of whose operations one in eight
 * collects (between 1/10 and 1/6 of those that run), in heaps of at most 512 words, the same in
 * every build.  They are run in passes; the figure is that of the fastest pass, because whatever
 * else a machine does only ever adds time.  `_mean` is the figure over all passes.
 */
#define _DEFAULT_SOURCE
#include "bench/bench.h"
#include "collectors/cheney/cheney.h"
#include "collectors/registry/registry.h"
#include "harness/harness.h"
#include "program/bytes/bytes.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { INPUTS = 1000, LONGEST = 256, RUNNERS = 32 };
static const double bench_time = 2.0; /* seconds a figure */

static struct program program;
static const char *subject = "mark_sweep";
static oracle_set left_out;                 /* oracles, a bit each */
static struct runner *runners[RUNNERS + 1]; /* on one input, one after another; NULL behind */
static uint8_t inputs[INPUTS][LONGEST];

/* Does one operation in eight collect, and is there enough of a script to say so?  What counts is
 * what ran: allocations that collect, too.  Every collection is one check; one more is made at the
 * end. */
static int is_typical(const struct program *p, size_t size) {
    struct verdict verdict;
    runner_run(runners[0], p, &verdict);
    uint64_t collecting = verdict.counts.checks - 1;
    return p->config[CONFIG_HEAP] <= 512 && p->n_ops >= size / 12 && verdict.counts.checks >= 1 &&
           collecting * 10 >= p->n_ops && collecting * 6 <= p->n_ops;
}

static void make_inputs(size_t size) {
    uint64_t state = 0x9e3779b97f4a7c15;
    for (unsigned i = 0; i < INPUTS;) {
        for (size_t b = 0; b < size; b++)
            inputs[i][b] = (uint8_t)(bench_random(&state) >> 56);
        program_decode(&program, inputs[i], size);
        i += is_typical(&program, size);
    }
}

struct totals {
    uint64_t passes, operations, checks, words;
};

static void run_program(struct runner *runner, struct totals *totals) {
    struct verdict verdict;
    runner_run(runner, &program, &verdict);
    totals->operations += program.n_ops;
    totals->checks += verdict.counts.checks;
    totals->words += program.config[CONFIG_HEAP];
    if (verdict.violation || verdict.harness_error) {
        fprintf(stderr, "bench_exec: an input raises %s: %s\n", violation_name(verdict.violation),
                verdict.detail);
        exit(1);
    }
}

/* Every input once; the time it took.  A function of its own, so that callgrind can count it alone
 * (docs/benchmarks.md). */
__attribute__((noinline)) static double pass(size_t size, struct totals *totals) {
    double start = bench_seconds();
    for (unsigned i = 0; i < INPUTS; i++) {
        program_decode(&program, inputs[i], size);
        for (struct runner **r = runners; *r; r++)
            run_program(*r, totals);
    }
    totals->passes++;
    return bench_seconds() - start;
}

static void run(const char *flavour, size_t size) {
    char name[64];
    struct totals totals = {0};
    double elapsed = 0, best = 1e9;
    make_inputs(size);
    while (elapsed < bench_time) {
        double time = pass(size, &totals);
        best = time < best ? time : best;
        elapsed += time;
    }
    double executions = (double)totals.passes * INPUTS;
    double length = (double)totals.operations / executions;
    snprintf(name, sizeof name, "%s%s_%s_%zu", subject, left_out ? "_less" : "", flavour, size);
    bench_line(name, "", INPUTS / best, "executions/s");
    bench_line(name, "_mean", executions / elapsed, "executions/s");
    bench_line(name, "_operations", length * INPUTS / best, "operations/s");
    bench_line(name, "_checks", (double)totals.checks / executions, "checks/execution");
    bench_line(name, "_length", length, "operations/execution");
    bench_line(name, "_heap", (double)totals.words / executions, "words/execution");
}

/* The subject against the reference; all against the model. */
static bool open_runners(void) {
    bool all = strcmp(subject, "all") == 0;
    const struct collector *one[] = {collector_find(registered_collectors, subject), NULL};
    const struct collector *const *c = all ? registered_collectors : one;
    for (unsigned i = 0; i < RUNNERS && c[i]; i++) {
        struct runner_options options = {
            .subject = c[i], .reference = all ? NULL : &cheney, .oracles = ORACLES_ALL & ~left_out};
        runners[i] = runner_open(&options);
        if (!runners[i])
            return false;
    }
    return runners[0];
}

static bool leave_out(const char *name) {
    enum oracle o = oracle_named(name);
    if (o == ORACLE_COUNT)
        fprintf(stderr, "bench_exec: no oracle is called %s\n", name);
    else
        left_out |= ORACLE_BIT(o);
    return o != ORACLE_COUNT;
}

static int print_names(void) {
    for (const struct collector *const *c = registered_collectors; *c; c++)
        printf("%s\n", (*c)->name);
    return 0;
}

int main(int argc, char **argv) {
    char name[64];
    double start = bench_seconds();
    struct verdict verdict;
    struct rusage usage;
    if (argc == 2 && strcmp(argv[1], "--names") == 0)
        return print_names();
    bool understood = argc >= 2;
    if (argc >= 3)
        subject = argv[2];
    for (int i = 3; i < argc; i++)
        understood &= leave_out(argv[i]);
    if (!understood || !open_runners()) {
        fprintf(stderr, "usage: bench_exec FLAVOUR [COLLECTOR [ORACLE...]] | --names\n");
        return 2;
    }
    program_decode(&program, NULL, 0);
    runner_run(runners[0], &program, &verdict);
    snprintf(name, sizeof name, "%s_%s", subject, argv[1]);
    bench_line(name, "_start", (bench_seconds() - start) * 1e3, "ms");
    run(argv[1], 256);
    run(argv[1], 64);
    getrusage(RUSAGE_SELF, &usage);
    bench_line(name, "_memory", (double)usage.ru_maxrss / 1024, "MiB");
    for (struct runner **r = runners; *r; r++)
        runner_close(*r);
    return 0;
}
