/* SPDX-License-Identifier: MIT
 *
 * The oracles of cost, work, thrift, ageing and growth: what is legal for them although it is much,
 * what they find in collectors that are spoilt here, and what they count with.
 */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry/registry.h"
#include "harness/allocated/allocated.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"
#include "views/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct program program;
static struct verdict verdict;

/* How often the oracle has judged the collector in that program, which passes. */
static uint64_t judged(const struct collector *c, const char *source, enum oracle oracle) {
    static struct run_counts counts;
    memset(&counts, 0, sizeof counts);
    struct runner *r = open_pair(c, NULL);
    parse_program(&program, source);
    must_pass(r, &program, c->name, &counts);
    runner_close(r);
    return counts.oracles[oracle];
}

/* ---- samples ----------------------------------------------------------------------------------
 */

/* Of programs that no sample has, a thorough run looks at all the same. */
static void a_thorough_run_looks_at_all(void **state) {
    static const char source[] = "isoheap program 1\nconfig heap=300\nscript\n"
                                 "  r0 = list 20 0\n  full\n  r1 = list 20 0\n  full\n  full\n";
    (void)state;
    parse_program(&program, source);
    for (unsigned thorough = 0; thorough < 2; thorough++) {
        static struct run_counts counts;
        struct runner_options options = {.subject = &mark_sweep,
                                         .thorough = thorough ? ORACLES_ALL : 0};
        struct runner *r = runner_open(&options);
        memset(&counts, 0, sizeof counts);
        must_pass(r, &program, "mark_sweep", &counts);
        runner_close(r);
        assert_int_equal(counts.oracles[ORACLE_growth], thorough);
        assert_int_equal(counts.oracles[ORACLE_phases] > 12, thorough);
    }
}

/* ---- what is legal ----------------------------------------------------------------------------
 */

/* A mark stack of one entry, which overflows for every block of an array of arrays. */
static void rescans_are_legal(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nconfig heap=1024 mark-stack=1\nscript\n  r0 = tree 100 3\n"
                  "  r1 = array 100 r0\n  full\n  full\n  compact\n  r2 = exhaust 2\n  full\n");
    all_must_pass("isoheap program 1\nconfig heap=1024 mark-stack=1 variant=7\nscript\n"
                  "  r0 = tree 100 3\n  r1 = array 100 r0\n  full\n  compact\n  full\n");
}

/* Survivors that no free block is large enough for are looked at again in each minor collection,
 * and look for one each time. */
static void a_full_heap_is_legal(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nconfig heap=64 nursery=32 age=1\nscript\n"
                  "  r0 = list 20 0\n  r1 = list 20 0\n  r2 = list 20 0\n  minor\n  full\n"
                  "  r0 = 0\n  r3 = list 20 0\n  r4 = exhaust 0\n  minor\n  minor\n  full\n");
    all_must_pass("isoheap program 1\nconfig heap=16 nursery=8 age=15\nheap\n"
                  "  b0 = block tag=0 [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15]\nroots\n"
                  "  r0 = b0\nscript\n  r1 = alloc tag=0 size=2 []\n  minor\n  minor\n"
                  "  r2 = alloc tag=0 size=7 []\n  r3 = alloc tag=0 size=4 []\n  full\n");
}

/* Gaps of the initial heap are not merged, and no collector that copies can use them. */
static void gaps_are_legal(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nconfig heap=40\nheap\n  free 5\n  free 5\n  fragment\n"
                  "  b0 = block tag=0 [1]\n  dead 3\n  free 7\n  b1 = block tag=0 [b0]\nroots\n"
                  "  r0 = b1\nscript\n  r1 = alloc tag=0 size=11 []\n  r2 = alloc tag=0 size=7 []\n"
                  "  full\n  r3 = alloc tag=0 size=3 []\n");
    all_must_pass(
        "isoheap program 1\nconfig heap=64 variant=1\nscript\n  r0 = exhaust 0\n  r0 = 0\n"
        "  full\n  r1 = alloc tag=0 size=20 []\n  r2 = alloc tag=0 size=1 []\n  full\n");
}

/* Blocks that are large, at the border, or promoted with all others by a full collection. */
static void ages_are_legal(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nconfig nursery=16 large=8 age=2\nscript\n"
                  "  r0 = alloc tag=0 size=7 []\n  r1 = alloc tag=0 size=6 []\n"
                  "  r2 = alloc tag=0 size=5 []\n  minor\n  full\n  r3 = alloc tag=0 size=1 []\n"
                  "  minor\n  r4 = r3\n  minor\n  minor\n  r5 = alloc tag=0 size=2 [r4]\n  full\n"
                  "  kind 1\n  r6 = alloc tag=0 size=2 [r5]\n  slice 9\n  minor\n  slice 99\n"
                  "  minor\n");
}

/* Slices of a word, of more than there is, across the ends of phases and cycles, after a full mark
 * stack, and with a minor collection before. */
static void slices_of_any_budget_are_legal(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nconfig heap=128 mark-stack=1 nursery=16 slice=1\nheap\n"
                  "  b0 = block tag=0 [b1, b2, b3, b4]\n  b1 = block tag=0 [b0, b5]\n"
                  "  b2 = string [0x1]\n  fragment\n  b3 = block tag=0 [b5, b4]\n"
                  "  b4 = block tag=0 [b3]\n  dead 9\n  b5 = block tag=0 [1, 2, 3, 4, 5, 6]\n"
                  "roots\n  r0 = b0\n  r1 = b5\nscript\n  slice 1\n  slice 1\n  slice 2\n"
                  "  r2 = alloc tag=0 size=3 [r0]\n  slice 1\n  minor\n  slice 1\n  slice 7\n"
                  "  kind 1\n  r3 = list 9 0\n  slice 1\n  slice 1\n  r3 = 0\n  slice 1000\n"
                  "  slice 1000\n  r4 = list 5 0\n  slice 3\n  full\n  slice 1\n  slice 2\n");
}

/* Whoever looks at the heap in the middle of a slice, behind its minor collection, sees young
 * blocks no longer that the slice had to promote. */
static void a_walk_inside_a_slice_is_legal(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nscript\n  r0 = array 26 0\n  minor\n  kind 1\n  slice\n");
}

static void each_judges(void **state) {
    (void)state;
    const char *source =
        "isoheap program 1\nscript\n  r0 = alloc tag=0 size=2 []\n  minor\n  minor\n"
        "  r1 = alloc tag=0 size=2 [r0]\n  full\n";
    assert_true(judged(&generational, source, ORACLE_work) >= 5);
    assert_true(judged(&generational, source, ORACLE_thrift) >= 2);
    assert_true(judged(&generational, source, ORACLE_ageing) >= 4);
    assert_int_equal(judged(&mark_sweep, source, ORACLE_ageing), 0);
    /* Of programs with more than two blocks and collections one in sixteen. */
    const char *list = "isoheap program 1\nscript\n  r0 = list 15 0\n";
    assert_int_equal(judged(&mark_sweep, list, ORACLE_growth), 0);
    list = "isoheap program 1\nscript\n  r0 = list 16 0\n";
    assert_int_equal(judged(&mark_sweep, list, ORACLE_growth), 1);
    /* Without coalescing a heap wears out, and each round takes more steps. */
    assert_int_equal(judged(&mark_sweep, "isoheap program 1\nconfig variant=1\n", ORACLE_growth),
                     0);
}

/* ---- what is found ----------------------------------------------------------------------------
 */

static struct gc_config config;
static void *kept;      /* the last of a list of blocks of malloc */
static uint64_t steps;  /* that each collection takes more than the one before */
static uint64_t excess; /* that it takes */

static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    excess = 0;
    cheney.reset(gc, c);
}
static enum gc_result collect_and_tick(struct gc *gc, enum gc_collection kind) {
    excess += steps;
    for (uint64_t n = 0; n < excess; n++)
        gc_tick(config.hooks);
    return cheney.collect(gc, kind);
}
static enum gc_result collect_and_keep(struct gc *gc, enum gc_collection kind) {
    void **block = malloc(200);
    assert_non_null(block);
    *block = kept;
    kept = block;
    return cheney.collect(gc, kind);
}
static char *mapped[1 << 12];
static unsigned n_mapped;
static enum gc_result collect_and_map(struct gc *gc, enum gc_collection kind) {
    assert_true(n_mapped < sizeof mapped / sizeof *mapped);
    mapped[n_mapped] = mmap(NULL, 1 << 16, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(mapped[n_mapped++], MAP_FAILED);
    return cheney.collect(gc, kind);
}
static enum gc_result alloc_and_collect(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                        unsigned tag, const word *raw) {
    if (wosize == 3)
        cheney.collect(gc, GC_FULL);
    return cheney.alloc(gc, m, dst, wosize, tag, raw);
}

static void steps_have_a_bound(void **state) {
    (void)state;
    struct collector c = cheney;
    c.reset = note_config;
    c.collect = collect_and_tick;
    /* 36 slots, two blocks of three words, one unused extent: 43 steps, and one for each block. */
    const char *source = "isoheap program 1\nconfig heap=65\nscript\n  r0 = alloc tag=0 size=2 []\n"
                         "  r1 = alloc tag=0 size=2 []\n  full\n";
    steps = 41;
    assert_true(judged(&c, source, ORACLE_work) > 0);
    steps = 44;
    verdict = *must_break(&c, &program, source, VIOLATION_too_many_steps);
    assert_int_equal(verdict.oracle, ORACLE_work);
    assert_int_equal(verdict.op, 2);
    steps = 0;
}

static void steps_may_not_grow(void **state) {
    (void)state;
    struct collector c = cheney;
    c.reset = note_config;
    c.collect = collect_and_tick;
    steps = 1;
    verdict = *must_break(&c, &program, "isoheap program 1\n", VIOLATION_work_grows);
    assert_int_equal(verdict.oracle, ORACLE_growth);
    steps = 0;
}

static void memory_may_not_grow(void **state) {
    (void)state;
    struct collector c = cheney;
    c.collect = collect_and_keep;
    verdict = *must_break(&c, &program, "isoheap program 1\n", VIOLATION_memory_grows);
    assert_int_equal(verdict.oracle, ORACLE_growth);
    for (void *next; kept; kept = next) {
        next = *(void **)kept;
        free(kept);
    }
}

/* Nor may what a collector maps for itself, which malloc does not know of. */
static void mappings_may_not_grow(void **state) {
    (void)state;
    struct collector c = cheney;
    c.collect = collect_and_map;
    verdict = *must_break(&c, &program, "isoheap program 1\n", VIOLATION_memory_grows);
    assert_int_equal(verdict.oracle, ORACLE_growth);
    assert_non_null(strstr(verdict.expected, "mapped"));
    for (unsigned n = 0; n < n_mapped; n++)
        munmap(mapped[n], 1 << 16);
}

static void room_must_be_used(void **state) {
    (void)state;
    struct collector c = cheney;
    c.alloc = alloc_and_collect;
    verdict = *must_break(&c, &program,
                          "isoheap program 1\nscript\n  r0 = alloc tag=0 size=2 []\n"
                          "  r1 = alloc tag=0 size=3 []\n",
                          VIOLATION_too_many_collections);
    assert_int_equal(verdict.oracle, ORACLE_thrift);
    assert_int_equal(verdict.op, 1);
}

/* ---- what is counted with ---------------------------------------------------------------------
 */

static void words_in_use_are_counted(void **state) {
    (void)state;
    uint64_t in_use[3] = {~(uint64_t)0, 5, (uint64_t)1 << 63};
    struct graph g = {.words = 192, .nursery_words = 64, .in_use = in_use};
    assert_int_equal(heap_in_use(&g, 0, 192), 67);
    assert_int_equal(heap_in_use(&g, 0, 0), 0);
    assert_int_equal(heap_in_use(&g, 60, 65), 5);
    assert_int_equal(heap_in_use(&g, 65, 66), 0);
    assert_int_equal(heap_in_use(&g, 66, 191), 1);
    assert_int_equal(heap_in_use(&g, 191, 192), 1);
    struct heap_facts facts = {.live = 10, .live_words = 40, .extents = 13};
    struct heap_size size = heap_size(&g, &facts);
    assert_int_equal(size.blocks, 10);
    assert_int_equal(size.words, 40);
    assert_int_equal(size.gaps, 3);
    assert_int_equal(size.young, 0);
    size = heap_size_but_young(&facts);
    assert_int_equal(size.gaps, 3);
    assert_int_equal(size.young, 0);
    in_use[2] |= 14;
    assert_int_equal(heap_young(&g), 2); /* four words */
}

static void most_steps_are_counted(void **state) {
    (void)state;
    struct heap_size size = {.blocks = 10, .words = 40, .gaps = 4, .young = 2};
    struct gc_config c = {.mark_stack = 5, .mutators = 1};
    struct collector_traits traits = {.linear = 2};
    assert_int_equal(heap_most_steps(&compact, &traits, &c, &size), 2 * (44 + GC_SLOTS));
    traits.rescans = true; /* two markings, each with three looks at 14 blocks and gaps */
    assert_int_equal(heap_most_steps(&compact, &traits, &c, &size), 2 * (44 + GC_SLOTS) + 84);
    c.mark_stack = 0;
    assert_int_equal(heap_most_steps(&compact, &traits, &c, &size), 2 * (44 + GC_SLOTS));
    assert_int_equal(heap_most_steps(&generational, &traits, &c, &size),
                     2 * (44 + GC_SLOTS) + 6 * 2 * 14);
}

static void steps_of_a_slice_are_counted(void **state) {
    (void)state;
    struct heap_size size = {.blocks = 10, .words = 40, .gaps = 4, .young = 2};
    struct gc_config c = {.mutators = 1};
    struct collector_traits traits = {.paced = 2};
    assert_int_equal(heap_slice_steps(&incremental, &traits, &c, &size, 5, false), 2 * 7);
    assert_int_equal(heap_slice_steps(&incremental, &traits, &c, &size, 5, true),
                     2 * (7 + GC_SLOTS));
    assert_int_equal(heap_slice_steps(&generational, &traits, &c, &size, 5, false), 2 * 7);
    assert_int_equal(heap_slice_steps(&generational, &traits, &c, &size, 5, true),
                     2 * (7 + GC_SLOTS) + 3 * 16);
    assert_true(heap_slice_steps(&incremental, &traits, &c, &size, SIZE_MAX, true) >= UINT32_MAX);
}

static void malloc_is_counted(void **state) {
    (void)state;
    size_t before = memory_allocated();
    if (before == 0)
        skip(); /* this C library does not say */
    void *block = malloc(100000);
    assert_non_null(block);
    assert_true(memory_allocated() >= before + 100000);
    free(block);
    assert_true(memory_allocated() < before + 100000);
}

static void mappings_are_counted(void **state) {
    (void)state;
    size_t before = memory_mapped();
    if (before == 0)
        skip(); /* this system does not say */
    void *map = mmap(NULL, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(map, MAP_FAILED);
    assert_int_equal(memory_mapped(), before + (1 << 20));
    munmap(map, 1 << 20);
    assert_int_equal(memory_mapped(), before);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_thorough_run_looks_at_all),
        cmocka_unit_test(rescans_are_legal),
        cmocka_unit_test(a_full_heap_is_legal),
        cmocka_unit_test(gaps_are_legal),
        cmocka_unit_test(ages_are_legal),
        cmocka_unit_test(slices_of_any_budget_are_legal),
        cmocka_unit_test(a_walk_inside_a_slice_is_legal),
        cmocka_unit_test(each_judges),
        cmocka_unit_test(steps_have_a_bound),
        cmocka_unit_test(steps_may_not_grow),
        cmocka_unit_test(memory_may_not_grow),
        cmocka_unit_test(mappings_may_not_grow),
        cmocka_unit_test(room_must_be_used),
        cmocka_unit_test(words_in_use_are_counted),
        cmocka_unit_test(most_steps_are_counted),
        cmocka_unit_test(steps_of_a_slice_are_counted),
        cmocka_unit_test(malloc_is_counted),
        cmocka_unit_test(mappings_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
