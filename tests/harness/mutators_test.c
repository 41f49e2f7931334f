/* SPDX-License-Identifier: MIT
 *
 * Mutators that come and go, who asks for a collection, and heaps that are not always to be looked
 * at.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct gc_config config; /* of the last reset */

/* ---- a collector that takes down what it is asked ---------------------------------------------
 */

static char calls[1 << 12];

static void note(const char *what, unsigned m) {
    size_t length = strlen(calls);
    snprintf(calls + length, sizeof calls - length, "%s%u ", what, m);
}

static bool is_there[GC_MUTATORS];

static void noting_reset(struct gc *g, const struct gc_config *c) {
    config = *c;
    calls[0] = 0;
    memset(is_there, 0, sizeof is_there);
    cheney.reset(g, c);
}
static void noting_attach(struct gc *g, unsigned m) {
    (void)g;
    note("attach", m);
    assert_false(is_there[m]);
    is_there[m] = true;
}
static void noting_detach(struct gc *g, unsigned m) {
    (void)g;
    note("detach", m);
    assert_true(is_there[m]);
    is_there[m] = false;
    for (unsigned s = 0; s < GC_SLOTS; s++)
        assert_int_equal(config.slots[m][s], WORD_UNIT);
}
static enum gc_result noting_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    note("alloc", m);
    assert_true(is_there[m]);
    assert_int_equal(config.hooks->mutator, m);
    return cheney.alloc(g, m, dst, wosize, tag, raw);
}
static enum gc_result noting_collect(struct gc *g, enum gc_collection kind) {
    note("collect", config.hooks->mutator);
    return cheney.collect(g, kind);
}
static enum gc_result noting_step(struct gc *g, size_t budget) {
    (void)g, (void)budget;
    note("step", config.hooks->mutator);
    return GC_IDLE;
}
static enum gc_result noting_switch(struct gc *g, unsigned kind) {
    (void)g, (void)kind;
    note("kind", config.hooks->mutator);
    return GC_OK;
}

static struct collector noting(void) {
    static const char *const kinds[] = {"one", "other", NULL};
    struct collector c = cheney;
    c.name = "noting";
    c.reset = noting_reset;
    c.attach = noting_attach;
    c.detach = noting_detach;
    c.alloc = noting_alloc;
    c.collect = noting_collect;
    c.step = noting_step;
    c.kinds = kinds;
    c.switch_kind = noting_switch;
    c.traits.renews = c.traits.steady = false; /* whose oracles ask too */
    return c;
}

static struct verdict run(const struct collector *c, const char *script) {
    char text[2048];
    snprintf(text, sizeof text, "isoheap program 1\nconfig heap=64\nscript\n%s", script);
    parse_program(&program, text);
    return run_here(c, &cheney, &program);
}

static void expect_calls(const char *script, const char *expected) {
    struct collector c = noting();
    struct verdict v = run(&c, script);
    if (v.violation || v.harness_error)
        fail_msg("%s at %u: %s", violation_name(v.violation), v.op, v.detail);
    assert_string_equal(calls, expected);
}

static void all_come_first(void **state) {
    (void)state;
    expect_calls("  mutator 2: r0 = alloc tag=0 [1]\n", "attach0 attach1 attach2 alloc2 ");
    expect_calls("  r0 = 1\n", "attach0 ");
}

static void who_asks_is_known(void **state) {
    (void)state;
    expect_calls("  mutator 1: full\n  mutator 2: slice\n  mutator 1: kind 1\n  minor\n",
                 "attach0 attach1 attach2 collect1 step2 kind1 collect0 ");
    expect_calls("  mutator 1: r0 = exhaust 3\n  drop r0\n", "attach0 attach1 collect1 alloc1 ");
}

/* The first one stays, who is there does not come, who is gone neither goes nor does anything. */
static void they_come_and_go(void **state) {
    (void)state;
    expect_calls("  detach\n  attach\n  mutator 1: attach\n  mutator 1: detach\n"
                 "  mutator 1: detach\n  mutator 1: r0 = alloc tag=0 [1]\n"
                 "  mutator 1: full\n  mutator 1: r0 = 7\n  mutator 1: attach\n"
                 "  mutator 1: r0 = alloc tag=0 [2]\n",
                 "attach0 attach1 detach1 attach1 alloc1 ");
    struct collector c = noting();
    struct verdict v = run(&c, "  mutator 1: detach\n  mutator 1: full\n  mutator 1: attach\n");
    assert_int_equal(v.counts.skipped, 1);
    assert_int_equal(v.counts.ops[OP_DETACH], 1);
    assert_int_equal(v.counts.ops[OP_ATTACH], 1);
}

/* A collector that knows nothing of it loses the roots all the same; one with a single mutator has
 * nobody who could go. */
static void others_are_none_the_wiser(void **state) {
    static const char script[] = "  mutator 1: r0 = alloc tag=0 [1]\n  mutator 1: detach\n"
                                 "  full\n  mutator 1: attach\n  mutator 1: read r0.0\n"
                                 "  mutator 1: r1 = alloc tag=0 [r0]\n  full\n";
    (void)state;
    struct verdict v = run(&cheney, script);
    assert_int_equal(v.violation, VIOLATION_none);
    assert_int_equal(v.counts.ops[OP_DETACH], 1);
    assert_int_equal(v.counts.ops[OP_READ], 0); /* of an integer */
    v = run(&mark_sweep, script);
    assert_int_equal(v.violation, VIOLATION_none);
    assert_int_equal(v.counts.ops[OP_DETACH], 0);
    assert_int_equal(v.counts.ops[OP_READ], 1);
}

/* ---- wrong ones -------------------------------------------------------------------------------
 */

/* Whoever goes takes along what it has made last, whoever holds it. */
static word made[GC_MUTATORS];

static enum gc_result owning_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                   unsigned tag, const word *raw) {
    enum gc_result result = cheney.alloc(g, m, dst, wosize, tag, raw);
    made[m] = config.slots[m][dst];
    return result;
}
static void owning_reset(struct gc *g, const struct gc_config *c) {
    config = *c;
    memset(made, 0, sizeof made);
    cheney.reset(g, c);
}
static void stays(struct gc *g, unsigned m) {
    (void)g, (void)m;
}
static void takes_along(struct gc *g, unsigned m) {
    (void)g;
    for (unsigned o = 0; o < config.mutators; o++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            if (made[m] && config.slots[o][s] == made[m])
                config.slots[o][s] = WORD_UNIT;
    config.hooks->collections++;
}

static void who_takes_blocks_along_is_found(void **state) {
    static const char handed_over[] =
        "isoheap program 1\nconfig heap=64\nheap\n  b0 = block tag=0 [0]\nroots\n  r0 = b0\n"
        "  mutator 1: r1 = b0\nscript\n  mutator 1: r0 = alloc tag=0 [1]\n"
        "  mutator 1: r1.0 := r0\n  r1 = r0.0\n  mutator 1: detach\n  full\n";
    (void)state;
    struct collector c = cheney;
    c.name = "owning";
    c.reset = owning_reset;
    c.alloc = owning_alloc;
    c.attach = c.detach = stays;
    parse_program(&program, handed_over);
    assert_int_equal(run_here(&c, &cheney, &program).violation, VIOLATION_none);
    c.detach = takes_along;
    struct verdict v = run_here(&c, &cheney, &program);
    assert_int_equal(v.violation, VIOLATION_edge_changed);
    assert_int_equal(v.op, 3);
}

/* ---- heaps that settle ------------------------------------------------------------------------
 */

static unsigned unsettled, polls, looks;
static bool for_ever;

static bool has_settled(struct gc *g) {
    (void)g;
    return unsettled == 0;
}
static enum gc_result settle_by_one(struct gc *g, unsigned m) {
    (void)g;
    assert_int_equal(config.hooks->mutator, m);
    polls++;
    unsettled -= unsettled > 0 && !for_ever;
    return GC_OK;
}
/* A handshake that it leaves half done; until it is done, what the heap shows is nonsense. */
static enum gc_result unsettling_collect(struct gc *g, enum gc_collection kind) {
    enum gc_result result = cheney.collect(g, kind);
    unsettled = 5;
    return result;
}
static void wary_walk(struct gc *g, gc_visit *visit, void *context) {
    assert_int_equal(unsettled, 0);
    looks++;
    cheney.walk(g, visit, context);
}
static void settling_reset(struct gc *g, const struct gc_config *c) {
    config = *c;
    unsettled = polls = looks = 0;
    cheney.reset(g, c);
}

static struct collector settling(void) {
    struct collector c = cheney;
    c.name = "settling";
    c.reset = settling_reset;
    c.collect = unsettling_collect;
    c.poll = settle_by_one;
    c.settled = has_settled;
    c.walk = wary_walk;
    c.traits.poisons = c.traits.steady = false;
    c.traits.linear = 0;
    return c;
}

static void nobody_looks_before_it_has_settled(void **state) {
    (void)state;
    struct collector c = settling();
    for_ever = false;
    struct verdict v = run(&c, "  r0 = alloc tag=0 [1]\n  full\n  r1 = alloc tag=0 [r0]\n"
                               "  mutator 1: minor\n");
    if (v.violation || v.harness_error)
        fail_msg("%s at %u: %s", violation_name(v.violation), v.op, v.detail);
    assert_true(polls >= 10 && looks > 0);
}

/* A store that waits in the buffer of a mutator that has gone since, of which nobody has told the
 * collector: it polls him all the same. */
static enum gc_result only_the_last_settles(struct gc *g, unsigned m) {
    (void)g;
    polls++;
    if (m == 1)
        unsettled = 0;
    return GC_OK;
}

static void who_has_gone_may_be_polled(void **state) {
    (void)state;
    struct collector c = settling();
    c.poll = only_the_last_settles;
    for_ever = false;
    struct verdict v = run(&c, "  mutator 1: full\n  mutator 1: detach\n  full\n");
    if (v.violation || v.harness_error)
        fail_msg("%s at %u: %s", violation_name(v.violation), v.op, v.detail);
    assert_true(polls > 0);
}

static void one_that_never_settles_is_found(void **state) {
    (void)state;
    struct collector c = settling();
    for_ever = true;
    struct verdict v = run(&c, "  r0 = alloc tag=0 [1]\n  full\n");
    assert_int_equal(v.violation, VIOLATION_no_progress);
    assert_int_equal(v.oracle, ORACLE_progress);
    assert_int_equal(v.op, 1);
    assert_string_equal(v.detail, "the heap never settles, however often its mutators are polled");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_come_first),
        cmocka_unit_test(who_asks_is_known),
        cmocka_unit_test(they_come_and_go),
        cmocka_unit_test(others_are_none_the_wiser),
        cmocka_unit_test(who_takes_blocks_along_is_found),
        cmocka_unit_test(nobody_looks_before_it_has_settled),
        cmocka_unit_test(who_has_gone_may_be_polled),
        cmocka_unit_test(one_that_never_settles_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
