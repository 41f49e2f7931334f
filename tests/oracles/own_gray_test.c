/* SPDX-License-Identifier: MIT
 *
 * What a collector says that marking has still to look at (collectors/own.h) may be nonsense:
 * oracle own_colours says so, and follows nothing that leaves the heap.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/ocaml/ocaml.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML

static struct program program;

/* What the second operation leaves is a cycle that has marked nothing but roots. */
static const char marks[] = "isoheap program 1\n"
                            "script\n"
                            "  r0 = alloc tag=0 size=9\n"
                            "  full\n"
                            "  r1 = alloc tag=0 [r0]\n";

enum { RANGES = 64 };
static struct gc_own told;
static struct gc_own_gray gray[RANGES], more; /* the last of gray */
static void (*choose)(const struct gc_own *);
static unsigned chosen;

static struct gc_own *tells(struct gc *g) {
    told = *ocaml.own(g);
    if (told.phase != GC_OWN_MARK)
        return &told;
    assert_in_range(told.n_gray, 0, RANGES - 1);
    for (size_t n = 0; n < told.n_gray; n++)
        gray[n] = told.gray[n];
    more = (struct gc_own_gray){NULL, NULL, false};
    choose(&told);
    gray[told.n_gray++] = more;
    told.gray = gray;
    chosen++;
    return &told;
}

/* The first block of the old generation that another one follows at once. */
static const struct gc_own_extent *pair(const struct gc_own *own) {
    const struct gc_own_extent *e = own->extents;
    while (e->young || e[1].young || e->header + e->words != e[1].header)
        e++;
    return e;
}

/* The last one of the first piece of the heap. */
static const struct gc_own_extent *last(const struct gc_own *own) {
    const struct gc_own_extent *e = pair(own);
    while (e + 1 < own->extents + own->n && e->header + e->words == e[1].header)
        e++;
    return e;
}

static const word *at(const word *place, long long words) {
    return word_pointer(pointer_word(place) + (word)words * sizeof(word));
}

/* ---- nonsense ---------------------------------------------------------------------------------
 */

static void ends_first(const struct gc_own *own) {
    const word *fields = pair(own)->header + 1;
    more.first = fields + 1;
    more.end = fields;
}

static void begins_before(const struct gc_own *own) {
    const word *first = own->extents[0].header;
    more.first = at(first, -1);
    more.end = first + 1;
}

static void ends_behind(const struct gc_own *own) {
    const struct gc_own_extent *e = last(own);
    more.first = e->header;
    more.end = e->header + e->words + 1;
}

static void lies_behind(const struct gc_own *own) {
    const struct gc_own_extent *e = last(own);
    more.first = e->header + e->words;
    more.end = more.first + 1;
}

/* Nothing is, until the last operation. */
static void is_young(const struct gc_own *own) {
    for (const struct gc_own_extent *e = own->extents; e < own->extents + own->n; e++)
        if (e->young)
            more = (struct gc_own_gray){e->header + 1, e->header + e->words, false};
}

static void lies_between_words(const struct gc_own *own) {
    word first = pointer_word(pair(own)->header + 1);
    more.first = word_pointer(first + 4);
    more.end = word_pointer(first + sizeof(word));
}

static void is_nowhere(const struct gc_own *own) {
    (void)own;
    more.first = word_pointer(8);
    more.end = word_pointer(~(word)7);
}

static void ranges_that_leave_the_heap_are_findings(void **state) {
    (void)state;
    static void (*const nonsense[])(const struct gc_own *) = {
        ends_first, begins_before, ends_behind,       lies_behind,
        is_young,   is_nowhere,    lies_between_words};
    struct collector c = ocaml;
    c.own = tells;
    parse_program(&program, marks);
    for (unsigned i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        choose = nonsense[i];
        must_be_found(&c, &program, ORACLE_own_colours, VIOLATION_stack_broken,
                      "marking will look at words that are no block's");
    }
}

static void the_place_is_said(void **state) {
    (void)state;
    struct collector c = ocaml;
    c.own = tells;
    parse_program(&program, marks);
    choose = begins_before;
    struct verdict verdict = run_here(&c, NULL, &program);
    assert_string_equal(verdict.expected, "words of blocks that are not young");
    assert_string_equal(verdict.found,
                        "words [-1, 1), counted from the first of the collector's own heap");
}

/* ---- what is legal ----------------------------------------------------------------------------
 */

static void is_block(const struct gc_own *own) {
    const struct gc_own_extent *e = last(own);
    more.first = e->header + 1;
    more.end = e->header + e->words;
}

/* As a block and what has been cut off from it, whose header is looked at as an integer. */
static void is_two_blocks(const struct gc_own *own) {
    const struct gc_own_extent *e = pair(own);
    more.first = e->header + e->words - 1;
    more.end = e[1].header + e[1].words;
}

static void is_empty(const struct gc_own *own) {
    const struct gc_own_extent *e = last(own);
    more.first = more.end = e->header + e->words;
}

static void is_static(const struct gc_own *own) {
    static const word words[] = {1, 3};
    (void)own;
    more = (struct gc_own_gray){words, words + 2, true};
}

static void odd_ranges_pass(void **state) {
    (void)state;
    static void (*const odd[])(const struct gc_own *) = {is_block, is_two_blocks, is_empty,
                                                         is_static};
    struct collector c = ocaml;
    c.own = tells;
    parse_program(&program, marks);
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) {
        choose = odd[i];
        chosen = 0;
        struct verdict verdict = run_here(&c, &cheney, &program);
        assert_string_equal(violation_name(verdict.violation), "none");
        assert_true(chosen > 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranges_that_leave_the_heap_are_findings),
                                       cmocka_unit_test(the_place_is_said),
                                       cmocka_unit_test(odd_ranges_pass)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int main(void) {
    return 0; /* no collector here shows what it marks */
}

#endif
