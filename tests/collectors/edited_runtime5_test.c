/* SPDX-License-Identifier: MIT
 *
 * A source tree of OCaml 5 that somebody has edited (tests/CMakeLists.txt): each edit is found in
 * the runtime's own heap, by a program that passes without it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef ISOHEAP_EDITS_OCAML5

#include "tests/collectors/edited_runtime.h"

extern const struct collector ocaml5_edited;

#define SCRIPT "isoheap program 1\nconfig heap=2048\nscript\n"

static const struct edit edits[] = {
    {"caml_modify enters no old block that it makes point at a young one",
     SCRIPT "  r0 = alloc tag=0 [1]\n  minor\n  r1 = alloc tag=0 [2]\n  r0.0 := r1\n",
     VIOLATION_remembered_set_hole},
    {"an ephemeron with a young key is not entered",
     SCRIPT "  r0 = alloc tag=0 [1]\n  r1 = ephemeron 1\n  weak r1.1 := r0\n",
     VIOLATION_remembered_set_hole},
    {"a young custom block with a finaliser is not entered", SCRIPT "  r0 = resource 0\n",
     VIOLATION_remembered_set_hole},
    {"a generational root that becomes young is not entered", SCRIPT "  r0 = alloc tag=0 [1]\n",
     VIOLATION_remembered_set_hole},
    {"words of a new block in a pool are not counted", SCRIPT "  r0 = alloc tag=0 [1]\n  minor\n",
     VIOLATION_told_wrong},
    {"what is swept comes onto no list",
     SCRIPT "  r0 = alloc tag=0 [1]\n  r1 = alloc tag=0 [2]\n  minor\n  drop r1\n  full\n",
     VIOLATION_free_list_corrupt},
    {"a large block is not counted", SCRIPT "  r0 = alloc tag=0 size=300\n", VIOLATION_told_wrong},
    {"caml_initialize enters no old block",
     "isoheap program 1\nconfig large=8\nscript\n"
     "  r1 = alloc tag=0 [1]\n  r0 = alloc tag=0 size=12 [r1]\n",
     VIOLATION_remembered_set_hole},
};

static void edits_are_found(void **state) {
    (void)state;
    for (int n = 0; n < (int)(sizeof edits / sizeof *edits); n++)
        must_find(&ocaml5_edited, &edits[n], n + 1);
}

/* Among them what is odd and legal: entries that are there twice, pools of domains that have ended,
 * blocks that wait to be swept. */
static void the_runtime_as_it_is_passes(void **state) {
    (void)state;
    void *runtime = (void *)&ocaml5_edited;
    assert_true(for_each_program(SEEDS_DIR "/ocaml", passes_unedited, runtime) > 30);
    assert_true(for_each_program(SEEDS_DIR "/ocaml5", passes_unedited, runtime) > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(edits_are_found),
                                       cmocka_unit_test(the_runtime_as_it_is_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    return 0; /* this build has no OCaml 5.3 */
}

#endif
