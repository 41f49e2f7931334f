/* SPDX-License-Identifier: MIT
 *
 * An operation without effect is counted, and why it had none.
 */
#include "collectors/registry/registry.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

/* Of a run, the operations skipped for that reason; all reasons together are `skipped`. */
static const uint64_t *skips(const char *collector, const char *text, enum skip why) {
    static struct verdict verdict;
    uint64_t all = 0;
    parse_program(&program, text);
    verdict = run_here(collector_find(registered_collectors, collector), NULL, &program);
    assert_int_equal(verdict.violation, VIOLATION_none);
    for (unsigned r = 0; r < SKIP_COUNT; r++)
        for (unsigned o = 0; o < OP_CODES; o++)
            all += verdict.counts.skips[r][o];
    assert_int_equal(all, verdict.counts.skipped);
    return verdict.counts.skips[why];
}

static void nothing_is_there(void **state) {
    (void)state;
    const uint64_t *n =
        skips("mark_sweep", "isoheap program 1\nscript\n  r0.0 := 1\n  r1 = r0.1\n  r1 = r2.1\n",
              SKIP_NOTHING);
    assert_int_equal(n[OP_STORE], 1);
    assert_int_equal(n[OP_LOAD], 2);
}

static void a_mutator_is_away(void **state) {
    (void)state;
    const uint64_t *n = skips(
        "concurrent",
        "isoheap program 1\nscript\n  mutator 1: detach\n  mutator 1: r0 = 3\n  full\n", SKIP_AWAY);
    assert_int_equal(n[OP_SET], 1);
}

static void a_block_does_not_fit(void **state) {
    (void)state;
    if (!collector_find(registered_collectors, "ocaml"))
        return; /* no other collector has the operations of a runtime */
    const uint64_t *n = skips("ocaml",
                              "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n"
                              "  forward r0 := 2\n  r1 = alloc tag=248 [1]\n"
                              "  r2 = marshal r1\n  truncate r0, 0\n",
                              SKIP_UNFIT);
    assert_int_equal(n[OP_FORWARD], 1);
    assert_int_equal(n[OP_MARSHAL], 1);
    assert_int_equal(n[OP_TRUNCATE], 1);
}

static void reasons_have_words(void **state) {
    (void)state;
    assert_string_equal(skip_meaning(SKIP_LAZY_KEY), "a lazy key");
    for (unsigned why = 0; why < SKIP_COUNT; why++)
        assert_true(strlen(skip_meaning((enum skip)why)) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_there),
        cmocka_unit_test(a_mutator_is_away),
        cmocka_unit_test(a_block_does_not_fit),
        cmocka_unit_test(reasons_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
