/* SPDX-License-Identifier: MIT
 *
 * Programs that must pass (passing.h).
 */
#include "tests/support/passing.h"

#include "collectors/cheney/cheney.h"
#include "collectors/registry/registry.h"
#include "tests/support/support.h"

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
    for (unsigned why = 0; why < SKIP_COUNT; why++)
        for (unsigned i = 0; i < OP_CODES; i++)
            sum->skips[why][i] += c->skips[why][i];
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

void all_must_pass(const char *source) {
    static struct program program;
    for (const struct collector *const *c = registered_collectors; *c; c++) {
        struct runner *r = open_pair(*c, NULL);
        parse_program(&program, source);
        must_pass(r, &program, (*c)->name, NULL);
        runner_close(r);
    }
}

const struct verdict *must_break(const struct collector *subject, struct program *p,
                                 const char *source, enum violation v) {
    static struct verdict verdict;
    struct runner *r = open_pair(subject, &cheney);
    parse_program(p, source);
    runner_run(r, p, &verdict);
    assert_string_equal(violation_name(verdict.violation), violation_name(v));
    assert_int_equal(verdict.guilty, PARTY_SUBJECT);
    runner_close(r);
    return &verdict;
}

struct verdict must_be_found(const struct collector *subject, const struct program *p,
                             enum oracle oracle, enum violation v, const char *detail) {
    struct verdict verdict = run_here(subject, &cheney, p);
    assert_string_equal(violation_name(verdict.violation), violation_name(v));
    assert_string_equal(verdict.detail, detail);
    assert_int_equal(verdict.oracle, oracle);
    assert_int_equal(verdict.guilty, PARTY_SUBJECT);
    return verdict;
}

void places_do_not_matter(struct program *p) {
    for (const struct collector *const *c = registered_collectors; *c; c++) {
        struct runner *one = open_pair(*c, &cheney), *other = open_pair(*c, &cheney);
        for (uint16_t variant = 0; (*c)->variants && (*c)->variants[variant]; variant++) {
            p->config[CONFIG_VARIANT] = variant;
            uint64_t digest = must_pass(one, p, (*c)->name, NULL)->digest;
            assert_true(must_pass(other, p, (*c)->name, NULL)->digest == digest);
        }
        p->config[CONFIG_VARIANT] = 0;
        must_pass(one, p, (*c)->name, NULL);
        runner_close(one);
        runner_close(other);
    }
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
