/* SPDX-License-Identifier: MIT
 *
 * Steps of reduction one by one: of the programs that one step makes, the expected one is among
 * them, under the name of its family.
 */
#include "program/reduction/reduce.h"
#include "program/reduction/steps.h"
#include "program/text/text.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct reduction reduction;

static bool is_that(const struct program *p, void *wanted) {
    return program_equal(p, wanted);
}

/* Body of a program: what stands behind its first line. */
static void parse_body(struct program *p, const char *body) {
    char text[4096];
    snprintf(text, sizeof text, "isoheap program 1\n%s", body);
    parse_program(p, text);
}

static bool can_become(const char *from, const char *to) {
    static struct program before, after;
    parse_body(&before, from);
    parse_body(&after, to);
    reduction.keeps = is_that;
    reduction.context = &after;
    reduction.max_runs = 100000;
    return !program_is_minimal(&reduction, &before);
}

static void becomes(const char *name, const char *from, const char *to) {
    if (!can_become(from, to))
        fail_msg("no step makes\n%s\nof\n%s", to, from);
    assert_string_equal(reduction.possible, name);
}

static void cannot_become(const char *from, const char *to) {
    if (can_become(from, to))
        fail_msg("%s makes\n%s\nof\n%s", reduction.possible, to, from);
}

/* ---- what an operation stands for -------------------------------------------------------------
 */

static const char lower[] = "lower an operation to what it stands for";

static void operations_of_a_runtime_are_lowered(void **state) {
    (void)state;
    becomes(lower, "script\n  r1 = ephemeron 2\n", "script\n  r1 = alloc tag=0 size=3\n");
    becomes(lower, "script\n  weak r1.2 := r3\n", "script\n  r1.2 := r3\n");
    becomes(lower, "script\n  unset r1.2\n", "script\n  r1.2 := 0\n");
    becomes(lower, "script\n  r1 = weak r2.1\n", "script\n  r1 = r2.1\n");
    becomes(lower, "script\n  weakblit r1.2 -> r3.1, 4\n", "script\n  blit r1.2 -> r3.1, 4\n");
    becomes(lower, "script\n  r1 = resource 4\n", "script\n  r1 = custom size=5\n");
    becomes(lower, "script\n  forward r1 := r2\n", "script\n  r1.0 := r2\n");
    becomes(lower, "script\n  truncate r1, 2\n", "script\n  fill r1.3, 4096 := 0\n");
    becomes(lower, "script\n  r1 = marshal r2\n", "script\n  r1 = r2\n");
}

static void a_tree_becomes_one_allocation(void **state) {
    (void)state;
    becomes(lower, "script\n  r1 = tree 5 r2\n", "script\n  r1 = alloc tag=0 size=3 [r2]\n");
    becomes(lower, "script\n  r1 = list 5 7\n", "script\n  r1 = alloc tag=0 size=2 [7]\n");
    becomes(lower, "script\n  r1 = array 5 r2\n", "script\n  r1 = alloc tag=0 size=5\n");
    cannot_become("script\n  r1 = tree 0 r2\n", "script\n  r1 = alloc tag=0 size=3 [r2]\n");
}

/* With as many words as are free before the script. */
static void exhaust_becomes_one_allocation(void **state) {
    (void)state;
    becomes(
        lower, "config heap=20\nheap\n  b0 = block tag=0 [1, 2]\nscript\n  r1 = exhaust 1\n",
        "config heap=20\nheap\n  b0 = block tag=0 [1, 2]\nscript\n  r1 = alloc tag=0 size=15\n");
}

/* ---- slots ------------------------------------------------------------------------------------
 */

static const char copy[] = "read what a copy is a copy of";

static void copies_of_slots_are_propagated(void **state) {
    (void)state;
    becomes(copy, "script\n  r1 = r2\n  r1.0 := r1\n  r3 = r1.4\n  r1 = r1.0\n  r4 = r1\n",
            "script\n  r2.0 := r2\n  r3 = r2.4\n  r1 = r2.0\n  r4 = r1\n");
    becomes(copy, "script\n  r1 = 5\n  r2.0 := r1\n", "script\n  r2.0 := 5\n");
}

/* Another value than the copy's: the name stands for something else. */
static void a_copy_outlives_its_original(void **state) {
    (void)state;
    cannot_become("script\n  r1 = r2\n  drop r2\n  read r1.0\n",
                  "script\n  drop r2\n  read r2.0\n");
    cannot_become("script\n  r1 = 5\n  read r1.0\n", "script\n  read r1.0\n  full\n");
    becomes(copy, "script\n  r1 = r2\n  read r1.0\n  drop r2\n",
            "script\n  read r2.0\n  drop r2\n");
}

/* ---- collections ------------------------------------------------------------------------------
 */

static const char join[] = "join small collections to a full one";

static void small_collections_become_a_full_one(void **state) {
    (void)state;
    static const char several[] = "script\n  minor\n  read r1.0\n  slice 3\n  minor\n  read r2.0\n";
    becomes(join, several, "script\n  full\n  read r1.0\n  read r2.0\n");
    becomes(join, several, "script\n  read r1.0\n  full\n  read r2.0\n");
    static const char parted[] = "script\n  minor\n  minor\n  full\n  minor\n";
    becomes(join, parted, "script\n  full\n  full\n  minor\n");
    becomes(join, parted, "script\n  full\n  full\n");
}

static void two_slices_become_one(void **state) {
    (void)state;
    becomes("join two slices", "config slice=7\nscript\n  slice\n  poll\n  slice 4\n",
            "config slice=7\nscript\n  poll\n  slice 11\n");
}

/* ---- beforehand -------------------------------------------------------------------------------
 */

static const char early[] = "do an operation beforehand";

static void operations_are_done_beforehand(void **state) {
    (void)state;
    becomes(early, "roots\n  r0 = 3\nscript\n  r1 = alloc tag=5 size=3 [r0, 4]\n  full\n",
            "heap\n  b0 = block tag=5 [3, 4, 0]\nroots\n  r0 = 3\n  r1 = b0\nscript\n  full\n");
    becomes(early, "script\n  r1 = closure arity=1,1 env=[5]\n",
            "heap\n  b0 = closure arity=1,1 env=[5]\nroots\n  r1 = b0\n");
    becomes(early, "script\n  r1 = string size=2 [0x5]\n",
            "heap\n  b0 = string [0x5, 0x0]\nroots\n  r1 = b0\n");
    becomes(early, "script\n  r0 = alloc tag=0 size=1\n  kind 1\n  minor\n",
            "config kind=1\nscript\n  r0 = alloc tag=0 size=1\n  minor\n");
    static const char heap[] =
        "heap\n  b0 = closure arity=1,1 env=[7]\n  b1 = block tag=0 [1, b0]\n"
        "roots\n  r0 = b0\n  r1 = b1\n";
    char from[512], to[512];
    snprintf(from, sizeof from, "%sscript\n  r2 = r1.3\n", heap);
    snprintf(to, sizeof to, "%s  r2 = b0\n", heap);
    becomes(early, from, to);
    snprintf(from, sizeof from, "%sscript\n  r2 = infix r0 1\n", heap);
    snprintf(to, sizeof to, "%s  r2 = b0+3\n", heap);
    becomes(early, from, to);
    snprintf(from, sizeof from, "%sscript\n  r1.0 := r0\n", heap);
    becomes(early, from,
            "heap\n  b0 = closure arity=1,1 env=[7]\n  b1 = block tag=0 [b0, b0]\n"
            "roots\n  r0 = b0\n  r1 = b1\n");
}

/* Who reads the slot before would read something else; a full heap has no room for the block. */
static void what_is_needed_before_is_not_done_beforehand(void **state) {
    (void)state;
    cannot_become("roots\n  r0 = 3\nscript\n  r1 = r0\n  r0 = 5\n",
                  "roots\n  r0 = 5\nscript\n  r1 = r0\n");
    cannot_become("heap\n  b0 = block tag=0 [9]\nroots\n  r0 = 3\nscript\n  r0 = 5\n  r2 = alloc "
                  "tag=0 [r0]\n",
                  "heap\n  b0 = block tag=0 [9]\n  b1 = block tag=0 [3]\nroots\n  r0 = 3\n  r2 = "
                  "b1\nscript\n  r0 = 5\n");
    static struct program p;
    parse_body(&p, "config heap=16\nscript\n  r1 = alloc tag=0 size=16\n");
    reduction.keeps = is_that;
    reduction.context = &p;
    reduction.max_runs = 1000;
    assert_true(program_is_minimal(&reduction, &p));
}

/* ---- one form ---------------------------------------------------------------------------------
 */

static void what_stands_for_several_is_expanded(void **state) {
    (void)state;
    becomes("unroll a list or tree", "script\n  r1 = list 2 7\n",
            "script\n  r1 = alloc tag=0 size=2 [7]\n  r1 = alloc tag=0 size=2 [7, r1]\n");
    becomes("unroll a list or tree", "script\n  r1 = tree 2 7\n",
            "script\n  r1 = alloc tag=0 size=3 [7]\n  r1 = alloc tag=0 size=3 [7, r1, r1]\n");
    cannot_become("script\n  r1 = array 1 7\n",
                  "script\n  r1 = alloc tag=0 size=1\n  r1 = alloc tag=0 size=1 [7]\n");
    becomes("fill the heap with one block", "config heap=20\nscript\n  r1 = exhaust 0\n",
            "config heap=20\nscript\n  full\n  r1 = alloc tag=0 size=19\n");
    becomes("collect twice instead of filling the heap", "script\n  r1 = exhaust 0\n",
            "script\n  full\n  full\n");
    becomes("collect before the config's count ends",
            "config stress=2\nscript\n  r1 = alloc tag=0 size=1\n  r1 = alloc tag=0 size=1\n",
            "script\n  r1 = alloc tag=0 size=1\n  full\n  r1 = alloc tag=0 size=1\n");
    becomes("collect after the config's count ends", "config fail=3\nscript\n  r0 = array 9 0\n",
            "script\n  r0 = array 9 0\n  full\n");
    becomes("collect, and remove an item",
            "heap\n  b0 = block tag=0 [b1]\n  b1 = block tag=0 [0]\n",
            "heap\n  b0 = block tag=0 [0]\nscript\n  full\n");
}

static void stores_become_values_of_the_allocation(void **state) {
    (void)state;
    becomes("initialise with what is stored",
            "script\n  minor\n  r1 = alloc tag=0 size=3\n  full\n  r1.4 := r2\n",
            "script\n  minor\n  r1 = alloc tag=0 size=3 [0, r2]\n  full\n");
    cannot_become("script\n  r1 = alloc tag=0 size=3\n  drop r1\n  r1.1 := r2\n",
                  "script\n  r1 = alloc tag=0 size=3 [0, r2]\n  drop r1\n");
}

static void blocks_are_few(void **state) {
    (void)state;
    becomes("merge two blocks",
            "heap\n  b0 = block tag=0 [b1]\n  b1 = block tag=0 [3]\nroots\n  r0 = b0\n  r1 = b1\n",
            "heap\n  b0 = block tag=0 [b0]\nroots\n  r0 = b0\n  r1 = b0\n");
    becomes("remove a block and root what it points at",
            "heap\n  b0 = block tag=0 [b1, b2]\n  b1 = block tag=1 [3]\n  b2 = block tag=2 [3]\n"
            "roots\n  r1 = b0\n",
            "heap\n  b0 = block tag=1 [3]\n  b1 = block tag=2 [3]\nroots\n  r0 = b0\n  r2 = b1\n");
    becomes("point a root where a field points",
            "heap\n  b0 = closure arity=1,1 env=[b0+3]\nroots\n  r0 = b0\n",
            "heap\n  b0 = closure arity=1,1 env=[0]\nroots\n  r0 = b0\n  r1 = b0+3\n");
}

static void kinds_are_plain(void **state) {
    (void)state;
    becomes("make a closure an ordinary block",
            "heap\n  b0 = closure arity=1 env=[]\n  b1 = block tag=0 [b0]\n",
            "heap\n  b0 = block tag=0 [0]\n  b1 = block tag=0 [b0]\n");
    becomes("make a closure an ordinary block", "heap\n  b0 = closure arity=1 env=[]\n",
            "heap\n  b0 = block tag=0 [0, 0]\n");
    becomes("make an allocation a compaction", "script\n  r1 = exhaust 1\n", "script\n  compact\n");
    becomes("make an operation a minor collection", "script\n  slice 4\n", "script\n  minor\n");
    becomes("lower a tag", "heap\n  b0 = block tag=129 [0]\n", "heap\n  b0 = block tag=128 [0]\n");
    becomes("lower a tag", "heap\n  b0 = block tag=130 [0]\n", "heap\n  b0 = block tag=1 [0]\n");
    becomes("lower the tag of an allocation", "script\n  r0 = alloc tag=5 size=1\n",
            "script\n  r0 = alloc tag=4 size=1\n");
    becomes("lower the entry of a root",
            "heap\n  b0 = closure arity=1,1,1 env=[]\nroots\n  r0 = b0+6\n",
            "heap\n  b0 = closure arity=1,1,1 env=[]\nroots\n  r0 = b0+3\n");
    becomes("lower the entry of a field", "heap\n  b0 = closure arity=1,1,1 env=[b0+6]\n",
            "heap\n  b0 = closure arity=1,1,1 env=[b0+3]\n");
    becomes("lower a variant or kind", "config kind=164\n", "config kind=2\n");
    becomes("clear a bit of a variant or kind", "config variant=219\n", "config variant=217\n");
    becomes("lower the kind that an operation takes", "script\n  kind 20\n", "script\n  kind 3\n");
    becomes("simplify an operation", "script\n  kind 3\n", "script\n  full\n");
}

static void values_and_slots_come_first(void **state) {
    (void)state;
    becomes("make a closure a block with its values further on",
            "script\n  r0 = closure arity=1 size=1 env=[r3]\n",
            "script\n  r0 = alloc tag=0 size=3 [0, r3]\n");
    becomes("shift the values of an allocation", "script\n  r0 = alloc tag=0 size=3 [0, r3]\n",
            "script\n  r0 = alloc tag=0 size=3 [r3]\n");
    becomes("write to a lower slot",
            "script\n  r3 = alloc tag=0 size=1\n  r3.0 := r3\n  r3 = 4\n  read r3.0\n",
            "script\n  r1 = alloc tag=0 size=1\n  r1.0 := r1\n  r3 = 4\n  read r3.0\n");
}

static void neighbours_are_in_order(void **state) {
    (void)state;
    becomes("sort two items",
            "heap\n  b0 = block tag=248 [b1, 0]\n  b1 = block tag=0 [b0]\nroots\n  r0 = b0\n",
            "heap\n  b0 = block tag=0 [b1]\n  b1 = block tag=248 [b0, 0]\nroots\n  r0 = b1\n");
    becomes("sort two operations", "script\n  full\n  drop r2\n", "script\n  drop r2\n  full\n");
    cannot_become("script\n  drop r2\n  full\n", "script\n  full\n  drop r2\n");
}

/* ---- heaps of collectors without an image -----------------------------------------------------
 */

/* There the blocks hang in one more block while the heap is built, with a field for each of them.
 */
static void items_go_with_their_words_and_their_fields(void **state) {
    (void)state;
    becomes("remove an item, its words and its field of the table",
            "config heap=40\nheap\n  b0 = block tag=0 [1, 2]\n  b1 = block tag=0 [1]\n",
            "config heap=36\nheap\n  b0 = block tag=0 [1]\n");
    becomes("remove an item and its words of the nursery",
            "config nursery=40\nheap\n  b0 = block tag=0 [1, 2]\n  b1 = block tag=0 [1]\n",
            "config nursery=37\nheap\n  b0 = block tag=0 [1]\n");
    becomes("remove an item and its words of heap and nursery",
            "config heap=40 nursery=20\nheap\n  b0 = block tag=0 [1, 2]\n  b1 = block tag=0 [1]\n",
            "config heap=37 nursery=17\nheap\n  b0 = block tag=0 [1]\n");
}

static void allocations_go_with_their_words_of_the_nursery(void **state) {
    (void)state;
    becomes("remove an allocation and its words of the nursery",
            "config nursery=40\nscript\n  r1 = alloc tag=0 size=5\n", "config nursery=34\n");
}

/* ---- numbers together -------------------------------------------------------------------------
 */

static void what_numbers_lost_is_taken_from_them(void **state) {
    static struct program from, to, p, expected;
    (void)state;
    parse_body(&from, "config heap=90 nursery=40\nheap\n  free 9\nscript\n  slice 20\n");
    parse_body(&to, "config heap=87 nursery=40\nheap\n  free 8\nscript\n  slice 18\n");
    parse_body(&expected, "config heap=81 nursery=40\nheap\n  free 6\nscript\n  slice 14\n");
    p = to;
    assert_true(stride(&p, &from, &to, 2));
    assert_true(program_equal(&p, &expected));
    assert_true(stride(&p, &from, &to, 1000)); /* to nothing, and no further */
    assert_int_equal(p.ops[0].n, 0);
    assert_false(stride(&p, &to, &from, 1)); /* they have grown */
    assert_false(stride(&p, &to, &to, 1));   /* or are the same */
    parse_body(&from, "config heap=90\nscript\n  full\n  slice 20\n");
    assert_false(stride(&p, &from, &to, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_of_a_runtime_are_lowered),
        cmocka_unit_test(a_tree_becomes_one_allocation),
        cmocka_unit_test(exhaust_becomes_one_allocation),
        cmocka_unit_test(copies_of_slots_are_propagated),
        cmocka_unit_test(a_copy_outlives_its_original),
        cmocka_unit_test(small_collections_become_a_full_one),
        cmocka_unit_test(two_slices_become_one),
        cmocka_unit_test(operations_are_done_beforehand),
        cmocka_unit_test(what_is_needed_before_is_not_done_beforehand),
        cmocka_unit_test(what_stands_for_several_is_expanded),
        cmocka_unit_test(stores_become_values_of_the_allocation),
        cmocka_unit_test(blocks_are_few),
        cmocka_unit_test(kinds_are_plain),
        cmocka_unit_test(values_and_slots_come_first),
        cmocka_unit_test(neighbours_are_in_order),
        cmocka_unit_test(items_go_with_their_words_and_their_fields),
        cmocka_unit_test(allocations_go_with_their_words_of_the_nursery),
        cmocka_unit_test(what_numbers_lost_is_taken_from_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
