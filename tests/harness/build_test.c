/* SPDX-License-Identifier: MIT
 *
 * The initial heap of a collector without an image: nothing is asked for that it has said it does
 * not have, and what cannot be built is not run.
 */
#include "collectors/cheney/cheney.h"
#include "harness/harness.h"
#include "program/program.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct collector limited; /* cheney without an image, and without long blocks */
static size_t longest;           /* that has been asked for */

static enum gc_result alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                            const word *raw) {
    if (wosize > longest)
        longest = wosize;
    return cheney.alloc(gc, m, dst, wosize, tag, raw);
}

/* A heap of so many blocks, each of which points at the one before and has a number. */
static void make_chain(unsigned blocks, unsigned heap) {
    static char text[1 << 16];
    int n = snprintf(text, sizeof text,
                     "isoheap program 1\nconfig heap=%u\nheap\n  b0 = block tag=0 [0, 0]\n", heap);
    for (unsigned b = 1; b < blocks; b++)
        n += snprintf(text + n, sizeof text - (size_t)n, "  b%u = block tag=0 [b%u, %u]\n", b,
                      b - 1, b);
    snprintf(text + n, sizeof text - (size_t)n, "roots\n  r0 = b%u\nscript\n  r1 = r0.0\n  full\n",
             blocks - 1);
    parse_program(&program, text);
}

static struct verdict run_limited(size_t max_wosize) {
    struct verdict verdict;
    limited = cheney;
    limited.image = NULL;
    limited.adopt = NULL;
    limited.alloc = alloc;
    limited.traits.max_wosize = max_wosize;
    longest = 0;
    struct runner *runner =
        runner_open(&(struct runner_options){.subject = &limited, .reference = &cheney});
    assert_non_null(runner);
    runner_run(runner, &program, &verdict);
    runner_close(runner);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_false(verdict.harness_error);
    return verdict;
}

/* From a spine of one block to one of seven levels. */
static void no_block_is_longer_than_there_are(void **state) {
    static const size_t sizes[] = {0, 100, 99, 50, 10, 9, 4, 3, 2};
    (void)state;
    make_chain(100, 2000);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct verdict v = run_limited(sizes[i]);
        assert_false(v.not_run);
        assert_int_equal(v.counts.skipped, 0);
        assert_true(v.counts.checks > 1); /* after the collection too */
        assert_true(!sizes[i] || longest <= sizes[i]);
    }
}

static void what_cannot_be_built_is_not_run(void **state) {
    (void)state;
    make_chain(100, 300); /* no room for the spine */
    struct verdict v = run_limited(0);
    assert_true(v.not_run);
    assert_string_equal(v.detail, "cheney refuses a block of the initial heap");
    assert_int_equal(v.counts.skipped, 2);
    make_chain(100, 2000);
    v = run_limited(1);
    assert_true(v.not_run);
    assert_string_equal(v.detail,
                        "cheney has no block as long as one of the initial heap (max_wosize)");
    assert_int_equal(longest, 0);
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\n  b1 = block tag=0 "
                            "[2]\nroots\n  r0 = b0\n  r1 = b1\nscript\n  full\n");
    v = run_limited(1); /* there is no spine of such blocks */
    assert_true(v.not_run);
    assert_true(longest <= 1);
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = "
                            "b0\nscript\n  full\n");
    v = run_limited(1);
    assert_false(v.not_run);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_block_is_longer_than_there_are),
        cmocka_unit_test(what_cannot_be_built_is_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
