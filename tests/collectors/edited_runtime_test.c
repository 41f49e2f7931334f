/* SPDX-License-Identifier: MIT
 *
 * A source tree of OCaml that somebody has edited (tests/CMakeLists.txt): each edit is found by a
 * program that passes without it.
 */
#include "collectors/ocaml/ocaml.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML

#include "tests/collectors/edited_runtime.h"

extern const struct collector ocaml_edited, ocaml_native_edited;

/* Half of a graph is marked, and the rest is moved out of what is to be marked yet. */
#define MOVED_WHILE_MARKING(overwrite)                                                             \
    "isoheap program 1\n"                                                                          \
    "config slice=1 variant=1\n"                                                                   \
    "heap\n"                                                                                       \
    "  b0 = block tag=0 [b1, b2]\n"                                                                \
    "  b1 = block tag=0 [b3]\n"                                                                    \
    "  b2 = block tag=0 [1, b4]\n"                                                                 \
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

/* The block that waits on the mark stack is not the one that is cut. */
#define CUT_OFF "r2 = r1.1\n  truncate r1, 0\n  drop r1"

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

/* A lazy block that is the only key of an ephemeron is forced, and pointers are led past it. */
#define FORCED_KEY(collection)                                                                     \
    "isoheap program 1\n"                                                                          \
    "script\n"                                                                                     \
    "  r0 = alloc tag=246 [7]\n"                                                                   \
    "  r1 = ephemeron 1\n"                                                                         \
    "  weak r1.1 := r0\n"                                                                          \
    "  r2 = alloc tag=1 [2]\n"                                                                     \
    "  weak r1.0 := r2\n"                                                                          \
    "  drop r2\n"                                                                                  \
    "  r2 = alloc tag=2 [3]\n" collection "  r3 = alloc tag=3 [4]\n"

#define TWO_LARGE   "  r0 = alloc tag=0 size=4000\n  r0 = alloc tag=0 size=4000\n"
#define EIGHT_LARGE TWO_LARGE TWO_LARGE TWO_LARGE TWO_LARGE

/* An old block gets pointers to young ones that are in another one. */
#define MADE_OLD(make)                                                                             \
    "isoheap program 1\n"                                                                          \
    "config heap=4096\n"                                                                           \
    "heap\n"                                                                                       \
    "  b0 = block tag=0 size=200\n"                                                                \
    "  b1 = block tag=0 size=3\n"                                                                  \
    "roots\n"                                                                                      \
    "  r0 = b0\n"                                                                                  \
    "  r1 = b1\n"                                                                                  \
    "script\n"                                                                                     \
    "  minor\n"                                                                                    \
    "  r2 = alloc tag=0 [7]\n"                                                                     \
    "  r3 = alloc tag=0 [r2, r2, r2]\n"                                                            \
    "  r0.0 := r2\n" make "  drop r0\n"                                                            \
    "  drop r2\n"                                                                                  \
    "  drop r3\n"                                                                                  \
    "  minor\n"                                                                                    \
    "  r3 = alloc tag=1 [5]\n"                                                                     \
    "  full\n"

/* The first piece of the heap is all but full, and of its last blocks the one in the middle goes. A
 * larger one comes from what lies behind, and the search for it has passed the hole; then the hole
 * is merged with the block before it.  By slices: a full collection would compact. */
#define FIVE(line)   line line line line line
#define TWENTY(line) FIVE(line) FIVE(line) FIVE(line) FIVE(line)
#define TWO_CYCLES   TWENTY("  slice 4096\n") TWENTY("  slice 4096\n")
#define MERGED_HOLE(kind)                                                                          \
    "isoheap program 1\n"                                                                          \
    "config heap=8192 large=64 variant=1 kind=" kind "\n"                                          \
    "script\n" TWENTY("  r0 = alloc tag=0 size=2600\n") "  r1 = alloc tag=0 size=2600\n"           \
                                                        "  r0 = alloc tag=0 size=2600\n"           \
                                                        "  r2 = alloc tag=0 size=2600\n"           \
                                                        "  drop r0\n" TWO_CYCLES                   \
                                                        "  r0 = alloc tag=0 size=2700\n"           \
                                                        "  drop r2\n" TWO_CYCLES

/* Of a block of four fields a smaller one is taken. */
#define SMALL_REMNANT                                                                              \
    "isoheap program 1\n"                                                                          \
    "config large=2\n"                                                                             \
    "script\n"                                                                                     \
    "  full\n"                                                                                     \
    "  r0 = alloc tag=0 size=4\n"                                                                  \
    "  r0 = ephemeron 0\n" TWO_CYCLES "  r0 = ephemeron 0\n"

static const struct edit edits[] = {
    {"caml_modify does not darken what it overwrites", MOVED_WHILE_MARKING("r0.1 := 0"),
     VIOLATION_barrier_missed},
    {"Array.fill does not darken what it overwrites", MOVED_WHILE_MARKING("fill r0.1, 1 := 0"),
     VIOLATION_barrier_missed},
    {"Array.fill enters no old block that it makes point at a young one",
     YOUNG_INTO_OLD("r1 = r2.0\n  fill r0.0, 2 := r1\n  drop r1"), VIOLATION_remembered_set_hole},
    {"Array.blit copies into old blocks without a barrier", YOUNG_INTO_OLD("blit r2.0 -> r0.0, 2"),
     VIOLATION_remembered_set_hole},
    {"Gc.Memprof does not tell of a promotion",
     "isoheap program 1\n"
     "config variant=3\n"
     "script\n"
     "  r0 = alloc tag=0 [1]\n"
     "  minor\n"
     "  drop r0\n"
     "  full\n",
     VIOLATION_collector_assertion},
    {"caml_modify enters no old block that it makes point at a young one",
     "isoheap program 1\n"
     "script\n"
     "  r0 = alloc tag=0 [1]\n"
     "  minor\n"
     "  r1 = alloc tag=0 [2]\n"
     "  r0.0 := r1\n",
     VIOLATION_remembered_set_hole},
    {"caml_initialize enters no old block",
     "isoheap program 1\n"
     "config large=16\n"
     "script\n"
     "  r1 = alloc tag=0 [1]\n"
     "  r0 = alloc tag=0 size=16 [r1]\n",
     VIOLATION_remembered_set_hole},
    {"an ephemeron with a young key is not entered",
     "isoheap program 1\n"
     "script\n"
     "  r0 = alloc tag=0 [1]\n"
     "  r1 = ephemeron 1\n"
     "  weak r1.1 := r0\n",
     VIOLATION_remembered_set_hole},
    {"a young custom block with a finaliser is not entered",
     "isoheap program 1\n"
     "script\n"
     "  r0 = resource 0\n",
     VIOLATION_remembered_set_hole},
    {"a generational root that becomes young is not entered",
     "isoheap program 1\n"
     "script\n"
     "  r0 = alloc tag=0 [1]\n",
     VIOLATION_remembered_set_hole},
    {"a block is black where sweeping has been",
     "isoheap program 1\n"
     "script\n"
     "  full\n"
     "  slice\n"
     "  slice\n"
     "  r0 = ephemeron 0\n",
     VIOLATION_wrong_colour},
    {"next-fit does not count what it takes from a block",
     "isoheap program 1\n"
     "config kind=1\n"
     "script\n"
     "  r0 = alloc tag=0 [1]\n"
     "  minor\n",
     VIOLATION_free_list_corrupt},
    {"best-fit does not list what is left of a small block", SMALL_REMNANT,
     VIOLATION_free_list_corrupt},
    {"best-fit does not note which small sizes it has", SMALL_REMNANT, VIOLATION_free_list_corrupt},
    {"Gc.stat does not count fragments",
     "isoheap program 1\n"
     "config heap=4096 large=8\n"
     "heap\n"
     "  b0 = block tag=0 [0, 0]\n"
     "roots\n"
     "  r0 = b0\n"
     "script\n"
     "  full\n"
     "  truncate r0, 0\n",
     VIOLATION_told_wrong},
    {"Gc.stat does not count a new piece of the heap",
     "isoheap program 1\n"
     "config heap=8192 large=256 variant=1\n"
     "script\n" EIGHT_LARGE EIGHT_LARGE EIGHT_LARGE,
     VIOLATION_told_wrong},
    {"a block with tag 250 is never swept",
     "isoheap program 1\n"
     "script\n"
     "  r0 = alloc tag=246 [1]\n"
     "  full\n"
     "  forward r0 := 0\n"
     "  drop r0\n"
     "  full\n",
     VIOLATION_garbage_retained},
    {"marking leads a key past a Forward block, and past what that leads to",
     FORCED_KEY("  minor\n  forward r0 := r2\n  full\n"), VIOLATION_edge_changed},
    {"a minor collection leaves a key in place that has died",
     FORCED_KEY("  forward r0 := r2\n  minor\n"), VIOLATION_edge_changed},
    {"marking empties an ephemeron whose key it leads past a Forward block",
     FORCED_KEY("  minor\n  forward r0 := r2\n  full\n"), VIOLATION_edge_changed},
    {"Array.append enters no pointer to a young block in a large array",
     MADE_OLD("  r4 = append r0 r0\n"), VIOLATION_remembered_set_hole},
    {"Obj.dup enters no pointer to a young block in a large copy",
     MADE_OLD("  r4 = append r0 r0\n  r5 = dup r4\n  drop r4\n"), VIOLATION_remembered_set_hole},
    {"a recursive definition is filled in without a barrier", MADE_OLD("  update r1 := r3\n"),
     VIOLATION_remembered_set_hole},
    {"a value that has been read by half stays as it is in the heap",
     "isoheap program 1\n"
     "config heap=8192\n"
     "script\n"
     "  r0 = alloc tag=0 size=4000\n"
     "  fill r0.0, 4000 := 5000\n"
     "  drop r0\n"
     "  full\n"
     "  r0 = alloc tag=0 size=300\n"
     "  r2 = alloc tag=0 size=4\n"
     "  r1 = alloc tag=0 size=300 [r0, r2]\n"
     "  r2 = badcode r1 20\n"
     "  full\n",
     VIOLATION_lost_object},
    {"an object that is read keeps its number",
     "isoheap program 1\n"
     "script\n"
     "  r0 = alloc tag=248 [1, 7]\n"
     "  r1 = marshal r0\n",
     VIOLATION_data_changed},
    {"a pointer into a closure that is read leads to the closure itself",
     "isoheap program 1\n"
     "script\n"
     "  r0 = closure arity=1,1 env=[]\n"
     "  r0 = infix r0 1\n"
     "  r0 = alloc tag=0 [r0]\n"
     "  r1 = clone r0\n",
     VIOLATION_edge_changed},
    {"nobody looks whether a text is as long as it says",
     "isoheap program 1\n"
     "script\n"
     "  r0 = alloc tag=0 [7]\n"
     "  r1 = badlength r0 0\n",
     VIOLATION_edge_changed},
    {"nobody looks whether a custom block is as long as it was",
     "isoheap program 1\n"
     "script\n"
     "  r0 = custom [0x7]\n"
     "  r1 = badname r0 1\n",
     VIOLATION_edge_changed},
    {"next-fit goes on at a block that has been merged with the one before", MERGED_HOLE("1"),
     VIOLATION_free_list_corrupt},
    {"first-fit keeps places of blocks that have been merged", MERGED_HOLE("2"),
     VIOLATION_free_list_corrupt},
    /* the masks on, which end no cycle that need not end */
    {"while a cycle marks an ephemeron with young data is not entered",
     "isoheap program 1\n"
     "config variant=1 heap=4096\n"
     "script\n"
     "  r1 = ephemeron 0\n"
     "  r2 = list 20 7\n"
     "  minor\n"
     "  slice 1\n"
     "  r0 = alloc tag=0 [0]\n"
     "  weak r1.0 := r0\n"
     "  minor\n",
     VIOLATION_remembered_set_hole},
    {"Obj.truncate does not darken what it cuts off", MOVED_WHILE_MARKING(CUT_OFF),
     VIOLATION_barrier_missed},
};

enum { EDITS = sizeof edits / sizeof *edits, FIRST_NATIVE = 101 };

/* Of ocaml_native_edited: every fourth slot is a root of native code. */
static const struct edit native_edits[] = {
    {"another register is looked at",
     "isoheap program 1\n"
     "script\n"
     "  r3 = alloc tag=0 [7]\n"
     "  minor\n",
     VIOLATION_lost_object},
    {"the stack ends where C code has called back",
     "isoheap program 1\n"
     "script\n"
     "  r31 = alloc tag=0 [7]\n"
     "  minor\n",
     VIOLATION_lost_object},
    {"the first field of a module is marked, and no other",
     "isoheap program 1\n"
     "script\n"
     "  r23 = alloc tag=0 [7]\n"
     "  minor\n"
     "  full\n",
     VIOLATION_dangling_pointer},
};

static void edits_are_found(void **state) {
    (void)state;
    for (int n = 0; n < EDITS; n++)
        must_find(&ocaml_edited, &edits[n], n + 1);
    for (int n = 0; n < (int)(sizeof native_edits / sizeof *native_edits); n++)
        must_find(&ocaml_native_edited, &native_edits[n], FIRST_NATIVE + n);
}

/* Among them what is odd and legal: entries that are there twice, remnants, what truncation leaves.
 */
static void the_runtime_as_it_is_passes(void **state) {
    (void)state;
    assert_true(for_each_program(SEEDS_DIR "/ocaml", passes_unedited, (void *)&ocaml_edited) > 30);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(edits_are_found),
                                       cmocka_unit_test(the_runtime_as_it_is_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    return 0; /* this build has no OCaml runtime */
}

#endif
