/* SPDX-License-Identifier: MIT
 *
 * That searches of the on-the-fly model are honest: each invariant has a seed in which it is the
 * first to break, packing keeps every state of every variant or ends the process, the reductions
 * agree, and a collector that a reduction is not made for is refused.
 */
#include "models/onthefly/exploration/assume.h"
#include "models/onthefly/exploration/pack.h"
#include "models/onthefly/schedules/driver.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- invariants -------------------------------------------------------------------------------
 */

/* What cannot be the first to break, and those of which one breaks with it. */
static unsigned implied_by(unsigned bit) {
    if (bit == INVARIANT_weak_tricolour)
        return INVARIANT(strong_tricolour);
    if (bit == INVARIANT_mutator_phase)
        return INVARIANT(handshake) | INVARIANT(fM_rel) | INVARIANT(fA_rel) | INVARIANT(sys_phase);
    return 0;
}

static void load_seed(const char *invariant, struct schedule *s) {
    static char text[1 << 16];
    struct schedule_error error;
    char path[1024];
    snprintf(path, sizeof path, "%s/onthefly_text/breaks_%s.schedule", SEEDS_DIR, invariant);
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s is not there", path);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    if (!schedule_parse(s, text, size, &error))
        fail_msg("%s:%u:%u: %s", path, error.line, error.column, error.message);
}

static void each_invariant_is_the_first_to_break(void **state) {
    (void)state;
    for (unsigned i = 0; i < INVARIANT_COUNT; i++) {
        struct schedule s = {.n = 0};
        const char *name = invariant_name(i);
        load_seed(name, &s);
        s.invariants = implied_by(i) ? 1U << i : INVARIANTS_ALL;
        struct schedule_result r = schedule_run(&s, NULL, NULL);
        if (r.end != SCHEDULE_VIOLATION || r.step + 1 != s.n)
            fail_msg("breaks_%s: ended by %d at step %zu of %zu", name, r.end, r.step + 1, s.n);
        assert_string_equal(invariant_name(invariant_first(r.broken)), name);
        s.invariants = INVARIANTS_ALL;
        s.model.variant = 0; /* the paper's collector breaks nothing there */
        assert_int_not_equal(schedule_run(&s, NULL, NULL).end, SCHEDULE_VIOLATION);
        schedule_free(&s);
    }
}

/* ---- runs of every variant --------------------------------------------------------------------
 */

enum { RUNS = 6 };

/* Random runs of the paper's collector, of each variant, and of some pairs of them. */
static void for_each_run(void (*see)(const struct driver_result *),
                         void (*seen)(const struct model *, const struct state *)) {
    static struct driver_result r;
    uint64_t seed = 1;
    for (unsigned v = 0; v <= 2 * VARIANT_COUNT; v++)
        for (unsigned run = 0; run < RUNS; run++) {
            uint64_t variant = v ? (uint64_t)1 << (v - 1) % VARIANT_COUNT : 0;
            seed = seed * 6364136223846793005U + 1442695040888963407U;
            if (v > VARIANT_COUNT)
                variant |= (uint64_t)1 << (seed >> 40) % VARIANT_COUNT;
            const struct driver_options o = {variant, INVARIANT(valid_stores), 400, seen};
            driver_run(&o, (const uint8_t *)&seed, sizeof seed, &r);
            if (see)
                see(&r);
        }
}

static void see_implied(const struct model *m, const struct state *s) {
    unsigned broken = invariants_broken(m, s, EVENT_NONE, INVARIANTS_ALL);
    for (unsigned i = 0; i < INVARIANT_COUNT; i++)
        if (implied_by(i) && broken >> i & 1 && !(broken & implied_by(i)))
            fail_msg("%s breaks without what implies it", invariant_name(i));
}

static void what_is_implied_is_never_the_first(void **state) {
    (void)state;
    for_each_run(NULL, see_implied);
}

/* ---- packing ----------------------------------------------------------------------------------
 */

static unsigned long long packed_states;

static void see_packed(const struct model *m, const struct state *s) {
    static struct packing k;
    uint8_t bytes[PACK_BYTES_MAX];
    struct state back;
    if (memcmp(&k.model, m, sizeof *m) != 0 || !k.bytes)
        pack_open(&k, m, false);
    pack_canonical(&k, s, bytes);
    unpack(&k, bytes, &back);
    if (memcmp(&back, s, sizeof back) != 0)
        fail_msg("another state comes back, variant %llx", (unsigned long long)m->variant);
    packed_states++;
}

static void packing_keeps_every_state(void **state) {
    (void)state;
    for_each_run(NULL, see_packed);
    assert_true(packed_states > 50000);
}

/* A state that has one more store in a buffer than the model can have there. */
static void pack_stray(unsigned process, unsigned cell) {
    const struct model m = {.mutators = 1, .refs = 2, .fields = 1, .buffer = 1, .gc_buffer = 2};
    const oref fields[REFS_MAX * FIELDS_MAX] = {0};
    const refset roots[MUTATORS_MAX] = {0};
    struct packing k;
    struct state s;
    uint8_t bytes[PACK_BYTES_MAX];
    model_start(&m, &s, 3, fields, roots);
    tso_store(&s.tso, process, cell, 1);
    pack_open(&k, &m, true);
    pack_canonical(&k, &s, bytes);
}

static bool dies(unsigned process, unsigned cell) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        crashes_end_the_process();
        if (!freopen("/dev/null", "w", stderr))
            _exit(2);
        pack_stray(process, cell);
        _exit(0);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void a_store_that_does_not_fit_is_no_other_state(void **state) {
    (void)state;
    assert_true(dies(GC, cell_field(1, 0)));
    assert_true(dies(0, CELL_PHASE));
    assert_true(dies(0, CELL_FM));
    assert_false(dies(GC, CELL_PHASE));
    assert_false(dies(0, cell_field(1, 0)));
    assert_false(dies(0, cell_mark(1)));
}

/* ---- reductions -------------------------------------------------------------------------------
 */

static enum explore_end search_end(const struct model *m, enum reduction reduction,
                                   unsigned invariants, bool directed) {
    const struct explore_options o = {.model = *m,
                                      .reduction = reduction,
                                      .symmetry = true,
                                      .between = invariants != INVARIANTS_SAFETY,
                                      .invariants = invariants,
                                      .memory = (uint64_t)1 << 28};
    struct explore_result r = directed ? explore_directed(&o, NULL) : explore(&o);
    free(r.trace);
    assert_true(r.reduction == assume_reduction(m, reduction));
    return r.end;
}

/* Every variant, one mutator, one reference: all states, fewer, and fewer still.  What is local
 * can be broken inside a macro step alone, so the reduced searches look there; a directed one does
 * not. */
static void reductions_agree(void **state) {
    (void)state;
    for (unsigned v = 0; v < 2 * VARIANT_COUNT; v++) {
        struct model m = {.mutators = 1, .refs = 1, .fields = 1, .buffer = 1, .gc_buffer = 2};
        m.variant = (uint64_t)1 << v % VARIANT_COUNT;
        m.sequential = v >= VARIANT_COUNT;
        for (unsigned safety = 0; safety < 2; safety++) {
            unsigned set = safety ? INVARIANTS_SAFETY : INVARIANTS_ALL & ~INVARIANT(garbage);
            enum explore_end all = search_end(&m, REDUCE_NONE, set, false);
            for (unsigned how = REDUCE_LOCAL; how <= REDUCE_FULL; how++)
                if (search_end(&m, how, set, false) != all ||
                    (safety && !m.sequential && search_end(&m, how, set, true) != all))
                    fail_msg("%s, reduction %u, safety %u: not %d", variant_name(v % VARIANT_COUNT),
                             how, safety, all);
        }
    }
}

static const char *in_vain;
static uint64_t variants_in_vain;

/* Whether a run does what its collector's reductions rule out. */
static void see_assumptions(const struct driver_result *r) {
    struct state s = r->start;
    bool loads = assume_stable_loads(&r->model);
    for (unsigned i = 0; i < r->n; i++) {
        struct assumed before;
        assume_before(&before, &r->model, &s, loads);
        model_apply(&r->model, &s, &r->steps[i]);
        in_vain = assume_broken(&before, &r->model, &s, &r->steps[i]);
        if (!in_vain)
            continue;
        variants_in_vain |= r->model.variant;
        if (assume_reduction(&r->model, REDUCE_FULL) != REDUCE_NONE)
            fail_msg("variant %llx: %s", (unsigned long long)r->model.variant, in_vain);
    }
}

/* Not one run in twenty of some variants does. */
static void run_in_vain(uint64_t variant) {
    enum { MOST = 1000 };
    static struct driver_result r;
    uint64_t seed = 1;
    for (unsigned run = 0; run < MOST && !(variants_in_vain & variant); run++) {
        const struct driver_options o = {variant, INVARIANT(valid_stores), 400, NULL};
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        driver_run(&o, (const uint8_t *)&seed, sizeof seed, &r);
        see_assumptions(&r);
    }
}

static void what_reductions_assume_holds(void **state) {
    (void)state;
    for_each_run(see_assumptions, NULL);
    run_in_vain(VARIANT(no_wait));
    run_in_vain(VARIANT(mutator_sets_phase));
    assert_true(variants_in_vain & VARIANT(no_wait));
    assert_true(variants_in_vain & VARIANT(mutator_sets_phase));
}

/* A collector in no table: the reduction that is made for the paper's, on steps that it does not
 * take, notices by itself. */
static void ignore_successor(struct walk *w, const struct state *s) {
    (void)w;
    (void)s;
}

static void an_unknown_collector_is_refused(void **state) {
    const struct model m = {.mutators = 2, .refs = 1, .fields = 1, .buffer = 1, .gc_buffer = 2};
    const oref fields[REFS_MAX * FIELDS_MAX] = {0};
    const refset roots[MUTATORS_MAX] = {0};
    struct walk w = {.visit = ignore_successor};
    struct state s;
    (void)state;
    model_start(&m, &s, 0, fields, roots);
    walk_begin(&w, &m, REDUCE_FULL);
    walk_successors(&w, &s);
    assert_null(w.unsound);
    s.agent[GC].pc = gc_idle_wait; /* it has asked both, waits for one of them, */
    s.agent[GC].refs = 1;
    s.pending = 2; /* and the other has not answered */
    walk_successors(&w, &s);
    assert_non_null(w.unsound);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_invariant_is_the_first_to_break),
        cmocka_unit_test(what_is_implied_is_never_the_first),
        cmocka_unit_test(packing_keeps_every_state),
        cmocka_unit_test(a_store_that_does_not_fit_is_no_other_state),
        cmocka_unit_test(reductions_agree),
        cmocka_unit_test(what_reductions_assume_holds),
        cmocka_unit_test(an_unknown_collector_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
