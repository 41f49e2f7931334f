/* SPDX-License-Identifier: MIT
 *
 * A verdict names the cause: what an oracle finds may follow from something that another one would
 * have shown.
 */
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

static struct program program;

static struct verdict run_bad(const char *name, const char *text, oracle_set oracles) {
    struct verdict verdict;
    struct runner_options options = {.subject = collector_find(known_bad_collectors(), name),
                                     .oracles = oracles};
    assert_non_null(options.subject);
    parse_program(&program, text);
    struct runner *runner = runner_open(&options);
    assert_non_null(runner);
    runner_run(runner, &program, &verdict);
    runner_close(runner);
    return verdict;
}

/* The closure that only an infix pointer reaches is freed by the collection in an allocation: which
 * then gets more than there can be. */
static const char *const closure = "isoheap program 1\nheap\n"
                                   "  b0 = closure arity=1,1 env=[7]\nroots\n  r0 = b0+3\nscript\n"
                                   "  r1 = list 84 1\n";

static void a_lost_block_before_its_room(void **state) {
    (void)state;
    struct verdict v = run_bad("bad_infix_root", closure, 0);
    assert_int_equal(v.violation, VIOLATION_lost_object);
    assert_int_equal(v.oracle, ORACLE_fields);
    assert_string_equal(v.path, "r0");
    v = run_bad("bad_infix_root", closure, ORACLE_BIT(ORACLE_memory));
    assert_int_equal(v.violation, VIOLATION_missed_out_of_memory); /* nobody compares graphs */
    assert_string_equal(v.found, "a block");
}

/* An allocation that collects is compared at once, and not at the end of the script. */
static void what_an_allocation_loses(void **state) {
    (void)state;
    struct verdict v = run_bad("bad_infix_root",
                               "isoheap program 1\nconfig heap=16\nheap\n"
                               "  b0 = closure arity=1,1 env=[7]\n  dead 5\n"
                               "  free 1\nroots\n  r0 = b0+3\nscript\n"
                               "  r1 = alloc tag=0 size=4 []\n  drop r0\n",
                               0);
    assert_int_equal(v.violation, VIOLATION_lost_object);
    assert_int_equal(v.op, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lost_block_before_its_room),
        cmocka_unit_test(what_an_allocation_loses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
