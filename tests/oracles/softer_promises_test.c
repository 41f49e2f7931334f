/* SPDX-License-Identifier: MIT
 *
 * Promises that are less than all: garbage goes but for cycles, or but for so many words, and equal
 * blocks without identity may be one.  Who keeps them passes, who breaks them is found.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/contract.h"
#include "collectors/counting/counting.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/registry/registry.h"
#include "collectors/sharing/sharing.h"
#include "conformance/conform.h"
#include "tests/support/odd.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct verdict verdict;
static struct gc_config config; /* of the last reset */

static word *slot(unsigned s) {
    return &config.slots[0][s];
}

/* ---- reference counting -----------------------------------------------------------------------
 */

static void all_but_cycles_goes(void **state) {
    (void)state;
    struct run_counts sum = odd_must_pass(&counting);
    assert_true(sum.subject[ORACLE_completeness] > 100);
    static const char *const steps[] = {"acyclic", "always_merged", "solid_end", "raw", "walk"};
    for (unsigned i = 0; i < sizeof steps / sizeof *steps; i++)
        assert_int_equal(odd_step(&counting, steps[i]), CONFORM_KEPT);
    assert_int_equal(odd_step(&counting, "exact"), CONFORM_NOT_PROMISED);
}

#define LIST                                                                                       \
    "isoheap program 1\nheap\n  b0 = block tag=0 [1, 2, b1]\n  b1 = block tag=0 [b2]\n"            \
    "  b2 = block tag=0 [3]\nroots\n  r0 = b0\nscript\n  full\n  r0 = 0\n  full\n"
#define CYCLE                                                                                      \
    "isoheap program 1\nheap\n  b0 = block tag=0 [b1]\n  b1 = block tag=0 [b0, b2, b1]\n"          \
    "  b2 = block tag=0 [3]\nroots\n  r0 = b0\nscript\n  r0 = 0\n  full\n"

static void full_collections_are_as_many_as_promised(void **state) {
    (void)state;
    struct collector_traits traits = {.full_until_exact = 0};
    assert_int_equal(trait_full_collections(&traits), 1);
    traits.acyclic_until_exact = 3;
    assert_int_equal(trait_full_collections(&traits), 3);
    traits.full_until_exact = 4;
    assert_int_equal(trait_full_collections(&traits), 4);
}

static void a_count_that_stays_is_found(void **state) {
    (void)state;
    const struct collector *leaks = collector_find(known_bad_collectors(), "bad_count_kept");
    verdict = *must_break(leaks, &program, LIST, VIOLATION_garbage_retained);
    assert_string_equal(verdict.detail,
                        "an unreachable block that no cycle keeps survived full collections");
    assert_int_equal(verdict.op, 2);
    odd_program_passes(&counting, &program, LIST);
    odd_program_passes(&counting, &program, CYCLE);
    struct collector exact = counting; /* the same cycle, of who promises more */
    exact.traits.full_until_exact = 1;
    must_break(&exact, &program, CYCLE, VIOLATION_garbage_retained);
}

/* ---- what a conservative collector keeps ------------------------------------------------------
 *
 * The block that was in slot 0 at the last collection, if it has four fields at most and leads to
 * nothing.
 */

static word pinned;

static void pin_nothing(struct gc *gc, const struct gc_config *c) {
    config = *c;
    pinned = WORD_UNIT;
    mark_sweep.reset(gc, c);
}

static bool is_small_leaf(word v) {
    enum { FIELDS = 4 };
    if (is_immediate(v) || v >> 47 || !v)
        return false;
    word header = header_of(v);
    if (header_wosize(header) > FIELDS || header_tag(header) != 0)
        return false;
    for (size_t i = 0; i < header_wosize(header); i++)
        if (!is_immediate(word_pointer(v)[i]))
            return false;
    return true;
}

static enum gc_result pin_and_collect(struct gc *gc, enum gc_collection kind) {
    word *spare = slot(GC_SLOTS - 1), first = *slot(0);
    bool is_spare = *spare == WORD_UNIT;
    if (is_spare)
        *spare = pinned;
    enum gc_result result = mark_sweep.collect(gc, kind);
    if (is_spare)
        *spare = WORD_UNIT;
    pinned = is_small_leaf(first) ? first : WORD_UNIT;
    return result;
}

static enum gc_result pin_and_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    pinned = WORD_UNIT; /* it may collect, and the block would go */
    return mark_sweep.alloc(gc, m, dst, wosize, tag, raw);
}

static struct collector pinning(size_t most) {
    struct collector c = mark_sweep;
    c.name = "pinning";
    c.reset = pin_nothing;
    c.alloc = pin_and_alloc;
    c.collect = pin_and_collect;
    c.traits.conservative = true;
    c.traits.full_until_exact = 0;
    c.traits.shallow = c.traits.steady = c.traits.renews = c.traits.tells_phases = false;
    c.traits.outside = c.traits.any_word = c.traits.atoms = false;
    c.traits.most_retained = most;
    c.traits.single = true;
    return c;
}

#define PINNED                                                                                     \
    "isoheap program 1\nheap\n  b0 = block tag=0 [1, 2, 3, 4]\nroots\n  r0 = b0\nscript\n"         \
    "  full\n  r0 = 0\n  full\n"

static void what_stays_is_bounded(void **state) {
    (void)state;
    struct collector c = pinning(5);
    struct run_counts sum = odd_must_pass(&c);
    assert_true(sum.subject[ORACLE_completeness] > 100);
    assert_int_equal(odd_step(&c, "retained"), CONFORM_KEPT);
    odd_program_passes(&c, &program, PINNED);
    c.traits.most_retained = 4;
    verdict = *must_break(&c, &program, PINNED, VIOLATION_garbage_retained);
    assert_string_equal(verdict.detail, "a full collection has left more garbage than is promised");
    assert_string_equal(verdict.found, "5 words");
    c.traits.most_retained = 0; /* soundness alone */
    odd_program_passes(&c, &program, PINNED);
}

/* ---- equal blocks -----------------------------------------------------------------------------
 *
 * In a collection what two slots lead to becomes one, and what slot 2 leads to is copied: if it may
 * not be written and leads to nothing, or more than that.
 */

static bool odd_is_writable(unsigned tag) {
    return tag % 2 == 1;
}
static enum { VALUES, WRITABLE_TOO, UNEQUAL_TOO, SHALLOW } shares;

static void note_config(struct gc *gc, const struct gc_config *c) {
    config = *c;
    cheney.reset(gc, c);
}

static bool is_value(word v) {
    if (is_immediate(v))
        return false;
    word header = header_of(v);
    if (shares != WRITABLE_TOO && odd_is_writable(header_tag(header)))
        return false;
    for (size_t i = 0;
         shares != SHALLOW && header_tag(header) < TAG_NO_SCAN && i < header_wosize(header); i++)
        if (!is_immediate(word_pointer(v)[i]))
            return false;
    return true;
}

static bool are_equal(word v, word w) {
    if (header_of(v) != header_of(w))
        return false;
    for (size_t i = 0; shares != UNEQUAL_TOO && i < header_wosize(header_of(v)); i++) {
        word a = word_pointer(v)[i], b = word_pointer(w)[i];
        if (a != b && !(shares == SHALLOW && !is_immediate(a) && !is_immediate(b)))
            return false;
    }
    return true;
}

static enum gc_result share_and_collect(struct gc *gc, enum gc_collection kind) {
    for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
        for (unsigned t = 0; is_value(*slot(s)) && t < s; t++)
            if (is_value(*slot(t)) && are_equal(*slot(s), *slot(t)))
                *slot(s) = *slot(t);
    if (is_value(*slot(2))) {
        word content[PROGRAM_WOSIZE];
        size_t n = header_wosize(header_of(*slot(2)));
        memcpy(content, word_pointer(*slot(2)), n * sizeof *content);
        if (shares == VALUES)
            cheney.alloc(gc, 0, 2, n, header_tag(header_of(*slot(2))), content);
    }
    return cheney.collect(gc, kind);
}

static struct collector slots_sharing(void) {
    struct collector c = cheney;
    c.name = "slots_sharing";
    c.reset = note_config;
    c.collect = share_and_collect;
    c.writable = odd_is_writable;
    c.traits.outside = c.traits.any_word = c.traits.atoms = false; /* slots are followed */
    c.traits.tells = 0; /* nobody is told of the block that it allocates in a collection */
    c.traits.infix = c.traits.start_env = false;
    c.traits.linear = 0;
    c.traits.steady = c.traits.waits = false;
    c.traits.refusal = REFUSES_NO_FREE_BLOCK;
    c.traits.shares_values = true;
    c.traits.single = true; /* slots are those of the last reset */
    return c;
}

#define EQUAL(tag)                                                                                 \
    "isoheap program 1\nheap\n  b0 = block tag=" #tag " [1, 2]\n  b1 = block tag=" #tag            \
    " [1, 2]\n  b2 = block tag=0 [b0, b0]\nroots\n  r0 = b0\n  r1 = b1\n  r2 = b0\n  r3 = b2\n"    \
    "script\n  full\n  r4 = r3.0\n  full\n  r0 = 0\n  full\n"
#define DIFFERENT                                                                                  \
    "isoheap program 1\nheap\n  b0 = block tag=0 [1, 2]\n  b1 = block tag=0 [1, 3]\n"              \
    "roots\n  r0 = b0\n  r1 = b1\nscript\n  full\n"
#define ROUND_WRITABLE                                                                             \
    "isoheap program 1\nheap\n  b0 = block tag=1 [7]\n  b1 = block tag=1 [7]\n"                    \
    "  b2 = block tag=0 [b0]\n  b3 = block tag=0 [b1]\n"                                           \
    "roots\n  r0 = b2\n  r1 = b3\n  r3 = b0\n  r4 = b1\nscript\n  full\n"

static void equal_values_may_be_one(void **state) {
    (void)state;
    struct collector c = slots_sharing();
    shares = VALUES;
    struct run_counts sum = odd_must_pass(&c);
    assert_true(sum.subject[ORACLE_completeness] > 100);
    odd_program_passes(&c, &program, EQUAL(0));
    odd_program_passes(&c, &program, EQUAL(1));
    odd_program_passes(&c, &program, DIFFERENT);
    odd_program_passes(&c, &program, ROUND_WRITABLE);
    c.traits.shares_values = false;
    must_break(&c, &program, EQUAL(0), VIOLATION_sharing_changed);
}

static void who_shares_what_it_copies_passes(void **state) {
    (void)state;
    struct run_counts sum = odd_must_pass(&sharing);
    assert_true(sum.subject[ORACLE_completeness] > 100);
    odd_program_passes(&sharing, &program, EQUAL(0));
    odd_program_passes(&sharing, &program, EQUAL(1));
    odd_program_passes(&sharing, &program, DIFFERENT);
}

static void contents_and_identity_are_judged(void **state) {
    (void)state;
    struct collector c = slots_sharing();
    shares = WRITABLE_TOO;
    must_break(&c, &program, EQUAL(1), VIOLATION_sharing_changed);
    shares = UNEQUAL_TOO;
    must_break(&c, &program, DIFFERENT, VIOLATION_data_changed);
    shares = SHALLOW; /* what they lead to may be written, and is not the same */
    must_break(&c, &program, ROUND_WRITABLE, VIOLATION_edge_changed);
    shares = VALUES;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_but_cycles_goes),
        cmocka_unit_test(full_collections_are_as_many_as_promised),
        cmocka_unit_test(a_count_that_stays_is_found),
        cmocka_unit_test(what_stays_is_bounded),
        cmocka_unit_test(equal_values_may_be_one),
        cmocka_unit_test(who_shares_what_it_copies_passes),
        cmocka_unit_test(contents_and_identity_are_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
