/* SPDX-License-Identifier: MIT
 *
 * The generational collector, Definition 7 and the completeness of the remembered set: the seeds
 * pass and are judged, blocks are promoted at their age, collectors that do their minor collections
 * elsewhere or remember more are no false alarm, and each oracle names the defect that it is for.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "program/bytes/bytes.h"
#include "tests/support/crashes.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;
static struct run_counts total;

static uint64_t pass(struct runner *runner, const char *what) {
    return must_pass(runner, &program, what, &total)->digest;
}

/* With the old generation's collector that it asks for, and with the other. */
static void pass_one(const char *path, void *runner) {
    load_program(&program, path);
    uint64_t digest = pass(runner, path);
    program.config[CONFIG_KIND] ^= 1;
    pass(runner, path);
    program.config[CONFIG_KIND] ^= 1;
    assert_int_equal(pass(runner, path), digest);
}

static void pass_all(const struct collector *subject, const struct collector *reference) {
    struct runner *runner = open_pair(subject, reference);
    assert_true(for_each_program(SEEDS_DIR "/generational", pass_one, runner) > 0);
    for_each_program(SEEDS_DIR "/mark_sweep", pass_one, runner);
    for_each_program(SEEDS_DIR "/incremental", pass_one, runner);
    runner_close(runner);
}

static void seeds_pass_and_are_judged(void **state) {
    (void)state;
    memset(&total, 0, sizeof total);
    pass_all(&generational, &cheney);
    figures_of_counts("generational against cheney", &total);
    pass_all(&generational, NULL);
    pass_all(&cheney, &generational);
    pass_all(&generational, &mark_sweep);
}

/* ---- legal odd collectors ---------------------------------------------------------------------
 */

static enum gc_result minor_first_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                        unsigned tag, const word *raw) {
    generational.collect(gc, GC_MINOR);
    return generational.alloc(gc, m, dst, wosize, tag, raw);
}
static enum gc_result minor_after_store(struct gc *gc, unsigned m, unsigned obj, size_t i,
                                        unsigned value) {
    enum gc_result result = generational.store(gc, m, obj, i, value);
    generational.collect(gc, GC_MINOR);
    return result;
}
static enum gc_result minor_before_step(struct gc *gc, size_t budget) {
    generational.collect(gc, GC_MINOR);
    return generational.step(gc, budget);
}
static enum gc_result minor_is_full(struct gc *gc, enum gc_collection kind) {
    (void)kind;
    return generational.collect(gc, GC_FULL);
}

/* A minor collection may come in any call that may collect, and several of them in one. */
static void minors_in_other_calls_are_no_violation(void **state) {
    (void)state;
    struct collector odd = generational;
    odd.traits.waits = odd.traits.rescans = false; /* it collects where it need not */
    odd.traits.linear = 0;
    odd.alloc = minor_first_alloc;
    pass_all(&odd, &cheney);
    odd.store = minor_after_store;
    pass_all(&odd, NULL);
    odd.step = minor_before_step;
    pass_all(&odd, NULL);
    odd.collect = minor_is_full;
    pass_all(&odd, &cheney);
    odd.image = NULL; /* young blocks are there when the script begins */
    odd.adopt = NULL;
    pass_all(&odd, &cheney);
}

/* What else an old block holds may be in the remembered set too. */
struct recorder {
    struct gc *gc;
    void (*visit)(void *context, word block, size_t i);
    void *context;
};
static void record_every_field(void *context, enum gc_extent kind, const word *header,
                               size_t words) {
    const struct recorder *r = context;
    word v = pointer_word(header + 1);
    if (kind != GC_LIVE || generational.young(r->gc, v))
        return;
    for (size_t i = first_scanned(v); i + 1 < words; i++)
        if (!generational.young(r->gc, word_pointer(v)[i]))
            r->visit(r->context, v, i);
}
static void remember_more(struct gc *gc, void (*visit)(void *context, word block, size_t i),
                          void *context) {
    struct recorder r = {gc, visit, context};
    generational.remembered(gc, visit, context);
    generational.walk(gc, record_every_field, &r);
}
static void extra_entries_are_no_violation(void **state) {
    (void)state;
    struct collector more = generational;
    more.remembered = remember_more;
    more.traits.remembered_once = false;
    pass_all(&more, &cheney);
}

static void a_collector_that_does_not_tell_is_not_judged(void **state) {
    (void)state;
    struct collector silent = generational;
    silent.young = NULL;
    silent.remembered = NULL;
    silent.traits.remembered_once = false;
    silent.traits.exact_minor = silent.traits.young_first = silent.traits.ages = false;
    silent.traits.waits = silent.traits.rescans = false; /* a nursery that nobody knows is full */
    silent.traits.linear = 0;
    silent.traits.tells = 0; /* young blocks go without a word */
    memset(&total, 0, sizeof total);
    pass_all(&silent, &cheney);
    assert_int_equal(total.oracles[ORACLE_remembered], 0);
    assert_int_equal(total.oracles[ORACLE_minor], 0);
}

static void the_oracles_can_be_left_out(void **state) {
    (void)state;
    static const enum oracle both[] = {ORACLE_remembered, ORACLE_minor};
    for (unsigned i = 0; i < 2; i++) {
        struct runner_options options = {.subject = &generational,
                                         .oracles = ORACLES_ALL & ~ORACLE_BIT(both[i])};
        struct runner *runner = runner_open(&options);
        memset(&total, 0, sizeof total);
        for_each_program(SEEDS_DIR "/generational", pass_one, runner);
        assert_int_equal(total.oracles[both[i]], 0);
        figures_of_counts(i ? "without minor" : "without remembered", &total);
        runner_close(runner);
    }
}

/* ---- what the oracles find --------------------------------------------------------------------
 */

static struct verdict judge_crash(const char *name, const struct collector *subject) {
    load_crash(name, &program);
    return run_here(subject, &cheney, &program);
}

static void each_defect_is_named_by_its_oracle(void **state) {
    (void)state;
    static const struct {
        const char *name;
        enum oracle oracle;
    } cases[] = {
        {"bad_unrecorded_store", ORACLE_remembered}, {"bad_init_unrecorded", ORACLE_remembered},
        {"bad_recorded_again", ORACLE_remembered},   {"bad_promoted_unrecorded", ORACLE_remembered},
        {"bad_minor_keeps", ORACLE_minor},           {"bad_minor_writes", ORACLE_minor},
        {"bad_promoted_unscanned", ORACLE_minor},    {"bad_young_infix_lost", ORACLE_minor},
        {"bad_young_no_roots", ORACLE_snapshot},     {"bad_promoted_white", ORACLE_snapshot},
        {"bad_old_no_barrier", ORACLE_snapshot},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict v = judge_crash(cases[i].name, bad_collector(cases[i].name)->collector);
        assert_int_equal(v.violation, bad_collector(cases[i].name)->violation);
        assert_int_equal(v.oracle, cases[i].oracle);
        assert_int_equal(v.guilty, PARTY_SUBJECT);
        assert_true(v.found[0] && v.detail[0]);
    }
    struct verdict v =
        judge_crash("bad_unrecorded_store", bad_collector("bad_unrecorded_store")->collector);
    assert_true(v.path[0]); /* it says which field */
}

/* A minor collection that keeps more is no violation where nobody promises. */
static void keeping_more_is_judged_if_promised(void **state) {
    (void)state;
    struct collector keeps = *bad_collector("bad_minor_keeps")->collector;
    keeps.traits.exact_minor = false;
    struct verdict v = judge_crash("bad_minor_keeps", &keeps);
    assert_true(v.oracle != ORACLE_minor || !v.violation);
}

/* ---- ages and the remembered set --------------------------------------------------------------
 */

static struct gc_hooks hooks;
static gc_slots slots[GC_MUTATORS];
static unsigned before, after;
static void nothing(void *start, size_t words) {
    (void)start;
    (void)words;
}
static void count_minor(struct gc_hooks *h, bool is_before) {
    (void)h;
    before += is_before;
    after += !is_before;
}

static struct gc *open_heap(size_t words, size_t nursery, unsigned age) {
    hooks = (struct gc_hooks){
        .poison = nothing, .unpoison = nothing, .fuel = UINT64_MAX, .minor = count_minor};
    before = after = 0;
    for (unsigned i = 0; i < GC_SLOTS; i++)
        slots[0][i] = WORD_UNIT;
    struct gc_config config = {.heap_words = words,
                               .nursery_words = nursery,
                               .large_words = 100,
                               .promotion_age = age,
                               .mutators = 1,
                               .slots = slots,
                               .hooks = &hooks};
    struct gc *gc = generational.open();
    assert_non_null(gc);
    generational.reset(gc, &config);
    return gc;
}

static void make_block(struct gc *gc, unsigned slot, size_t wosize) {
    static word raw[200];
    for (size_t i = 0; i < wosize; i++)
        raw[i] = WORD_UNIT;
    assert_int_equal(generational.alloc(gc, 0, slot, wosize, 0, raw), GC_OK);
}

static void blocks_are_promoted_at_their_age(void **state) {
    (void)state;
    for (unsigned age = 0; age < 16; age++) {
        struct gc *gc = open_heap(64, 32, age);
        make_block(gc, 0, 3);
        for (unsigned minor = 0; minor <= age; minor++) {
            assert_true(generational.young(gc, slots[0][0]));
            generational.collect(gc, GC_MINOR);
        }
        assert_false(generational.young(gc, slots[0][0]));
        word old = slots[0][0];
        generational.collect(gc, GC_MINOR);
        assert_true(slots[0][0] == old);
        assert_int_equal(before, age + 2);
        assert_int_equal(after, age + 2);
        generational.close(gc);
    }
}

static void large_blocks_are_old_from_the_start(void **state) {
    (void)state;
    struct gc *gc = open_heap(256, 120, 0);
    make_block(gc, 0, 98); /* 99 words with the header: the last that is small */
    assert_true(generational.young(gc, slots[0][0]));
    make_block(gc, 1, 99);
    assert_false(generational.young(gc, slots[0][1]));
    generational.close(gc);
    gc = open_heap(256, 16, 0);
    make_block(gc, 0, 15);
    assert_true(generational.young(gc, slots[0][0]));
    make_block(gc, 1, 16); /* larger than the nursery */
    assert_false(generational.young(gc, slots[0][1]));
    generational.close(gc);
}

static unsigned entries;
static void count_entry(void *context, word block, size_t i) {
    (void)context;
    assert_true(block && i < 200);
    entries++;
}
static unsigned remembered(struct gc *gc) {
    entries = 0;
    generational.remembered(gc, count_entry, gc);
    return entries;
}

static void a_field_is_remembered_once_and_forgotten(void **state) {
    (void)state;
    struct gc *gc = open_heap(256, 64, 1);
    make_block(gc, 0, 120); /* old */
    make_block(gc, 1, 2);
    assert_int_equal(remembered(gc), 0);
    generational.store(gc, 0, 0, 5, 1);
    generational.store(gc, 0, 0, 5, 1);
    generational.store(gc, 0, 1, 0, 1); /* young to young */
    generational.store(gc, 0, 0, 6, 2); /* an immediate */
    generational.store(gc, 0, 1, 1, 0); /* young to old */
    assert_int_equal(remembered(gc), 1);
    generational.store(gc, 0, 0, 7, 1);
    assert_int_equal(remembered(gc), 2);
    generational.collect(gc, GC_MINOR); /* it stays young: both are remembered still */
    assert_true(generational.young(gc, slots[0][1]));
    assert_true(word_pointer(slots[0][0])[5] == slots[0][1]);
    assert_int_equal(remembered(gc), 2);
    generational.store(gc, 0, 0, 7, 2); /* overwritten: goes with the next collection */
    assert_int_equal(remembered(gc), 2);
    generational.collect(gc, GC_MINOR);
    assert_false(generational.young(gc, slots[0][1]));
    assert_true(word_pointer(slots[0][0])[5] == slots[0][1]);
    assert_int_equal(remembered(gc), 0);
    generational.close(gc);
}

/* ---- random programs --------------------------------------------------------------------------
 */

static void slice_often(struct program *p, unsigned number, uint8_t *bytes, uint64_t random) {
    (void)random;
    for (unsigned i = 0; number % 2 && i < RANDOM_BYTES; i += 8)
        bytes[i] = 122;
    program_decode(p, bytes, RANDOM_BYTES);
    p->config[CONFIG_KIND] = number % 2;
}

static void random_programs_pass_alike(void **state) {
    (void)state;
    runs_are_alike(&generational, &cheney, 3000, 50, slice_often);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_pass_and_are_judged),
        cmocka_unit_test(minors_in_other_calls_are_no_violation),
        cmocka_unit_test(extra_entries_are_no_violation),
        cmocka_unit_test(a_collector_that_does_not_tell_is_not_judged),
        cmocka_unit_test(the_oracles_can_be_left_out),
        cmocka_unit_test(each_defect_is_named_by_its_oracle),
        cmocka_unit_test(keeping_more_is_judged_if_promised),
        cmocka_unit_test(blocks_are_promoted_at_their_age),
        cmocka_unit_test(large_blocks_are_old_from_the_start),
        cmocka_unit_test(a_field_is_remembered_once_and_forgotten),
        cmocka_unit_test(random_programs_pass_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
