/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly model: small configurations explored to the end, every known-bad variant found by
 * exploration and by the fuzzer's driver, kept counter-examples, schedules as text.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream, scandir */
#include "models/onthefly/schedules/driver.h"
#include "tests/support/support.h"
#include "views/violation.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- exploration ------------------------------------------------------------------------------
 */

/* Reachable states, as they are stored. */
enum {
    STATES_1_1_NONE = 13847,
    STATES_1_1_LOCAL = 1974,
    STATES_1_1_FULL = 999,
    STATES_1_2_FULL = 33153,
    STATES_2_1_FULL = 17524,
    STATES_1_2_SC = 8436,
    STATES_1_1_GARBAGE = 13965,
    STATES_1_1_BLOCKS = 14652,
    STATES_1_1_COME_AND_GO = 14320,
    STATES_1_1_POOLS = 15475,
    STATES_1_1_TSO_HANDSHAKE = 18736,
    STATES_1_2_NO_SYMMETRY = 132064,
};

static struct explore_options small(unsigned mutators, unsigned refs, enum reduction reduction) {
    return (struct explore_options){
        .model = {.mutators = mutators, .refs = refs, .fields = 1, .buffer = 1, .gc_buffer = 2},
        .reduction = reduction,
        .symmetry = true,
        .invariants = INVARIANTS_ALL,
        .memory = (uint64_t)1 << 28};
}

static void is_complete(struct explore_options o, uint64_t states) {
    struct explore_result r = explore(&o);
    if (r.end != EXPLORE_COMPLETE)
        fail_msg("%u mutators, %u references: ended by %d, %s", o.model.mutators, o.model.refs,
                 r.end, r.broken ? invariant_name(invariant_first(r.broken)) : "nothing broken");
    assert_int_equal(r.figures.states, states);
    free(r.trace);
}

/* The numbers change when the model does; then docs/on-the-fly.md has to change too. */
static void the_papers_collector_is_safe(void **state) {
    (void)state;
    is_complete(small(1, 1, REDUCE_NONE), STATES_1_1_NONE);
    is_complete(small(1, 1, REDUCE_LOCAL), STATES_1_1_LOCAL);
    is_complete(small(1, 1, REDUCE_FULL), STATES_1_1_FULL);
    is_complete(small(1, 2, REDUCE_FULL), STATES_1_2_FULL);
    is_complete(small(2, 1, REDUCE_FULL), STATES_2_1_FULL);
}

static void it_is_safe_under_sequential_consistency(void **state) {
    (void)state;
    struct explore_options o = small(1, 2, REDUCE_FULL);
    o.model.sequential = true;
    is_complete(o, STATES_1_2_SC);
}

/* The collectors that the paper's is compared with: without a deletion barrier a mutator deletes
 * what nobody has marked, and if roots are marked again there is no snapshot; everything else
 * holds. */
static void other_barriers_are_safe(void **state) {
    static const struct {
        uint64_t variant;
        unsigned mutators, refs;
        uint64_t states;
    } safe[] = {
        {VARIANT(rescan_roots), 1, 2, 39899},
        {VARIANT(rescan_roots), 2, 1, 9334},
        {VARIANT(read_barrier), 1, 2, 71079},
        {VARIANT(read_barrier), 2, 1, 23982},
        {VARIANT(read_barrier) | VARIANT(insertion_off), 1, 2, 53641},
        {VARIANT(read_barrier) | VARIANT(insertion_off), 2, 1, 21602},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof safe / sizeof *safe; i++) {
        struct explore_options o = small(safe[i].mutators, safe[i].refs, REDUCE_FULL);
        o.model.variant = safe[i].variant;
        o.between = true;
        o.invariants &=
            ~(INVARIANT(marked_deletions) | INVARIANT(store_local) | INVARIANT(garbage));
        if (safe[i].variant & VARIANT(rescan_roots))
            o.invariants &= ~INVARIANT(reachable_snapshot);
        is_complete(o, safe[i].states);
    }
}

/* What macro steps skip, and that no handshake blocks for ever, and that garbage goes. */
static void it_is_safe_in_between_and_live(void **state) {
    (void)state;
    struct explore_options o = small(1, 2, REDUCE_FULL);
    o.between = true;
    is_complete(o, STATES_1_2_FULL);
    o = small(1, 1, REDUCE_NONE);
    o.fair = true;
    o.model.track_garbage = true;
    is_complete(o, STATES_1_1_GARBAGE);
}

/* Symmetry and reduction leave out states, not verdicts. */
static void symmetry_changes_no_verdict(void **state) {
    (void)state;
    struct explore_options o = small(2, 1, REDUCE_FULL);
    o.symmetry = false;
    o.model.mutators = 1;
    o.model.refs = 2;
    is_complete(o, STATES_1_2_NO_SYMMETRY);
}

static void bounds_end_a_search(void **state) {
    (void)state;
    struct explore_options o = small(1, 2, REDUCE_NONE);
    o.states = 1000;
    struct explore_result r = explore(&o);
    assert_int_equal(r.end, EXPLORE_STATES);
    assert_null(r.trace);
    o.states = 0;
    o.memory = (uint64_t)2 << 20;
    r = explore(&o);
    assert_int_equal(r.end, EXPLORE_MEMORY);
    assert_true(r.figures.bytes <= o.memory);
    o.memory = 1000;
    assert_int_equal(explore(&o).end, EXPLORE_MEMORY);
}

static void jobs_change_nothing(void **state) {
    (void)state;
    struct explore_options o = small(1, 2, REDUCE_FULL);
    o.model.variant = VARIANT(no_insertion_barrier);
    struct explore_result one = explore(&o);
    o.jobs = 3;
    struct explore_result three = explore(&o);
    assert_int_equal(one.end, EXPLORE_VIOLATION);
    assert_int_equal(one.broken, three.broken);
    assert_int_equal(one.trace_length, three.trace_length);
    assert_memory_equal(one.trace, three.trace, one.trace_length * sizeof *one.trace);
    assert_int_equal(one.figures.states, three.figures.states);
    free(one.trace);
    free(three.trace);
    is_complete((o = small(1, 2, REDUCE_FULL), o.jobs = 2, o), STATES_1_2_FULL);
}

/* ---- known-bad variants -----------------------------------------------------------------------
 */

static const struct bad {
    uint64_t variant;
    bool unsafe; /* breaks safety itself with one mutator and two references */
    enum violation class;
} bad[] = {
    {VARIANT(no_deletion_barrier), true, VIOLATION_tricolour_broken},
    {VARIANT(no_insertion_barrier), true, VIOLATION_tricolour_broken},
    {VARIANT(plain_mark), false, VIOLATION_mark_lost},
    {VARIANT(no_gc_fence), true, VIOLATION_handshake_broken},
    {VARIANT(no_mutator_fence), true, VIOLATION_tricolour_broken},
    {VARIANT(early_fA), true, VIOLATION_handshake_broken},
    {VARIANT(no_roots_handshake), true, VIOLATION_tricolour_broken},
    {VARIANT(alloc_white), true, VIOLATION_handshake_broken},
    {VARIANT(no_last_round), false, VIOLATION_tricolour_broken},
    {VARIANT(old_sense), true, VIOLATION_mark_lost},
    {VARIANT(store_first), false, VIOLATION_tricolour_broken},
    {VARIANT(skip_idle), false, VIOLATION_handshake_broken},
    {VARIANT(skip_idle_flip), false, VIOLATION_handshake_broken},
    {VARIANT(skip_init), false, VIOLATION_handshake_broken},
    {VARIANT(skip_mark), true, VIOLATION_handshake_broken},
    {VARIANT(no_fence_mark), true, VIOLATION_handshake_broken},
    {VARIANT(fence_only_mark), false, VIOLATION_handshake_broken},
    {VARIANT(insertion_until_mark), true, VIOLATION_tricolour_broken},
    {VARIANT(deletion_after_roots), false, VIOLATION_tricolour_broken},
    {VARIANT(early_answer), true, VIOLATION_handshake_broken},
    {VARIANT(fA_before_init), true, VIOLATION_handshake_broken},
    {VARIANT(fA_after_mark), true, VIOLATION_handshake_broken},
    {VARIANT(sweep_blind), true, VIOLATION_lost_object},
    {VARIANT(read_barrier) | VARIANT(no_insertion_barrier), true, VIOLATION_tricolour_broken},
    {VARIANT(read_barrier) | VARIANT(skip_mark), true, VIOLATION_handshake_broken},
    {VARIANT(rescan_roots) | VARIANT(no_insertion_barrier), true, VIOLATION_tricolour_broken},
    {VARIANT(rescan_roots) | VARIANT(no_last_round), true, VIOLATION_tricolour_broken},
};
enum { BAD = sizeof bad / sizeof *bad };

static const char *name_of(uint64_t variant) {
    unsigned bit = 0;
    while (!(variant >> bit & 1))
        bit++;
    return variant_name(bit);
}

static enum violation class_of(unsigned broken) {
    const char *name = broken ? invariant_class(invariant_first(broken)) : "none";
    enum violation v = violation_named(name);
    if (v == VIOLATION_classes)
        fail_msg("%s is no violation class", name);
    return v;
}

/* The schedule that a search gives breaks the same, and still does when it is reduced. */
static void replay_trace(const struct explore_options *o, const struct explore_result *r) {
    struct schedule s = {.n = 0};
    schedule_start_from(&s, &o->model, &r->start);
    s.invariants = o->invariants;
    for (size_t i = 0; i < r->trace_length; i++)
        assert_true(schedule_append(&s, &r->trace[i]));
    struct schedule_result run = schedule_run(&s, NULL, NULL);
    assert_int_equal(run.end, SCHEDULE_VIOLATION);
    schedule_reduce(&s);
    assert_true(s.n <= r->trace_length);
    run = schedule_run(&s, NULL, NULL);
    assert_int_equal(run.end, SCHEDULE_VIOLATION);
    assert_int_equal(run.step + 1, s.n);
    schedule_free(&s);
}

static void exploration_finds(const struct bad *b, unsigned invariants) {
    struct explore_options o = small(1, 2, REDUCE_FULL);
    o.model.variant = b->variant;
    o.invariants = invariants;
    struct explore_result r = explore(&o);
    if (r.end != EXPLORE_VIOLATION)
        fail_msg("%s is not found: %d", name_of(b->variant), r.end);
    if (invariants == INVARIANTS_ALL)
        assert_int_equal(class_of(r.broken), b->class);
    else
        assert_true(r.broken & INVARIANTS_SAFETY);
    replay_trace(&o, &r);
    free(r.trace);
}

static void exploration_finds_every_variant(void **state) {
    (void)state;
    for (unsigned i = 0; i < BAD; i++) {
        exploration_finds(&bad[i], INVARIANTS_ALL);
        if (bad[i].unsafe)
            exploration_finds(&bad[i], INVARIANTS_SAFETY);
    }
}

/* Every invariant holds when the collector answers for who is blocked, and a mutator that never
 * wakes keeps no handshake from ending; each condition of it is needed. */
static void blocked_mutators_are_answered_for(void **state) {
    static const struct {
        uint64_t variant;
        enum explore_end end;
        unsigned broken;
    } wrong[] = {
        {VARIANT(blocks_unfenced), EXPLORE_VIOLATION, INVARIANT(valid_refs)},
        {VARIANT(blocks_rootless), EXPLORE_VIOLATION, INVARIANT(valid_refs)},
        {VARIANT(blocks_unanswered), EXPLORE_UNFAIR, 0},
    };
    struct explore_options o = small(1, 1, REDUCE_FULL); /* every step is taken all the same */
    (void)state;
    o.fair = true;
    o.model.track_garbage = true;
    o.model.variant = VARIANT(blocks);
    is_complete(o, STATES_1_1_BLOCKS);
    o.invariants = INVARIANTS_SAFETY;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        o.model.variant = wrong[i].variant;
        struct explore_result r = explore(&o);
        assert_int_equal(r.end, wrong[i].end);
        assert_int_equal(r.broken, wrong[i].broken);
        if (wrong[i].broken)
            replay_trace(&o, &r);
        free(r.trace);
    }
}

/* One invariant alone, so that the search goes on beyond states that break others: a register that
 * is not in use must not tell states apart. */
static void exploration_goes_on_beyond_other_violations(void **state) {
    static const unsigned alone[] = {INVARIANT(tso_lock), INVARIANT(mark_local)};
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct explore_options o = small(1, 2, REDUCE_FULL);
        o.model.variant = VARIANT(plain_mark);
        o.invariants = alone[i];
        struct explore_result r = explore(&o);
        assert_int_equal(r.end, EXPLORE_VIOLATION);
        replay_trace(&o, &r);
        free(r.trace);
    }
}

/* From the initial states, and from a state in the middle of a cycle. */
static void directed_search_finds(uint64_t variant) {
    struct explore_options o = small(1, 2, REDUCE_FULL);
    o.model.variant = variant;
    o.invariants = INVARIANTS_SAFETY;
    struct explore_result r = explore_directed(&o, NULL);
    if (r.end != EXPLORE_VIOLATION)
        fail_msg("%s is not found: %d", name_of(variant), r.end);
    assert_true(r.figures.steps > r.trace_length);
    replay_trace(&o, &r);
    struct state s = r.start;
    size_t half = r.trace_length / 2;
    for (size_t i = 0; i < half; i++)
        model_apply(&o.model, &s, &r.trace[i]);
    struct explore_result again = explore_directed(&o, &s);
    assert_int_equal(again.end, EXPLORE_VIOLATION);
    assert_memory_equal(&again.start, &s, sizeof s);
    unsigned broken = 0;
    for (size_t i = 0; i < again.trace_length; i++) {
        assert_true(model_enabled(&o.model, &s, &again.trace[i]));
        unsigned events = model_apply(&o.model, &s, &again.trace[i]);
        broken = invariants_broken(&o.model, &s, events, o.invariants);
    }
    assert_true(broken);
    free(r.trace);
    free(again.trace);
}

static void directed_search_finds_what_is_unsafe(void **state) {
    (void)state;
    for (unsigned i = 0; i < BAD; i++)
        if (bad[i].unsafe)
            directed_search_finds(bad[i].variant);
}

/* If it finds nothing it has seen everything, in another order. */
static void directed_search_is_complete(void **state) {
    (void)state;
    struct explore_options o = small(1, 2, REDUCE_FULL);
    struct explore_result r = explore_directed(&o, NULL);
    assert_int_equal(r.end, EXPLORE_COMPLETE);
    assert_int_equal(r.figures.states, STATES_1_2_FULL);
    assert_int_equal(r.figures.expanded, STATES_1_2_FULL);
    o.states = 1000;
    assert_int_equal(explore_directed(&o, NULL).end, EXPLORE_STATES);
    o.memory = (uint64_t)1 << 20;
    assert_int_equal(explore_directed(&o, NULL).end, EXPLORE_MEMORY);
}

static unsigned long long driver_finds(uint64_t variant, unsigned invariants, uint64_t most) {
    static struct driver_result r;
    const struct driver_options o = {variant, invariants, 0, NULL};
    uint64_t steps = 0, seed = 1;
    while (steps < most) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        driver_run(&o, (const uint8_t *)&seed, sizeof seed, &r);
        steps += r.n;
        if (r.broken)
            return steps;
    }
    return 0;
}

static void the_driver_finds_every_variant(void **state) {
    enum { MOST = 300000 };
    (void)state;
    for (unsigned i = 0; i < BAD; i++)
        if (!driver_finds(bad[i].variant, INVARIANTS_ALL, MOST))
            fail_msg("%s is not found in %d steps", name_of(bad[i].variant), MOST);
    if (driver_finds(0, INVARIANTS_ALL, MOST))
        fail_msg("the paper's collector breaks an invariant");
}

enum { DRIVEN = 400000 };

static void is_driven_to(uint64_t variant) {
    if (!driver_finds(variant, INVARIANTS_ALL, DRIVEN))
        fail_msg("%s is not found in %d steps", name_of(variant), DRIVEN);
}

/* Nothing breaks in a collector whose searches take every step: not at the smallest bounds, fair
 * schedules from each state included, nor at random. */
static void is_sound(uint64_t variant, uint64_t states) {
    struct explore_options o = small(1, 1, REDUCE_FULL);
    o.fair = true;
    o.model.track_garbage = true;
    o.model.variant = variant;
    is_complete(o, states);
    assert_int_equal(driver_finds(variant, INVARIANTS_ALL, DRIVEN), 0);
}

/* All searches of these take every step, and two mutators are too many states for a test; random
 * schedules find what a wrong one breaks, and nothing in the right one. */
static void mutators_come_and_go(void **state) {
    (void)state;
    is_sound(VARIANT(come_and_go), STATES_1_1_COME_AND_GO);
    is_driven_to(VARIANT(go_unfenced));
    is_driven_to(VARIANT(go_with_work));
    is_driven_to(VARIANT(come_answered));
}

/* The order of the stores is enough, without a fence; each other order breaks something. */
static void allocation_needs_no_fence(void **state) {
    static const struct {
        uint64_t variant;
        unsigned first;
    } wrong[] = {
        {VARIANT(pools_late_fields), INVARIANT_strong_tricolour},
        {VARIANT(pools_late_flag), INVARIANT_marked_insertions},
        {VARIANT(pools_early_flag), INVARIANT_reachable_snapshot},
    };
    (void)state;
    is_sound(VARIANT(pools), STATES_1_1_POOLS);
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        is_driven_to(wrong[i].variant);
        struct explore_options o = small(1, 2, REDUCE_FULL);
        o.model.variant = wrong[i].variant;
        struct explore_result r = explore(&o);
        assert_int_equal(r.end, EXPLORE_VIOLATION);
        assert_int_equal(invariant_first(r.broken), wrong[i].first);
        replay_trace(&o, &r);
        free(r.trace);
    }
}

/* With type and pending bits in memory, the order of stores is what the fences are for: without
 * them safety holds. An answer in front of the work does not do, with one reference or with more.
 */
static void handshakes_in_memory_need_no_fence(void **state) {
    const uint64_t fences = VARIANT(no_gc_fence) | VARIANT(no_mutator_fence);
    struct explore_options o = small(1, 1, REDUCE_FULL);
    (void)state;
    is_sound(VARIANT(tso_handshake), STATES_1_1_TSO_HANDSHAKE);
    assert_int_equal(driver_finds(VARIANT(tso_handshake) | fences, INVARIANTS_SAFETY, DRIVEN), 0);
    o.fair = true;
    o.model.track_garbage = true;
    o.model.variant = VARIANT(tso_handshake) | VARIANT(early_answer);
    struct explore_result r = explore(&o);
    assert_int_equal(r.end, EXPLORE_VIOLATION);
    assert_int_equal(invariant_first(r.broken), INVARIANT_gc_W_empty);
    replay_trace(&o, &r);
    free(r.trace);
    o.model.variant = VARIANT(tso_handshake) | fences;
    o.invariants = INVARIANTS_SAFETY;
    r = explore(&o);
    assert_int_equal(r.end, EXPLORE_COMPLETE);
    o.invariants =
        INVARIANTS_ALL & ~INVARIANT(garbage); /* the paper's relations are those of its fences */
    r = explore(&o);
    assert_int_equal(r.end, EXPLORE_VIOLATION);
    assert_int_equal(invariant_first(r.broken), INVARIANT_fM_rel);
    free(r.trace);
}

static void the_driver_is_deterministic(void **state) {
    static struct driver_result a, b;
    const struct driver_options o = {0, INVARIANTS_ALL, 0, NULL};
    static const uint8_t data[] = "any bytes will do, but not too few of them";
    (void)state;
    for (size_t size = 0; size <= sizeof data; size++) {
        memset(&a, 0x55, sizeof a);
        driver_run(&o, size ? data : NULL, size, &a);
        driver_run(&o, size ? data : NULL, size, &b);
        assert_int_equal(a.n, b.n);
        assert_true(a.n > 0 && !a.broken && !a.unfair);
        assert_memory_equal(a.steps, b.steps, a.n * sizeof *a.steps);
        assert_memory_equal(&a.end, &b.end, sizeof a.end);
    }
}

/* ---- kept counter-examples --------------------------------------------------------------------
 */

static char *read_text(const char *path, size_t *size) {
    FILE *file = fopen(path, "rb");
    char *text = malloc(1 << 20);
    assert_non_null(file);
    assert_non_null(text);
    *size = fread(text, 1, 1 << 20, file);
    fclose(file);
    return text;
}

static char *print_text(const struct schedule *s, size_t *size) {
    char *text = NULL;
    FILE *out = open_memstream(&text, size);
    assert_non_null(out);
    schedule_print(s, out);
    assert_int_equal(fclose(out), 0);
    return text;
}

static void replay_crash(const char *path, enum violation class) {
    struct schedule s = {.n = 0};
    struct schedule_error error;
    size_t size, printed_size;
    char *text = read_text(path, &size);
    if (!schedule_parse(&s, text, size, &error))
        fail_msg("%s:%u:%u: %s", path, error.line, error.column, error.message);
    char *printed = print_text(&s, &printed_size);
    assert_int_equal(size, printed_size);
    assert_memory_equal(text, printed, size); /* print(parse(t)) is t for what print wrote */
    struct schedule_result r = schedule_run(&s, NULL, NULL);
    if (r.end != SCHEDULE_VIOLATION || class_of(r.broken) != class)
        fail_msg("%s: %s", path, violation_name(class_of(r.broken)));
    assert_int_equal(r.step + 1, s.n); /* nothing stands behind the violation */
    s.model.variant = 0; /* the paper's collector takes other steps, and breaks nothing */
    r = schedule_run(&s, NULL, NULL);
    assert_int_not_equal(r.end, SCHEDULE_VIOLATION);
    schedule_free(&s);
    free(text);
    free(printed);
}

static void every_kept_schedule_breaks_its_class(void **state) {
    unsigned found = 0;
    (void)state;
    for (int v = 1; v < VIOLATION_classes; v++) {
        char path[1024];
        struct dirent **entries;
        snprintf(path, sizeof path, "%s/%s", CRASHES_DIR, violation_name((enum violation)v));
        int n = scandir(path, &entries, NULL, alphasort);
        for (int i = 0; i < n; i++) {
            const char *name = entries[i]->d_name, *end = strrchr(name, '.');
            if (end && strcmp(end, ".schedule") == 0) {
                snprintf(path, sizeof path, "%s/%s/%s", CRASHES_DIR,
                         violation_name((enum violation)v), name);
                replay_crash(path, (enum violation)v);
                found++;
            }
            free(entries[i]);
        }
        if (n >= 0)
            free(entries);
    }
    assert_true(found >= BAD); /* of each at least one */
}

/* ---- schedules as text ------------------------------------------------------------------------
 */

#define START                                                                                      \
    "isoheap schedule 1\n"                                                                         \
    "model mutators=2 refs=3 fields=2 buffer=1 gc-buffer=2 memory=tso\n"
#define HEAP "heap\n  r0 = [r1, null]\n  r1 = [null, null]\nroots\n  m0 = r0\n  m1 =\nsteps\n"

static struct schedule_result run_text(const char *text) {
    struct schedule s = {.n = 0};
    struct schedule_error error;
    if (!schedule_parse(&s, text, strlen(text), &error))
        fail_msg("%u:%u: %s", error.line, error.column, error.message);
    struct schedule_result r = schedule_run(&s, NULL, NULL);
    schedule_free(&s);
    return r;
}

static void directives_run(void **state) {
    (void)state;
    struct schedule_result r = run_text(START HEAP "run gc until handshake\n");
    assert_int_equal(r.end, SCHEDULE_DONE);
    assert_int_equal(r.state.pending, 3);
    r = run_text(START HEAP "run gc until handshake\nrun m0 until handshake\n");
    assert_int_equal(r.state.sync, 1);
    r = run_text(START HEAP "run gc until handshake\nm0 load r0.0\nrun m0 until handshake\n"
                            "park m0 for hp_Mark\n");
    assert_int_equal(r.state.agent[0].roots, 3);
    assert_int_equal(r.state.hp, HP_IDLE_INIT); /* no further without m0 */
    r = run_text(START HEAP "m0 load r0.0 # comment\n\nm0 step\nm0 store r1.1 := r0\nm0 step\n");
    assert_int_equal(r.steps, 4);
    r = run_text(START HEAP "m0 discard r0\ngc\nstep gc # as gc step\ngc\n");
    assert_true(r.end == SCHEDULE_DONE && !r.state.alloc);
    assert_int_equal(state_fM(&r.state), 0); /* two cycles */
    r = run_text(START HEAP "gc step\nm1 step\n");
    assert_int_equal(r.end, SCHEDULE_STUCK);
    assert_int_equal(r.step, 1);
}

static void errors_have_places(void **state) {
    static const struct {
        const char *text;
        unsigned line, column;
    } wrong[] = {
        {"", 1, 1},
        {"isoheap program 1\n", 1, 9},
        {"isoheap schedule 2\n", 1, 19},
        {"isoheap schedule 1\nmodel mutators=9", 2, 7},
        {"isoheap schedule 1\nmodel mutators=0 refs=1 fields=1 buffer=1 gc-buffer=1 memory=sc\n", 2,
         64},
        {START "variant good\n", 3, 9},
        {START "check nothing\n", 3, 7},
        {START "heap\n  r3 = []\n", 4, 3},
        {START "heap\n  r0 = [r1, null]\nroots\n m0 = r0\nsteps\n", 7, 6},
        {START HEAP "m0 jump\n", 10, 4},
        {START HEAP "m2 step\n", 10, 1},
        {START HEAP "m0 store r0.0 := r3\n", 10, 18},
        {START HEAP "m0 step step\n", 10, 9},
        {START HEAP "park m0 for lunch\n", 10, 13},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct schedule s = {.n = 0};
        struct schedule_error error = {0, 0, ""};
        assert_false(schedule_parse(&s, wrong[i].text, strlen(wrong[i].text), &error));
        if (error.line != wrong[i].line || error.column != wrong[i].column || !error.message[0])
            fail_msg("case %u: %u:%u: %s", i, error.line, error.column, error.message);
        schedule_free(&s);
    }
}

/* What the fuzzer finds can be kept: parse takes back what print gives. */
static void runs_round_trip(void **state) {
    static struct driver_result r;
    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        const struct driver_options o = {seed % 3 ? 0U : VARIANT(store_first), INVARIANTS_SAFETY, 0,
                                         NULL};
        struct schedule s = {.n = 0}, back = {.n = 0};
        struct schedule_error error;
        size_t size;
        driver_run(&o, (const uint8_t *)&seed, sizeof seed, &r);
        assert_true(driver_schedule(&o, &r, &s));
        char *text = print_text(&s, &size);
        if (!schedule_parse(&back, text, size, &error))
            fail_msg("%u:%u: %s", error.line, error.column, error.message);
        assert_int_equal(s.n, back.n);
        assert_memory_equal(s.steps, back.steps, s.n * sizeof *s.steps);
        assert_int_equal(back.invariants, INVARIANTS_SAFETY);
        struct schedule_result run = schedule_run(&back, NULL, NULL);
        assert_int_equal(run.end, SCHEDULE_DONE);
        run.state.doomed = r.end.doomed;
        assert_memory_equal(&run.state, &r.end, sizeof r.end);
        free(text);
        schedule_free(&s);
        schedule_free(&back);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_papers_collector_is_safe),
        cmocka_unit_test(it_is_safe_under_sequential_consistency),
        cmocka_unit_test(other_barriers_are_safe),
        cmocka_unit_test(it_is_safe_in_between_and_live),
        cmocka_unit_test(symmetry_changes_no_verdict),
        cmocka_unit_test(bounds_end_a_search),
        cmocka_unit_test(jobs_change_nothing),
        cmocka_unit_test(exploration_finds_every_variant),
        cmocka_unit_test(blocked_mutators_are_answered_for),
        cmocka_unit_test(exploration_goes_on_beyond_other_violations),
        cmocka_unit_test(directed_search_finds_what_is_unsafe),
        cmocka_unit_test(directed_search_is_complete),
        cmocka_unit_test(the_driver_finds_every_variant),
        cmocka_unit_test(mutators_come_and_go),
        cmocka_unit_test(allocation_needs_no_fence),
        cmocka_unit_test(handshakes_in_memory_need_no_fence),
        cmocka_unit_test(the_driver_is_deterministic),
        cmocka_unit_test(every_kept_schedule_breaks_its_class),
        cmocka_unit_test(directives_run),
        cmocka_unit_test(errors_have_places),
        cmocka_unit_test(runs_round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
