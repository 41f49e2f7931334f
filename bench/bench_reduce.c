/* SPDX-License-Identifier: MIT
 *
 * How many runs a reduction takes: for every known-bad collector, from the first random program of
 * 200 operations that raises its class to the fixed point.  The same in every build, but for the
 * collectors that crash without a sanitizer elsewhere than with one.
 */
#define _DEFAULT_SOURCE /* clock_gettime */
#include "bench/bench.h"

#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "program/reduction/reduce.h"
#include "tests/support/trial.h"

#include <stdio.h>

enum { OPS = 200, RUNS = 100000 };

static void measure(const struct known_bad *bad, const char *build) {
    static struct program p;
    static struct reduction reduction;
    struct trial t;
    char name[64];
    trial_open(&t, bad->collector, &cheney);
    if (trial_find(&t, bad->violation, OPS, &p)) {
        reduction.keeps = trial_keeps;
        reduction.context = &t;
        reduction.max_runs = RUNS;
        program_reduce(&reduction, &p);
        snprintf(name, sizeof name, "reduce_runs_%s_", bad->collector->name);
        bench_line(name, build, reduction.runs, "runs");
        snprintf(name, sizeof name, "reduce_operations_%s_", bad->collector->name);
        bench_line(name, build, p.n_ops, "operations");
        snprintf(name, sizeof name, "reduce_blocks_%s_", bad->collector->name);
        bench_line(name, build, program_named(&p), "blocks");
    }
    trial_close(&t);
}

int main(int argc, char **argv) {
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++)
        measure(bad, argc > 1 ? argv[1] : "");
    return 0;
}
