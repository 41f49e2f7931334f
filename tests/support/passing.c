/* SPDX-License-Identifier: MIT
 *
 * Programs that must pass (passing.h).
 */
#include "tests/support/passing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

struct runner *open_pair(const struct collector *subject, const struct collector *reference) {
    struct runner_options options = {.subject = subject, .reference = reference, .digest = true};
    struct runner *runner = runner_open(&options);
    assert_non_null(runner);
    return runner;
}

static void add_counts(struct run_counts *sum, const struct run_counts *c) {
    for (unsigned i = 0; i < OP_CODES; i++)
        sum->ops[i] += c->ops[i];
    for (unsigned i = 0; i < ORACLE_COUNT; i++) {
        sum->oracles[i] += c->oracles[i];
        sum->subject[i] += c->subject[i];
    }
    sum->skipped += c->skipped;
    sum->checks += c->checks;
    sum->refusals += c->refusals;
}

const struct verdict *must_pass(struct runner *runner, const struct program *p, const char *what,
                                struct run_counts *sum) {
    static char report[1 << 16];
    static struct verdict verdict;
    runner_run(runner, p, &verdict);
    if (verdict.violation || verdict.harness_error) {
        runner_report(runner, &verdict, p, report, sizeof report);
        fail_msg("%s\n%s", what, report);
    }
    if (sum)
        add_counts(sum, &verdict.counts);
    return &verdict;
}

uint64_t next_bytes(uint64_t state, uint8_t *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t)(state >> 56);
    }
    return state;
}

void runs_are_alike(const struct collector *subject, const struct collector *reference,
                    unsigned runs, unsigned every,
                    void (*make)(struct program *, unsigned number, uint8_t *bytes,
                                 uint64_t random)) {
    static struct program program;
    uint8_t bytes[RANDOM_BYTES];
    struct runner *worn = open_pair(subject, reference);
    uint64_t random = 1;
    for (unsigned i = 0; i < runs; i++) {
        random = next_bytes(random, bytes, sizeof bytes);
        make(&program, i, bytes, random);
        uint64_t digest = must_pass(worn, &program, "random bytes", NULL)->digest;
        if (i % every)
            continue;
        struct runner *fresh = open_pair(subject, reference);
        assert_int_equal(must_pass(fresh, &program, "random bytes", NULL)->digest, digest);
        runner_close(fresh);
    }
    runner_close(worn);
}
