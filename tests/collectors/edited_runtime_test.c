/* SPDX-License-Identifier: MIT
 *
 * A source tree of OCaml that somebody has edited (tests/CMakeLists.txt): each edit is found by a
 * program that passes without it.
 */
#include "collectors/ocaml/ocaml.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML

extern const struct collector ocaml_edited;
extern int isoheap_edit;
int isoheap_edit; /* 0: the runtime as it is */

/* Half of a graph is marked, and the rest is moved out of what is to be marked yet. */
#define MOVED_WHILE_MARKING(overwrite)                                                             \
    "isoheap program 1\n"                                                                          \
    "config slice=1 variant=1\n"                                                                   \
    "heap\n"                                                                                       \
    "  b0 = block tag=0 [b1, b2]\n"                                                                \
    "  b1 = block tag=0 [b3]\n"                                                                    \
    "  b2 = block tag=0 [b4]\n"                                                                    \
    "  b3 = block tag=0 [1]\n"                                                                     \
    "  b4 = block tag=0 [2]\n"                                                                     \
    "  b5 = block tag=0 [3]\n"                                                                     \
    "roots\n"                                                                                      \
    "  r0 = b0\n"                                                                                  \
    "  r4 = b5\n"                                                                                  \
    "script\n"                                                                                     \
    "  minor\n"                                                                                    \
    "  slice\n"                                                                                    \
    "  slice\n"                                                                                    \
    "  r1 = r0.1\n"                                                                                \
    "  " overwrite "\n"                                                                            \
    "  full\n"

#define YOUNG_INTO_OLD(write)                                                                      \
    "isoheap program 1\n"                                                                          \
    "script\n"                                                                                     \
    "  r0 = alloc tag=0 [1, 2]\n"                                                                  \
    "  minor\n"                                                                                    \
    "  r1 = alloc tag=0 [7]\n"                                                                     \
    "  r2 = alloc tag=0 [r1, r1]\n"                                                                \
    "  drop r1\n"                                                                                  \
    "  " write "\n"                                                                                \
    "  drop r2\n"                                                                                  \
    "  minor\n"                                                                                    \
    "  r3 = alloc tag=1 [5]\n"                                                                     \
    "  full\n"

static const struct {
    const char *what, *program;
    bool told; /* by the collector itself */
} edits[] = {
    {"caml_modify does not darken what it overwrites", MOVED_WHILE_MARKING("r0.1 := 0"), false},
    {"Array.fill does not darken what it overwrites", MOVED_WHILE_MARKING("fill r0.1, 1 := 0"),
     false},
    {"Array.fill enters no old block that it makes point at a young one",
     YOUNG_INTO_OLD("r1 = r2.0\n  fill r0.0, 2 := r1\n  drop r1"), false},
    {"Array.blit copies into old blocks without a barrier", YOUNG_INTO_OLD("blit r2.0 -> r0.0, 2"),
     false},
    {"Gc.Memprof does not tell of a promotion",
     "isoheap program 1\n"
     "config variant=3\n"
     "script\n"
     "  r0 = alloc tag=0 [1]\n"
     "  minor\n"
     "  drop r0\n"
     "  full\n",
     true},
};

static struct program program;

static void edits_are_found(void **state) {
    (void)state;
    for (unsigned n = 0; n < sizeof edits / sizeof *edits; n++) {
        isoheap_edit = 0;
        parse_program(&program, edits[n].program);
        struct runner *runner = open_pair(&ocaml_edited, NULL);
        must_pass(runner, &program, edits[n].what, NULL);
        runner_close(runner);
        isoheap_edit = (int)n + 1;
        enum violation found = run_in_child(&ocaml_edited, NULL, &program);
        if (edits[n].told ? found != VIOLATION_collector_assertion
                          : found != VIOLATION_lost_object && found != VIOLATION_dangling_pointer)
            fail_msg("%s: %s", edits[n].what, violation_name(found));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(edits_are_found)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    return 0; /* this build has no OCaml runtime */
}

#endif
