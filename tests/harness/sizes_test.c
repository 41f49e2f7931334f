/* SPDX-License-Identifier: MIT
 *
 * Collectors of other sizes: short words, headers with few bits, heaps that grow, images that do
 * not fit.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/narrow/narrow.h"
#include "collectors/registry/registry.h"
#include "harness/initial/lowering.h"
#include "tests/support/odd.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"
#include "views/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct verdict verdict;

static void short_words_and_a_heap_that_grows_pass(void **state) {
    (void)state;
    struct run_counts sum = odd_must_pass(&narrow);
    assert_true(sum.subject[ORACLE_completeness] > 100);
    assert_true(sum.subject[ORACLE_memory] > 20);
    static const char *const steps[] = {"word_bits", "grows", "image", "refusal", "raw", "renews"};
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(odd_step(&narrow, steps[i]), CONFORM_KEPT);
}

/* Integers and raw words have as many bits as they may; the heap is full and grows. */
#define SHORT                                                                                      \
    "isoheap program 1\nconfig heap=64\nheap\n  b0 = block tag=0 [-5, 40000]\n"                    \
    "  b1 = string [0x123456789abcdef0]\nroots\n  r0 = b0\n  r1 = b1\nscript\n"                    \
    "  r2 = r0.0\n  r3 = r0.1\n  r4 = list 30 r2\n  full\n  r5 = r4.1\n  full\n"
#define TOO_MUCH "isoheap program 1\nconfig heap=64\nscript\n  r0 = list 60 7\n  r1 = list 60 7\n"

static void each_defect_is_found(void **state) {
    (void)state;
    const struct collector *c;
    odd_program_passes(&narrow, &program, SHORT);
    odd_program_passes(&narrow, &program, TOO_MUCH);
    c = collector_find(known_bad_collectors(), "bad_sign_lost");
    must_break(c, &program, SHORT, VIOLATION_field_written);
    c = collector_find(known_bad_collectors(), "bad_growth_unmarked");
    must_break(c, &program, SHORT, VIOLATION_lost_object);
    c = collector_find(known_bad_collectors(), "bad_half_grown");
    verdict = *must_break(c, &program, TOO_MUCH, VIOLATION_false_out_of_memory);
    assert_string_equal(verdict.detail,
                        "an allocation was refused although the heap may grow by as much");
}

static void the_largest_heap_is_said_by_traits(void **state) {
    (void)state;
    struct gc_config config = {.heap_words = 100};
    struct collector_traits traits = {.grows_to = 300};
    assert_int_equal(heap_most_words(&traits, &config), 300);
    config.heap_words = 400;
    assert_int_equal(heap_most_words(&traits, &config), 400);
}

static void values_are_cut_to_the_bits_that_there_are(void **state) {
    (void)state;
    assert_int_equal(lowered_integer(-5, 16), -5);
    assert_int_equal(lowered_integer(40000, 16), 40000 - 32768);
    assert_int_equal(lowered_integer(INT64_MIN / 2, 64), INT64_MIN / 2);
    assert_int_equal(lowered_raw(0x123456789, 16), 0x6789);
    assert_int_equal(lowered_raw(~(word)0, 64), ~(word)0);
    assert_int_equal(lowered_raw_tag(TAG_CUSTOM, 0), TAG_CUSTOM);
    assert_int_equal(lowered_raw_tag(TAG_CUSTOM, 16), TAG_STRING);
    assert_int_equal(lowered_raw_tag(TAG_DOUBLE, 1 | 2 | 4 | 16), TAG_DOUBLE_ARRAY);
    assert_int_equal(lowered_own_tag(245, 0), 245);
    assert_int_equal(lowered_own_tag(245, 244), 0);
    assert_int_equal(lowered_own_tag(243, 244), 243);
    assert_int_equal(lowered_own_tag(TAG_LAZY, 244), TAG_LAZY);
}

/* ---- an image that does not fit ---------------------------------------------------------------
 */

static word *small_image(struct gc *gc, size_t *words) {
    return *words > 20 ? NULL : cheney.image(gc, words);
}

static void an_image_that_does_not_fit_is_not_run(void **state) {
    (void)state;
    struct collector c = cheney;
    c.image = small_image;
    odd_program_passes(&c, &program,
                       "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nscript\n  full\n");
    parse_program(&program, "isoheap program 1\nheap\n  dead 30\nscript\n  full\n");
    verdict = run_here(&c, &cheney, &program);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_true(verdict.not_run);
    assert_string_equal(verdict.detail, "cheney has no room for the image of the initial heap");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_words_and_a_heap_that_grows_pass),
        cmocka_unit_test(each_defect_is_found),
        cmocka_unit_test(the_largest_heap_is_said_by_traits),
        cmocka_unit_test(values_are_cut_to_the_bits_that_there_are),
        cmocka_unit_test(an_image_that_does_not_fit_is_not_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
