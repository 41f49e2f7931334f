/* SPDX-License-Identifier: MIT
 *
 * The sweep as the OCaml papers print it (collectors/space/printed.h): what it does as ours does,
 * and what it does otherwise, with the oracle that tells.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/space/collect.h"
#include "collectors/space/printed.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PRINTED = 18, WITH_CLOSURES = 6 }; /* variants; every sixth knows all of OCaml's layout */

static struct program program;

/* ---- as ours ----------------------------------------------------------------------------------
 */

struct pass {
    struct runner *runner;
    struct run_counts total;
    unsigned variant;
};

static void run_seed(const char *path, void *context) {
    struct pass *pass = context;
    char what[1024];
    load_program(&program, path);
    program.config[CONFIG_VARIANT] = (uint16_t)pass->variant;
    snprintf(what, sizeof what, "%s, variant %u", path, pass->variant);
    must_pass(pass->runner, &program, what, &pass->total);
}

static void seeds_pass(void **state) {
    struct pass pass = {.runner = open_pair(&mark_sweep, &cheney)};
    (void)state;
    for (unsigned v = PRINTED; v < 2 * PRINTED; v += WITH_CLOSURES)
        for (unsigned plain = 0; plain < SPACE_SWEEPS; plain++) {
            pass.variant = v + plain;
            assert_true(for_each_program(SEEDS_DIR "/mark_sweep", run_seed, &pass) > 0);
        }
    figure("free_list", pass.total.oracles[ORACLE_free_list]);
    figure("refusals", pass.total.refusals);
    runner_close(pass.runner);
}

/* ---- otherwise --------------------------------------------------------------------------------
 */

/* What is said of the printed sweep where all is promised that our own keeps; and of ours. */
static void fragments_wear_the_heap_out(void **state) {
    struct collector ours = mark_sweep;
    (void)state;
    ours.promise = NULL;
    parse_program(&program, "isoheap program 1\n"
                            "heap\n"
                            "  free 3\n"
                            "  fragment\n"
                            "  free 3\n"
                            "script\n"
                            "  full\n");
    assert_int_equal(run_here(&ours, &cheney, &program).violation, VIOLATION_none);
    program.config[CONFIG_VARIANT] = PRINTED;
    assert_int_equal(run_here(&mark_sweep, &cheney, &program).violation, VIOLATION_none);
    assert_int_equal(run_here(&ours, &cheney, &program).violation, VIOLATION_heap_worn_out);
}

static void no_poison(void *start, size_t words) {
    (void)start;
    (void)words;
}

/* A block that marking has left gray, swept; its colour afterwards. */
static unsigned swept_gray(bool printed) {
    static gc_slots slots[1];
    static struct gc_hooks hooks = {.poison = no_poison, .unpoison = no_poison, .fuel = UINT64_MAX};
    struct gc_config config = {.heap_words = 16, .mutators = 1, .slots = slots, .hooks = &hooks};
    static struct space space;
    assert_true(space_open(&space));
    space_reset(&space, &config, 0);
    space.sweep_whole = printed ? sweep_as_printed : NULL;
    word *base = space.heap.base;
    base[0] = header_make(2, GRAY, 0);
    base[1] = base[2] = WORD_UNIT;
    base[3] = header_make(12, BLUE, 0);
    base[4] = 0;
    space.first_free = pointer_word(base + 4);
    sweep_all(&space);
    unsigned colour = header_colour(base[0]);
    space_close(&space);
    return colour;
}

/* No oracle of sweeping tells: what is gray after marking is seen before it (oracle phases). */
static void gray_turns_white(void **state) {
    (void)state;
    assert_int_equal(swept_gray(true), WHITE);
    assert_int_equal(swept_gray(false), BLUE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_pass),
        cmocka_unit_test(fragments_wear_the_heap_out),
        cmocka_unit_test(gray_turns_white),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
