/* SPDX-License-Identifier: MIT
 *
 * The threaded on-the-fly collector on deterministic threads: it takes the model's steps there too,
 * and with each known-bad variant of the model put into its own code it is found out: the paper's
 * algorithm takes another step, and where the variant is unsafe, the schedule that shows it on the
 * model loses the same object here.
 */
#include "collectors/threads/threads.h"
#include "models/onthefly/schedules/schedule.h"
#include "tests/models/onthefly_gate.h"
#include "tests/support/figures.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

extern uint64_t otf_variants; /* of models/onthefly_threads/, compiled with OTF_VARIANTS */
uint64_t otf_variants;

/* ---- a replay on fibers -----------------------------------------------------------------------
 */

struct job {
    const struct driver_result *run;
    struct replay_result result;
    struct otf *stopped; /* wanted: the threads are left where they are */
    bool stops;
};

static void do_job(void *context) {
    struct job *j = context;
    if (j->stops)
        j->stopped = gate_stop(j->run, &j->result);
    else
        j->result = gate_replay(j->run);
}

/* The gate says who takes a step: what the fibers do in between must not matter. */
static struct replay_result replay(const struct driver_result *run, bool stops, uint64_t seed) {
    struct job j = {.run = run, .stops = stops};
    char why[400];
    threads_reset(
        &(struct threads_schedule){.seed = seed, .gap = seed % 2 ? 40 : 0, .fuel = 1 << 28});
    enum threads_answer answer = threads_do(threads_mutator(NULL, NULL), do_job, &j);
    threads_why(why, sizeof why);
    threads_reset(NULL);
    if (j.stopped)
        otf_close(j.stopped);
    if (answer != THREADS_DONE)
        fail_msg("%s", why);
    return j.result;
}

/* ---- runs of the paper's model ----------------------------------------------------------------
 */

static struct driver_result run;

static void run_paper(uint64_t seed) {
    const struct driver_options o = {0, INVARIANTS_SAFETY, 0, NULL};
    uint64_t bytes = (seed ^ seed >> 31) * 0x9e3779b97f4a7c15;
    bytes ^= bytes >> 29;
    driver_run(&o, (const uint8_t *)&bytes, sizeof bytes, &run);
}

static void model_and_code_agree(void **state) {
    enum { RUNS = 20 };
    unsigned long long steps = 0;
    (void)state;
    otf_variants = 0;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        run_paper(seed);
        struct replay_result r = replay(&run, false, 0), again = replay(&run, false, 1 + seed);
        if (!r.agree || r.dangling)
            fail_msg("run %u, step %u: %s, %u lost", (unsigned)seed, r.steps, r.difference,
                     r.dangling);
        assert_true(again.agree && again.steps == r.steps && !again.dangling);
        steps += r.steps;
    }
    figure("steps that model and code take alike", steps);
}

static const unsigned variants[] = {
#define X(name) VARIANT_BIT_##name
    X(no_deletion_barrier), X(no_insertion_barrier),
    X(plain_mark),          X(no_gc_fence),
    X(no_mutator_fence),    X(early_fA),
    X(no_roots_handshake),  X(alloc_white),
    X(no_last_round),       X(old_sense),
    X(store_first),         X(skip_idle),
    X(skip_idle_flip),      X(skip_init),
    X(skip_mark),           X(fence_only_init),
    X(fence_only_mark)
#undef X
};
enum { N_VARIANTS = sizeof variants / sizeof *variants };

/* The figures: in how many of 20 runs. */
static void each_variant_takes_another_step(void **state) {
    enum { RUNS = 20 };
    (void)state;
    for (unsigned i = 0; i < N_VARIANTS; i++) {
        unsigned different = 0;
        otf_variants = (uint64_t)1 << variants[i];
        for (uint64_t seed = 1; seed <= RUNS; seed++) {
            run_paper(seed);
            different += !replay(&run, true, seed).agree;
        }
        if (!different)
            fail_msg("variant %s of the code: no difference", variant_name(variants[i]));
        figure(variant_name(variants[i]), different);
    }
}

/* ---- schedules that show a variant ------------------------------------------------------------
 */

/* False: there is none that breaks safety. */
static bool load_schedule(const char *name, struct schedule *s) {
    static char text[1 << 20];
    char path[1024];
    struct schedule_error error;
    snprintf(path, sizeof path, "%s/lost_object/onthefly_%s_safety.schedule", CRASHES_DIR, name);
    FILE *file = fopen(path, "rb");
    if (!file)
        return false;
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    if (!schedule_parse(s, text, size, &error))
        fail_msg("%s:%u:%u: %s", path, error.line, error.column, error.message);
    return true;
}

static void each_unsafe_variant_loses_an_object(void **state) {
    unsigned lost = 0;
    (void)state;
    for (unsigned i = 0; i < N_VARIANTS; i++) {
        struct schedule s = {.n = 0};
        const char *name = variant_name(variants[i]);
        if (!load_schedule(name, &s))
            continue;
        assert_int_equal(s.model.variant, (uint64_t)1 << variants[i]);
        assert_true(s.n <= DRIVER_STEPS_MAX);
        otf_variants = s.model.variant;
        run.model = s.model;
        run.n = (unsigned)s.n;
        schedule_start(&s, &run.start);
        memcpy(run.steps, s.steps, s.n * sizeof *s.steps);
        struct replay_result r = replay(&run, true, 0), again = replay(&run, true, 7);
        if (!r.agree)
            fail_msg("%s, step %u: %s", name, r.steps, r.difference);
        if (!r.dangling)
            fail_msg("%s: nothing is lost", name);
        assert_true(again.agree && again.dangling == r.dangling);
        lost++;
        schedule_free(&s);
    }
    assert_int_equal(lost, 13);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(model_and_code_agree),
        cmocka_unit_test(each_variant_takes_another_step),
        cmocka_unit_test(each_unsafe_variant_loses_an_object),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    threads_close();
    return failed;
}
