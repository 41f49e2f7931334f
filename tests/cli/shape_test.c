/* SPDX-License-Identifier: MIT
 *
 * The shape of a reduced program (cli/campaign/shape.c): what a reducer leaves to chance has no
 * part in it, what a defect needs has.
 */
#include "cli/campaign/campaign.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static uint64_t shape(const char *body) {
    static struct program p;
    char text[4096];
    snprintf(text, sizeof text, "isoheap program 1\n%s", body);
    parse_program(&p, text);
    return program_shape(&p);
}

static void same(const char *one, const char *other) {
    if (shape(one) != shape(other))
        fail_msg("two shapes:\n%sand\n%s", one, other);
}

static void different(const char *one, const char *other) {
    if (shape(one) == shape(other))
        fail_msg("one shape:\n%sand\n%s", one, other);
}

static void names_and_numbers_have_no_part(void **state) {
    (void)state;
    same("heap\n  b0 = closure arity=1,1 env=[7]\nroots\n  r0 = b0+3\nscript\n  full\n",
         "heap\n  b0 = closure arity=2,0 env=[-9]\nroots\n  r5 = b0+4\nscript\n  full\n");
    same("config heap=30\nheap\n  free 4\n  b0 = block tag=3 [0]\n",
         "config heap=90 slice=3\nheap\n  b0 = block tag=90 [0, 5, 0]\n");
    same("script\n  r0 = alloc tag=0 size=3\n  slice 4\n",
         "script\n  r7 = alloc tag=0 size=1\n  minor\n");
    same("config mark-stack=1\nscript\n  full\n", "config mark-stack=5\nscript\n  full\n  full\n");
}

static void ways_to_say_the_same_have_no_part(void **state) {
    (void)state;
    same("script\n  r0 = list 3 0\n  full\n", "script\n  r0 = exhaust 1\n  full\n");
    same("heap\n  b0 = block tag=0 [0]\nroots\n  r0 = b0\nscript\n  minor\n  drop r0\n  full\n",
         "heap\n  b0 = block tag=0 [0]\nroots\n  r0 = b0\nscript\n  minor\n  r0 = r0.0\n  full\n");
    same("heap\n  b0 = block tag=0 [0]\n  b1 = block tag=0 [0]\nroots\n  r0 = b0\n  r1 = b1\n",
         "heap\n  b0 = block tag=0 [0]\n  b1 = block tag=0 [0]\n  b2 = block tag=0 [0]\n"
         "roots\n  r0 = b2\n  r1 = b1\n  r2 = b0\n");
}

static void what_a_defect_needs_has_a_part(void **state) {
    (void)state;
    different("script\n  full\n", "script\n  minor\n");
    different("script\n  full\n  minor\n", "script\n  minor\n  full\n");
    different("script\n  full\n", "config mark-stack=1\nscript\n  full\n");
    different("script\n  kind 1\n", "script\n  kind 2\n");
    different("config kind=1\n", "config kind=2\n");
    different("script\n  r0.0 := r1\n", "script\n  r0.0 := 4\n");
    different("script\n  r0 = alloc tag=0 [r1]\n", "script\n  r0 = alloc tag=0 [4]\n");
    different("script\n  r1 = r0.0\n  full\n", "script\n  r1 = r0.0\n  full\n  r2.0 := r1\n");
    different("heap\n  b0 = closure arity=1,1 env=[]\nroots\n  r0 = b0+3\n",
              "heap\n  b0 = closure arity=1,1 env=[]\nroots\n  r0 = b0\n");
    different("heap\n  b0 = block tag=0 [b0]\n", "heap\n  b0 = block tag=0 [0]\n");
    different("heap\n  b0 = block tag=248 [0]\n", "heap\n  b0 = block tag=7 [0]\n");
    different("heap\n  b0 = string [0x1]\n", "heap\n  b0 = block tag=7 [0]\n");
    different("heap\n  b0 = block tag=0 [0]\nroots\n  r0 = b0\n",
              "heap\n  b0 = block tag=0 [0]\nroots\n  r0 = b0\n  r1 = b0\n");
    different("heap\n  b0 = block tag=0 [0]\n", "heap\n  static b0 = block tag=0 [0]\n");
}

static void class_and_party_have_a_part_in_the_key(void **state) {
    static struct program p;
    (void)state;
    program_clear(&p);
    uint64_t key = finding_key("lost_object", "mark_sweep", &p);
    assert_true(key == finding_key("lost_object", "mark_sweep", &p));
    assert_true(key != finding_key("edge_changed", "mark_sweep", &p));
    assert_true(key != finding_key("lost_object", "cheney", &p));
    p.config[CONFIG_KIND] = 1;
    assert_true(key != finding_key("lost_object", "mark_sweep", &p));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_numbers_have_no_part),
        cmocka_unit_test(ways_to_say_the_same_have_no_part),
        cmocka_unit_test(what_a_defect_needs_has_a_part),
        cmocka_unit_test(class_and_party_have_a_part_in_the_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
