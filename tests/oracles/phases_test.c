/* SPDX-License-Identifier: MIT
 *
 * Oracle phases: what it says of known-bad collectors and of those that tell nonsense, and what is
 * legal where a phase ends.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/compact/compact.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry/registry.h"
#include "tests/support/crashes.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

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
        {"bad_late_root", "roots have been darkened, and a block that one leads to is white"},
        {"bad_early_sweep", "marking has ended, and a block is gray"},
        {"bad_garbage_blackened", "marking has ended, and a block that nothing reached is black"},
        {"bad_garbage_threaded", "where a phase ends, a field of an allocated block leads to none"},
        {"bad_pushed_twice", "a block is on the mark stack twice"},
        {"bad_raw_unpushed", "a block is gray and waits nowhere"},
        {"bad_raw_pushed_black", "a block is on the mark stack and not gray"},
        {"bad_late_field", "while marking, a black block points at a white one"},
        {"bad_entry_borrowed", "while marking, a block that a root leads to is white again"},
        {"bad_phase_untold", "a full collection has not told hooks->phase that it has swept"}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct known_bad *bad = load_crash(rows[i].defect, &program);
        must_be_found(bad->collector, &program, ORACLE_phases, bad->violation, rows[i].detail);
    }
}

/* Clauses that break where another oracle is first: asked alone, this one sees it. */
static void what_other_oracles_see_first(void **state) {
    (void)state;
    static const struct {
        const char *defect, *detail;
    } rows[] = {
        {"bad_mark_writes", "a phase has changed a field of an allocated block"},
        {"bad_raw_stays_black", "sweeping has ended, and a block is neither white nor free"}};
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct known_bad *bad = load_crash(rows[i].defect, &program);
        const struct runner_options options = {
            .subject = bad->collector, .reference = &cheney, .oracles = ORACLE_BIT(ORACLE_phases)};
        struct runner *runner = runner_open(&options);
        assert_non_null(runner);
        runner_run(runner, &program, &verdict);
        runner_close(runner);
        assert_int_equal(verdict.violation, VIOLATION_contract_broken);
        assert_string_equal(verdict.detail, rows[i].detail);
    }
}

/* While the mutator writes, a white block may be pointed at by a black one, and must be protected.
 */
static void protection_is_asked_for_in_later_slices(void **state) {
    (void)state;
    parse_program(&program,
                  "isoheap program 1\nheap\n  b0 = block tag=0 [b1, b2, b3, b4, b5]\n"
                  "  b1 = block tag=0 [1]\n  b2 = block tag=0 [2]\n  b3 = block tag=0 [3]\n"
                  "  b4 = block tag=0 [4]\n  b5 = block tag=0 [5]\n"
                  "roots\n  r0 = b0\nscript\n  slice 1\n  r0.4 := 5\n"
                  "  slice 1\n  slice 1\n  slice 1\n  slice 1\n");
    must_be_found(collector_find(known_bad_collectors(), "bad_entry_borrowed"), &program,
                  ORACLE_phases, VIOLATION_tricolour_broken,
                  "while marking, nothing gray leads to a white block that the program can reach");
}

/* What the program sees in the end is the verdict. */
static void consequences_come_first(void **state) {
    (void)state;
    load_program(&program, CRASHES_DIR "/lost_object/bad_infix_root.txt");
    verdict = run_here(collector_find(known_bad_collectors(), "bad_infix_root"), &cheney, &program);
    assert_int_equal(verdict.violation, VIOLATION_lost_object);
    assert_int_equal(verdict.oracle, ORACLE_fields);
}

/* ---- who tells nonsense -----------------------------------------------------------------------
 */

static struct gc_config config;
static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    mark_sweep.reset(gc, c);
}

static enum gc_result sweeps_again(struct gc *gc, enum gc_collection kind) {
    enum gc_result result = mark_sweep.collect(gc, kind);
    gc_phase_ended(config.hooks, GC_SWEPT_ALL);
    return result;
}

static word wild; /* what mark_stack visits, as an address */
static void visits_wild(struct gc *gc, gc_visit_gray *visit, void *context) {
    mark_sweep.mark_stack(gc, visit, context);
    visit(context, word_pointer(wild), NULL);
}

static const char two_blocks[] = "isoheap program 1\nheap\n  b0 = block tag=0 [7, b1]\n"
                                 "  b1 = block tag=0 [8]\nroots\n  r0 = b0\nscript\n  full\n";

static void nonsense_is_a_finding(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    parse_program(&program, two_blocks);
    c.reset = note_config;
    c.collect = sweeps_again;
    verdict =
        must_be_found(&c, &program, ORACLE_phases, VIOLATION_promise_broken,
                      "hooks->phase has been told of the end of a phase that is not under way");
    assert_string_equal(verdict.expected, "the end of the darkening of roots");
    assert_string_equal(verdict.found, "that of sweeping");
    static const word places[] = {0, 8, 0x1234567, ~(word)0, ~(word)7};
    c = mark_sweep;
    c.mark_stack = visits_wild;
    for (unsigned i = 0; i < sizeof places / sizeof *places; i++) {
        wild = places[i];
        must_be_found(&c, &program, ORACLE_phases, VIOLATION_stack_broken,
                      "an entry of the mark stack leads to no block of the heap");
    }
}

/* ---- what is legal ----------------------------------------------------------------------------
 */

/* Like a collector without a stack: what is gray may be anywhere. */
static void visits_ranges(struct gc *gc, gc_visit_gray *visit, void *context) {
    (void)gc;
    for (unsigned i = 0; i < 20; i++)
        visit(context, NULL, word_pointer(~(word)7));
}

static void a_stack_is_not_needed(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.mark_stack = visits_ranges;
    parse_program(&program, two_blocks);
    verdict = run_here(&c, &cheney, &program);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_true(verdict.counts.subject[ORACLE_phases] >= 3);
}

static void all_must_be_judged(const char *source) {
    static const struct collector *const tell[] = {&mark_sweep, &incremental, &generational,
                                                   &compact};
    for (unsigned i = 0; i < sizeof tell / sizeof *tell; i++)
        for (unsigned variant = 0; variant < 18; variant++) {
            struct runner *r = open_pair(tell[i], &cheney);
            parse_program(&program, source);
            program.config[CONFIG_VARIANT] = (uint16_t)variant;
            program.config[CONFIG_KIND] = variant % 2;
            const struct verdict *v = must_pass(r, &program, tell[i]->name, NULL);
            assert_true(v->counts.subject[ORACLE_phases] > 0);
            runner_close(r);
        }
}

/* An empty heap; a stack that is full at once, dropped or linked; infix pointers, closures, no-scan
 * and static blocks; allocation, stores and minor collections between slices; garbage that floats
 * and leads to what floats; a compaction behind the sweep. */
static void odd_states_are_legal(void **state) {
    (void)state;
    all_must_be_judged("isoheap program 1\nscript\n  full\n  full\n");
    all_must_be_judged("isoheap program 1\nconfig heap=64 mark-stack=1\nheap\n"
                       "  b0 = block tag=0 [b1, b2, b3]\n  b1 = block tag=0 [b3, b2]\n"
                       "  b2 = block tag=0 [b0, b2]\n  b3 = string [&b0, &b1]\nroots\n  r0 = b0\n"
                       "  r1 = b1\n  r2 = b2\n  r3 = b3\nscript\n  full\n  r1 = 0\n  full\n"
                       "  compact\n  full\n");
    all_must_be_judged("isoheap program 1\nconfig heap=64 mark-stack=2\nheap\n"
                       "  static b0 = block tag=0 [b1, 8]\n  static b1 = string [0x55]\n"
                       "  b2 = closure arity=1,2 env=[b3, 3, b0]\n  b3 = block tag=3 [b2+3, b0]\n"
                       "  dead 3\n  free 4\n  fragment\n  b4 = string [0x77]\nroots\n  r0 = b2+3\n"
                       "  r1 = b0\n  r2 = b4\nscript\n  full\n  r2 = 0\n  minor\n  slice 2\n"
                       "  full\n  compact\n");
    all_must_be_judged("isoheap program 1\nconfig heap=64 nursery=32 mark-stack=2\nheap\n"
                       "  b0 = block tag=0 [b1]\n  b1 = block tag=0 [b2]\n  b2 = block tag=0 [7]\n"
                       "roots\n  r0 = b0\nscript\n  slice 1\n  r1 = r0.0\n  r0.0 := 3\n"
                       "  r2 = alloc tag=0 [r1, 5]\n  r3 = r1.0\n  r1.0 := r2\n  r1 = 0\n  r2 = 0\n"
                       "  minor\n  slice 1\n  r4 = alloc tag=0 [r3]\n  slice 3\n  slice 20\n"
                       "  minor\n  slice 50\n  full\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_clause_has_a_known_bad_collector),
        cmocka_unit_test(what_other_oracles_see_first),
        cmocka_unit_test(protection_is_asked_for_in_later_slices),
        cmocka_unit_test(consequences_come_first),
        cmocka_unit_test(nonsense_is_a_finding),
        cmocka_unit_test(a_stack_is_not_needed),
        cmocka_unit_test(odd_states_are_legal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
