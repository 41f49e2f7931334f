/* SPDX-License-Identifier: MIT
 *
 * Words that look like pointers and are none, on every registered collector: in every kind of
 * block, before and after collections of every kind, in heaps that lie elsewhere.
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

/* In fields, roots, static blocks, code; of blocks, fields, infix blocks, what is free or young. */
static const char everywhere[] = "isoheap program 1\n"
                                 "config heap=256 nursery=32\n"
                                 "heap\n"
                                 "  static b0 = string [&b1+1, 0x7, &b0]\n"
                                 "  b1 = block tag=0 [&&b2.1, b2, 5]\n"
                                 "  b2 = string [&b1, &b1.2-8, 0x3]\n"
                                 "  free 3\n"
                                 "  b3 = closure arity=1,2 env=[&b1, b2]\n"
                                 "  static b4 = block tag=0 [&b1, b0]\n"
                                 "  free 5\n"
                                 "  b5 = double_array [&b3.3, &&b0]\n"
                                 "  b6 = closure address arity=1,2 env=[b1]\n"
                                 "  static b7 = closure address arity=0 env=[]\n"
                                 "roots\n"
                                 "  r0 = b1\n"
                                 "  r1 = b2\n"
                                 "  r2 = &b1\n"
                                 "  r3 = b3+3\n"
                                 "  r4 = b0\n"
                                 "  r8 = b5\n"
                                 "  r9 = b4\n"
                                 "  r10 = b6+3\n"
                                 "  r11 = b7\n"
                                 "script\n"
                                 "  r5 = &r3.1+1\n"
                                 "  r6 = string size=4 [&r0, &&r1.1, &nursery+8]\n"
                                 "  r6.3 := &free\n"
                                 "  r6.2 := &from-8\n"
                                 "  r3.0 := &r0\n"
                                 "  r3.7 := &r0\n"
                                 "  fill r9.0, 1 := &r6\n"
                                 "  minor\n"
                                 "  slice\n"
                                 "  read r6.0\n"
                                 "  read r6.1\n"
                                 "  read r6.2\n"
                                 "  read r3.0\n"
                                 "  read r10.0\n"
                                 "  read r11.0\n"
                                 "  r0.0 := &&r6\n"
                                 "  r7 = custom [&r6.3, &r0-8, &from]\n"
                                 "  blit r7.0 -> r6.1, 2\n"
                                 "  full\n"
                                 "  r5 = alloc tag=0 [&r7, &nursery, &free+8]\n"
                                 "  r7 = r0.0\n"
                                 "  read r9.0\n"
                                 "  minor\n"
                                 "  compact\n"
                                 "  read r4.0\n"
                                 "  read r8.1\n"
                                 "  read r6.1\n"
                                 "  full\n";

static void healthy_collectors_leave_them_alone(void **state) {
    (void)state;
    parse_program(&program, everywhere);
    places_do_not_matter(&program);
}

/* What the program writes as an address is one in the heap of the subject. */
static char texts[PARTIES][16]; /* of slot 1 */

static void seen_by(void *context, struct runner *r, unsigned op, bool before) {
    word *words = context;
    struct snapshot s;
    if (before || op != 3 || !runner_snapshot(r, PARTY_SUBJECT, &s))
        return;
    snapshot_address(&s, s.slots[1], texts[PARTY_SUBJECT], sizeof texts[PARTY_SUBJECT]);
    assert_false(snapshot_address(&s, WORD_UNIT, texts[PARTY_REFERENCE], sizeof *texts));
    words[0] = s.slots[0];
    words[1] = s.slots[1];
    words[2] = s.slots[2];
    words[3] = word_pointer(s.slots[3])[0];
    words[4] = word_pointer(s.slots[3])[1];
    runner_snapshot(r, PARTY_MODEL, &s);
    snapshot_address(&s, s.slots[1], texts[PARTY_MODEL], sizeof texts[PARTY_MODEL]);
}

static void they_are_addresses(void **state) {
    (void)state;
    word words[5] = {0};
    struct verdict v;
    parse_program(&program, "isoheap program 1\nscript\n"
                            "  r0 = alloc tag=0 [1, 2]\n"
                            "  r1 = &r0.1+4\n"
                            "  r2 = &&r0\n"
                            "  r3 = string [&r0.3, &from+2]\n");
    struct runner_options options = {.subject = &mark_sweep, .observe = seen_by, .context = words};
    struct runner *r = runner_open(&options);
    assert_non_null(r);
    runner_run(r, &program, &v);
    assert_int_equal(v.violation, VIOLATION_none);
    assert_string_equal(texts[PARTY_SUBJECT], "&r0.1+4");
    assert_string_equal(texts[PARTY_MODEL], "&r0.1+4");
    assert_int_equal(words[1], (words[0] + 8 + 4) | 1);
    assert_int_equal(words[2], words[0] << 1 | 1);
    assert_int_equal(words[3], words[0] + 8); /* field 3 modulo 2 */
    assert_int_equal(words[4], words[0] + 8 + 2);
    runner_close(r);
}

/* Who shows a copy of his heap says where the places are that only his own one has. */
static const struct collector *asked;
static word places[GC_PLACE_FREE + 1];

static word own_place(struct gc *gc, enum gc_place place) {
    return places[place] = asked->own_place(gc, place);
}

static void words_seen(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot s;
    if (!before && op == 1 && runner_snapshot(r, PARTY_SUBJECT, &s))
        memcpy(context, word_pointer(s.slots[0]), sizeof places);
}

static void places_lie_in_the_true_heap(void **state) {
    (void)state;
    unsigned told = 0;
    parse_program(&program, "isoheap program 1\nscript\n"
                            "  r1 = alloc tag=0 [1]\n" /* address 0 is one of the tower's */
                            "  r0 = string [&nursery, &free]\n");
    for (const struct collector *const *c = registered_collectors; *c; c++) {
        if (!(*c)->own_place)
            continue;
        asked = *c;
        struct collector wrapped = **c;
        wrapped.own_place = own_place;
        word words[GC_PLACE_FREE + 1] = {0};
        memset(places, 0, sizeof places);
        struct verdict v;
        struct runner_options options = {
            .subject = &wrapped, .observe = words_seen, .context = words};
        struct runner *r = runner_open(&options);
        assert_non_null(r);
        runner_run(r, &program, &v);
        assert_int_equal(v.violation, VIOLATION_none);
        runner_close(r);
        assert_int_not_equal(places[GC_PLACE_FREE], 0);
        assert_int_equal(words[1], places[GC_PLACE_FREE]);
        if (places[GC_PLACE_YOUNG])
            assert_int_equal(words[0], places[GC_PLACE_YOUNG]);
        assert_true(places[GC_PLACE_YOUNG] || !(*c)->young);
        told++;
    }
    assert_in_range(told, 2, 16);
}

/* Of what is no block, nothing: the same immediate in all heaps. */
static void no_block_has_no_address(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nscript\n  r0 = 5\n  r1 = &r0\n"
                            "  r2 = string [&r0, &r7]\n  read r2.0\n  full\n");
    assert_int_equal(run_here(&mark_sweep, &cheney, &program).violation, VIOLATION_none);
}

/* More addresses than there are numbers for. */
static void there_may_be_too_many(void **state) {
    (void)state;
    static char text[1 << 16];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "isoheap program 1\nscript\n"
                                "  r0 = alloc tag=0 [1]\n");
    for (unsigned i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  r1 = list 1024 &r0\n  drop r1\n");
    parse_program(&program, text);
    program.config[CONFIG_HEAP] = 8192;
    assert_int_equal(run_here(&mark_sweep, &cheney, &program).violation, VIOLATION_none);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_collectors_leave_them_alone),
        cmocka_unit_test(they_are_addresses),
        cmocka_unit_test(places_lie_in_the_true_heap),
        cmocka_unit_test(no_block_has_no_address),
        cmocka_unit_test(there_may_be_too_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
