/* SPDX-License-Identifier: MIT
 *
 * What a subject hands over is looked at before the harness relies on it: an image with a wrong
 * place or size, and promises out of bounds for one config alone, are verdicts on the subject.
 */
#include "collectors/cakeml/cakeml.h"
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static char text[1 << 16];

static void must_be_guilty(const struct collector *subject, const char *source,
                           enum violation violation, const char *detail) {
    struct runner_options options = {.subject = subject, .reference = &cheney};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    assert_non_null(runner);
    parse_program(&program, source);
    runner_run(runner, &program, &verdict);
    assert_false(verdict.harness_error);
    assert_string_equal(violation_name(verdict.violation), violation_name(violation));
    assert_string_equal(verdict.detail, detail);
    assert_int_equal(verdict.guilty, PARTY_SUBJECT);
    runner_report(runner, &verdict, &program, text, sizeof text);
    assert_non_null(strstr(text, detail));
    runner_close(runner);
}

/* ---- images -----------------------------------------------------------------------------------
 */

#define ONE_BLOCK "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nscript\n  full\n"

static word *no_words(struct gc *gc, size_t *words) {
    word *base = mark_sweep.image(gc, words);
    *words = 1;
    return base;
}
static word *many_words(struct gc *gc, size_t *words) {
    word *base = mark_sweep.image(gc, words);
    *words = SIZE_MAX / 2;
    return base;
}
static word *nowhere(struct gc *gc, size_t *words) {
    (void)mark_sweep.image(gc, words);
    return NULL;
}
static word *between_words(struct gc *gc, size_t *words) {
    return (word *)(void *)((char *)mark_sweep.image(gc, words) + 1);
}

static void images(void **state) {
    (void)state;
    struct collector subject = mark_sweep;
    subject.image = no_words;
    must_be_guilty(&subject, ONE_BLOCK, VIOLATION_ill_formed_heap,
                   "image gives fewer words than the program needs");
    subject.image = many_words;
    must_be_guilty(&subject, ONE_BLOCK, VIOLATION_ill_formed_heap,
                   "image gives more words than the heap has");
    subject.image = between_words;
    must_be_guilty(&subject, ONE_BLOCK, VIOLATION_ill_formed_heap,
                   "image gives no address of words");
}

/* That is no fault: it has no room for it, and the program means nothing to it. */
static void no_image(void **state) {
    (void)state;
    struct collector subject = mark_sweep;
    struct verdict verdict;
    subject.image = nowhere;
    parse_program(&program, ONE_BLOCK);
    verdict = run_here(&subject, &cheney, &program);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_true(verdict.not_run);
    assert_non_null(strstr(verdict.detail, "has no room for the image of the initial heap"));
}

/* ---- promises ---------------------------------------------------------------------------------
 */

/* Nothing is wrong with it under the config that is looked at when a collector is opened. */
static void promise_too_much(const struct gc_config *config, struct collector_traits *traits) {
    generational.promise(config, traits);
    if (config->heap_words == 77)
        traits->nursery_words = 1 << 20;
}
static void promise_too_many(const struct gc_config *config, struct collector_traits *traits) {
    generational.promise(config, traits);
    if (config->heap_words == 77)
        traits->full_until_exact = 1 << 30;
}

#define SEVENTY_SEVEN "isoheap program 1\nconfig heap=77\nscript\n  r0 = alloc tag=0 [1]\n  full\n"

static void promises_for_one_config(void **state) {
    (void)state;
    struct collector subject = generational;
    subject.promise = promise_too_much;
    must_be_guilty(&subject, SEVENTY_SEVEN, VIOLATION_collector_assertion,
                   "trait nursery_words needs the function walk, and to be 8192 "
                   "(GC_NURSERY_WORDS) at most");
    subject.promise = promise_too_many;
    must_be_guilty(&subject, SEVENTY_SEVEN, VIOLATION_collector_assertion,
                   "trait full_until_exact needs the functions collect and walk, and to be 16 "
                   "(GC_FULL_COLLECTIONS) at most");
}

static void promise_less_later(const struct gc_config *config, struct collector_traits *traits) {
    cakeml.promise(config, traits);
    if (config->heap_words == 77 && config->kind == 2)
        traits->max_wosize = SIZE_MAX;
}

static void promises_after_a_switch(void **state) {
    (void)state;
    struct collector subject = cakeml;
    subject.promise = promise_less_later;
    must_be_guilty(&subject,
                   "isoheap program 1\nconfig heap=77 kind=1\nscript\n  r0 = alloc tag=0 [1]\n"
                   "  kind 2\n",
                   VIOLATION_collector_assertion,
                   "trait max_wosize needs to be 2^54 - 1 at most, which a header has room for");
}

/* ---- nothing ----------------------------------------------------------------------------------
 */

static struct gc *open_nothing(void) {
    return NULL;
}

static void a_collector_that_does_not_open(void **state) {
    (void)state;
    struct collector subject = mark_sweep;
    subject.open = open_nothing;
    must_be_guilty(&subject, ONE_BLOCK, VIOLATION_collector_assertion,
                   "the collector cannot be opened: open returns NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(images),
        cmocka_unit_test(no_image),
        cmocka_unit_test(promises_for_one_config),
        cmocka_unit_test(promises_after_a_switch),
        cmocka_unit_test(a_collector_that_does_not_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
