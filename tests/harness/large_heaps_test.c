/* SPDX-License-Identifier: MIT
 *
 * Runs with large heaps: what items by count mean, that a run leaves nothing to the next one, and
 * who is not given such a heap.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "harness/internal.h"
#include "program/cut.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>
#include <stdio.h>
#include <sys/resource.h>

static const struct collector *const healthy[] = {&mark_sweep, &incremental, &compact,
                                                  &generational};
enum { HEALTHY = sizeof healthy / sizeof *healthy };

static struct program program, other;

/* A list, a ring of its elements, dead blocks and gaps; by count and one by one. */
static const char by_count[] = "isoheap program 1\n"
                               "heap\n"
                               "  b0 = 5 of block tag=0 [each b1, next, 7]\n"
                               "  2 of free 2\n"
                               "  b1 = 3 of block tag=1 [each b0]\n"
                               "  2 of dead 1\n"
                               "  b2 = 2 of closure arity=1,2 env=[next, b0]\n"
                               "  b3 = 2 of string [0xff]\n"
                               "  static b4 = 2 of block tag=2 [next]\n"
                               "roots\n"
                               "  r0 = b0\n"
                               "  r1 = b2+3\n"
                               "  r2 = b4\n"
                               "script\n"
                               "  full\n"
                               "  r3 = alloc tag=0 [r0]\n"
                               "  minor\n"
                               "  full\n";
static const char one_by_one[] = "isoheap program 1\n"
                                 "heap\n"
                                 "  b0 = block tag=0 [b5, b1, 7]\n"
                                 "  b1 = block tag=0 [b6, b2, 7]\n"
                                 "  b2 = block tag=0 [b7, b3, 7]\n"
                                 "  b3 = block tag=0 [b5, b4, 7]\n"
                                 "  b4 = block tag=0 [b6, 0, 7]\n"
                                 "  free 2\n"
                                 "  free 2\n"
                                 "  b5 = block tag=1 [b0]\n"
                                 "  b6 = block tag=1 [b1]\n"
                                 "  b7 = block tag=1 [b2]\n"
                                 "  dead 1\n"
                                 "  dead 1\n"
                                 "  b8 = closure arity=1,2 env=[b9, b0]\n"
                                 "  b9 = closure arity=1,2 env=[0, b0]\n"
                                 "  b10 = string [0xff]\n"
                                 "  b11 = string [0xff]\n"
                                 "  static b12 = block tag=2 [b13]\n"
                                 "  static b13 = block tag=2 [0]\n"
                                 "roots\n"
                                 "  r0 = b0\n"
                                 "  r1 = b8+3\n"
                                 "  r2 = b12\n"
                                 "script\n"
                                 "  full\n"
                                 "  r3 = alloc tag=0 [r0]\n"
                                 "  minor\n"
                                 "  full\n";

/* The code pointers of closures are numbered by items: the one thing that differs. */
static void drop_closures(struct program *p) {
    for (unsigned i = p->n_items; i-- > 0;)
        if (p->items[i].kind == ITEM_CLOSURE)
            cut_items(p, i, 1, MEND_UNIT, REST_NOTHING);
}

static void a_count_means_so_many_blocks(void **state) {
    (void)state;
    for (unsigned c = 0; c < HEALTHY; c++) {
        struct runner *r = open_pair(healthy[c], &cheney);
        parse_program(&program, by_count);
        parse_program(&other, one_by_one);
        assert_int_equal(program_heap_words(&program), program_heap_words(&other));
        must_pass(r, &program, "by count", NULL);
        must_pass(r, &other, "one by one", NULL);
        drop_closures(&program);
        drop_closures(&other);
        uint64_t digest = must_pass(r, &program, "by count", NULL)->digest;
        assert_true(must_pass(r, &other, "one by one", NULL)->digest == digest);
        runner_close(r);
    }
}

static const char long_list[] = "isoheap program 1\n"
                                "config heap=400000 mark-stack=0 slice=4096\n"
                                "heap\n"
                                "  b0 = 100000 of block tag=0 [7, next]\n"
                                "  100 of dead 40\n"
                                "roots\n"
                                "  r0 = b0\n"
                                "script\n"
                                "  slice\n"
                                "  r1 = alloc tag=0 [r0, 1]\n"
                                "  full\n"
                                "  r2 = exhaust 3\n"
                                "  drop r0\n"
                                "  compact\n"
                                "  full\n";

/* The room that a run has made changes nothing for the next. */
static void large_runs_leave_nothing_behind(void **state) {
    (void)state;
    for (unsigned c = 0; c < HEALTHY; c++) {
        struct runner *r = open_pair(healthy[c], &cheney), *fresh = open_pair(healthy[c], &cheney);
        parse_program(&program, long_list);
        parse_program(&other, one_by_one);
        uint64_t small = must_pass(fresh, &other, "small", NULL)->digest;
        uint64_t large = must_pass(r, &program, "large", NULL)->digest;
        assert_int_equal(r->model.most_objects, side_words(400000));
        assert_true(must_pass(r, &other, "small after large", NULL)->digest == small);
        assert_true(must_pass(fresh, &program, "large after small", NULL)->digest == large);
        assert_int_equal(r->model.most_objects, MODEL_OBJECTS);
        assert_int_equal(r->room, 400000);
        assert_int_equal(r->side[PARTY_SUBJECT].room, side_words(400000));
        assert_true(side_words(400000) >= 400000 + GC_NURSERY_WORDS + PROGRAM_HEAP_WORDS);
        runner_close(r);
        runner_close(fresh);
    }
}

static void seed_passes(const char *path, void *context) {
    struct runner *r = context;
    load_program(&program, path);
    assert_true(program_is_large(&program));
    assert_false(must_pass(r, &program, path, NULL)->not_run);
}

static void large_seeds_pass_on_each_that_takes_them(void **state) {
    (void)state;
    for (unsigned c = 0; c < HEALTHY; c++) {
        struct runner *r = open_pair(healthy[c], &cheney);
        assert_true(for_each_program(SEEDS_DIR "/large", seed_passes, r) >= HEALTHY);
        runner_close(r);
    }
}

/* Nobody has a snapshot of a million blocks. */
static void large_heaps_are_not_pictured(void **state) {
    (void)state;
    struct snapshot s;
    struct runner *r = open_pair(&mark_sweep, &cheney);
    parse_program(&program, long_list);
    must_pass(r, &program, "large", NULL);
    assert_false(runner_snapshot(r, PARTY_SUBJECT, &s));
    assert_false(runner_snapshot(r, PARTY_MODEL, &s));
    parse_program(&program, one_by_one);
    must_pass(r, &program, "small", NULL);
    assert_true(runner_snapshot(r, PARTY_MODEL, &s));
    runner_close(r);
}

static void small_tables_are_not_given_large_heaps(void **state) {
    (void)state;
    struct collector small = mark_sweep;
    small.traits.max_heap_words = 399999;
    parse_program(&program, long_list);
    struct verdict v = run_here(&small, &cheney, &program);
    assert_true(v.not_run);
    assert_string_equal(v.detail,
                        "mark_sweep has no heap of more than 399999 words (max_heap_words)");
    small.traits.max_heap_words = 400000;
    assert_false(run_here(&small, &cheney, &program).not_run);
}

/* Who cannot have the memory is told, and not killed. */
static void memory_that_is_not_there_is_refused_in_words(void **state) {
    (void)state;
    struct rlimit before, limit;
    char why[VERDICT_TEXT];
    assert_false(room_is_short(PROGRAM_HEAP_WORDS, why, sizeof why));
    assert_false(room_is_short(PROGRAM_HEAP_WORDS + 1, why, sizeof why));
    assert_int_equal(getrlimit(RLIMIT_AS, &before), 0);
    limit = before;
    limit.rlim_cur = (rlim_t)256 << 20;
    assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
    bool is_short = room_is_short(PROGRAM_LARGE_WORDS, why, sizeof why);
    assert_int_equal(setrlimit(RLIMIT_AS, &before), 0);
    assert_true(is_short);
    assert_non_null(strstr(why, "is not given a heap of 134217728 words: a run may need 20480 MiB, "
                                "and there are 256 MiB"));
    parse_program(&program, long_list);
    assert_int_equal(runner_mib(&program), 400000u * ROOM_EACH >> 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_count_means_so_many_blocks),
        cmocka_unit_test(large_runs_leave_nothing_behind),
        cmocka_unit_test(large_seeds_pass_on_each_that_takes_them),
        cmocka_unit_test(large_heaps_are_not_pictured),
        cmocka_unit_test(small_tables_are_not_given_large_heaps),
        cmocka_unit_test(memory_that_is_not_there_is_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
