/* SPDX-License-Identifier: MIT
 *
 * Semantic coverage: every table has the features that the program has, and none that it has not;
 * watching changes no verdict.
 */
#include "harness/coverage.h"

#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "program/mutation/mutate.h"
#include "tests/support/figures.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static uint8_t table[COVERAGE_BYTES];

static struct verdict watch(const struct collector *subject, const char *text) {
    struct runner_options options = {
        .subject = subject, .reference = &cheney, .coverage = table, .coverage_parts = COVER_ALL};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    assert_non_null(runner);
    parse_program(&program, text);
    memset(table, 0, sizeof table);
    runner_run(runner, &program, &verdict);
    runner_close(runner);
    assert_int_equal(verdict.violation, VIOLATION_none);
    return verdict;
}

static unsigned count_set(unsigned from, unsigned to) {
    unsigned n = 0;
    for (unsigned i = from; i < to; i++)
        n += table[i];
    return n;
}

static void classes(void **state) {
    (void)state;
    assert_int_equal(coverage_tag(0, false), 0);
    assert_int_equal(coverage_tag(245, false), 1);
    assert_int_equal(coverage_tag(247, false), 3);
    assert_int_equal(coverage_tag(247, true), 4);
    assert_int_equal(coverage_tag(251, false), 7);
    assert_int_equal(coverage_tag(255, false), COVERAGE_TAGS - 1);
    assert_int_equal(coverage_distance(8, 8), 0);
    assert_int_equal(coverage_distance(7, 8), 1);
    assert_int_equal(coverage_distance(0, 4), 4);
    assert_int_equal(coverage_distance(0, 8), 5);
    assert_int_equal(coverage_distance(0, 8192), COVERAGE_DISTANCES - 2);
    assert_int_equal(coverage_distance(9, 8), COVERAGE_DISTANCES - 1);
}

static void pairs_and_phases(void **state) {
    (void)state;
    watch(&mark_sweep, "isoheap program 1\n"
                       "script\n"
                       "  r0 = alloc tag=0 [1]\n"
                       "  full\n"
                       "  r0.0 := 2\n"
                       "  r1 = r0.0\n");
    assert_int_equal(table[coverage_pair(OP_CODES, OP_ALLOC, PHASE_FRESH)], 1);
    assert_int_equal(table[coverage_pair(OP_ALLOC, OP_FULL, PHASE_COLLECTED)], 1);
    assert_int_equal(table[coverage_pair(OP_FULL, OP_STORE, PHASE_REST)], 1);
    assert_int_equal(table[coverage_pair(OP_STORE, OP_LOAD, PHASE_REST)], 1);
    assert_int_equal(count_set(COVERAGE_PAIR, COVERAGE_BLOCK), 4);
}

/* Operations without an effect are no part of a pair. */
static void skipped_operations(void **state) {
    (void)state;
    watch(&mark_sweep, "isoheap program 1\nscript\n  r1 = r0.0\n  full\n");
    assert_int_equal(table[coverage_pair(OP_CODES, OP_FULL, PHASE_COLLECTED)], 1);
    assert_int_equal(count_set(COVERAGE_PAIR, COVERAGE_BLOCK), 1);
}

static void blocks(void **state) {
    (void)state;
    watch(&mark_sweep, "isoheap program 1\n"
                       "heap\n"
                       "  b0 = closure arity=1,2 env=[b1]\n"
                       "  b1 = string [0x1, 0x2]\n"
                       "  b2 = block tag=0 [b1, b1, b3]\n"
                       "  b3 = block tag=248 [1]\n"
                       "  b4 = block tag=9 [1]\n" /* unreachable */
                       "roots\n"
                       "  r0 = b0+3\n"
                       "  r1 = b2\n"
                       "  r2 = b2\n"
                       "script\n"
                       "  full\n");
    assert_int_equal(table[coverage_block(4, 4, SHARING_INFIX)], 1); /* wosize 7 */
    assert_int_equal(table[coverage_block(8, 2, SHARING_MANY)], 1);
    assert_int_equal(table[coverage_block(0, 3, SHARING_TWO)], 1);
    assert_int_equal(table[coverage_block(5, 1, SHARING_ONE)], 1);
    assert_int_equal(count_set(COVERAGE_BLOCK, COVERAGE_FILL), 4);
}

static void heap_fill(void **state) {
    (void)state;
    struct verdict v = watch(&mark_sweep, "isoheap program 1\n"
                                          "config heap=16\n"
                                          "script\n"
                                          "  r0 = alloc tag=0 size=14 []\n" /* 15 words of 16 */
                                          "  r1 = alloc tag=0 size=3 []\n"
                                          "  full\n");
    assert_int_equal(v.counts.refusals, 1);
    assert_int_equal(table[coverage_fill(FILL_ALLOCATED, 1)], 1);
    assert_int_equal(table[coverage_fill(FILL_COLLECTED, 1)], 1);
    assert_int_equal(count_set(coverage_fill(FILL_REFUSED, 0), coverage_fill(FILL_COLLECTED, 0)),
                     1);
}

static const char star[] = "isoheap program 1\n"
                           "config mark-stack=%\n"
                           "heap\n"
                           "  b0 = block tag=0 [b1, b2, b3]\n"
                           "  b1 = block tag=0 [1]\n"
                           "  b2 = block tag=0 [1]\n"
                           "  b3 = block tag=0 [1]\n"
                           "roots\n"
                           "  r0 = b0\n"
                           "script\n"
                           "  full\n";

static void mark_stack_fill(void **state) {
    (void)state;
    const unsigned expected[] = {2, COVERAGE_DISTANCES - 1, 3, 0}; /* entries, distance: in pairs */
    char text[sizeof star];
    for (unsigned i = 0; i < 2; i++) {
        strcpy(text, star);
        *strchr(text, '%') = (char)('0' + expected[2 * i]);
        watch(&mark_sweep, text);
        assert_int_equal(table[coverage_fill(FILL_MARK_STACK, expected[2 * i + 1])], 1);
        assert_int_equal(
            count_set(coverage_fill(FILL_MARK_STACK, 0), coverage_fill(FILL_NURSERY, 0)), 1);
    }
}

/* A collector with a nursery notes what it holds; here cheney does so for its whole space. */
static struct gc_hooks *noted;
static size_t words_noted;

static void noting_reset(struct gc *g, const struct gc_config *config) {
    noted = config->hooks;
    words_noted = 0;
    cheney.reset(g, config);
}

static enum gc_result noting_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    words_noted += wosize + 1;
    gc_note_fill(noted, GC_FILL_NURSERY, words_noted);
    return cheney.alloc(g, m, dst, wosize, tag, raw);
}

static void nursery_fill(void **state) {
    (void)state;
    struct collector noting = cheney;
    noting.reset = noting_reset;
    noting.alloc = noting_alloc;
    watch(&noting, "isoheap program 1\n"
                   "config nursery=10\n"
                   "script\n"
                   "  r0 = alloc tag=0 size=7 []\n"
                   "  r0 = alloc tag=0 [1]\n");
    assert_int_equal(table[coverage_fill(FILL_NURSERY, 2)], 1);
    assert_int_equal(table[coverage_fill(FILL_NURSERY, 0)], 1);
    assert_int_equal(count_set(coverage_fill(FILL_NURSERY, 0), COVERAGE_DEATH), 2);
}

static void age_at_death(void **state) {
    (void)state;
    watch(&mark_sweep, "isoheap program 1\n"
                       "script\n"
                       "  r0 = alloc tag=0 [1]\n"
                       "  r1 = alloc tag=248 [1]\n"
                       "  r2 = string [0x1]\n"
                       "  drop r2\n"
                       "  full\n" /* the string has lived through none */
                       "  drop r1\n"
                       "  full\n" /* the object through one */
                       "  full\n"
                       "  drop r0\n"
                       "  full\n"); /* the block through three */
    assert_int_equal(table[coverage_death(8, 0)], 1);
    assert_int_equal(table[coverage_death(5, 1)], 1);
    assert_int_equal(table[coverage_death(0, 3)], 1);
    assert_int_equal(count_set(COVERAGE_DEATH, COVERAGE_BYTES), 3);
}

/* The same verdict with a table as without, the same table from run to run; over what mutation
 * makes, most features of the table are there at least once. */
static void watching_changes_nothing(void **state) {
    (void)state;
    static uint8_t all[COVERAGE_BYTES], bytes[1024], again[COVERAGE_BYTES];
    struct runner_options options = {.subject = &mark_sweep, .reference = &cheney, .digest = true};
    struct runner *plain = runner_open(&options);
    options.coverage = table;
    options.coverage_parts = COVER_ALL;
    struct runner *watched = runner_open(&options);
    struct mutation *m = mutation_open(NULL, NULL);
    size_t size = 0;
    assert_true(plain && watched && m);
    for (unsigned round = 0; round < 3000; round++) {
        struct verdict a, b;
        size = round % 50 ? size : 0;
        size = mutation_mutate(m, bytes, size, sizeof bytes, round);
        runner_run(plain, mutation_program(m), &a);
        memset(table, 0, sizeof table);
        runner_run(watched, mutation_program(m), &b);
        assert_int_equal(a.violation, b.violation);
        assert_true(a.digest == b.digest);
        memcpy(again, table, sizeof table);
        memset(table, 0, sizeof table);
        runner_run(watched, mutation_program(m), &b);
        assert_memory_equal(again, table, sizeof table);
        for (unsigned i = 0; i < COVERAGE_BYTES; i++)
            all[i] |= table[i];
    }
    memcpy(table, all, sizeof table);
    assert_int_equal(count_set(COVERAGE_USED, COVERAGE_BYTES), 0);
    figure("features: pairs", count_set(COVERAGE_PAIR, COVERAGE_BLOCK));
    figure("features: blocks", count_set(COVERAGE_BLOCK, COVERAGE_FILL));
    figure("features: fill of the mark stack",
           count_set(coverage_fill(FILL_MARK_STACK, 0), coverage_fill(FILL_NURSERY, 0)));
    figure("features: deaths", count_set(COVERAGE_DEATH, COVERAGE_BYTES));
    mutation_close(m);
    runner_close(plain);
    runner_close(watched);
}

static void parts(void **state) {
    (void)state;
    assert_int_equal(coverage_parts("all"), COVER_ALL);
    assert_int_equal(coverage_parts("fill,pairs"), COVER_FILL | COVER_PAIRS);
    assert_int_equal(coverage_parts("default"), COVER_DEFAULT);
    assert_int_equal(coverage_parts("fill,"), 0);
    assert_int_equal(coverage_parts("fil"), 0);
    static const unsigned from[] = {COVERAGE_PAIR, COVERAGE_BLOCK, COVERAGE_FILL, COVERAGE_DEATH,
                                    COVERAGE_USED};
    static const unsigned part[] = {COVER_PAIRS, COVER_BLOCKS, COVER_FILL, COVER_DEATHS};
    parse_program(&program, "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  full\n"
                            "  drop r0\n  full\n");
    for (unsigned p = 0; p < 4; p++) {
        struct runner_options options = {
            .subject = &mark_sweep, .reference = &cheney, .coverage = table};
        options.coverage_parts = part[p];
        struct runner *runner = runner_open(&options);
        struct verdict verdict;
        memset(table, 0, sizeof table);
        runner_run(runner, &program, &verdict);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(count_set(from[i], from[i + 1]) > 0, i == p);
        runner_close(runner);
    }
}

/* A collector that is never done with its cycle: pairs in the phase between its slices. */
static enum gc_result endless_step(struct gc *g, size_t budget) {
    (void)g;
    (void)budget;
    return GC_OK;
}

static void cycles(void **state) {
    (void)state;
    struct collector slicing = cheney;
    slicing.step = endless_step;
    watch(&slicing, "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  slice\n  drop r0\n");
    assert_int_equal(table[coverage_pair(OP_ALLOC, OP_SLICE, PHASE_CYCLE)], 1);
    assert_int_equal(table[coverage_pair(OP_SLICE, OP_DROP, PHASE_CYCLE)], 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),
        cmocka_unit_test(pairs_and_phases),
        cmocka_unit_test(skipped_operations),
        cmocka_unit_test(blocks),
        cmocka_unit_test(heap_fill),
        cmocka_unit_test(mark_stack_fill),
        cmocka_unit_test(nursery_fill),
        cmocka_unit_test(age_at_death),
        cmocka_unit_test(parts),
        cmocka_unit_test(cycles),
        cmocka_unit_test(watching_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
