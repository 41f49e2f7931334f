/* SPDX-License-Identifier: MIT
 *
 * What a runner shows while it runs: the verdict in progress, operations as they run, snapshots and
 * maps of all parties; and what a program's config means to a collector.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "harness/coverage.h"
#include "harness/dead_memory.h"
#include "tests/support/support.h"
#include "views/heap.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

/* ---- seen by an observer ----------------------------------------------------------------------
 */

static const char *const script = "isoheap program 1\n"
                                  "config heap=64\n"
                                  "heap\n"
                                  "  b0 = closure arity=1,1 env=[b1]\n"
                                  "  free 2\n"
                                  "  b1 = block tag=2 [7]\n"
                                  "  static b2 = string [0x2a]\n"
                                  "roots\n"
                                  "  r0 = b0+3\n"
                                  "  r1 = b2\n"
                                  "script\n"
                                  "  r2 = alloc tag=3 [5]\n"
                                  "  r2.9 := r0\n"
                                  "  drop r0\n"
                                  "  full\n";

enum { OPS = 4 };
static struct {
    unsigned before[OPS], after[OPS], initial, end, wrong;
    char operation[OPS][VERDICT_TEXT];
    char maps[PARTIES][1024]; /* after operation 1 */
    size_t blocks[PARTIES][OPS];
    struct snapshot_edge of_r2, of_field, of_r1, of_unit;
    size_t closure_of_r2;
    char name_of_r2[16];
} seen;

static size_t live_blocks(const struct snapshot *s) {
    size_t n = 0;
    for (size_t i = 0; i < s->n_blocks; i++)
        n += s->blocks[i].extent == GC_LIVE;
    return n;
}

static void look_at_subject(struct runner *r) {
    struct snapshot s;
    if (!runner_snapshot(r, PARTY_SUBJECT, &s)) {
        seen.wrong++;
        return;
    }
    seen.of_r2 = snapshot_resolve(&s, s.slots[2]);
    seen.of_r1 = snapshot_resolve(&s, s.slots[1]);
    seen.of_unit = snapshot_resolve(&s, s.slots[9]);
    const struct snapshot_block *b = &s.blocks[seen.of_r2.block];
    snprintf(seen.name_of_r2, sizeof seen.name_of_r2, "%s", b->name);
    seen.of_field = snapshot_resolve(&s, b->fields[0]);
    seen.wrong += s.party != PARTY_SUBJECT || s.mutators != 1 || s.heap_words != 64;
}

static void observe(void *context, struct runner *r, unsigned op, bool before) {
    enum party running = PARTY_SUBJECT;
    const struct verdict *v = runner_current(r, &running);
    (void)context;
    seen.wrong += v->op != op || running != PARTY_MODEL; /* between the calls nobody runs */
    seen.initial += op == OP_INITIAL;
    seen.end += op == OPS;
    if (op >= OPS)
        return;
    ++*(before ? &seen.before[op] : &seen.after[op]);
    if (before) {
        char apart[VERDICT_TEXT];
        runner_operation(r, op, seen.operation[op], VERDICT_TEXT);
        seen.wrong += runner_operation_apart(r, op, apart, sizeof apart) != 0;
        seen.wrong += strcmp(apart, seen.operation[op]) != 0; /* mutator 0 is not named */
        return;
    }
    for (unsigned p = 0; p < PARTIES; p++) {
        struct snapshot s;
        seen.wrong += !runner_snapshot(r, (enum party)p, &s);
        seen.blocks[p][op] = live_blocks(&s);
        if (op == 1)
            seen.wrong += snapshot_map(&s, seen.maps[p], sizeof seen.maps[p]) == 0;
    }
    if (op == 1)
        look_at_subject(r);
}

static int run_script(void **state) {
    (void)state;
    struct runner_options options = {
        .subject = &mark_sweep, .reference = &cheney, .observe = observe};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    memset(&seen, 0, sizeof seen);
    parse_program(&program, script);
    runner_run(runner, &program, &verdict);
    runner_close(runner);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_false(verdict.harness_error);
    return 0;
}

static void every_operation_is_seen_twice(void **state) {
    (void)state;
    for (unsigned op = 0; op < OPS; op++) {
        assert_int_equal(seen.before[op], 1);
        assert_int_equal(seen.after[op], 1);
    }
    assert_int_equal(seen.initial, 2);
    assert_int_equal(seen.end, 2);
    assert_int_equal(seen.wrong, 0);
}

static void note_owners(void *context, struct runner *r, unsigned op, bool before) {
    unsigned *owners = context;
    char apart[VERDICT_TEXT];
    if (!before)
        return;
    unsigned m = runner_operation_apart(r, op, apart, sizeof apart);
    *owners = *owners * 10 + m;
    assert_string_equal(apart, op == OP_INITIAL ? "the initial heap"
                               : op == 2        ? "the checks after the script"
                                                : "r0 = alloc tag=0 [1]");
}

/* For columns: whose it is, and the words without. */
static void owners_stand_apart(void **state) {
    unsigned owners = 0;
    struct runner_options options = {
        .subject = &cheney, .observe = note_owners, .context = &owners};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    (void)state;
    parse_program(&program, "isoheap program 1\nscript\n  r0 = alloc tag=0 [1]\n"
                            "  mutator 1: r0 = alloc tag=0 [1]\n");
    runner_run(runner, &program, &verdict);
    runner_close(runner);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_int_equal(owners, 10); /* nobody's, 0's, 1's, nobody's */
}

static void operations_are_shown_as_they_run(void **state) {
    (void)state;
    assert_string_equal(seen.operation[0], "r2 = alloc tag=3 [5]");
    assert_string_equal(seen.operation[1], "r2.0 := r0"); /* of one field: 9 is 0 */
    assert_string_equal(seen.operation[3], "full");
}

static void snapshots_follow_the_heaps(void **state) {
    (void)state;
    static const size_t blocks[OPS] = {4, 4, 4, 4}; /* b0 and b1 are reached through r2 */
    for (unsigned p = 0; p < PARTIES; p++)
        for (unsigned op = 0; op < OPS; op++)
            assert_int_equal(seen.blocks[p][op], blocks[op]);
    assert_true(seen.of_r2.pointer);
    assert_string_equal(seen.name_of_r2, "n0");
    assert_int_equal(seen.of_field.block, 0);  /* b0 comes first in the heap */
    assert_int_equal(seen.of_field.offset, 3); /* the infix pointer */
    assert_true(seen.of_r1.pointer);
    assert_int_not_equal(seen.of_r1.block, SIZE_MAX); /* static */
    assert_false(seen.of_unit.pointer);
    assert_int_equal(seen.of_unit.block, SIZE_MAX);
}

/* b0 has a header and 6 fields.  In mark_sweep the new block takes the upper two words of the gap
 * after it, whose third word becomes a fragment; cheney bumps a pointer. */
static void maps_have_a_character_a_word(void **state) {
    (void)state;
    const char *subject = seen.maps[PARTY_SUBJECT];
    assert_int_equal(strlen(subject), 65); /* and a newline */
    assert_memory_equal(subject, "Aaaaaaa,BbCc....", 16);
    assert_memory_equal(seen.maps[PARTY_REFERENCE], "Aaaaaaa...BbCc--", 16);
    assert_memory_equal(seen.maps[PARTY_MODEL], "Aaaaaaa", 7);
}

static void a_map_is_cut_as_snprintf_does(void **state) {
    (void)state;
    struct runner_options options = {.subject = &cheney};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    struct snapshot s;
    char whole[256], some[10];
    runner_run(runner, &program, &verdict);
    assert_true(runner_snapshot(runner, PARTY_SUBJECT, &s));
    assert_false(runner_snapshot(runner, PARTY_REFERENCE, &s)); /* there is none */
    assert_true(runner_snapshot(runner, PARTY_SUBJECT, &s));
    size_t length = snapshot_map(&s, whole, sizeof whole);
    assert_int_equal(length, strlen(whole));
    assert_int_equal(snapshot_map(&s, some, sizeof some), length);
    assert_int_equal(strlen(some), sizeof some - 1);
    assert_memory_equal(some, whole, sizeof some - 1);
    runner_close(runner);
}

/* ---- config -----------------------------------------------------------------------------------
 */

static void every_key_reaches_the_collector(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nconfig heap=100 nursery=50 mark-stack=3 slice=7 "
                            "large=9 age=2 variant=4 kind=1\nscript\n");
    struct gc_config config = program_gc_config(&program);
    assert_int_equal(config.heap_words, 100);
    assert_int_equal(config.nursery_words, 50);
    assert_int_equal(config.mark_stack, 3);
    assert_int_equal(config.slice_words, 7);
    assert_int_equal(config.large_words, 9);
    assert_int_equal(config.promotion_age, 2);
    assert_int_equal(config.variant, 4);
    assert_int_equal(config.kind, 1);
}

static void promise_less(const struct gc_config *config, struct collector_traits *traits) {
    traits->sorted_free_list = config->variant == 0;
}

static void a_variant_may_promise_less(void **state) {
    (void)state;
    struct collector c = {.traits = {.moves = true, .sorted_free_list = true}};
    struct gc_config config = {.variant = 1};
    assert_true(promised_traits(&c, &config).sorted_free_list); /* without promise: as they are */
    c.promise = promise_less;
    assert_false(promised_traits(&c, &config).sorted_free_list);
    assert_true(promised_traits(&c, &config).moves);
    config.variant = 0;
    assert_true(promised_traits(&c, &config).sorted_free_list);
}

static void a_nursery_is_beside_the_heap(void **state) {
    (void)state;
    struct gc_config config = {.heap_words = 100, .nursery_words = 50};
    struct collector_traits traits = promised_traits(&cheney, &config);
    assert_int_equal(most_alive(&traits, &config), 100);
    traits = promised_traits(&generational, &config);
    assert_int_equal(most_alive(&traits, &config), 150);
}

/* Figure 3 of the verified OCaml collector: code, closinfo, an infix header between two functions,
 * and a second code pointer for an arity other than 0 and 1. */
static void closures_are_laid_out(void **state) {
    (void)state;
    const int8_t arity[] = {1, 3};
    word out[16];
    size_t start = closure_words(out, 2, arity, 5);
    assert_int_equal(start, 6);
    assert_int_equal(closinfo_start_env(out[1]), 6);
    assert_int_equal(out[2], header_make(3, WHITE, TAG_INFIX));
    assert_int_equal(closinfo_start_env(out[4]), 3); /* counted from its own block */
    assert_int_equal(out[5], out[3]);                /* the full application's */
    assert_int_not_equal(out[0], out[3]);
    for (size_t i = 0; i < start; i++)
        assert_true(i == 1 || i == 4 || i == 2 || is_pointer(out[i]));
}

/* ---- memory and replay ------------------------------------------------------------------------
 */

/* Two fills, so that what depends on memory that nobody wrote shows. */
static void fills_of_memory_differ(void **state) {
    (void)state;
    struct gc_hooks usual = {.poison = NULL}, other = {.poison = NULL};
    word words[4] = {1, 1, 1, 1};
    dead_memory_hooks(&usual, FILL_USUAL, false);
    dead_memory_hooks(&other, FILL_OTHER, true);
    assert_int_not_equal(usual.fill_byte, other.fill_byte);
    assert_true(usual.fill_byte & other.fill_byte & 1); /* an immediate */
    uint64_t before = dead_memory_poisonings();
    usual.poison(words, 4);
    usual.unpoison(words, 4);
    assert_true(words[0] == words[3]); /* it can be read again */
    other.poison(words, 4);
    other.unpoison(words, 4);
    assert_true(words[0] == words[3]);
    assert_int_equal(dead_memory_poisonings(), before + 2);
}

static void options_that_replay(void **state) {
    (void)state;
    struct runner_options options = {.subject = &mark_sweep, .reference = &cheney};
    char text[200], cut[8];
    size_t length = runner_replay(&options, text, sizeof text);
    assert_int_equal(length, strlen(text));
    assert_non_null(strstr(text, "--collector mark_sweep"));
    assert_non_null(strstr(text, "--reference cheney"));
    assert_int_equal(runner_replay(&options, cut, sizeof cut), length);
    assert_memory_equal(cut, text, 7);
    options.reference = NULL;
    options.oracles = ORACLES_ALL & ~ORACLE_BIT(ORACLE_fields);
    runner_replay(&options, text, sizeof text);
    assert_non_null(strstr(text, "--reference none"));
    assert_non_null(strstr(text, "--oracles=-fields"));
}

/* Each reason that an oracle may have to be silent. */
static void silence_has_a_reason(void **state) {
    (void)state;
    const struct {
        const struct collector *collector;
        oracle_set judging;
        enum oracle oracle;
        const char *reason;
    } rows[] = {
        {&mark_sweep, ORACLES_ALL & ~ORACLE_BIT(ORACLE_colours), ORACLE_colours, "left out"},
        {&cheney, ORACLES_ALL, ORACLE_free_list, "lacks trait free_list"},
        {&cheney, ORACLES_ALL, ORACLE_fields, "lacks blocks that do not move"},
        {&mark_sweep, ORACLES_ALL, ORACLE_isomorphism, "fields judges in its place"},
        {&mark_sweep, ORACLES_ALL, ORACLE_memory, "never met an occasion"},
    };
    parse_program(&program, "isoheap program 1\nscript\n");
    struct gc_config config = program_gc_config(&program);
    char text[200], cut[5];
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        size_t length = runner_silence(rows[i].collector, &config, rows[i].judging, rows[i].oracle,
                                       text, sizeof text);
        assert_string_equal(text, rows[i].reason);
        assert_int_equal(length, strlen(text));
        assert_int_equal(runner_silence(rows[i].collector, &config, rows[i].judging, rows[i].oracle,
                                        cut, sizeof cut),
                         length);
        assert_memory_equal(cut, text, sizeof cut - 1);
    }
}

/* ---- names ------------------------------------------------------------------------------------
 */

static void every_oracle_has_a_name_and_a_meaning(void **state) {
    (void)state;
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        assert_int_equal(oracle_named(oracle_name((enum oracle)o)), o);
        assert_true(strlen(oracle_meaning((enum oracle)o)) > 10);
    }
    assert_int_equal(oracle_named("no_such_oracle"), ORACLE_COUNT);
}

/* Every operation has a place as the first of a pair; the rarer ones, of a runtime for the
 * most part, share one. */
static void pairs_have_a_first_operation(void **state) {
    (void)state;
    for (unsigned op = 0; op < OP_CODES; op++) {
        assert_true(coverage_previous(op) < COVERAGE_PREVIOUS - 1);
        if (!op_has(op, RUNTIME) && op != OP_ATTACH && op != OP_DETACH)
            assert_int_equal(coverage_previous(op), op);
    }
    assert_int_equal(coverage_previous(OP_CODES), COVERAGE_PREVIOUS - 1); /* there was none */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(every_operation_is_seen_twice, run_script),
        cmocka_unit_test_setup(operations_are_shown_as_they_run, run_script),
        cmocka_unit_test_setup(snapshots_follow_the_heaps, run_script),
        cmocka_unit_test_setup(maps_have_a_character_a_word, run_script),
        cmocka_unit_test_setup(a_map_is_cut_as_snprintf_does, run_script),
        cmocka_unit_test(every_key_reaches_the_collector),
        cmocka_unit_test(a_variant_may_promise_less),
        cmocka_unit_test(a_nursery_is_beside_the_heap),
        cmocka_unit_test(closures_are_laid_out),
        cmocka_unit_test(fills_of_memory_differ),
        cmocka_unit_test(options_that_replay),
        cmocka_unit_test(silence_has_a_reason),
        cmocka_unit_test(every_oracle_has_a_name_and_a_meaning),
        cmocka_unit_test(pairs_have_a_first_operation),
        cmocka_unit_test(owners_stand_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
