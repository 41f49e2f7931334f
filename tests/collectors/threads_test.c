/* SPDX-License-Identifier: MIT
 *
 * Deterministic threads: programs of textbooks under thousands of schedules, and the threads that
 * do as they are told.  Healthy ones are never stuck, defects are found, and the same schedule is
 * the same run.
 */
#define _POSIX_C_SOURCE 200809L /* popen, readlink */
#include "collectors/threads/threads.h"

#include "tests/collectors/threads/programs.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SEEDS = 400, FUEL = 60000 };

static bool has_ended(void *context) {
    (void)context;
    return ended;
}

static bool never(void *context) {
    (void)context;
    return false;
}

static enum threads_answer run(void (*program)(void), const struct threads_schedule *schedule) {
    threads_reset(schedule);
    program();
    return threads_run(has_ended, NULL);
}

static struct threads_schedule of_seed(uint64_t seed) {
    /* a third without preemption, and gaps from 1 to some hundred */
    return (struct threads_schedule){
        .seed = seed, .gap = seed % 3 ? (unsigned)(1 + seed * 7 % 301) : 0, .fuel = FUEL};
}

/* ---- programs ---------------------------------------------------------------------------------
 */

struct outcome {
    unsigned of[THREADS_MISUSED + 1], wrong, wrong_unpreempted;
};

static struct outcome try_schedules(void (*program)(void)) {
    struct outcome o = {0};
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct threads_schedule schedule = of_seed(seed);
        enum threads_answer answer = run(program, &schedule);
        o.of[answer]++;
        o.wrong += answer == THREADS_DONE && wrong;
        o.wrong_unpreempted += answer == THREADS_DONE && wrong && !schedule.gap;
    }
    return o;
}

static void judge(const char *name, void (*program)(void), bool deadlocks, bool livelocks,
                  bool goes_wrong, bool preempted) {
    struct outcome o = try_schedules(program);
    char why[300];
    threads_why(why, sizeof why);
    if (o.of[THREADS_MISUSED] || !o.of[THREADS_DEADLOCK] == deadlocks ||
        !o.of[THREADS_LIVELOCK] == livelocks || !o.wrong == goes_wrong ||
        (preempted && o.wrong_unpreempted))
        fail_msg("%s: %u deadlocks, %u livelocks, %u misused, %u wrong (%u without preemption) in "
                 "%u; last: %s",
                 name, o.of[THREADS_DEADLOCK], o.of[THREADS_LIVELOCK], o.of[THREADS_MISUSED],
                 o.wrong, o.wrong_unpreempted, (unsigned)SEEDS, why);
}

static void programs_are_judged(void **state) {
    (void)state;
#define X(name, ...) judge(#name, program_##name, __VA_ARGS__);
    THREAD_PROGRAMS(X)
#undef X
}

/* Decisions by bytes: among all strings of six there is one that deadlocks. */
static void bytes_decide(void **state) {
    (void)state;
    unsigned deadlocks = 0;
    for (unsigned n = 0; n < 64; n++) {
        uint8_t bytes[6];
        for (unsigned i = 0; i < sizeof bytes; i++)
            bytes[i] = n >> i & 1;
        struct threads_schedule schedule = {.bytes = bytes, .n_bytes = sizeof bytes};
        deadlocks += run(program_locks_crossed, &schedule) == THREADS_DEADLOCK;
    }
    assert_true(deadlocks > 0 && deadlocks < 64);
}

struct heard {
    uint64_t switches, last_decision, last_thread;
};

static void hear(void *context, uint64_t decision, uint64_t thread) {
    struct heard *h = context;
    assert_true(decision >= h->last_decision);
    assert_true(thread != h->last_thread);
    assert_int_equal(threads_self(), 0); /* it is outside */
    *h = (struct heard){h->switches + 1, decision, thread};
}

/* Also where the first of the choices, which is to go on, is taken each time. */
static void who_spins_lets_others_go_on(void **state) {
    (void)state;
    for (unsigned gap = 0; gap < 4; gap++) {
        const struct threads_schedule schedule = {.gap = gap, .fuel = FUEL};
        assert_int_equal(run(program_busy_for_a_while, &schedule), THREADS_DONE);
        assert_int_equal(run(program_busy_with_a_lock, &schedule), THREADS_DONE);
    }
}

static void switches_are_told(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct heard h = {0};
        struct threads_schedule schedule = of_seed(seed);
        schedule.switched = hear;
        schedule.context = &h;
        run(program_locks_crossed, &schedule);
        assert_int_equal(h.switches, threads_counts().switches);
        assert_true(h.switches > 0);
    }
}

static void it_says_why(void **state) {
    (void)state;
    char why[300], small[12];
    uint64_t seed = 0;
    struct threads_schedule schedule;
    do
        schedule = of_seed(++seed);
    while (run(program_locks_crossed, &schedule) != THREADS_DEADLOCK);
    threads_why(why, sizeof why);
    assert_string_equal(
        why, "no thread can go on: thread 1 waits for the end of thread 2; thread 2 waits "
             "for a mutex that thread 3 holds; thread 3 waits for a mutex that thread 2 holds");
    threads_why(small, sizeof small);
    assert_string_equal(small, "no thread c");
    schedule = (struct threads_schedule){.fuel = 1000};
    assert_int_equal(run(program_nobody_sets_it, &schedule), THREADS_LIVELOCK);
    threads_why(why, sizeof why);
    assert_string_equal(
        why, "the threads go on for ever: thread 1 waits for the end of thread 2; thread 2 can go "
             "on; thread 3 can go on");
    assert_int_equal(run(program_wake_up_kept, NULL), THREADS_DONE);
    threads_why(why, sizeof why);
    assert_string_equal(why, "");
    threads_reset(NULL);
    assert_int_equal(threads_run(never, NULL), THREADS_DEADLOCK);
    threads_why(why, sizeof why);
    assert_string_equal(why, "no thread can go on: there is none");
}

/* ---- the same again ---------------------------------------------------------------------------
 */

static uint64_t digest_of(void (*program)(void), uint64_t seed) {
    struct threads_schedule schedule = of_seed(seed);
    run(program, &schedule);
    return threads_counts().digest;
}

static uint64_t digest_of_all(void) {
    uint64_t all = 0;
#define X(name, ...)                                                                               \
    for (uint64_t seed = 0; seed < 20; seed++)                                                     \
        all = all * 31 + digest_of(program_##name, seed);
    THREAD_PROGRAMS(X)
#undef X
    return all;
}

/* After others, and in another process, whose addresses are others. */
static void the_same_schedule_is_the_same_run(void **state) {
    char line[40] = "", again[40];
    (void)state;
    snprintf(again, sizeof again, "%llx\n", (unsigned long long)digest_of_all());
    char command[4200], self[4096];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    assert_true(n > 0);
    self[n] = '\0';
    snprintf(command, sizeof command, "'%s' digest", self);
    FILE *other = popen(command, "r");
    assert_non_null(other);
    assert_non_null(fgets(line, sizeof line, other));
    assert_int_equal(pclose(other), 0);
    assert_string_equal(line, again);
    snprintf(again, sizeof again, "%llx\n", (unsigned long long)digest_of_all());
    assert_string_equal(line, again);
}

static void other_schedules_are_other_runs(void **state) {
    (void)state;
    uint64_t seen[50];
    unsigned different = 0;
    for (uint64_t seed = 0; seed < 50; seed++) {
        seen[seed] = digest_of(program_producer_consumer, seed);
        bool is_new = true;
        for (uint64_t i = 0; i < seed; i++)
            is_new &= seen[i] != seen[seed];
        different += is_new;
    }
    assert_true(different > 45);
    struct threads_counts c = threads_counts();
    assert_true(c.threads == 4 && c.points > 30 && c.edges > 20 && c.switches > 4 && c.choices > 4);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static unsigned mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned lines = 0;
    assert_non_null(maps);
    for (int c; (c = fgetc(maps)) != EOF;)
        lines += c == '\n';
    fclose(maps);
    return lines;
}

/* Wherever threads stand when they are ended: their stacks serve the next ones. */
static void a_reset_ends_all(void **state) {
    (void)state;
    unsigned before = 0;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        struct threads_schedule schedule = of_seed(seed);
        schedule.fuel = 1 + seed % 97;
        run(seed % 2 ? program_philosophers : program_producer_consumer, &schedule);
        if (seed == 500)
            before = mappings();
    }
    assert_in_range(mappings(), before - 8, before + 8);
    threads_close();
    assert_in_range(mappings(), 0, before - 2);
    assert_int_equal(run(program_producer_consumer, NULL), THREADS_DONE);
    assert_false(wrong);
}

static void take_points(void *refuels) {
    enum { TIMES = 40 };
    for (unsigned n = 0; n < TIMES; n++) {
        threads_point();
        if (refuels && n % 4 == 0)
            threads_refuel();
    }
}

static void who_gets_on_has_fuel_anew(void **state) {
    (void)state;
    static int refuels;
    threads_reset(&(struct threads_schedule){.fuel = 20});
    int mutator = threads_mutator(NULL, NULL);
    assert_int_equal(threads_do(mutator, take_points, &refuels), THREADS_DONE);
    assert_int_equal(threads_do(mutator, take_points, NULL), THREADS_LIVELOCK);
}

static void after_an_answer_it_goes_on(void **state) {
    (void)state;
    unsigned pieces = 1;
    threads_reset(&(struct threads_schedule){.seed = 5, .gap = 3, .fuel = 7});
    program_producer_consumer();
    while (threads_run(has_ended, NULL) == THREADS_LIVELOCK)
        pieces++;
    assert_true(ended && !wrong && pieces > 10);
}

/* ---- those that do as they are told -----------------------------------------------------------
 */

static unsigned idled;
static uint64_t who;

static void note_idle(void *context) {
    (void)context;
    idled++;
    threads_point();
}

static void note_self(void *context) {
    (void)context;
    who = threads_self();
}

static bool is_enlisted(void *context) {
    (void)context;
    return enlisted >= 0;
}

static bool has_been_dismissed(void *context) {
    (void)context;
    return has_served;
}

static void a_thread_may_enlist(void **state) {
    (void)state;
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct threads_schedule schedule = of_seed(seed);
        threads_reset(&schedule);
        int first = threads_mutator(NULL, NULL);
        raise_one_that_enlists();
        assert_int_equal(threads_run(is_enlisted, NULL), THREADS_DONE);
        assert_true(enlisted != first);
        assert_int_equal(threads_do(enlisted, note_self, NULL), THREADS_DONE);
        assert_int_equal(who, 2);
        assert_false(has_served);
        assert_int_equal(threads_dismiss(enlisted), THREADS_DONE);
        assert_int_equal(threads_run(has_been_dismissed, NULL), THREADS_DONE);
        assert_int_equal(threads_mutator(NULL, NULL), enlisted); /* its number is free */
    }
}

/* What asks whether all is done makes calls of its own, which are no points. */
static bool asks_by_calls(void *context) {
    threads_point();
    *(unsigned *)context += threads_self() != 0;
    return ended;
}

static void it_is_asked_as_from_outside(void **state) {
    (void)state;
    unsigned inside = 0;
    threads_reset(&(struct threads_schedule){.seed = 3, .gap = 2});
    program_locks_in_order();
    assert_int_equal(threads_run(asks_by_calls, &inside), THREADS_DONE);
    assert_int_equal(inside, 0);
}

static void an_order_is_done(void **state) {
    (void)state;
    threads_reset(&(struct threads_schedule){.seed = 1});
    int first = threads_mutator(NULL, NULL), second = threads_mutator(note_idle, NULL);
    assert_true(first >= 0 && second >= 0 && first != second);
    assert_int_equal(threads_do(first, note_self, NULL), THREADS_DONE);
    assert_int_equal(who, 1);
    assert_int_equal(threads_do(second, note_self, NULL), THREADS_DONE);
    assert_int_equal(who, 2);
    assert_int_equal(threads_self(), 0);
    threads_order(first, note_self, NULL);
    assert_false(threads_is_free(first));
    assert_int_equal(threads_do(second, note_self, NULL), THREADS_DONE);
    idled = 0;
    assert_int_equal(threads_do(first, note_self, NULL), THREADS_DONE);
    assert_int_equal(threads_dismiss(first), THREADS_DONE);
    assert_int_equal(threads_dismiss(second), THREADS_DONE);
    unsigned n = 0;
    while (threads_mutator(NULL, NULL) >= 0)
        n++;
    assert_int_equal(n, THREADS_MOST);
    threads_reset(NULL);
    threads_mutator(note_idle, NULL);
    first = threads_mutator(NULL, NULL);
    idled = 0;
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(threads_do(first, note_self, NULL), THREADS_DONE);
    assert_true(idled > 0);
}

static void an_order_may_never_be_done(void **state) {
    (void)state;
    char why[300];
    threads_reset(NULL);
    int one = threads_mutator(NULL, NULL), two = threads_mutator(NULL, NULL);
    program_wake_up_kept();
    assert_int_equal(threads_run(has_ended, NULL), THREADS_DONE);
    assert_int_equal(threads_do(one, hold_for_ever, NULL), THREADS_DEADLOCK);
    threads_why(why, sizeof why);
    assert_string_equal(why, "no thread can go on: thread 1 waits for a condition; thread 2 waits "
                             "for something to do");
    assert_int_equal(threads_do(two, hold_for_ever, NULL), THREADS_DEADLOCK);
    threads_why(why, sizeof why);
    assert_string_equal(why, "no thread can go on: thread 1 waits for a condition; thread 2 waits "
                             "for a mutex that thread 1 holds");
}

static void what_has_no_meaning_is_said(void **state) {
    static const struct {
        void (*body)(void *);
        const char *why;
    } cases[] = {
        {misuse_unlock, "thread 1: pthread_mutex_unlock of a mutex that it does not hold"},
        {misuse_destroy, "thread 1: pthread_mutex_destroy of a mutex that is locked"},
        {misuse_wait, "thread 1: pthread_cond_wait without its mutex"},
        {misuse_rwlock, "thread 1: pthread_rwlock_unlock of a lock that it does not hold"}};
    char why[300];
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        threads_reset(NULL);
        assert_int_equal(threads_do(threads_mutator(NULL, NULL), cases[i].body, NULL),
                         THREADS_MISUSED);
        threads_why(why, sizeof why);
        assert_string_equal(why, cases[i].why);
    }
}

/* A reset makes it what it was; errno is nobody else's either. */
static void locals_are_each_threads_own(void **state) {
    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        int a = 0, b = 0;
        threads_reset(NULL);
        own = 7;
        threads_local(&own, sizeof own);
        own = 50; /* outside */
        errno = 60;
        int one = threads_mutator(NULL, NULL), two = threads_mutator(NULL, NULL);
        for (unsigned i = 0; i < 2; i++) {
            threads_order(one, note_own, &a);
            assert_int_equal(threads_do(two, note_own, &b), THREADS_DONE);
            assert_true(threads_run(never, NULL) == THREADS_DEADLOCK && threads_is_free(one));
        }
        assert_int_equal(a, 902);
        assert_int_equal(b, 902);
        assert_int_equal(own, 50);
        assert_int_equal(errno, 60);
    }
}

/* ---- the driver's stack -----------------------------------------------------------------------
 */

static jmp_buf out;
static char *stack_of_call;

static void note_stack(void *context) {
    stack_of_call = __builtin_frame_address(0); /* AddressSanitizer may have variables elsewhere */
    if (context)
        longjmp(out, 1);
}

static void call_outside(void *context) {
    char here[64];
    memset(here, 1, sizeof here);
    threads_outside(note_stack, context);
    stack_of_call += here[0]; /* and comes back */
}

static void a_call_outside_may_never_return(void **state) {
    (void)state;
    for (unsigned round = 0; round < 50; round++) {
        char *here = __builtin_frame_address(0);
        threads_reset(NULL);
        int one = threads_mutator(NULL, NULL);
        assert_int_equal(threads_do(one, call_outside, NULL), THREADS_DONE);
        assert_in_range(labs(stack_of_call - here), 0, 1 << 16);
        if (setjmp(out) == 0) {
            threads_do(one, call_outside, here);
            fail();
        }
        threads_outside(note_stack, NULL);
        assert_in_range(labs(stack_of_call - here), 0, 1 << 16);
    }
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(programs_are_judged),
        cmocka_unit_test(bytes_decide),
        cmocka_unit_test(who_spins_lets_others_go_on),
        cmocka_unit_test(switches_are_told),
        cmocka_unit_test(it_says_why),
        cmocka_unit_test(the_same_schedule_is_the_same_run),
        cmocka_unit_test(other_schedules_are_other_runs),
        cmocka_unit_test(a_reset_ends_all),
        cmocka_unit_test(who_gets_on_has_fuel_anew),
        cmocka_unit_test(after_an_answer_it_goes_on),
        cmocka_unit_test(an_order_is_done),
        cmocka_unit_test(a_thread_may_enlist),
        cmocka_unit_test(it_is_asked_as_from_outside),
        cmocka_unit_test(an_order_may_never_be_done),
        cmocka_unit_test(what_has_no_meaning_is_said),
        cmocka_unit_test(locals_are_each_threads_own),
        cmocka_unit_test(a_call_outside_may_never_return),
    };
    if (argc == 2 && strcmp(argv[1], "digest") == 0) {
        printf("%llx\n", (unsigned long long)digest_of_all());
        threads_close();
        return 0;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    threads_close();
    return failed;
}
