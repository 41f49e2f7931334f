/* SPDX-License-Identifier: MIT
 *
 * Liveness of the on-the-fly model: every cycle of the paper's collector ends, at small bounds and
 * under fairness; collectors and mutators for whom one does not are found, with a way there and a
 * loop that is fair and comes back to where it began.
 */
#include "models/onthefly/exploration/explore.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct explore_options small(uint64_t variant) {
    return (struct explore_options){.model = {.mutators = 1,
                                              .refs = 1,
                                              .fields = 1,
                                              .buffer = 1,
                                              .gc_buffer = 2,
                                              .variant = variant},
                                    .memory = (uint64_t)1 << 28};
}

static void every_cycle_ends(void **state) {
    static const struct {
        uint64_t variant, states;
    } live[] = {
        {0, 27694},
        {VARIANT(rescan_roots), 18554},
        {VARIANT(read_barrier), 22512},
        {VARIANT(blocks), 28888},
        {VARIANT(come_and_go), 28248},
        {VARIANT(pools), 30714},
        {VARIANT(tso_handshake), 37144},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof live / sizeof *live; i++) {
        struct explore_options o = small(live[i].variant);
        struct explore_result r = explore_lasso(&o);
        assert_int_equal(r.end, EXPLORE_COMPLETE);
        assert_int_equal(r.figures.states, live[i].states);
        assert_null(r.trace);
    }
    struct explore_options o = small(0);
    o.model.sequential = true;
    assert_int_equal(explore_lasso(&o).end, EXPLORE_COMPLETE);
}

/* ---- lassos -----------------------------------------------------------------------------------
 */

/* Whether a step of a process is owed at a state: a mutator at the top owes its answer alone, and
 * one that is blocked nothing. */
static bool is_owed(const struct state *s, const struct action *x) {
    unsigned pc = s->agent[x->process].pc;
    bool free = x->process != GC && (pc == mut_top || pc == mut_blocked);
    return x->op == DO_COMMIT || x->op == DO_HANDSHAKE || !free;
}

/* Of each process and of each buffer: whether it takes an owed step in the loop, or has none to
 * take at some state of it. */
static void is_fair(const struct model *m, struct state s, const struct explore_result *r) {
    struct action actions[ACTIONS_MAX];
    bool good[2 * TSO_PROCESSES] = {false};
    for (size_t i = r->loop; i <= r->trace_length; i++) {
        for (unsigned p = 0; p < TSO_PROCESSES; p++) {
            bool exists = p < m->mutators || p == GC, owed = false;
            unsigned n = exists ? model_actions(m, &s, p, actions) : 0;
            for (unsigned k = 0; k < n; k++)
                owed |= is_owed(&s, &actions[k]);
            good[p] |= !owed;
            good[TSO_PROCESSES + p] |= !exists || !model_can_commit(&s, p);
        }
        if (i == r->trace_length)
            break;
        const struct action *x = &r->trace[i];
        bool commits = x->op == DO_COMMIT;
        good[x->process + (commits ? TSO_PROCESSES : 0)] |= is_owed(&s, x);
        assert_false(x->process == GC && !commits && s.agent[GC].pc == gc_phase_idle);
        model_apply(m, &s, x);
    }
    for (unsigned i = 0; i < 2 * TSO_PROCESSES; i++)
        assert_true(good[i]);
}

static void is_lasso(const struct model *m, const struct explore_result *r) {
    struct state s = r->start, begin;
    assert_true(r->loop <= r->trace_length);
    for (size_t i = 0; i < r->trace_length; i++) {
        if (i == r->loop)
            begin = s;
        assert_true(model_enabled(m, &s, &r->trace[i]));
        model_apply(m, &s, &r->trace[i]);
    }
    if (r->loop == r->trace_length)
        begin = s;
    assert_memory_equal(&s, &begin, sizeof s);
    is_fair(m, begin, r);
}

static void who_never_ends_is_found(void **state) {
    static const struct {
        uint64_t variant;
        bool loops;
    } wrong[] = {
        {VARIANT(deaf), true},
        {VARIANT(endless_rounds), true},
        {VARIANT(blocks_unanswered), false}, /* it stands still */
    };
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct explore_options o = small(wrong[i].variant);
        struct explore_result r = explore_lasso(&o);
        assert_int_equal(r.end, EXPLORE_LASSO);
        assert_non_null(r.trace);
        is_lasso(&o.model, &r);
        assert_int_equal(r.loop < r.trace_length, wrong[i].loops);
        free(r.trace);
    }
}

/* That each handshake completes is not enough. */
static void handshakes_may_complete_for_ever(void **state) {
    (void)state;
    struct explore_options o = small(VARIANT(endless_rounds));
    o.fair = true;
    o.symmetry = true;
    o.invariants = INVARIANTS_ALL;
    assert_int_equal(explore(&o).end, EXPLORE_COMPLETE);
    o.model.variant = VARIANT(deaf);
    struct explore_result r = explore(&o);
    assert_int_equal(r.end, EXPLORE_UNFAIR);
    free(r.trace);
}

static bool say_stop(const struct explore_figures *f, void *context) {
    (void)context;
    return f->expanded < 4096;
}

static void bounds_end_it(void **state) {
    (void)state;
    struct explore_options o = small(0);
    o.states = 1000;
    assert_int_equal(explore_lasso(&o).end, EXPLORE_STATES);
    o.states = 0;
    o.progress = say_stop;
    assert_int_equal(explore_lasso(&o).end, EXPLORE_STOPPED);
    o.memory = (uint64_t)3 << 18;
    assert_int_equal(explore_lasso(&o).end, EXPLORE_MEMORY);
    o.memory = 1000;
    assert_int_equal(explore_lasso(&o).end, EXPLORE_MEMORY);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_cycle_ends),
        cmocka_unit_test(who_never_ends_is_found),
        cmocka_unit_test(handshakes_may_complete_for_ever),
        cmocka_unit_test(bounds_end_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
