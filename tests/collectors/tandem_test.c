/* SPDX-License-Identifier: MIT
 *
 * The example with threads, examples/tandem: a collector's thread beside two mutators.  It passes
 * under any schedule, the same program is the same run, and each of its defects is found.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/decisions.h"
#include "collectors/plugin.h"
#include "program/bytes/bytes.h"
#include "program/random.h"
#include "tests/support/support.h"
#include "tests/support/trial.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 200, INPUT = 160, SCHEDULES = 800, MOST = 4000 };

static struct program program;

/* As others load it: a plug-in of its own for each defect, 0 for none. */
static const struct collector *load(unsigned defect) {
    char path[1024];
    snprintf(path, sizeof path, "%s/tandem_%u.so", TANDEM_DIR, defect);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    const struct isoheap_plugin *plugin = dlsym(handle, "isoheap_plugin");
    assert_non_null(plugin);
    return plugin->collector;
}

/* A program of random bytes under a random schedule, in a small heap; a third begins a cycle at
 * once, and half have two mutators. */
static void make_program(uint64_t seed) {
    uint8_t bytes[INPUT];
    struct random random = {seed};
    for (unsigned i = 0; i < INPUT; i++)
        bytes[i] = (uint8_t)random_next(&random);
    program_decode(&program, bytes, INPUT);
    program.config[CONFIG_STRESS] = 0;
    program.config[CONFIG_SCHEDULE] = random_below(&random, 4096);
    program.config[CONFIG_PREEMPT] = random_below(&random, 60);
    unsigned words = program_heap_words(&program);
    program.config[CONFIG_HEAP] = words + 8 > 16 ? words + 8 : 16;
    for (unsigned i = 0; i < program.n_ops; i++) {
        program.ops[i].mutator = random_below(&random, 4) == 0;
        if (random_below(&random, 4) == 0)
            program.ops[i] = (struct op){.code = OP_SLICE, .mutator = program.ops[i].mutator};
        else if (random_below(&random, 8) == 0)
            program.ops[i] =
                (struct op){.code = random_below(&random, 2) ? OP_ATTACH : OP_DETACH, .mutator = 1};
    }
}

static void it_passes_under_any_schedule(void **state) {
    (void)state;
    struct trial t;
    trial_open(&t, load(0), &cheney);
    for (uint64_t seed = 0; seed < PROGRAMS; seed++) {
        make_program(seed);
        struct verdict v = trial_judge(&t, &program);
        if (v.violation || v.harness_error)
            fail_msg("program %u: %s at %u: %s", (unsigned)seed, violation_name(v.violation), v.op,
                     v.detail);
        struct verdict again = trial_judge(&t, &program);
        assert_true(again.digest == v.digest);
    }
    trial_close(&t);
}

/* A list is taken apart, and a block comes and goes, while a cycle is under way. */
static const char beside[] = "isoheap program 1\n"
                             "config heap=96\n"
                             "heap\n"
                             "  b0 = block tag=0 [b1, 1]\n"
                             "  b1 = block tag=0 [b2, 2]\n"
                             "  b2 = block tag=0 [b3, 3]\n"
                             "  b3 = block tag=0 [b4, b5]\n"
                             "  b4 = block tag=0 [4]\n"
                             "  b5 = block tag=0 [5]\n"
                             "roots\n"
                             "  r0 = b0\n"
                             "script\n"
                             "  slice\n"
                             "  r1 = r0.0\n"
                             "  r0.0 := 0\n"
                             "  mutator 1: r0 = alloc tag=1 [7]\n"
                             "  r2 = r1.0\n"
                             "  r1.0 := 0\n"
                             "  mutator 1: r1 = alloc tag=1 [8]\n"
                             "  r3 = r2.0\n"
                             "  r2.0 := 0\n"
                             "  r4 = r3.1\n"
                             "  r3.0 := r0\n"
                             "  r3.1 := 0\n"
                             "  full\n"
                             "  read r4.0\n";

/* A mutator goes while the collector waits for it, and comes again. */
static const char coming[] = "isoheap program 1\n"
                             "config heap=96\n"
                             "script\n"
                             "  mutator 1: r0 = alloc tag=1 [7]\n"
                             "  mutator 1: slice\n"
                             "  mutator 1: detach\n"
                             "  r0 = alloc tag=0 [1]\n"
                             "  full\n"
                             "  mutator 1: attach\n"
                             "  mutator 1: r0 = alloc tag=1 [r0]\n"
                             "  slice\n"
                             "  mutator 1: detach\n"
                             "  full\n"
                             "  read r0.0\n";

static void its_defects_are_found(void **state) {
    static const enum violation violations[] = {VIOLATION_lost_object, VIOLATION_lost_object,
                                                VIOLATION_deadlock,    VIOLATION_garbage_retained,
                                                VIOLATION_deadlock,    VIOLATION_deadlock};
    (void)state;
    for (unsigned defect = 1; defect <= sizeof violations / sizeof *violations; defect++) {
        struct trial t;
        struct verdict v;
        unsigned schedule = 0;
        parse_program(&program, defect == 6 ? coming : beside);
        trial_open(&t, load(defect), &cheney);
        do {
            program.config[CONFIG_SCHEDULE] = ++schedule;
            program.config[CONFIG_PREEMPT] = schedule % 97;
            v = trial_judge(&t, &program);
        } while (v.violation != violations[defect - 1] && schedule < MOST);
        print_message("defect %u, schedule %u: %s: %s\n", defect, schedule,
                      violation_name(v.violation), v.detail);
        assert_int_equal(v.violation, violations[defect - 1]);
        trial_close(&t);
    }
}

/* And none of these schedules breaks the healthy one. */
static void schedules_are_healthy(const char *text) {
    struct trial t;
    parse_program(&program, text);
    trial_open(&t, load(0), &cheney);
    for (unsigned schedule = 0; schedule < SCHEDULES; schedule++) {
        program.config[CONFIG_SCHEDULE] = schedule;
        program.config[CONFIG_PREEMPT] = schedule % 97;
        struct verdict v = trial_judge(&t, &program);
        if (v.violation || v.harness_error)
            fail_msg("schedule %u: %s at %u: %s", schedule, violation_name(v.violation), v.op,
                     v.detail);
    }
    trial_close(&t);
}

static void its_schedules_are_healthy(void **state) {
    (void)state;
    schedules_are_healthy(beside);
    schedules_are_healthy(coming);
}

static void take_decisions_away(struct trial *t, enum violation violation) {
    static struct program fewer;
    for (unsigned n = program.n_switches / 2; n > 0; n /= 2)
        for (unsigned at = 0; at + n <= program.n_switches;) {
            fewer = program;
            memmove(fewer.switches + at, fewer.switches + at + n,
                    (fewer.n_switches - at - n) * sizeof *fewer.switches);
            fewer.n_switches = (uint16_t)(fewer.n_switches - n);
            if (trial_judge(t, &fewer).violation == violation)
                program = fewer;
            else
                at += n;
        }
}

/* Preemptions are decisions as others are: the number goes on to say where they are, the list who
 * goes on; and few are left of those that it takes. */
static void preemptions_can_be_written_out(void **state) {
    (void)state;
    struct trial t;
    struct verdict number;
    unsigned schedule = 0, in_order;
    parse_program(&program, beside);
    trial_open(&t, load(1), &cheney);
    program.config[CONFIG_PREEMPT] = 7;
    do {
        program.config[CONFIG_SCHEDULE] = ++schedule;
        number = trial_judge(&t, &program);
    } while (number.violation != VIOLATION_lost_object && schedule < MOST);
    assert_int_equal(number.violation, VIOLATION_lost_object);
    uint64_t decisions = decisions_begin(schedule);
    for (unsigned at = 1; at <= PROGRAM_SWITCHES; at++) {
        unsigned choice = (unsigned)(decisions_next(&decisions) % SWITCH_CHOICES);
        assert_true(choice == 0 || program_decide(&program, at, choice));
    }
    struct verdict list = trial_judge(&t, &program);
    assert_int_equal(list.violation, VIOLATION_lost_object);
    assert_int_equal(list.op, number.op);
    in_order = program.n_switches;
    take_decisions_away(&t, VIOLATION_lost_object);
    print_message("schedule %u: %u decisions of %u are left\n", schedule, program.n_switches,
                  in_order);
    assert_in_range(program.n_switches, 1, in_order / 5);
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_passes_under_any_schedule),
        cmocka_unit_test(its_schedules_are_healthy),
        cmocka_unit_test(its_defects_are_found),
        cmocka_unit_test(preemptions_can_be_written_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
