/* SPDX-License-Identifier: MIT
 *
 * The conformance kit as a library: its steps, and what it answers of healthy and of broken
 * collectors.  conformance_test.sh does the same through the command.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry/registry.h"
#include "conformance/conform.h"
#include "tests/conformance/odd.h"
#include "tests/conformance/table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct conform_answer answer;

static unsigned step_named(const char *name) {
    for (unsigned s = 0; s < conform_steps(); s++)
        if (strcmp(conform_name(s), name) == 0)
            return s;
    fail_msg("no step %s", name);
    return 0;
}

static void steps_have_names_and_promises(void **state) {
    (void)state;
    assert_true(conform_steps() > 0);
    for (unsigned s = 0; s < conform_steps(); s++) {
        assert_true(strlen(conform_promise(s)) > 10);
        for (unsigned t = 0; t < s; t++) {
            assert_string_not_equal(conform_name(s), conform_name(t));
            assert_string_not_equal(conform_promise(s), conform_promise(t));
        }
    }
}

/* Nothing is broken, and what is not promised is told with a reason. */
static void healthy_collectors_keep_every_promise(void **state) {
    (void)state;
    const struct collector *const healthy[] = {&cheney, &mark_sweep, &incremental, &generational};
    for (unsigned c = 0; c < sizeof healthy / sizeof *healthy; c++) {
        unsigned kept = 0;
        for (unsigned s = 0; s < conform_steps(); s++) {
            conform_run(healthy[c], s, &answer);
            if (answer.result == CONFORM_BROKEN)
                fail_msg("%s, %s: %s", healthy[c]->name, conform_name(s), answer.text);
            if (answer.result == CONFORM_NOT_PROMISED)
                assert_true(answer.text[0]);
            kept += answer.result == CONFORM_KEPT;
        }
        assert_true(kept > conform_steps() / 2);
    }
}

enum { MOST_STEPS = 128 };

/* Every step of the collector; notes those that it keeps. */
static void must_be_healthy(const struct collector *c, bool kept[MOST_STEPS]) {
    for (unsigned s = 0; s < conform_steps(); s++) {
        conform_run(c, s, &answer);
        if (answer.result == CONFORM_BROKEN)
            fail_msg("%s, %s: %s (%u words)", c->name, conform_name(s), answer.text, answer.words);
        kept[s] |= answer.result == CONFORM_KEPT;
    }
}

static bool kept_by_the_registry(unsigned s) {
    for (unsigned n = 0; registered_collectors[n]; n++) {
        conform_run(registered_collectors[n], s, &answer);
        if (answer.result == CONFORM_KEPT)
            return true;
    }
    return false;
}

/* Steps that no odd collector has a use for are the registry's to keep: of each there is somebody
 * who keeps it, and somebody (table.h) who breaks it. */
static void each_step_is_kept_and_broken(void **state) {
    static const char *const breaks[] = {
#define X(name, step, base, what) #step,
        BROKEN_PROMISES(X)
#undef X
    };
    bool kept[MOST_STEPS] = {false};
    unsigned odd = 0;
    (void)state;
    assert_true(conform_steps() <= MOST_STEPS);
    conform_large(1 << 12); /* some of them collect at every third call */
    for (unsigned n = 0; odd_collector(n); n++)
        must_be_healthy(odd_collector(n), kept);
    for (unsigned s = 0; s < conform_steps(); s++) {
        bool broken = false;
        odd += kept[s];
        for (unsigned b = 0; b < sizeof breaks / sizeof *breaks; b++)
            broken |= strcmp(breaks[b], conform_name(s)) == 0;
        if (!broken)
            fail_msg("nobody breaks %s: tests/conformance/table.h wants a row", conform_name(s));
        if (!kept[s] && !kept_by_the_registry(s))
            fail_msg("nobody keeps %s: tests/conformance/odd.c wants a collector", conform_name(s));
    }
    conform_large(1 << 18);
    print_message("%u steps of %u are kept by an odd collector\n", odd, conform_steps());
    assert_true(odd * 10 > conform_steps() * 8);
}

static enum gc_result wrong_tag(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                unsigned tag, const word *raw) {
    return mark_sweep.alloc(gc, m, dst, wosize, tag < TAG_LAZY ? tag + 1 : tag, raw);
}

static struct gc *opened; /* is not closed when a promise is broken */
static struct gc *remembered_open(void) {
    return opened = mark_sweep.open();
}

static void a_broken_promise_is_told_in_words(void **state) {
    (void)state;
    struct collector bad = mark_sweep;
    bad.alloc = wrong_tag;
    bad.open = remembered_open;
    conform_run(&bad, step_named("alloc"), &answer);
    assert_int_equal(answer.result, CONFORM_BROKEN);
    assert_non_null(strstr(answer.text, "tag"));
    assert_true(answer.words > 0);
    mark_sweep.close(opened);
    conform_run(&bad, step_named("reset"), &answer); /* each step stands for itself */
    assert_int_equal(answer.result, CONFORM_KEPT);
}

static void what_is_not_claimed_is_not_tested(void **state) {
    (void)state;
    struct collector modest = mark_sweep;
    modest.traits.infix = false;
    conform_run(&modest, step_named("infix"), &answer);
    assert_int_equal(answer.result, CONFORM_NOT_PROMISED);
}

/* A table of 10,000 blocks is large enough for a smaller heap; and who says that he has no larger
 * one is asked for no larger one. */
static void a_table_that_is_too_small_is_found_in_a_large_heap(void **state) {
    (void)state;
    const struct collector *bad = collector_find(known_bad_collectors(), "bad_small_table");
    conform_large(30000);
    conform_run(bad, step_named("large"), &answer);
    assert_int_equal(answer.result, CONFORM_KEPT);
    conform_large(50000);
    struct collector modest = *bad;
    modest.traits.max_heap_words = 30000;
    modest.promise = NULL;
    conform_run(&modest, step_named("large"), &answer);
    assert_int_equal(answer.result, CONFORM_KEPT);
    conform_run(bad, step_named("large"), &answer);
    assert_int_equal(answer.result, CONFORM_BROKEN);
    assert_non_null(strstr(answer.text, "steps along a list of 12499 blocks"));
    conform_large(1 << 18);
}

static const struct collector *to_open;
static struct gc *noted_open(void) {
    return opened = to_open->open();
}

/* Whose defect shows at a rare moment, in a barrier, a record or an overflow, or in what is legal
 * in a heap. */
static void defects_of_known_bad_collectors_are_found(void **state) {
    static const char *const rows[][2] = {
        {"bad_no_barrier", "barrier"},       {"bad_old_no_barrier", "barrier"},
        {"bad_promoted_white", "barrier"},   {"bad_unrecorded_store", "recorded"},
        {"bad_init_unrecorded", "recorded"}, {"bad_promoted_unrecorded", "recorded"},
        {"bad_lost_overflow", "overflow"},   {"bad_strings_kept", "retained"},
        {"bad_raw_counted", "raw"},          {"bad_fragment_tagged", "walk"},
        {"bad_young_black", "black_young"}};
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct collector *bad = collector_find(known_bad_collectors(), rows[i][0]);
        struct collector noted = *bad;
        to_open = bad;
        noted.open = noted_open;
        conform_run(&noted, step_named(rows[i][1]), &answer);
        if (answer.result != CONFORM_BROKEN)
            fail_msg("%s keeps %s", rows[i][0], rows[i][1]);
        bad->close(opened);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_have_names_and_promises),
        cmocka_unit_test(healthy_collectors_keep_every_promise),
        cmocka_unit_test(each_step_is_kept_and_broken),
        cmocka_unit_test(a_broken_promise_is_told_in_words),
        cmocka_unit_test(what_is_not_claimed_is_not_tested),
        cmocka_unit_test(defects_of_known_bad_collectors_are_found),
        cmocka_unit_test(a_table_that_is_too_small_is_found_in_a_large_heap),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
