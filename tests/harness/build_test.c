/* SPDX-License-Identifier: MIT
 *
 * The initial heap of a collector without an image: nothing is asked for that it has said it does
 * not have, and what cannot be built is not run.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/ocaml/ocaml.h"
#include "harness/harness.h"
#include "program/program.h"
#include "tests/support/passing.h"
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

#ifdef ISOHEAP_HAS_OCAML

/* The initial heaps of these are as good as full: blocks wait in slots, and each is where it
 * belongs.  Several roots may lead into one block, one may lead nowhere, a gap may have no room. */
static void full_heaps_of_a_runtime(void **state) {
    static const char *const heaps[] = {
        "config heap=16\nheap\n  b0 = block tag=0 [b1, b2, 5]\n  b1 = block tag=1 [b2]\n"
        "  b2 = closure arity=1,2 env=[b1]\nroots\n  r0 = b2+3\n  r1 = 7\n  r2 = b2\n"
        "  r3 = b2+3\n  r4 = b0\nscript\n  r5 = r4.0\n  full\n  r6 = r1\n",
        "config heap=257\nheap\n  b0 = block tag=0 [1, b0]\n  free 253\nroots\n  r0 = b0\n"
        "script\n  full\n",
        "config heap=16\nheap\n  static b0 = block tag=0 [b0]\n  b1 = block tag=0 [b0, b1, b2]\n"
        "  b2 = block tag=250 [b1]\n  b3 = string [&b1, 0x2, 0x3, 0x4, 0x5, 0x6]\nroots\n  r0 = "
        "b3\n"
        "  r31 = b2\n  r3 = &b3\n  r30 = b0\nscript\n  minor\n  full\n"};
    (void)state;
    for (unsigned i = 0; i < sizeof heaps / sizeof *heaps; i++) {
        static char text[1024];
        snprintf(text, sizeof text, "isoheap program 1\n%s", heaps[i]);
        parse_program(&program, text);
        struct run_counts counts = {.skipped = 0};
        struct runner *runner = open_pair(&ocaml, NULL);
        assert_false(must_pass(runner, &program, heaps[i], &counts)->not_run);
        assert_int_equal(counts.skipped, 0);
        runner_close(runner);
    }
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_block_is_longer_than_there_are),
        cmocka_unit_test(what_cannot_be_built_is_not_run),
#ifdef ISOHEAP_HAS_OCAML
        cmocka_unit_test(full_heaps_of_a_runtime),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
