/* SPDX-License-Identifier: MIT
 *
 * Runtimes as collectors (runtimes.h).
 */
#include "tests/support/runtimes.h"

#include "program/bytes/bytes.h"
#include "tests/support/passing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { INPUTS = 60, INPUT_SIZE = 160 };

static struct program program;

static uint64_t digest_of(struct runner *runner, unsigned n) {
    uint8_t bytes[INPUT_SIZE];
    next_bytes(n * 0x9e3779b97f4a7c15u + 1, bytes, sizeof bytes);
    program_decode(&program, bytes, sizeof bytes);
    return must_pass(runner, &program, "random bytes", NULL)->digest;
}

void runs_must_not_see_each_other(const struct collector *const *c) {
    static uint64_t digest[INPUTS];
    for (; *c; c++) {
        struct runner *runner = open_pair(*c, NULL);
        for (unsigned n = 0; n < INPUTS; n++)
            digest[n] = digest_of(runner, n);
        for (unsigned n = INPUTS; n-- > 0;)
            assert_int_equal(digest_of(runner, n), digest[n]);
        for (unsigned n = 0; n < INPUTS; n += 7)
            assert_int_equal(digest_of(runner, n), digest[n]);
        runner_close(runner);
    }
}

static void look(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot snapshot;
    (void)context, (void)op;
    if (!before) /* then there may be no heap yet */
        runner_snapshot(r, PARTY_SUBJECT, &snapshot);
}

void who_looks_must_change_nothing(const struct collector *const *c) {
    for (; *c; c++) {
        struct runner *runner = runner_open(
            &(struct runner_options){.subject = *c, .oracles = ORACLES_ALL, .observe = look});
        assert_non_null(runner);
        for (unsigned n = 0; n < 4 * INPUTS; n++)
            digest_of(runner, n);
        runner_close(runner);
    }
}
