/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly model and its schedules, function by function: what may be taken in which state,
 * what a step changes, and how it is written.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "models/onthefly/schedules/schedule.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct model two_mutators(void) {
    return (struct model){.mutators = 2, .refs = 3, .fields = 1, .buffer = 1, .gc_buffer = 2};
}

/* r0 leads to r1; mutator 0 holds r0; mutator 1 nothing; r2 does not exist. */
static struct state start(const struct model *m) {
    struct state s;
    oref fields[REFS_MAX * FIELDS_MAX] = {[0] = 2};
    const refset roots[MUTATORS_MAX] = {1};
    model_start(m, &s, 3, fields, roots);
    return s;
}

static void an_initial_state_is_idle_and_black(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct state s = start(&m);
    assert_int_equal(s.alloc, 3);
    assert_int_equal(s.tso.memory[CELL_PHASE], PHASE_IDLE);
    assert_int_equal(state_field(&s, 0, 0), 2); /* r1 */
    assert_int_equal(state_field(&s, 1, 0), 0);
    assert_int_equal(state_marked(&m, &s), 3);
    s.tso.memory[cell_mark(1)] ^= 1;
    assert_int_equal(state_marked(&m, &s), 1);
    assert_int_equal(state_closure(&m, &s, 1), 3);
    assert_int_equal(model_all_mutators(&m), 3);
}

static void illegal_models_are_told(void **state) {
    (void)state;
    struct model m = two_mutators();
    assert_null(model_wrong(&m));
    m.mutators = 0;
    assert_non_null(model_wrong(&m));
    m.mutators = MUTATORS_MAX + 1;
    assert_non_null(model_wrong(&m));
    m = two_mutators();
    m.refs = REFS_MAX + 1;
    assert_non_null(model_wrong(&m));
    m = two_mutators();
    m.buffer = BUFFER_MAX + 1;
    assert_non_null(model_wrong(&m));
}

static bool is_among(const struct action *actions, unsigned n, struct action x) {
    for (unsigned i = 0; i < n; i++)
        if (memcmp(&actions[i], &x, sizeof x) == 0)
            return true;
    return false;
}

/* A mutator may allocate what does not exist, and discard, load and store what it holds. */
static void what_a_mutator_may_do(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct state s = start(&m);
    struct action actions[ACTIONS_MAX];
    unsigned n = model_actions(&m, &s, 0, actions);
    assert_true(is_among(actions, n, (struct action){0, DO_ALLOC, 2, 0, 0}));
    assert_false(is_among(actions, n, (struct action){0, DO_ALLOC, 1, 0, 0}));
    assert_true(is_among(actions, n, (struct action){0, DO_DISCARD, 0, 0, 0}));
    assert_true(is_among(actions, n, (struct action){0, DO_LOAD, 0, 0, 0}));
    assert_true(is_among(actions, n, (struct action){0, DO_STORE, 0, 0, 1}));  /* r0 into r0 */
    assert_false(is_among(actions, n, (struct action){0, DO_STORE, 0, 0, 2})); /* r1: not held */
    for (unsigned i = 0; i < n; i++)
        assert_true(model_enabled(&m, &s, &actions[i]));
    n = model_actions(&m, &s, 1, actions);
    for (unsigned i = 0; i < n; i++)
        assert_true(actions[i].op != DO_LOAD && actions[i].op != DO_STORE);
}

/* A store waits in its buffer, and until it is committed memory has the old reference. */
static void a_store_waits_for_its_commit(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct state s = start(&m);
    struct action x = {0, DO_STORE, 0, 0, 1}, actions[ACTIONS_MAX];
    assert_int_equal(state_roots(&s, 0), 1);
    assert_int_equal(state_roots(&s, 1), 0);
    assert_false(model_can_commit(&s, 0));
    for (unsigned steps = 0; !model_can_commit(&s, 0); steps++) { /* the barriers, then the store */
        assert_true(steps < 100 && model_enabled(&m, &s, &x));
        model_apply(&m, &s, &x);
        if (model_actions(&m, &s, 0, actions) > 0)
            x = actions[0];
    }
    assert_int_equal(state_field(&s, 0, 0), 2);
    assert_int_equal(state_roots(&s, 0) & 1, 1); /* r0 is both ends of what waits */
    const struct action commit = {0, DO_COMMIT, 0, 0, 0};
    assert_true(model_enabled(&m, &s, &commit));
    model_apply(&m, &s, &commit);
    assert_int_equal(state_field(&s, 0, 0), 1);
    assert_false(model_enabled(&m, &s, &commit));
}

static bool operates_now(const struct model *m, const struct state *s, unsigned p) {
    struct action actions[ACTIONS_MAX];
    unsigned n = model_actions(m, s, p, actions), operations = 0;
    for (unsigned i = 0; i < n; i++)
        operations += actions[i].op != DO_HANDSHAKE;
    return operations;
}

/* one_by_one: who is at mut_top waits for who operates, and does not wait for its buffer; but a
 * load or a store of the field does. */
static void operations_one_by_one(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct action actions[ACTIONS_MAX], x = {0, DO_STORE, 0, 0, 0};
    for (unsigned one_by_one = 0; one_by_one < 2; one_by_one++) {
        m.variant = one_by_one ? VARIANT(one_by_one) : 0;
        struct state s = start(&m);
        x = (struct action){0, DO_STORE, 0, 0, 0};
        s.agent[1].roots = 1;
        while (!model_can_commit(&s, 0)) { /* its buffer has the store */
            assert_true(model_enabled(&m, &s, &x));
            model_apply(&m, &s, &x);
            bool ended = model_can_commit(&s, 0);
            assert_int_equal(operates_now(&m, &s, 1), ended || !one_by_one);
            if (!ended && model_actions(&m, &s, 0, actions) > 0)
                x = actions[0];
        }
        model_apply(&m, &s, &(struct action){1, DO_LOAD, 0, 0, 0});
        assert_int_equal(model_actions(&m, &s, 1, actions), one_by_one ? 0 : 1);
        model_apply(&m, &s, &(struct action){0, DO_COMMIT, 0, 0, 0});
        assert_int_equal(model_actions(&m, &s, 1, actions), 1);
    }
}

static void labels_say_where_a_process_is(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct state s = start(&m);
    assert_string_equal(model_label(&s, 0), "mut_top");
    assert_string_equal(model_label_meaning(&s, 0), "choose an operation");
    assert_string_equal(model_label(&s, GC), "gc_idle_fence");
    const struct action store = {0, DO_STORE, 0, 0, 1};
    model_apply(&m, &s, &store);
    assert_string_equal(model_label(&s, 0), "mut_deref_del");
}

static void what_the_sweep_frees(void **state) {
    (void)state;
    struct model m = two_mutators();
    assert_true(model_frees(&m, 0, 1) && model_frees(&m, 1, 0));
    assert_false(model_frees(&m, 1, 1) || model_frees(&m, NO_OBJECT, 1));
    m.variant = VARIANT(old_sense);
    assert_true(model_frees(&m, 1, 1));
    assert_false(model_frees(&m, 0, 1) || model_frees(&m, NO_OBJECT, 1));
    m.variant = VARIANT(sweep_blind);
    assert_true(model_frees(&m, 1, 1) && model_frees(&m, 0, 1));
    assert_false(model_frees(&m, NO_OBJECT, 1));
}

/* stale_src: asked while it is about to store, a mutator may answer first, and then stores. */
static void a_safepoint_in_a_store(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct action actions[ACTIONS_MAX];
    m.variant = VARIANT(stale_src);
    assert_true(model_polls_in_store(&m));
    struct state s = start(&m);
    model_apply(&m, &s, &(struct action){0, DO_STORE, 0, 0, 0});
    assert_int_equal(s.agent[0].roots, 0);
    while (s.agent[0].pc != mut_store) {
        assert_true(model_actions(&m, &s, 0, actions) > 0);
        model_apply(&m, &s, &actions[0]);
    }
    assert_int_equal(model_actions(&m, &s, 0, actions), 1);
    s.pending = 1;
    s.type = HS_NOOP;
    assert_int_equal(model_actions(&m, &s, 0, actions), 2);
    assert_int_equal(actions[0].op, DO_HANDSHAKE);
    for (unsigned i = 0; i < 4; i++) { /* see it, mfence, load the type, answer */
        model_actions(&m, &s, 0, actions);
        model_apply(&m, &s, &actions[0]);
    }
    assert_int_equal(s.pending, 0);
    assert_int_equal(s.agent[0].pc, mut_store);
    m.variant = 0;
    assert_false(model_polls_in_store(&m));
}

/* rescan_roots: the handshake that ends marking asks for roots as well. */
static void roots_are_asked_for(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct action actions[ACTIONS_MAX];
    assert_false(type_asks_for_roots(HS_NOOP) || type_asks_for_roots(HS_WORK));
    assert_true(type_asks_for_roots(HS_ROOTS) && type_asks_for_roots(HS_RESCAN));
    for (unsigned again = 0; again < 2; again++) {
        m.variant = again ? VARIANT(rescan_roots) : 0;
        struct state s = start(&m);
        s.agent[GC].pc = gc_work_type;
        model_actions(&m, &s, GC, actions);
        model_apply(&m, &s, &actions[0]);
        assert_int_equal(s.type, again ? HS_RESCAN : HS_WORK);
    }
}

/* blocks: who is blocked takes no step but to wake, and none at all while its roots are marked. */
static void a_mutator_blocks(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct action actions[ACTIONS_MAX];
    assert_false(model_blocks(&m));
    m.variant = VARIANT(blocks);
    assert_true(model_blocks(&m));
    struct state s = start(&m);
    assert_int_equal(state_answered(&s), TSO_NOBODY);
    model_apply(&m, &s, &(struct action){0, DO_BLOCK, 0, 0, 0});
    assert_int_equal(model_actions(&m, &s, 0, actions), 1);
    assert_int_equal(actions[0].op, DO_WAKE);
    s.agent[GC].pc = gc_roots_wait;
    s.agent[GC].refs = s.pending = 1;
    s.type = HS_ROOTS;
    const struct action answer = {GC, DO_ANSWER, 0, 0, 0};
    assert_true(model_enabled(&m, &s, &answer));
    model_apply(&m, &s, &answer);
    assert_int_equal(state_answered(&s), 0);
    assert_int_equal(model_actions(&m, &s, 0, actions), 0);
    while (s.pending) { /* its only root is marked already */
        assert_int_equal(model_actions(&m, &s, GC, actions), 1);
        model_apply(&m, &s, &actions[0]);
    }
    assert_int_equal(s.agent[0].pc, mut_blocked);
    assert_int_equal(s.agent[GC].pc, gc_roots_wait);
}

/* come_and_go: who goes hands its work over; who comes is asked as its maker is. */
static void mutators_come_and_go(void **state) {
    (void)state;
    struct model m = two_mutators();
    struct action actions[ACTIONS_MAX];
    assert_false(model_comes_and_goes(&m));
    for (unsigned answered = 0; answered < 2; answered++) {
        m.variant = answered ? VARIANT(come_answered) : VARIANT(come_and_go);
        assert_true(model_comes_and_goes(&m));
        struct state s = start(&m);
        s.agent[1].W = 2;
        s.agent[GC].pc = gc_roots_wait;
        s.agent[GC].refs = s.pending = 3;
        s.type = HS_ROOTS;
        s.hp = HP_IDLE_MARK_SWEEP;
        s.sync = 0;
        model_apply(&m, &s, &(struct action){1, DO_GO, 0, 0, 0});
        assert_int_equal(s.W, 2);
        assert_int_equal(s.pending, 1);
        assert_int_equal(model_actions(&m, &s, 1, actions), 0);
        s.agent[GC].refs = 1; /* the collector has seen it */
        model_apply(&m, &s, &(struct action){0, DO_COME, 1, 0, 0});
        assert_int_equal(s.agent[1].roots, 1);
        assert_int_equal(s.pending, answered ? 1 : 3);
        assert_int_equal(s.agent[GC].refs, answered ? 1 : 3);
    }
}

/* pools: an object is there when its flag has arrived, behind its fields. */
static void allocation_from_a_pool(void **state) {
    (void)state;
    struct model m = two_mutators();
    m.variant = VARIANT(pools);
    m.buffer = 3;
    assert_true(model_pools(&m));
    struct state s = start(&m);
    const struct action step = {0, DO_STEP, 0, 0, 0}, commit = {0, DO_COMMIT, 0, 0, 0};
    struct action gather = {0, DO_GATHER, 0, 0, 0};
    while (s.alloc >> gather.a & 1)
        gather.a++;
    unsigned r = gather.a, bit = 1U << r;
    assert_true(r < m.refs);
    s.tso.memory[cell_field(r, 0)] = 1; /* what was there */
    assert_true(model_enabled(&m, &s, &gather));
    model_apply(&m, &s, &gather);
    gather.process = 1;
    assert_false(model_enabled(&m, &s, &gather)); /* it is taken */
    model_apply(&m, &s, &(struct action){0, DO_ALLOC, gather.a, 0, 0});
    for (unsigned i = 0; i <= m.fields; i++)
        model_apply(&m, &s, &step);
    assert_int_equal(s.agent[0].pc, mut_top);
    assert_true(s.agent[0].roots & s.agent[0].unborn & bit);
    for (unsigned i = 0; i < m.fields; i++)
        model_apply(&m, &s, &commit);
    assert_int_equal(state_field(&s, r, 0), 0);
    assert_false(s.alloc & bit);
    model_apply(&m, &s, &commit);
    assert_true(s.alloc & bit);
    assert_int_equal(s.agent[0].unborn, 0);
    assert_int_equal(s.tso.memory[cell_mark(r)], s.tso.memory[CELL_FA]);
}

/* tso_handshake: a mutator is asked, and has answered, when that is in memory. */
static void handshakes_in_memory(void **state) {
    (void)state;
    struct model m = two_mutators();
    m.variant = VARIANT(tso_handshake);
    m.buffer = m.gc_buffer = 3;
    assert_true(model_tso_handshake(&m));
    assert_true(cell_is_pending(CELL_PENDING + 1) && !cell_is_pending(CELL_TYPE));
    struct state s = start(&m);
    const struct action gc = {GC, DO_STEP, 0, 0, 0}, gc_commit = {GC, DO_COMMIT, 0, 0, 0};
    const struct action look = {0, DO_HANDSHAKE, 0, 0, 0}, step = {0, DO_STEP, 0, 0, 0};
    const struct action commit = {0, DO_COMMIT, 0, 0, 0}, ask = {GC, DO_MUTATOR, 0, 0, 0};
    model_apply(&m, &s, &gc); /* the fence */
    model_apply(&m, &s, &gc);
    model_apply(&m, &s, &ask);
    assert_int_equal(s.type, HS_ROOTS); /* as it was */
    assert_false(model_enabled(&m, &s, &look));
    model_apply(&m, &s, &gc_commit);
    assert_int_equal(s.type, HS_NOOP);
    assert_false(model_enabled(&m, &s, &look));
    model_apply(&m, &s, &gc_commit);
    assert_int_equal(s.pending, 1);
    assert_true(model_enabled(&m, &s, &look));
    model_apply(&m, &s, &look);
    for (unsigned i = 0; i < 3; i++) /* fence, type, answer */
        model_apply(&m, &s, &step);
    assert_int_equal(s.agent[0].pc, mut_top);
    assert_int_equal(s.pending, 1);
    assert_false(model_enabled(&m, &s, &look)); /* it knows its own answer */
    model_apply(&m, &s, &commit);
    assert_int_equal(s.pending, 0);
    assert_int_equal(s.sync, 1);
    assert_int_equal(s.agent[0].hp, HP_IDLE);
}

static void every_variant_has_a_meaning(void **state) {
    (void)state;
    for (unsigned v = 0; v < VARIANT_COUNT; v++)
        for (unsigned w = 0; w < v; w++) {
            assert_string_not_equal(variant_name(v), variant_name(w));
            assert_string_not_equal(variant_meaning(v), variant_meaning(w));
        }
    assert_string_equal(variant_meaning(VARIANT_BIT_old_sense), "sweep takes marked for unmarked");
}

/* ---- schedules --------------------------------------------------------------------------------
 */

static const char *const text = "isoheap schedule 1\n"
                                "model mutators=1 refs=2 fields=1 buffer=1 gc-buffer=2 memory=tso\n"
                                "heap\n"
                                "  r0 = [r1]\n"
                                "  r1 = [null]\n"
                                "roots\n"
                                "  m0 = r0\n"
                                "steps\n"
                                "  m0 load r0.0\n"
                                "  m0 step\n"
                                "  m0 discard r1\n";

static void schedules_are_known_by_their_first_line(void **state) {
    (void)state;
    assert_true(schedule_looks_like_text(text, strlen(text)));
    assert_false(schedule_looks_like_text("isoheap program 1\n", 18));
    assert_false(schedule_looks_like_text("isoheap schedule", 10)); /* cut */
    assert_false(schedule_looks_like_text("", 0));
}

static void parsed(struct schedule *s) {
    struct schedule_error error;
    memset(s, 0, sizeof *s);
    if (!schedule_parse(s, text, strlen(text), &error))
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
}

static void a_schedule_has_a_first_state(void **state) {
    (void)state;
    struct schedule s;
    struct state first;
    parsed(&s);
    schedule_start(&s, &first);
    assert_int_equal(first.alloc, 3);
    assert_int_equal(first.agent[0].roots, 1);
    assert_int_equal(state_field(&first, 0, 0), 2);
    assert_int_equal(s.n, 3);
    schedule_free(&s);
}

static void steps_are_written_as_they_are_read(void **state) {
    (void)state;
    static const char *const lines[] = {"m0 load r0.0", "m0 step", "m0 discard r1"};
    struct schedule s;
    char line[64], cut[5];
    parsed(&s);
    for (size_t i = 0; i < s.n; i++) {
        assert_int_equal(schedule_step_text(&s.steps[i], line, sizeof line), strlen(lines[i]));
        assert_string_equal(line, lines[i]);
    }
    assert_int_equal(schedule_step_text(&s.steps[0], cut, sizeof cut), strlen(lines[0]));
    assert_string_equal(cut, "m0 l");
    schedule_free(&s);
}

static void columns_have_a_row_a_step(void **state) {
    (void)state;
    struct schedule s;
    char *out = NULL;
    size_t size = 0;
    parsed(&s);
    FILE *file = open_memstream(&out, &size);
    schedule_columns(&s, file);
    fclose(file);
    unsigned rows = 0;
    for (const char *c = out; *c; c++)
        rows += *c == '\n';
    assert_int_equal(rows, 1 + s.n);
    assert_memory_equal(out, "step | m0 ", 10);
    assert_non_null(strstr(out, "| gc "));
    assert_non_null(strstr(out, "load r0.0"));
    assert_non_null(strstr(out, "discard r1"));
    free(out);
    schedule_free(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_initial_state_is_idle_and_black),
        cmocka_unit_test(illegal_models_are_told),
        cmocka_unit_test(what_a_mutator_may_do),
        cmocka_unit_test(a_store_waits_for_its_commit),
        cmocka_unit_test(operations_one_by_one),
        cmocka_unit_test(labels_say_where_a_process_is),
        cmocka_unit_test(what_the_sweep_frees),
        cmocka_unit_test(a_safepoint_in_a_store),
        cmocka_unit_test(roots_are_asked_for),
        cmocka_unit_test(a_mutator_blocks),
        cmocka_unit_test(mutators_come_and_go),
        cmocka_unit_test(allocation_from_a_pool),
        cmocka_unit_test(handshakes_in_memory),
        cmocka_unit_test(every_variant_has_a_meaning),
        cmocka_unit_test(schedules_are_known_by_their_first_line),
        cmocka_unit_test(a_schedule_has_a_first_state),
        cmocka_unit_test(steps_are_written_as_they_are_read),
        cmocka_unit_test(columns_have_a_row_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
