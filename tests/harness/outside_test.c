/* SPDX-License-Identifier: MIT
 *
 * Even words that lead out of the heap, on every registered collector: of every bit pattern, just
 * beside the heap, and to blocks without fields.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry/registry.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

/* In fields, roots, static blocks, closures; stored, copied, filled, marshalled. */
static const char everywhere[] =
    "isoheap program 1\n"
    "config nursery=32\n"
    "heap\n"
    "  static b0 = block tag=0 [atom 3, out before-8, out 0x3ff0000000000000]\n"
    "  b1 = block tag=0 [atom 0, out behind, out 0x0]\n"
    "  free 3\n"
    "  b2 = closure arity=1,2 env=[atom 251, out behind+8]\n"
    "roots\n"
    "  r0 = b1\n"
    "  r1 = b0\n"
    "  r2 = atom 7\n"
    "  r3 = out before-2\n"
    "  r4 = b2+3\n"
    "  r5 = out 0xfffffffffffffffe\n"
    "script\n"
    "  r6 = alloc tag=0 [atom 0, r3, out 0x2]\n"
    "  r6.0 := out behind+126\n"
    "  minor\n"
    "  full\n"
    "  r7 = r0.0\n"
    "  r8 = alloc tag=1 size=4 [r7, atom 245, r2]\n"
    "  read r6.0\n"
    "  slice\n"
    "  r1.0 := atom 0\n"
    "  full\n"
    "  compact\n"
    "  r10 = r8.1\n"
    "  r11 = r0.2\n"
    "  r12 = marshal r8\n"
    "  r13 = ephemeron 1\n"
    "  weak r13.1 := r7\n"
    "  weak r13.0 := atom 1\n"
    "  r14 = alloc tag=246 [0]\n"
    "  forward r14 := atom 2\n"
    "  measure r8\n"
    "  fill r8.0, 3 := atom 9\n"
    "  blit r8.0 -> r6.1, 2\n"
    "  minor\n"
    "  r15 = weak r13.0\n"
    "  read r0.1\n"
    "  full\n";

static void healthy_collectors_leave_them_alone(void **state) {
    (void)state;
    parse_program(&program, everywhere);
    places_do_not_matter(&program);
    /* Alone, the operations of a runtime are its own. */
    for (const struct collector *const *c = registered_collectors; *c; c++) {
        if (!(*c)->extras)
            continue;
        struct runner_options options = {.subject = *c};
        struct runner *r = runner_open(&options);
        must_pass(r, &program, (*c)->name, NULL);
        runner_close(r);
    }
}

/* What each party has in slots 0 .. 5 after the first operation. */
static word seen[PARTIES][6];

static void note_slots(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot s;
    (void)context;
    if (op != 0 || before)
        return;
    for (enum party p = PARTY_SUBJECT; p <= PARTY_REFERENCE; p++)
        if (runner_snapshot(r, p, &s))
            memcpy(seen[p], s.slots, sizeof seen[p]);
}

static void run_noted(const struct collector *subject) {
    struct verdict v;
    struct runner_options options = {
        .subject = subject, .reference = &cheney, .observe = note_slots};
    struct runner *r = runner_open(&options);
    assert_non_null(r);
    runner_run(r, &program, &v);
    assert_int_equal(v.violation, VIOLATION_none);
    runner_close(r);
}

static const char slots[] = "isoheap program 1\nroots\n"
                            "  r0 = atom 5\n"
                            "  r1 = out behind\n"
                            "  r2 = out before-8\n"
                            "  r3 = out 0xfffe\n"
                            "  r4 = out 0x7ff8000000000000\n"
                            "  r5 = out 3\n"
                            "script\n  poll\n";

static void each_heap_has_its_own(void **state) {
    (void)state;
    parse_program(&program, slots);
    run_noted(&mark_sweep);
    for (unsigned p = 0; p < 2; p++) {
        assert_int_equal(seen[p][0] % sizeof(word), 0);
        assert_int_equal(seen[p][3], 0xfffe);
        assert_true(seen[p][4] == 0x7ff8000000000000);
        assert_true(seen[p][5] == outside_pointer(3));
    }
    for (unsigned slot = 0; slot < 3; slot++)
        assert_true(seen[0][slot] != seen[1][slot]);
    /* a heap of 256 words, and the word before it */
    assert_int_equal(seen[0][1] - seen[0][2], 257 * sizeof(word));
}

/* A collector that promises less gets something else: a number of the same sort, an integer. */
static void they_are_lowered(void **state) {
    (void)state;
    struct collector less = mark_sweep;
    less.traits.any_word = less.traits.atoms = false;
    parse_program(&program, slots);
    run_noted(&less);
    assert_true(seen[0][0] == immediate(5));
    assert_true(seen[0][1] == outside_pointer(0));
    assert_true(seen[0][2] == outside_pointer(8));
    assert_true(seen[0][3] == outside_pointer(0xfffe));
    assert_true(seen[0][4] == outside_pointer(0));
    less.traits.outside = false;
    run_noted(&less);
    assert_true(is_immediate(seen[0][1]) && is_immediate(seen[0][4]) && is_immediate(seen[0][5]));
}

/* Static blocks may be all that a collector takes of what is outside. */
static void static_blocks_alone(void **state) {
    (void)state;
    struct collector less = mark_sweep;
    less.traits.outside = less.traits.any_word = false;
    parse_program(&program, "isoheap program 1\nheap\n  static b0 = block tag=0 [4]\n"
                            "roots\n  r0 = b0\n  r1 = out 3\n  r2 = atom 5\nscript\n  poll\n");
    less.traits.statics = less.traits.atoms = true;
    run_noted(&less);
    assert_true(is_pointer(seen[0][0]));
    assert_true(is_immediate(seen[0][1]));
    assert_true(is_pointer(seen[0][2]));
    less.traits.statics = less.traits.atoms = false;
    run_noted(&less);
    assert_true(seen[0][0] == WORD_UNIT && is_immediate(seen[0][2]));
}

/* A runtime's own are where it says. */
static word own_atoms[2][2];
static word own_atom(struct gc *gc, unsigned tag) {
    (void)gc;
    own_atoms[tag % 2][0] = header_make(0, WHITE, tag);
    return pointer_word(&own_atoms[tag % 2][1]);
}

static void a_runtime_has_its_own(void **state) {
    (void)state;
    struct collector runtime = mark_sweep;
    runtime.atom = own_atom;
    parse_program(&program, slots);
    run_noted(&runtime);
    assert_true(seen[0][0] == pointer_word(&own_atoms[1][1]));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_collectors_leave_them_alone),
        cmocka_unit_test(each_heap_has_its_own),
        cmocka_unit_test(they_are_lowered),
        cmocka_unit_test(static_blocks_alone),
        cmocka_unit_test(a_runtime_has_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
