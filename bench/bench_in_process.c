/* SPDX-License-Identifier: MIT
 *
 * What a reduction costs where nothing stands between it and the collector: no child process, no
 * sanitizer in a release build.  bench/target_cost.py compares it with that in a fuzz target.
 *
 *     bench_in_process BUILD [COLLECTOR FILE...]
 *
 * prints the processor seconds of all reductions, and how many runs they took; of bad_raw_short and
 * a seed, from the top of the checkout, if nothing else is named.
 */
#define _DEFAULT_SOURCE /* clock_gettime */
#include "bench/bench.h"

#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "harness/harness.h"
#include "program/reduction/reduce.h"
#include "tests/support/support.h"

#include <string.h>

enum { RUNS = 10000 };

struct here {
    struct runner *runner;
    struct verdict wanted;
};

static struct verdict judge(const struct here *h, const struct program *p) {
    struct verdict v;
    runner_run(h->runner, p, &v);
    return v;
}

static bool keeps(const struct program *p, void *context) {
    const struct here *h = context;
    struct verdict v = judge(h, p);
    return verdict_same_defect(&v, &h->wanted);
}

static const struct collector *find(const char *name) {
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++)
        if (strcmp(bad->collector->name, name) == 0)
            return bad->collector;
    return NULL;
}

int main(int argc, char **argv) {
    static char *usual[] = {"", "bad_raw_short", "seeds/mark_sweep/variant_2.txt", NULL};
    static struct reduction reduction;
    static struct program program;
    const char *build = argc > 1 ? argv[1] : "";
    char **words = argc > 3 ? argv + 1 : usual;
    struct runner_options options = {.subject = find(words[1]), .reference = &cheney};
    struct here h = {options.subject ? runner_open(&options) : NULL, {.op = 0}};
    unsigned runs = 0;
    if (!h.runner)
        return 2;
    double start = bench_seconds();
    for (char **file = words + 2; *file; file++) {
        load_program(&program, *file);
        h.wanted = judge(&h, &program);
        reduction.keeps = keeps;
        reduction.context = &h;
        reduction.max_runs = RUNS;
        program_reduce(&reduction, &program);
        runs += reduction.runs;
    }
    bench_line("reduce_in_process_seconds_", build, bench_seconds() - start, "s");
    bench_line("reduce_in_process_runs_", build, runs, "runs");
    runner_close(h.runner);
    return 0;
}
