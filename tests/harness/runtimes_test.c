/* SPDX-License-Identifier: MIT
 *
 * Two runtimes in one run, as subject and reference: every state is that of one of them.
 */
#include "collectors/ocaml/ocaml.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML

static struct program program;

static void run_seed(const char *path, void *context) {
    load_program(&program, path);
    must_pass(context, &program, path, NULL);
}

static void seeds_must_pass(const struct collector *subject, const struct collector *reference) {
    struct runner *runner = open_pair(subject, reference);
    assert_true(for_each_program(SEEDS_DIR "/ocaml", run_seed, runner) >= 24);
    runner_close(runner);
}

static void a_pair_of_runtimes(void **state) {
    (void)state;
    seeds_must_pass(&ocaml, &ocaml);
#ifdef ISOHEAP_HAS_OCAML_DEBUG
    seeds_must_pass(&ocaml, &ocaml_debug);
#endif
#ifdef ISOHEAP_HAS_OCAML_TINY
    seeds_must_pass(&ocaml_tiny, &ocaml);
#endif
#ifdef ISOHEAP_HAS_OCAML_NNP
    seeds_must_pass(&ocaml_nnp, &ocaml);
    seeds_must_pass(&ocaml_nnp, &ocaml_nnp);
#endif
#ifdef ISOHEAP_HAS_OCAML_NATIVE
    seeds_must_pass(&ocaml_native, &ocaml);
#endif
}

/* A reference that refuses what the subject serves, or the other way round: nobody has the block
 * then, and its finaliser runs whenever the one that had it wants. */
static enum gc_result refuse(struct gc *gc, unsigned dst, size_t words, uint64_t number) {
    (void)gc, (void)dst, (void)words, (void)number;
    return GC_OUT_OF_MEMORY;
}

static void a_refusal_of_one_of_them(void **state) {
    (void)state;
#ifdef ISOHEAP_HAS_OCAML_DEBUG
    struct gc_extras extras = *ocaml_debug.extras;
    struct collector refusing = ocaml_debug;
    extras.resource = refuse;
    refusing.extras = &extras;
    const struct collector *pairs[][2] = {{&ocaml, &refusing}, {&refusing, &ocaml}};
    parse_program(&program, "isoheap program 1\nscript\n  r0 = resource 1\n  full\n"
                            "  r1 = resource 2\n  drop r1\n  full\n  full\n");
    for (unsigned i = 0; i < 2; i++) {
        struct run_counts counts = {.skipped = 0};
        struct runner *runner = open_pair(pairs[i][0], pairs[i][1]);
        must_pass(runner, &program, "one refuses", &counts);
        assert_int_equal(counts.refusals, pairs[i][0] == &refusing ? 2 : 0);
        runner_close(runner);
    }
#endif
}

#endif

int main(void) {
#ifdef ISOHEAP_HAS_OCAML
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_pair_of_runtimes),
        cmocka_unit_test(a_refusal_of_one_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
#else
    return 0;
#endif
}
