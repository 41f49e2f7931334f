/* SPDX-License-Identifier: MIT
 *
 * The table of oracles: what each one says of itself, what it needs of a collector; and what
 * oracles are written with: words of a side, verdicts, descriptions.
 */
#include "collectors/boehm/boehm.h"
#include "collectors/cheney/cheney.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "oracles/describe.h"
#include "oracles/judge.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- the table --------------------------------------------------------------------------------
 */

static void every_oracle_says_what_it_is(void **state) {
    (void)state;
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        const enum violation *classes = oracle_classes((enum oracle)o);
        assert_true(strlen(oracle_source((enum oracle)o)) > 4);
        assert_int_not_equal(classes[0], VIOLATION_none);
        for (unsigned c = 0; classes[c]; c++) {
            assert_true(classes[c] < VIOLATION_classes);
            for (unsigned d = 0; d < c; d++)
                assert_int_not_equal(classes[c], classes[d]);
        }
        assert_non_null(oracle_event((enum oracle)o, 0)); /* else it would never judge */
        for (unsigned n = 1; oracle_event((enum oracle)o, n); n++)
            assert_string_not_equal(oracle_event((enum oracle)o, n - 1),
                                    oracle_event((enum oracle)o, n));
    }
}

/* A class that no oracle raises is one of the on-the-fly model, or a sanitizer's. */
static void every_class_has_an_oracle(void **state) {
    (void)state;
    static const enum violation others[] = {VIOLATION_handshake_broken, VIOLATION_mark_lost,
                                            VIOLATION_sanitizer};
    bool raised[VIOLATION_classes] = {[VIOLATION_none] = true};
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        for (const enum violation *c = oracle_classes((enum oracle)o); *c; c++)
            raised[*c] = true;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++) {
        assert_false(raised[others[i]]);
        raised[others[i]] = true;
    }
    for (unsigned v = 0; v < VIOLATION_classes; v++)
        if (!raised[v])
            fail_msg("no oracle raises %s", violation_name((enum violation)v));
}

static bool applies(enum oracle o, const struct collector *c) {
    return !(oracle_needs(o) & ~oracle_needs_met(c, &c->traits));
}

static void needs_are_told_from_functions_and_traits(void **state) {
    (void)state;
    struct collector blind = mark_sweep;
    blind.walk = NULL;
    assert_true(applies(ORACLE_fields, &mark_sweep));
    assert_false(applies(ORACLE_fields, &cheney)); /* it moves */
    assert_false(applies(ORACLE_fields, &blind));
    assert_true(applies(ORACLE_isomorphism, &blind));
    assert_true(applies(ORACLE_snapshot, &incremental));
    assert_false(applies(ORACLE_snapshot, &mark_sweep));
    assert_false(applies(ORACLE_completeness, &boehm)); /* conservative */
    for (unsigned n = 0; n < ORACLE_NEED_COUNT; n++)
        for (unsigned m = 0; m < n; m++)
            assert_string_not_equal(oracle_need_words((enum oracle_need)n),
                                    oracle_need_words((enum oracle_need)m));
}

/* ---- what oracles are written with ------------------------------------------------------------
 */

static struct model model;

static void words_of_a_side(void **state) {
    (void)state;
    const word units[] = {WORD_UNIT, WORD_UNIT};
    assert_true(model_room(&model, MODEL_OBJECTS, MODEL_WORDS));
    model_reset(&model, 1);
    unsigned object = model_add(&model, 2, 0, 0, units);
    model.objects[object].address[PARTY_REFERENCE] = 0x1000;
    assert_int_equal(side_word(&model, PARTY_REFERENCE, immediate(5)), immediate(5));
    assert_int_equal(side_word(&model, PARTY_REFERENCE, model_pointer(object, 0)), 0x1000);
    assert_int_equal(side_word(&model, PARTY_REFERENCE, model_pointer(object, 3)), 0x1018);
}

static void cycles_that_have_moved(void **state) {
    (void)state;
    const word heap[2] = {0};
    struct gc_cycle idle = {GC_PHASE_IDLE, 1, NULL}, next = {GC_PHASE_MARK, 2, NULL},
                    here = {GC_PHASE_SWEEP, 2, heap}, there = {GC_PHASE_SWEEP, 2, heap + 1};
    assert_false(cycle_has_moved(idle, idle));
    assert_true(cycle_has_moved(idle, next));
    assert_true(cycle_has_moved(next, here));
    assert_true(cycle_has_moved(here, there));
    assert_false(cycle_has_moved(here, here));
    next.cursor = heap; /* means nothing while marking */
    assert_false(cycle_has_moved(next, (struct gc_cycle){GC_PHASE_MARK, 2, NULL}));
}

static jmp_buf end;
static struct {
    enum occasion walked;
    unsigned walks;
    enum violation violation;
    const char *detail;
} asked;

static void fake_walk(struct judge *j, enum occasion when) {
    (void)j;
    asked.walks++;
    asked.walked = when;
}
static void fake_fail(struct judge *j, enum violation v, const char *detail) {
    (void)j;
    asked.violation = v;
    asked.detail = detail;
    longjmp(end, 1);
}
static void fake_fault(struct judge *j, const char *detail) {
    (void)j;
    asked.violation = VIOLATION_none;
    asked.detail = detail;
    longjmp(end, 2);
}

static void what_an_oracle_asks_for(void **state) {
    (void)state;
    const struct judge_services services = {
        .walk = fake_walk, .fail = fake_fail, .fault = fake_fault};
    struct judge judge = {.services = &services};
    judge_walk(&judge);
    assert_int_equal(asked.walks, 1);
    assert_int_equal(asked.walked, IN_BETWEEN);
    int ended = setjmp(end);
    if (ended == 0)
        judge_fail(&judge, VIOLATION_overlap, "two blocks");
    if (ended == 1) {
        assert_int_equal(asked.violation, VIOLATION_overlap);
        assert_string_equal(asked.detail, "two blocks");
        judge_fault(&judge, "a wrong assumption");
    }
    assert_int_equal(ended, 2);
    assert_string_equal(asked.detail, "a wrong assumption");
}

/* Nothing was shown: that is one's fault only who has collected. */
static void states_that_nobody_shows(void **state) {
    (void)state;
    const struct judge_services services = {.fail = fake_fail};
    static struct side side;
    struct gc_hooks hooks;
    struct judge judge = {.services = &services, .side = &side};
    memset(&hooks, 0, sizeof hooks);
    side.hooks = &hooks;
    assert_false(judge_shown(&judge, 0, false));
    hooks.collections = 1;
    assert_false(judge_shown(&judge, 0, true));
    assert_false(judge_shown(&judge, 1, false)); /* it was adopt that moved blocks */
    int ended = setjmp(end);
    if (ended == 0)
        judge_shown(&judge, 0, false);
    assert_int_equal(ended, 1);
    assert_int_equal(asked.violation, VIOLATION_promise_broken);
}

/* An assumption of an oracle's own, that the harness gives each number to one finaliser. */
static void finalisers_are_promised_once(void **state) {
    (void)state;
    const struct judge_services services = {.fault = fake_fault};
    struct judge judge = {.services = &services};
    judge.state = calloc(1, oracle_finalisers.state);
    assert_non_null(judge.state);
    oracle_finalisers.reset(&judge);
    oracle_finalisers.promised(&judge, 0, 5);
    oracle_finalisers.promised(&judge, 1, 6);
    int ended = setjmp(end);
    if (ended == 0)
        oracle_finalisers.promised(&judge, 1, 7);
    assert_int_equal(ended, 2);
    assert_string_equal(asked.detail, "a finaliser is promised twice");
    free(judge.state);
}

static void objects_have_names(void **state) {
    (void)state;
    const word units[] = {WORD_UNIT, WORD_UNIT};
    char text[200], cut[6];
    assert_true(model_room(&model, MODEL_OBJECTS, MODEL_WORDS));
    model_reset(&model, 1);
    unsigned first = model_add(&model, 2, 3, 0, units), second = model_add(&model, 1, 0, 0, units);
    model.objects[first].origin = 4;
    model.objects[second].origin = -1 - 7;
    object_name(&model, first, text, sizeof text);
    assert_string_equal(text, "b4");
    object_name(&model, second, text, sizeof text);
    assert_string_equal(text, "n7");
    model.objects[second].serial = 1;
    object_name(&model, second, text, sizeof text);
    assert_string_equal(text, "n7:2");
    describe_model(&model, model_pointer(first, 0), text, sizeof text);
    assert_string_equal(text, "a pointer to b4 (tag 3, 2 fields)");
    describe_model(&model, immediate(-5), text, sizeof text);
    assert_string_equal(text, "the immediate -5");
    const struct value value = {
        .kind = VALUE_ADDRESS, .block = 2, .bits = address_bits(ADDRESS_BLOCK, false, 1)};
    word address = model_add_address(&model, &value, true, false);
    describe_word(&model, address, text, sizeof text);
    assert_string_equal(text, "the word &r2+1, an address when it was written");
    describe_word(&model, 0x1f, text, sizeof text);
    assert_string_equal(text, "the word 0x1f");
    assert_int_equal(describe_model(&model, model_pointer(first, 0), cut, sizeof cut), 33);
    assert_string_equal(cut, "a poi");
    origin_name(-1 - 3, 1, text, sizeof text);
    assert_string_equal(text, "n3:2");
}

static void name_it(struct judge *j, word v, char out[NAME_TEXT]) {
    (void)j, (void)v;
    strcpy(out, "b7");
}

static const char *described(struct judge *j, word v) {
    static char text[200];
    describe_heap(j, v, text, sizeof text);
    return text;
}

/* A block is at the word of its header; its name, if somebody knows it, comes first. */
static void words_of_a_heap_are_described(void **state) {
    (void)state;
    static struct side side;
    static word heap[16] = {0};
    static struct graph_cell cells[16];
    static uint64_t in_use[1];
    const struct judge_services silent = {.walk = NULL}, naming = {.name = name_it};
    struct judge j = {.side = &side, .services = &silent};
    char text[200];
    graph_of_heap(&side.graph, heap, 16, NULL, 0, model.slots[0], 1, cells, 16, in_use);
    side.graph.epoch = 1;
    heap[4] = header_make(2, WHITE, 3);
    cells[5].stamp = 1; /* the only block: words 4 to 6 */
    in_use[0] = 7u << 4;
    assert_string_equal(described(&j, pointer_word(&heap[5])),
                        "a pointer to the block at word 4 (tag 3, 2 fields)");
    assert_string_equal(described(&j, pointer_word(&heap[6])),
                        "a pointer to field 1 of the block at word 4 (tag 3, 2 fields)");
    assert_string_equal(described(&j, pointer_word(&heap[9])),
                        "a pointer to word 8, where no live block is");
    assert_string_equal(described(&j, pointer_word(&heap[0])),
                        "a pointer to the first word of the heap, where no block can be");
    assert_non_null(strstr(described(&j, outside_pointer(1)), "which points at no block"));
    j.services = &naming;
    assert_string_equal(described(&j, pointer_word(&heap[5])),
                        "a pointer to b7 (at word 4, tag 3, 2 fields)");
    assert_string_equal(described(&j, pointer_word(&heap[9])),
                        "a pointer to word 8, where no live block is; b7 was there");
    describe_block(&j, 5, text, sizeof text);
    assert_string_equal(text, "b7 (at word 4, tag 3, 2 fields)");
    describe_at(&j, 4, text, sizeof text);
    assert_string_equal(text, "the header of b7 (at word 4, tag 3, 2 fields)");
    describe_at(&j, 8, text, sizeof text);
    assert_string_equal(text, "word 8, in no block");
    describe_name(&j, pointer_word(&heap[5]), text);
    assert_string_equal(text, "b7");
    assert_string_equal(heap_colour(GRAY), "gray");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_oracle_says_what_it_is),
        cmocka_unit_test(every_class_has_an_oracle),
        cmocka_unit_test(needs_are_told_from_functions_and_traits),
        cmocka_unit_test(words_of_a_side),
        cmocka_unit_test(cycles_that_have_moved),
        cmocka_unit_test(what_an_oracle_asks_for),
        cmocka_unit_test(states_that_nobody_shows),
        cmocka_unit_test(finalisers_are_promised_once),
        cmocka_unit_test(objects_have_names),
        cmocka_unit_test(words_of_a_heap_are_described),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
