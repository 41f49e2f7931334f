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

/* What is no ephemeron is a block of another kind, and so is one that a word does not fit into. */
static void what_is_there_is_not_called_nothing(void **state) {
    (void)state;
    if (!collector_find(registered_collectors, "ocaml"))
        return;
    static const char text[] = "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n"
                               "  r1 = string size=2\n  weak r0.0 := r1\n  r2 = weak r0.0\n"
                               "  unset r0.0\n  r1.0 := r0\n  fill r1.0, 1 := r0\n"
                               "  blit r1.0 -> r0.0, 1\n  forward r1 := r0\n"
                               "  weak r9.0 := r1\n  blit r9.0 -> r0.0, 1\n";
    static const unsigned codes[] = {OP_EPHE_SET, OP_EPHE_GET, OP_EPHE_UNSET, OP_STORE,
                                     OP_FILL,     OP_BLIT,     OP_FORWARD};
    const uint64_t *n = skips("ocaml", text, SKIP_UNFIT);
    for (unsigned i = 0; i < sizeof codes / sizeof *codes; i++)
        assert_int_equal(n[codes[i]], 1);
    n = skips("ocaml", text, SKIP_NOTHING);
    assert_int_equal(n[OP_EPHE_SET], 1);
    assert_int_equal(n[OP_BLIT], 1);
}

/* Behind mask infix-key. */
static void keys_that_stand_for_others_are_counted(void **state) {
    (void)state;
    const struct collector *ocaml = collector_find(registered_collectors, "ocaml");
    if (!ocaml)
        return;
    static struct verdict verdict;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = closure arity=1,1 env=[]\n"
                            "roots\n  r0 = b0\nscript\n  r1 = infix r0 1\n"
                            "  r2 = ephemeron 1\n  weak r2.1 := r1\n  weak r2.1 := r0\n");
    verdict = run_here(ocaml, NULL, &program);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_int_equal(verdict.counts.closure_keys, 1);
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
        cmocka_unit_test(what_is_there_is_not_called_nothing),
        cmocka_unit_test(keys_that_stand_for_others_are_counted),
        cmocka_unit_test(reasons_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
