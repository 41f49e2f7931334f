/* SPDX-License-Identifier: MIT
 *
 * How many runs a reduction takes: for every known-bad collector, from the first random program of
 * 200 operations that raises its class to the fixed point.  The same in every build, but for the
 * collectors that crash without a sanitizer elsewhere than with one.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "bench/bench.h"

#include "collectors/cheney/cheney.h"
#include "harness/harness.h"
#include "program/bytes.h"
#include "program/reduce.h"
#include "tests/known_bad/known_bad.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPS = 200, INPUT = 2000, TRIES = 1000, RUNS = 100000 };

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "symbolize=0:detect_leaks=0";
}

struct trial {
    struct runner *runner;
    struct verdict *shared; /* written by the child */
    struct verdict wanted;
};

static struct verdict judge(struct trial *t, const struct program *p) {
    *t->shared = (struct verdict){.violation = VIOLATION_sanitizer};
    pid_t child = fork();
    if (child == 0) {
        struct verdict v;
        if (!freopen("/dev/null", "w", stderr))
            _exit(1);
        runner_run(t->runner, p, &v);
        *t->shared = v;
        _exit(0);
    }
    if (child < 0 || waitpid(child, NULL, 0) != child)
        exit(1);
    return *t->shared;
}

static bool keeps(const struct program *p, void *context) {
    struct trial *t = context;
    struct verdict v = judge(t, p);
    return v.violation == t->wanted.violation && v.guilty == t->wanted.guilty &&
           strcmp(v.detail, t->wanted.detail) == 0;
}

static bool find(struct trial *t, enum violation wanted, struct program *p) {
    static uint8_t bytes[INPUT];
    uint64_t random = 1;
    for (unsigned tries = 0; tries < TRIES; tries++) {
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)(bench_random(&random) >> 32);
        program_decode(p, bytes, sizeof bytes);
        if (p->n_ops < OPS)
            continue;
        p->n_ops = OPS;
        t->wanted = judge(t, p);
        if (t->wanted.violation == wanted && t->wanted.guilty == PARTY_SUBJECT)
            return true;
    }
    return false;
}

static void measure(const struct known_bad *bad, const char *build) {
    static struct program p;
    static struct reduction reduction;
    struct runner_options options = {.subject = bad->collector, .reference = &cheney};
    struct trial t = {.runner = runner_open(&options)};
    char name[64];
    t.shared =
        mmap(NULL, sizeof *t.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!t.runner || t.shared == MAP_FAILED)
        exit(1);
    if (find(&t, bad->violation, &p)) {
        reduction.keeps = keeps;
        reduction.context = &t;
        reduction.max_runs = RUNS;
        program_reduce(&reduction, &p);
        snprintf(name, sizeof name, "reduce_runs_%s_", bad->collector->name);
        bench_line(name, build, reduction.runs, "runs");
        snprintf(name, sizeof name, "reduce_operations_%s_", bad->collector->name);
        bench_line(name, build, p.n_ops, "operations");
    }
    munmap(t.shared, sizeof *t.shared);
    runner_close(t.runner);
}

int main(int argc, char **argv) {
    for (const struct known_bad *bad = known_bad; bad->collector; bad++)
        measure(bad, argc > 1 ? argv[1] : "");
    return 0;
}
