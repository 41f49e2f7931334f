/* SPDX-License-Identifier: MIT
 *
 * The incremental collector and Definition 6: the seeds pass and are judged, cycles end in as many
 * slices as their work allows, the summary of the mutator's changes is exact, and collectors that
 * do the work of a cycle in other calls are no false alarm.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "oracles/statements/definition6.h"
#include "program/bytes/bytes.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct run_counts total;

static uint64_t pass(struct runner *runner, const char *what) {
    return must_pass(runner, &program, what, &total)->digest;
}

static void pass_one(const char *path, void *runner) {
    load_program(&program, path);
    uint64_t digest = pass(runner, path);
    assert_int_equal(pass(runner, path), digest);
}

static void pass_all(const struct collector *subject, const struct collector *reference) {
    struct runner *runner = open_pair(subject, reference);
    assert_true(for_each_program(SEEDS_DIR "/incremental", pass_one, runner) > 0);
    for_each_program(SEEDS_DIR "/mark_sweep", pass_one, runner);
    runner_close(runner);
}

static void seeds_pass_and_are_judged(void **state) {
    (void)state;
    memset(&total, 0, sizeof total);
    pass_all(&incremental, &cheney);
    figures_of_counts("incremental against cheney", &total);
    pass_all(&incremental, NULL);
    pass_all(&cheney, &incremental);
    pass_all(&incremental, &mark_sweep);
}

/* ---- legal odd collectors ---------------------------------------------------------------------
 */

static enum gc_result slicing_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    incremental.step(gc, wosize + 1);
    return incremental.alloc(gc, m, dst, wosize, tag, raw);
}
static enum gc_result slicing_store(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                    unsigned value) {
    enum gc_result result = incremental.store(gc, m, obj, i, value);
    incremental.step(gc, 2);
    return result;
}
static enum gc_result whole_step(struct gc *gc, size_t budget) {
    (void)budget;
    incremental.collect(gc, GC_FULL);
    return GC_IDLE;
}

/* Cycles may begin and end in any call, several of them in one. */
static void cycles_in_other_calls_are_no_violation(void **state) {
    (void)state;
    struct collector odd = incremental;
    odd.traits.waits = odd.traits.rescans = false; /* it collects where it need not */
    odd.traits.linear = odd.traits.paced = 0;
    odd.alloc = slicing_alloc;
    pass_all(&odd, &cheney);
    odd.store = slicing_store;
    pass_all(&odd, &cheney);
    odd.step = whole_step;
    pass_all(&odd, NULL);
    odd.image = NULL; /* a cycle is under way when the script begins */
    odd.adopt = NULL;
    pass_all(&odd, &cheney);
}

/* Without the function that tells of cycles nothing is judged as one (and then colours in the
 * middle of one are not the promise of property 4). */
static void a_collector_that_does_not_tell_is_not_judged(void **state) {
    (void)state;
    struct collector silent = incremental;
    silent.cycle = NULL;
    silent.traits.whitens = silent.traits.slices = false;
    silent.traits.paced = 0;
    memset(&total, 0, sizeof total);
    pass_all(&silent, &cheney);
    assert_int_equal(total.oracles[ORACLE_snapshot], 0);
}

static void the_oracle_can_be_left_out(void **state) {
    (void)state;
    struct runner_options options = {.subject = &incremental,
                                     .oracles = ORACLES_ALL & ~ORACLE_BIT(ORACLE_snapshot)};
    struct runner *runner = runner_open(&options);
    memset(&total, 0, sizeof total);
    for_each_program(SEEDS_DIR "/incremental", pass_one, runner);
    assert_int_equal(total.oracles[ORACLE_snapshot], 0);
    runner_close(runner);
}

/* ---- slices -----------------------------------------------------------------------------------
 */

static struct gc_hooks hooks;
static gc_slots slots[GC_MUTATORS];
static void nothing(void *start, size_t words) {
    (void)start;
    (void)words;
}

static struct gc *open_heap(size_t words, unsigned variant) {
    hooks = (struct gc_hooks){.poison = nothing, .unpoison = nothing, .fuel = UINT64_MAX};
    for (unsigned i = 0; i < GC_SLOTS; i++)
        slots[0][i] = WORD_UNIT;
    struct gc_config config = {.heap_words = words,
                               .mark_stack = 2,
                               .variant = variant,
                               .mutators = 1,
                               .slots = slots,
                               .hooks = &hooks};
    struct gc *gc = incremental.open();
    assert_non_null(gc);
    incremental.reset(gc, &config);
    return gc;
}

/* A list of n blocks in slot 0. */
static void make_list(struct gc *gc, unsigned n) {
    static const word raw[2] = {WORD_UNIT, WORD_UNIT};
    while (n--) {
        assert_int_equal(incremental.alloc(gc, 0, 1, 2, 0, raw), GC_OK);
        word_pointer(slots[0][1])[0] = slots[0][0];
        slots[0][0] = slots[0][1];
    }
    slots[0][1] = WORD_UNIT;
}

static unsigned slices_of(size_t budget, unsigned variant) {
    struct gc *gc = open_heap(256, variant);
    unsigned slices = 0;
    make_list(gc, 20);
    do
        slices++;
    while (incremental.step(gc, budget) != GC_IDLE && slices < 10000);
    assert_int_equal(hooks.collections, 1);
    incremental.close(gc);
    return slices;
}

/* Marking 20 blocks of 3 words and sweeping 256 words in 21 blocks: a block is never cut, so that
 * budgets of one to three words take one block a slice. */
static void a_cycle_takes_the_slices_of_its_work(void **state) {
    (void)state;
    for (unsigned variant = 0; variant < 18; variant++) {
        assert_int_equal(slices_of(1, variant), 20 + 21 + 1);
        assert_int_equal(slices_of(3, variant), 20 + 21 + 1);
        assert_int_equal(slices_of(60, variant), 4); /* mark; the free block; the list; the end */
        assert_int_equal(slices_of(100000, variant), 1);
    }
}

static void budget_0_begins_and_does_nothing_more(void **state) {
    (void)state;
    struct gc *gc = open_heap(64, 0);
    make_list(gc, 3);
    for (unsigned i = 0; i < 5; i++) {
        assert_int_equal(incremental.step(gc, 0), GC_OK);
        struct gc_cycle cycle = incremental.cycle(gc);
        assert_int_equal(cycle.phase, GC_PHASE_MARK);
        assert_int_equal(cycle.begun, 1);
    }
    assert_int_equal(header_colour(header_of(slots[0][0])), GRAY);
    incremental.close(gc);
}

/* ---- the summary of Definition 6 --------------------------------------------------------------
 */

static struct definition6 d6;
static word d6_memory[32 * DEFINITION6_EACH / sizeof(word) + 1];
static struct graph graph;
static struct graph_cell cells[64];
static word heap[32];
static uint64_t in_use[2];

/* b at word 1 with two fields, c at word 4 with one. */
static word b, c;
static void two_blocks(void) {
    memset(cells, 0, sizeof cells);
    heap[1] = header_make(2, GRAY, 0);
    heap[4] = header_make(1, WHITE, 0);
    b = pointer_word(heap + 2);
    c = pointer_word(heap + 5);
    heap[2] = heap[3] = c;
    heap[5] = immediate(7);
    graph_of_heap(&graph, heap, 32, NULL, 0, NULL, 0, cells, 64, in_use);
    graph.epoch = 1;
    cells[2].stamp = cells[5].stamp = 1;
    definition6_room(&d6, d6_memory, 32);
    definition6_begin(&d6);
    word *before = definition6_add(&d6, &graph, b, 2, 0, false);
    before[0] = before[1] = c;
    definition6_add(&d6, &graph, c, 1, 0, false)[0] = immediate(7);
}

static void edges_are_labelled(void **state) {
    (void)state;
    two_blocks();
    definition6_write(&d6, &graph, b, 0, immediate(1)); /* the other field keeps its edge */
    assert_true(definition6_expected(&d6, 2) == immediate(1));
    assert_true(definition6_expected(&d6, 3) == c);
    definition6_write(&d6, &graph, b, 0, b);
    assert_true(definition6_expected(&d6, 2) == b);
    definition6_write(&d6, &graph, b, 0, c); /* added again: deleted no longer */
    assert_false(d6.deleted[2]);
    const struct definition6_vertex *owner;
    assert_true(definition6_changed(&d6, &graph, &owner) == SIZE_MAX);
    heap[3] = b;
    assert_int_equal(definition6_changed(&d6, &graph, &owner), 3);
    assert_ptr_equal(owner, &d6.vertices[0]);
}

static void vertices_are_exact(void **state) {
    (void)state;
    two_blocks();
    assert_null(definition6_lost(&d6, &graph));
    assert_null(definition6_extra(&d6, &graph, 2));
    cells[8].stamp = 1; /* a third block, at word 7 */
    assert_ptr_equal(definition6_extra(&d6, &graph, 3), heap + 7);
    assert_non_null(definition6_add(&d6, &graph, pointer_word(heap + 8), 1, 0, true));
    assert_null(definition6_extra(&d6, &graph, 3));
    cells[5].stamp = 0;
    assert_ptr_equal(definition6_lost(&d6, &graph), &d6.vertices[1]);
    assert_null(definition6_add(&d6, &graph, pointer_word(heap + 30), 3, 0, true)); /* no room */
    assert_null(definition6_add(&d6, &graph, 8, 1, 0, true));
}

static void the_weak_invariant_follows_white_chains(void **state) {
    (void)state;
    two_blocks();
    assert_null(definition6_unprotected(&d6, &graph)); /* white, behind a gray block */
    heap[1] = header_recolour(heap[1], BLACK);
    assert_ptr_equal(definition6_unprotected(&d6, &graph), &d6.vertices[1]);
    heap[4] = header_recolour(heap[4], GRAY);
    assert_null(definition6_unprotected(&d6, &graph));
    two_blocks();
    heap[2] = heap[3] = WORD_UNIT; /* cut off */
    assert_ptr_equal(definition6_unprotected(&d6, &graph), &d6.vertices[1]);
}

/* ---- random programs --------------------------------------------------------------------------
 */

static void slice_often(struct program *p, unsigned number, uint8_t *bytes, uint64_t random) {
    (void)random;
    for (unsigned i = 0; number % 2 && i < RANDOM_BYTES; i += 8)
        bytes[i] = 122;
    program_decode(p, bytes, RANDOM_BYTES);
}

static void random_programs_pass_alike(void **state) {
    (void)state;
    runs_are_alike(&incremental, &cheney, 3000, 50, slice_often);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_pass_and_are_judged),
        cmocka_unit_test(cycles_in_other_calls_are_no_violation),
        cmocka_unit_test(a_collector_that_does_not_tell_is_not_judged),
        cmocka_unit_test(the_oracle_can_be_left_out),
        cmocka_unit_test(a_cycle_takes_the_slices_of_its_work),
        cmocka_unit_test(budget_0_begins_and_does_nothing_more),
        cmocka_unit_test(edges_are_labelled),
        cmocka_unit_test(vertices_are_exact),
        cmocka_unit_test(the_weak_invariant_follows_white_chains),
        cmocka_unit_test(random_programs_pass_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
