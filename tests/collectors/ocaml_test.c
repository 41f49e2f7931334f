/* SPDX-License-Identifier: MIT
 *
 * The OCaml runtime as a collector: a run does not depend on those before it, a full collection is
 * exact, finalisers are judged, and the operations of a runtime have their effect.
 */
#include "collectors/ocaml/ocaml.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"
#include "tests/support/runtimes.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML

static struct program program;

static const struct collector *const variants[] = {&ocaml,
#ifdef ISOHEAP_HAS_OCAML_DEBUG
                                                   &ocaml_debug,
#endif
#ifdef ISOHEAP_HAS_OCAML_TINY
                                                   &ocaml_tiny,
#endif
#ifdef ISOHEAP_HAS_OCAML_NNP
                                                   &ocaml_nnp,
#endif
#ifdef ISOHEAP_HAS_OCAML_NATIVE
                                                   &ocaml_native,
#endif
                                                   NULL};

static void runs_do_not_see_each_other(void **state) {
    (void)state;
    runs_must_not_see_each_other(variants);
}

static void who_looks_changes_nothing(void **state) {
    (void)state;
    who_looks_must_change_nothing(variants);
}

/* ---- operations -------------------------------------------------------------------------------
 */

static struct run_counts total;

static void run_seed(const char *path, void *context) {
    load_program(&program, path);
    must_pass(context, &program, path, &total);
}

static void seeds_reach_every_operation(void **state) {
    (void)state;
    struct runner *runner = open_pair(&ocaml, NULL);
    assert_true(for_each_program(SEEDS_DIR "/ocaml", run_seed, runner) > 0);
    runner_close(runner);
    for (unsigned o = 0; o < OP_CODES; o++)
        if (op_has(o, RUNTIME) && !total.ops[o])
            fail_msg("no seed runs operation %s", op_shapes[o].name);
    figures_of_counts("ocaml alone", &total);
}

/* ---- what the harness says of a runtime that does wrong -----------------------------------------
 */

static struct gc_extras bad_extras;
static struct collector bad;

static struct runner *open_bad(void) {
    bad = ocaml;
    bad_extras = *ocaml.extras;
    bad.extras = &bad_extras;
    return open_pair(&bad, NULL);
}

static void must_raise(enum violation expected, const char *text) {
    struct runner *runner = open_pair(&bad, NULL);
    struct verdict verdict;
    parse_program(&program, text);
    runner_run(runner, &program, &verdict);
    if (verdict.violation != expected)
        fail_msg("%s instead of %s", violation_name(verdict.violation), violation_name(expected));
    runner_close(runner);
}

static enum gc_result forgets_finaliser(struct gc *g, unsigned obj, uint64_t number, bool last) {
    (void)g, (void)obj, (void)number, (void)last;
    return GC_OK;
}
static enum gc_result finalises_twice(struct gc *g, unsigned obj, uint64_t number, bool last) {
    ocaml.extras->finalise(g, obj, number, last);
    return ocaml.extras->finalise(g, obj, number, last);
}
static bool finds_nothing(struct gc *g, unsigned dst, unsigned obj, size_t i) {
    (void)g, (void)dst, (void)obj, (void)i;
    return false;
}
static void keeps_key(struct gc *g, unsigned obj, size_t i) {
    (void)g, (void)obj, (void)i;
}
static void takes_one_less(struct gc *g, unsigned obj, size_t n) {
    if (n > 1)
        ocaml.extras->truncate(g, obj, n - 1);
}
static size_t counts_wrong(struct gc *g, unsigned obj) {
    return ocaml.extras->measure(g, obj) + 1;
}
static enum gc_result copies_nothing(struct gc *g, unsigned dst, unsigned src, bool unshared,
                                     size_t words) {
    (void)unshared, (void)words;
    return ocaml.extras->marshal(g, dst, src, true, words);
}

static enum gc_result reads_damaged(struct gc *g, unsigned dst, unsigned src, enum gc_damage damage,
                                    size_t n) {
    (void)damage, (void)n;
    return ocaml.extras->clone(g, dst, src, false, 1);
}

/* Large blocks are refused as long as nobody asks for a collection. */
static bool has_collected;
static void resets_refusals(struct gc *g, const struct gc_config *config) {
    has_collected = false;
    ocaml.reset(g, config);
}
static enum gc_result notes_collection(struct gc *g, enum gc_collection kind) {
    has_collected = true;
    return ocaml.collect(g, kind);
}
static enum gc_result refuses_early(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    return wosize > 4 && !has_collected ? GC_OUT_OF_MEMORY
                                        : ocaml.alloc(g, m, dst, wosize, tag, raw);
}

static void wrong_refusals_are_found(void **state) {
    (void)state;
    runner_close(open_bad());
    bad.reset = resets_refusals;
    bad.collect = notes_collection;
    bad.alloc = refuses_early;
    must_raise(VIOLATION_false_out_of_memory,
               "isoheap program 1\nscript\n  r0 = alloc tag=0 size=8 [1]\n");
}

static void wrong_runtimes_are_found(void **state) {
    (void)state;
    runner_close(open_bad());
    bad_extras.finalise_then = NULL; /* the plain ones, then */
    bad_extras.finalise = forgets_finaliser;
    must_raise(VIOLATION_garbage_retained, "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n"
                                           "  finalise r0, 0\n  drop r0\n  full\n");
    bad_extras.finalise = finalises_twice;
    must_raise(VIOLATION_collector_assertion, "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n"
                                              "  finalise r0, 1\n  drop r0\n  full\n");
    bad_extras = *ocaml.extras;
    bad_extras.get = finds_nothing;
    must_raise(VIOLATION_lost_object, "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n"
                                      "  r1 = ephemeron 1\n  weak r1.1 := r0\n  r2 = weak r1.1\n");
    bad_extras = *ocaml.extras;
    bad_extras.unset = keeps_key;
    must_raise(VIOLATION_edge_changed,
               "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  r1 = ephemeron 1\n"
               "  weak r1.1 := r0\n  unset r1.1\n  full\n");
    bad_extras = *ocaml.extras;
    bad_extras.truncate = takes_one_less;
    must_raise(VIOLATION_size_changed, "isoheap program 1\nscript\n  r0 = alloc tag=0 size=5 [1]\n"
                                       "  truncate r0, 2\n  full\n");
    bad_extras = *ocaml.extras;
    bad_extras.measure = counts_wrong;
    must_raise(VIOLATION_size_changed,
               "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  measure r0\n");
    bad_extras = *ocaml.extras;
    bad_extras.marshal = copies_nothing;
    must_raise(VIOLATION_sharing_changed,
               "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  r0 = alloc tag=0 [r0, r0]\n"
               "  r1 = marshal r0\n  full\n");
    bad_extras = *ocaml.extras;
    bad_extras.damage = reads_damaged;
    must_raise(VIOLATION_edge_changed,
               "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n  r1 = cut r0 0\n");
}

/* Right runtimes in odd places. */
static void all_pass(const char *text) {
    for (unsigned v = 0; variants[v]; v++) {
        struct runner *runner = open_pair(variants[v], NULL);
        parse_program(&program, text);
        must_pass(runner, &program, variants[v]->name, NULL);
        runner_close(runner);
    }
}

static void odd_cases_pass(void **state) {
    (void)state;
    /* the allocation needs a collection, and then takes the slot that held the only key */
    all_pass("isoheap program 1\nconfig heap=16\nheap\n  b0 = closure arity=1,1 env=[]\n"
             "roots\n  r0 = b0\nscript\n  r1 = ephemeron 1\n  weak r1.1 := r0\n"
             "  r2 = list 2 0\n  drop r2\n  r0 = alloc tag=0 size=1\n");
    /* a code word that is an address, which no fragment of code has */
    all_pass("isoheap program 1\nheap\n  b0 = closure arity=1 env=[]\nroots\n  r2 = b0\nscript\n"
             "  r2.0 := &r1\n  r0 = clone r2\n  r0 = marshal r2\n");
    all_pass("isoheap program 1\nheap\n  static b0 = custom [0x0]\nroots\n  r0 = b0\nscript\n"
             "  r1 = alloc tag=0 [r0]\n  r1 = marshal r1\n  r0 = clone r0\n");
    /* a marshalling without sharing is refused in the middle, and blocks are counted after it */
    all_pass("isoheap program 1\nconfig heap=2048\nscript\n  r0 = string size=246\n  starve 2\n"
             "  r1 = marshal r0 1\n  measure r0\n");
    /* there is no memory, an allocation is refused after a collection, and the next one is not */
    all_pass("isoheap program 1\nconfig fail=1\nheap\n  b0 = block tag=0 [b1]\n"
             "  b1 = block tag=0 [0, 0]\nroots\n  r0 = b0\nscript\n  starve 1\n"
             "  r0 = alloc tag=0 size=1\n");
}

/* Three thousand blocks, each after a collection of a large heap: some of these are enough. */
static void stress_ends(void **state) {
    (void)state;
    struct runner *runner = open_pair(&ocaml, NULL);
    parse_program(&program, "isoheap program 1\nconfig heap=8192 stress=1\nscript\n"
                            "  r0 = array 1000 7\n  r0 = array 1000 7\n  r0 = array 1000 7\n");
    assert_in_range(must_pass(runner, &program, "stress", NULL)->counts.checks, 200, 300);
    runner_close(runner);
}

/* ---- without naked pointers ---------------------------------------------------------------------
 */

#ifdef ISOHEAP_HAS_OCAML_NNP

/* Does the runtime take static blocks for its own?  The other sort is found, whichever it claims to
 * be. */
static void static_blocks_are_its_own(void **state) {
    (void)state;
    struct run_counts counts = {.skipped = 0};
    struct runner *runner = open_pair(&ocaml_nnp, NULL);
    load_program(&program, SEEDS_DIR "/ocaml/static_alike.txt");
    must_pass(runner, &program, "static_alike.txt", &counts);
    assert_int_equal(counts.skipped, 0);
    runner_close(runner);

    static const char counted[] = "isoheap program 1\nheap\n  static b0 = block tag=0 [1]\n"
                                  "roots\n  r0 = b0\nscript\n  r1 = alloc tag=0 [r0]\n"
                                  "  measure r1\n";
    static const char marshalled[] = "isoheap program 1\nheap\n  static b0 = block tag=0 [1]\n"
                                     "roots\n  r0 = b0\nscript\n  r1 = marshal r0\n";
    bad = ocaml_nnp;
    bad.traits.statics = false;
    bad.traits.outside = true;
    must_raise(VIOLATION_size_changed, counted);
    must_raise(VIOLATION_edge_changed, marshalled);
    bad = ocaml;
    bad.traits.outside = bad.traits.any_word = false;
    bad.traits.statics = true;
    must_raise(VIOLATION_size_changed, counted);
}

#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_cases_pass),
        cmocka_unit_test(stress_ends),
        cmocka_unit_test(runs_do_not_see_each_other),
        cmocka_unit_test(who_looks_changes_nothing),
        cmocka_unit_test(seeds_reach_every_operation),
        cmocka_unit_test(wrong_runtimes_are_found),
        cmocka_unit_test(wrong_refusals_are_found),
#ifdef ISOHEAP_HAS_OCAML_NNP
        cmocka_unit_test(static_blocks_are_its_own),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    puts("this build has no OCaml runtime");
    return 0;
}

#endif
