/* SPDX-License-Identifier: MIT
 *
 * Oracle told: what it says of known-bad collectors and of those that tell nonsense, and what is
 * legal to tell.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry/registry.h"
#include "program/bytes/bytes.h"
#include "tests/support/crashes.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct verdict verdict;

/* ---- what is found ----------------------------------------------------------------------------
 */

static void each_clause_has_a_known_bad_collector(void **state) {
    (void)state;
    static const struct {
        const char *defect, *detail;
    } rows[] = {
        {"bad_mark_untold", "a block has been told as scanned, and not as found before"},
        {"bad_mark_misplaced",
         "a block has been told as found through a word that does not lead to it"},
        {"bad_aside_untold",
         "the mark stack was too small by gc_note_fill, and no block was told as set aside"},
        {"bad_fill_short", "a block has been set aside while the mark stack has room"},
        {"bad_scan_untold", "a full collection has kept a block that it has not told as scanned"},
        {"bad_scan_unticked", "fewer steps have been counted than blocks were told of"},
        {"bad_swept_untold", "a block is gone, and nobody has told that it was swept"},
        {"bad_swept_beside", "something has been told of a block that is not there"},
        {"bad_swept_again", "something has been told of a block that is not there"},
        {"bad_slide_untold", "a block has moved, and nobody has told of it"},
        {"bad_slide_misplaced", "a block has moved, and nobody has told of it"},
        {"bad_nursery_noted", "gc_note_fill does not say how many words the nursery has in use"},
        {"bad_from_left", "a word of dead memory is not poisoned: who uses it would not be seen"},
        {"bad_forward_untold",
         "a block has been told as found through more or fewer words than lead to it"},
        {"bad_moved_unseen",
         "a block has been told as found again, and not as moved there before"}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct known_bad *bad = load_crash(rows[i].defect, &program);
        must_be_found(bad->collector, &program, ORACLE_told, bad->violation, rows[i].detail);
    }
}

/* ---- who tells nonsense -----------------------------------------------------------------------
 */

static struct gc_config config;
static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    mark_sweep.reset(gc, c);
}

static enum gc_event nonsense;
static word nonsense_place, nonsense_to;
static bool of_wild;
static enum gc_result tells_nonsense(struct gc *gc, enum gc_collection kind) {
    word v = of_wild ? 0x123450 : config.slots[0][0];
    gc_tell(config.hooks, nonsense, v, nonsense_place ? &nonsense_place : NULL, nonsense_to);
    return mark_sweep.collect(gc, kind);
}

static const char two_blocks[] = "isoheap program 1\nheap\n  b0 = block tag=0 [7, b1]\n"
                                 "  b1 = block tag=0 [8]\nroots\n  r0 = b0\nscript\n  full\n";

static void nonsense_is_a_finding(void **state) {
    (void)state;
    static const char absent[] = "something has been told of a block that is not there",
                      place[] = "a block has been told as found through a word that does not lead "
                                "to it",
                      more[] = "an event has been told with a word that it has not";
    static const struct {
        enum gc_event event;
        word place, to;
        bool wild;
        const char *detail;
    } rows[] = {
        {GC_MARKED, 0, 0, true, absent},
        {GC_SET_ASIDE, 0, 0, true, absent},
        {GC_SCANNED, 0, 0, true, absent},
        {GC_MOVED, 0, 0, true, absent},
        {GC_FORWARDED, 0, 0, true, absent},
        {GC_SWEPT, 0, 0, true, absent},
        {GC_MARKED, WORD_UNIT, 0, false, place},
        {GC_MOVED, WORD_UNIT, 8, false, place},
        {GC_MARKED, 0, 8, false, more},
        {GC_SCANNED, WORD_UNIT, 0, false, more},
        {GC_SCANNED, 0, 8, false, more},
        {GC_SWEPT, WORD_UNIT, 0, false, more},
        {GC_SWEPT, 0, 8, false, more},
        {GC_SET_ASIDE, 0, 8, false, more},
        {GC_MARKED, 0, 0, false,
         "a block has been told as found for the first time, and was not scanned before it was "
         "again"},
        {GC_SET_ASIDE, 0, 0, false, "a block that waits for nothing has been set aside"},
        {GC_SCANNED, 0, 0, false, "a block has been told as scanned, and not as found before"},
        {GC_MOVED, 0, 3, false, "a block has been told as moved to no address"},
        {GC_MOVED, 0, 0x123450, false, "something has been told of a block that is not there"},
        {GC_FORWARDED, 0, 0x123450, false,
         "a block has been told as found again, and not as moved there before"},
        {GC_SWEPT, 0, 0, false, absent}};
    struct collector c = mark_sweep;
    c.reset = note_config;
    c.collect = tells_nonsense;
    parse_program(&program, two_blocks);
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        nonsense = rows[i].event;
        nonsense_place = rows[i].place;
        nonsense_to = rows[i].to;
        of_wild = rows[i].wild;
        must_be_found(&c, &program, ORACLE_told, VIOLATION_told_wrong, rows[i].detail);
    }
}

/* Told behind the collection, in the same call. */
static enum gc_result tells_late(struct gc *gc, enum gc_collection kind) {
    enum gc_result result = mark_sweep.collect(gc, kind);
    gc_tell(config.hooks, nonsense, config.slots[0][0], NULL, nonsense_to);
    return result;
}

static void what_the_walk_shows_is_compared(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.reset = note_config;
    c.collect = tells_late;
    parse_program(&program, two_blocks);
    nonsense = GC_SWEPT;
    nonsense_to = 0;
    must_be_found(&c, &program, ORACLE_told, VIOLATION_told_wrong,
                  "a block has been told as swept, and is there");
    nonsense = GC_MOVED;
    nonsense_to = 0x123450;
    must_be_found(&c, &program, ORACLE_told, VIOLATION_told_wrong,
                  "a block has been told as moved, and is still there");
}

/* What the program sees in the end is the verdict. */
static void consequences_come_first(void **state) {
    (void)state;
    load_program(&program, CRASHES_DIR "/lost_object/bad_infix_root.txt");
    verdict = run_here(collector_find(known_bad_collectors(), "bad_infix_root"), &cheney, &program);
    assert_int_equal(verdict.violation, VIOLATION_lost_object);
}

/* ---- what is legal ----------------------------------------------------------------------------
 */

static uint64_t judged_in(const struct collector *c, const char *source) {
    static struct run_counts counts;
    memset(&counts, 0, sizeof counts);
    struct runner_options options = {.subject = c, .thorough = ORACLE_BIT(ORACLE_told)};
    struct runner *r = runner_open(&options);
    parse_program(&program, source);
    must_pass(r, &program, c->name, &counts);
    runner_close(r);
    return counts.subject[ORACLE_told];
}

/* A collector that tells nothing, and one that tells what it does not promise. */
static void who_promises_nothing_is_not_judged(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.reset = note_config;
    c.collect = tells_nonsense;
    c.traits.tells = 0;
    nonsense = GC_SWEPT;
    of_wild = true;
    assert_int_equal(judged_in(&c, two_blocks), 0);
    assert_true(judged_in(&mark_sweep, two_blocks) > 0);
}

/* A block that is set aside, one that is scanned twice, steps that come before or behind. */
static enum gc_result scans_twice(struct gc *gc, enum gc_collection kind) {
    enum gc_result result = mark_sweep.collect(gc, kind);
    gc_tick(config.hooks);
    gc_tell(config.hooks, GC_SCANNED, config.slots[0][0], NULL, 0);
    return result;
}
static void less_may_be_promised(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.reset = note_config;
    c.collect = scans_twice;
    c.traits.tells = GC_TELLS(GC_SWEPT);
    assert_true(judged_in(&c, two_blocks) > 0);
}

/* Overflows of every policy, compaction behind garbage, promotion, slices, refusals. */
static void all_that_happens_may_be_told(void **state) {
    (void)state;
    static const char *const sources[] = {
        "isoheap program 1\nconfig heap=256 mark-stack=1 variant=%u nursery=16 age=1\nheap\n"
        "  b0 = block tag=0 [b1, b2, b3]\n  free 3\n  b1 = block tag=0 [b0, b4]\n"
        "  b2 = string [0x1]\n  fragment\n  b3 = closure arity=1,2 env=[b4, b3]\n  dead 4\n"
        "  b4 = block tag=0 [b3]\nroots\n  r0 = b0\n  r1 = b3+3\nscript\n  full\n  minor\n"
        "  r2 = alloc tag=0 size=2 [r0]\n  r3 = list 9 r2\n  slice 1\n  slice 3\n  r2.1 := r3\n"
        "  slice 5\n  r4 = array 9 r1\n  minor\n  r3 = 0\n  compact\n  full\n  kind 1\n  slice 2\n"
        "  r5 = list 9 0\n  r0.1 := r5\n  slice 9\n  minor\n  r6 = exhaust 1\n  full\n  r6 = 0\n"
        "  slice 99\n  compact\n  r7 = list 20 r4\n  full\n",
        "isoheap program 1\nconfig heap=24 variant=%u nursery=8 age=0 stress=1\nscript\n"
        "  r0 = alloc tag=0 size=2 []\n  r1 = alloc tag=0 size=3 [r0]\n  r0 = 0\n"
        "  r2 = alloc tag=0 size=3 [r1]\n  r1 = 0\n  r3 = exhaust 0\n  r3 = 0\n  r2 = 0\n  full\n"};
    static const struct collector *const tellers[] = {&cheney, &mark_sweep, &incremental, &compact,
                                                      &generational};
    char source[2048];
    for (unsigned i = 0; i < sizeof tellers / sizeof *tellers; i++)
        for (unsigned variant = 0; variant < 36; variant++)
            for (unsigned n = 0; n < 2; n++) {
                snprintf(source, sizeof source, sources[n], variant);
                assert_true(judged_in(tellers[i], source) > 0);
            }
}

static void random_programs_pass(void **state) {
    (void)state;
    enum { RUNS = 2000 };
    static struct run_counts sum;
    uint8_t bytes[RANDOM_BYTES];
    for (const struct collector *const *c = registered_collectors; *c; c++) {
        if (!(*c)->traits.tells)
            continue;
        struct runner_options options = {
            .subject = *c, .reference = &cheney, .thorough = ORACLE_BIT(ORACLE_told)};
        struct runner *r = runner_open(&options);
        memset(&sum, 0, sizeof sum);
        uint64_t random = 17;
        for (unsigned i = 0; i < RUNS; i++) {
            random = next_bytes(random, bytes, sizeof bytes);
            program_decode(&program, bytes, sizeof bytes);
            must_pass(r, &program, (*c)->name, &sum);
        }
        runner_close(r);
        assert_true(sum.subject[ORACLE_told] > RUNS);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(each_clause_has_a_known_bad_collector),
                                       cmocka_unit_test(nonsense_is_a_finding),
                                       cmocka_unit_test(what_the_walk_shows_is_compared),
                                       cmocka_unit_test(consequences_come_first),
                                       cmocka_unit_test(who_promises_nothing_is_not_judged),
                                       cmocka_unit_test(less_may_be_promised),
                                       cmocka_unit_test(all_that_happens_may_be_told),
                                       cmocka_unit_test(random_programs_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
