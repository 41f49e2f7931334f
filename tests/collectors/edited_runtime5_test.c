/* SPDX-License-Identifier: MIT
 *
 * A source tree of OCaml 5 that somebody has edited (tests/CMakeLists.txt): each edit is found in
 * the runtime's own heap, by a program that passes without it.
 */
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef ISOHEAP_EDITS_OCAML5

extern const struct collector ocaml5_edited;
extern int isoheap_edit;
int isoheap_edit; /* 0: the runtime as it is */

#define SCRIPT "isoheap program 1\nconfig heap=2048\nscript\n"

static const struct edit {
    const char *what, *program;
    enum violation violation;
} edits[] = {
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

static struct program program;

static void edits_are_found(void **state) {
    (void)state;
    for (int n = 0; n < (int)(sizeof edits / sizeof *edits); n++) {
        isoheap_edit = 0;
        parse_program(&program, edits[n].program);
        struct runner *runner = open_pair(&ocaml5_edited, NULL);
        must_pass(runner, &program, edits[n].what, NULL);
        runner_close(runner);
        isoheap_edit = n + 1;
        enum violation found = run_thoroughly(&ocaml5_edited, &program);
        if (found != edits[n].violation)
            fail_msg("%s: %s", edits[n].what, violation_name(found));
    }
}

static void passes(const char *path, void *context) {
    (void)context;
    load_program(&program, path);
    enum violation found = run_thoroughly(&ocaml5_edited, &program);
    if (found)
        fail_msg("%s: %s", path, violation_name(found));
}

/* Among them what is odd and legal: entries that are there twice, pools of domains that have ended,
 * blocks that wait to be swept. */
static void the_runtime_as_it_is_passes(void **state) {
    (void)state;
    isoheap_edit = 0;
    assert_true(for_each_program(SEEDS_DIR "/ocaml", passes, NULL) > 30);
    assert_true(for_each_program(SEEDS_DIR "/ocaml5", passes, NULL) > 0);
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
