/* SPDX-License-Identifier: MIT
 *
 * What a collector leaves alone, and what it is believed: static blocks that nothing reaches, dead
 * words, the heap that a reset leaves.  And what is legal there.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry/registry.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct verdict verdict;

/* ---- what the collectors here spoil -----------------------------------------------------------
 */

static struct gc_config config;
static word *spoilt;  /* the header of the static block that r0 led to at the first collection */
static size_t at;     /* the word from there on that the others change */
static word spoiling; /* these bits of it */

static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    mark_sweep.reset(gc, c);
}

/* ---- static blocks ----------------------------------------------------------------------------
 */

/* r0 leads to b0 until the first collection, and to nothing then. */
#define STATIC                                                                                     \
    "isoheap program 1\nheap\n  static b0 = block tag=0 [7, 8]\n  static b1 = string [0x55]\n"     \
    "  b2 = block tag=0 [1]\nroots\n  r0 = b0\n  r1 = b2\nscript\n"

static void begin_to_spoil(struct gc *gc, const struct gc_config *c) {
    note_config(gc, c);
    spoilt = NULL;
}
static enum gc_result spoil_of_slot(struct gc *gc, enum gc_collection kind) {
    enum gc_result result = mark_sweep.collect(gc, kind);
    if (!spoilt && is_pointer(config.slots[0][0]))
        spoilt = word_pointer(config.slots[0][0]) - 1;
    else if (spoilt)
        spoilt[at] ^= spoiling;
    return result;
}

static void static_blocks_are_left_alone(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.reset = begin_to_spoil;
    c.collect = spoil_of_slot;
    spoiling = header_make(0, GRAY, 0);
    at = 0;
    verdict =
        *must_break(&c, &program, STATIC "  full\n  r0 = 0\n  full\n", VIOLATION_field_written);
    assert_string_equal(verdict.detail, "the collector changed the header of a static block");
    assert_int_equal(verdict.oracle, ORACLE_statics);
    assert_int_equal(verdict.op, 2);
    at = 2;
    verdict =
        *must_break(&c, &program, STATIC "  full\n  r0 = 0\n  full\n", VIOLATION_field_written);
    assert_string_equal(verdict.detail, "the collector changed a field of a static block");
    assert_string_equal(verdict.found,
                        "0x111 at word 2 of the static blocks, in the one at word 0");
    at = 4;
    verdict =
        *must_break(&c, &program, STATIC "  full\n  r0 = 0\n  full\n", VIOLATION_field_written);
    assert_string_equal(verdict.detail, "the collector changed a field of a static block");
    /* If the program can reach it, the graphs tell first. */
    at = 1;
    verdict = *must_break(&c, &program, STATIC "  full\n  full\n", VIOLATION_field_written);
    assert_string_equal(verdict.detail, "the collector changed a field of a live block");
    assert_int_equal(verdict.oracle, ORACLE_fields);
}

static void the_program_may_write_static_blocks(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nheap\n  static b0 = block tag=0 [b1, 8, 9]\n"
                  "  static b1 = block tag=0 [b0, b1]\n  static b2 = string [0x55, 0x66]\n"
                  "roots\n  r0 = b0\n  r1 = b1\n  r2 = b2\nscript\n"
                  "  r0.1 := r1\n  full\n  r1.0 := 3\n  r0.2 := r0\n  minor\n  fill r1.0, 2 := 5\n"
                  "  r0 = 0\n  full\n  r1 = 0\n  r2 = 0\n  full\n  r3 = alloc tag=0 [1]\n  full\n");
}

/* ---- dead words -------------------------------------------------------------------------------
 */

static unsigned were_poisoned, are_poisoned;

static void unpoison_last(void *context, enum gc_extent kind, const word *header, size_t words) {
    (void)context;
    if (kind != GC_FREE || words <= 2)
        return;
    word *last = (word *)(uintptr_t)(header + words - 1);
    were_poisoned += dead_memory_is_poisoned(last);
    config.hooks->unpoison(last, 1);
    *last = WORD_UNIT;
    are_poisoned += dead_memory_is_poisoned(last);
}
static enum gc_result collect_and_unpoison(struct gc *gc, enum gc_collection kind) {
    enum gc_result result = mark_sweep.collect(gc, kind);
    mark_sweep.walk(gc, unpoison_last, NULL);
    return result;
}

static void dead_words_are_looked_at(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.reset = note_config;
    c.collect = collect_and_unpoison;
    verdict = *must_break(&c, &program,
                          "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nscript\n  full\n",
                          VIOLATION_promise_broken);
    assert_string_equal(verdict.detail,
                        "a word of dead memory is not poisoned: who uses it would not be seen");
    assert_int_equal(verdict.oracle, ORACLE_hooks);
    assert_true(were_poisoned > 0 && are_poisoned == 0);
    c.traits.poisons = false; /* nobody believes it then */
    struct runner *r = open_pair(&c, &cheney);
    must_pass(r, &program, "without the promise", NULL);
    runner_close(r);
}

/* No dead word behind a header and a link; gaps that the harness has laid out. */
static void small_gaps_may_be_in_use(void **state) {
    (void)state;
    all_must_pass("isoheap program 1\nconfig heap=16\nheap\n  b0 = block tag=0 [1]\n  free 1\n"
                  "  b1 = block tag=0 [b0]\n  fragment\n  b2 = block tag=0 [b1, 2, 3, 4, 5, 6]\n"
                  "  free 1\nroots\n  r0 = b2\nscript\n  full\n  r0 = r0.0\n  full\n  compact\n");
    all_must_pass("isoheap program 1\nconfig heap=64\nheap\n  free 20\n  b0 = block tag=0 [1]\n"
                  "  dead 9\n  fragment\nroots\n  r0 = b0\nscript\n  minor\n  slice 3\n  full\n");
}

/* ---- an empty heap ----------------------------------------------------------------------------
 */

static unsigned resets;
static void reset_and_keep(struct gc *gc, const struct gc_config *c) {
    static const word raw[] = {WORD_UNIT};
    mark_sweep.reset(gc, c);
    if (resets++ >= 1)
        mark_sweep.alloc(gc, 0, GC_SLOTS - 1, 1, 0, raw);
    c->slots[0][GC_SLOTS - 1] = WORD_UNIT;
}

static void a_reset_leaves_nothing(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.reset = reset_and_keep;
    resets = 1;
    verdict = *must_break(&c, &program, "isoheap program 1\nscript\n", VIOLATION_ill_formed_heap);
    assert_string_equal(verdict.detail, "a heap that has just been reset is not empty");
    assert_int_equal(verdict.op, OP_INITIAL);
    assert_string_equal(verdict.found, "1 live blocks");
    /* The second run of the same program sees what the first has left. */
    struct runner *r = open_pair(&c, &cheney);
    resets = 0;
    must_pass(r, &program, "the first run", NULL);
    runner_run(r, &program, &verdict);
    assert_int_equal(verdict.violation, VIOLATION_ill_formed_heap);
    runner_close(r);
}

/* Between a reset and the image: what is wrong then only this look can see. */
static bool is_empty;
static void reset_and_note(struct gc *gc, const struct gc_config *c) {
    mark_sweep.reset(gc, c);
    is_empty = true;
}
static word *image_and_note(struct gc *gc, size_t *words) {
    is_empty = false;
    return mark_sweep.image(gc, words);
}
static const char *complain_if_empty(struct gc *gc) {
    return is_empty ? "it is empty" : mark_sweep.check(gc);
}

static gc_visit *shown_to;
static void show_extents(void *context, enum gc_extent kind, const word *header, size_t words) {
    if (kind != GC_FREE_LIST_ENTRY)
        shown_to(context, kind, header, words);
}
static void walk_without_list(struct gc *gc, gc_visit *visit, void *context) {
    shown_to = visit;
    mark_sweep.walk(gc, is_empty ? show_extents : visit, context);
}
static void reset_and_unpoison(struct gc *gc, const struct gc_config *c) {
    mark_sweep.reset(gc, c);
    config = *c;
    mark_sweep.walk(gc, unpoison_last, NULL);
}

static void a_reset_leaves_a_heap_that_keeps_its_promises(void **state) {
    (void)state;
    struct collector c = mark_sweep;
    c.reset = reset_and_note;
    c.image = image_and_note;
    c.check = complain_if_empty;
    verdict =
        *must_break(&c, &program, "isoheap program 1\nscript\n", VIOLATION_collector_assertion);
    assert_string_equal(verdict.detail, "it is empty");
    assert_int_equal(verdict.op, OP_INITIAL);
    c.check = mark_sweep.check;
    c.walk = walk_without_list;
    verdict = *must_break(&c, &program, "isoheap program 1\nscript\n", VIOLATION_free_list_corrupt);
    assert_int_equal(verdict.op, OP_INITIAL);
    c = mark_sweep;
    c.reset = reset_and_unpoison;
    verdict = *must_break(&c, &program, "isoheap program 1\nscript\n", VIOLATION_promise_broken);
    assert_int_equal(verdict.oracle, ORACLE_hooks);
    assert_int_equal(verdict.op, OP_INITIAL);
    c.traits.poisons = false;
    struct runner *r = open_pair(&c, &cheney);
    must_pass(r, &program, "without the promise", NULL);
    runner_close(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(static_blocks_are_left_alone),
        cmocka_unit_test(the_program_may_write_static_blocks),
        cmocka_unit_test(dead_words_are_looked_at),
        cmocka_unit_test(small_gaps_may_be_in_use),
        cmocka_unit_test(a_reset_leaves_nothing),
        cmocka_unit_test(a_reset_leaves_a_heap_that_keeps_its_promises),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
