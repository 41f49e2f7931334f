/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime with a thread of the system for each domain, under stress: seeds and
 * programs made of them, each played by two to four domains at full speed.  Meant for
 * ThreadSanitizer and AddressSanitizer.
 *
 * ISOHEAP_STRESS_SECONDS: how long (default: 2).  A round is a process of its own, so that one
 * that stops for good is told.
 */
#define _DEFAULT_SOURCE 1 /* usleep */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML5_THREADS

#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"
#include "tests/collectors/free_running/counted.h"
#include "tests/collectors/free_running/play.h"
#include "tests/support/stress.h"
#include "tests/support/support.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern int isoheap_edit; /* of the edited runtime (tests/CMakeLists.txt) */
int isoheap_edit;

/* ---- programs -----------------------------------------------------------------------------------
 */

enum { SEEDS = 256, BYTES = 1 << 14, ROUNDS = 24 };
static char *seeds[SEEDS];
static unsigned n_seeds;

static void keep(const char *path, void *context) {
    (void)context;
    if (n_seeds < SEEDS)
        seeds[n_seeds++] = strdup(path);
}

static int find_seeds(void **state) {
    (void)state;
    static const char *const of[] = {"ocaml5_domains", "ocaml5", "ocaml", "incremental"};
    for (unsigned i = 0; i < sizeof of / sizeof *of; i++) {
        char folder[512];
        snprintf(folder, sizeof folder, "%s/%s", SEEDS_DIR, of[i]);
        assert_true(for_each_program(folder, keep, NULL) > 0);
    }
    return 0;
}

/* The first one of each round is a seed; the others are made of it. */
static void make_program(struct program *p, struct mutation *mutation, unsigned seed,
                         unsigned nth) {
    static uint8_t bytes[BYTES];
    load_program(p, seeds[seed % n_seeds]);
    if (nth == 0 || program_is_large(p))
        return;
    size_t size = program_encode(p, bytes, sizeof bytes);
    if (size > sizeof bytes)
        return;
    for (unsigned i = 0; i < ROUNDS; i++)
        size = mutation_mutate(mutation, bytes, size, sizeof bytes,
                               ((uint64_t)seed * SEEDS + nth) * ROUNDS + i);
    program_decode(p, bytes, size);
}

/* ---- a round: a process -------------------------------------------------------------------------
 */

struct told {
    uint64_t programs, operations;
    struct parallel_counts counts;
};

static void broken(struct gc_hooks *hooks, const char *sentence) {
    (void)hooks;
    fprintf(stderr, "free-running: %s\n", sentence);
    abort();
}

static void play_round(const struct parallel_runtime *runtime, unsigned seed, double least,
                       bool change, int to) {
    static struct program program;
    static gc_slots slots[GC_MUTATORS];
    static struct gc_hooks hooks = {.broken = broken, .finalised = counted_ran};
    const struct gc_config config = {.nursery_words = 256u << seed % 4,
                                     .large_words = seed % 3 ? 4096 : 16,
                                     .variant = seed % 3,
                                     .mutators = GC_MUTATORS,
                                     .masks = ~0u,
                                     .slots = slots,
                                     .hooks = &hooks};
    struct told told = {0};
    double began = seconds();
    struct mutation *mutation = mutation_open(mutation_profile_find("runtime"), NULL);
    crashes_end_the_process();
    play_open(runtime, &config, change);
    do {
        make_program(&program, mutation, seed, (unsigned)told.programs);
        told.operations += play(&program, 2 + (seed + (unsigned)told.programs) % (GC_MUTATORS - 1));
        told.programs++;
    } while (seconds() - began < least);
    runtime->count(&told.counts);
    mutation_close(mutation);
    _Exit(write(to, &told, sizeof told) == sizeof told ? 0 : 4);
}

/* Waits so many seconds; false: it has not ended by itself. */
static bool ends(pid_t child, double most, int *status) {
    for (double began = seconds(); seconds() - began < most; usleep(1000))
        if (waitpid(child, status, WNOHANG) == child)
            return true;
    kill(child, SIGKILL);
    waitpid(child, status, 0);
    return false;
}

enum { PATIENCE = 120 }; /* seconds for a process that should take one */

enum way { LOUD, QUIET, QUIET_CHANGE };

/* Its status as of waitpid; -1: it has not ended. */
static int run_round(const struct parallel_runtime *runtime, unsigned seed, double least,
                     struct told *told, enum way way) {
    int pipes[2], status;
    assert_int_equal(pipe(pipes), 0);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        close(pipes[0]);
        if (way != LOUD && !freopen("/dev/null", "w", stderr))
            _Exit(4);
        play_round(runtime, seed, least, way == QUIET_CHANGE, pipes[1]);
    }
    close(pipes[1]);
    bool ended = ends(child, least + PATIENCE, &status);
    if (read(pipes[0], told, sizeof *told) != sizeof *told)
        memset(told, 0, sizeof *told);
    close(pipes[0]);
    return ended ? status : -1;
}

/* ---- tests --------------------------------------------------------------------------------------
 */

static void add(struct told *sum, const struct told *more) {
    sum->programs += more->programs;
    sum->operations += more->operations;
    sum->counts.minor += more->counts.minor;
    sum->counts.major += more->counts.major;
    sum->counts.compactions += more->counts.compactions;
}

static void say(const struct told *t, unsigned rounds) {
    print_message(
        "%u rounds, %llu programs, %llu operations, %llu minor and %llu major collections, "
        "%llu compactions\n",
        rounds, (unsigned long long)t->programs, (unsigned long long)t->operations,
        (unsigned long long)t->counts.minor, (unsigned long long)t->counts.major,
        (unsigned long long)t->counts.compactions);
}

static void every_interleaving_is_sound(void **state) {
    (void)state;
    struct told sum = {0}, told;
    double wanted = stress_seconds(2), each = wanted < 10 ? wanted / 4 : 2;
    double began = seconds(), told_at = began;
    unsigned rounds = 0;
    do {
        unsigned seed = rounds++;
        int status = run_round(&ocaml5_threads, seed, each, &told, LOUD);
        if (status != 0)
            fail_msg("seed %u (%s): %s (%s %d)", seed, seeds[seed % n_seeds],
                     status == -1 ? "its domains wait for one another without end"
                                  : "the process has failed",
                     WIFSIGNALED(status) ? "signal" : "status",
                     WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        add(&sum, &told);
        if (seconds() - told_at > 10) {
            say(&sum, rounds);
            told_at = seconds();
        }
    } while (seconds() - began < wanted);
    say(&sum, rounds);
    assert_true(sum.programs >= rounds && sum.counts.minor > 0 && sum.counts.major > 0);
}

/* An edit of the runtime is found, in one of a few processes: by what comes of it, or by the
 * sanitizer. */
static void must_be_found(int edit, enum way way, bool by_sanitizer, const char *what) {
    enum { TRIES = 20, SANITIZER = 66 };
    struct told told;
    isoheap_edit = edit;
    for (unsigned seed = 0; seed < TRIES; seed++) {
        int status = run_round(&ocaml5_threads_edited, seed, 0.3, &told, way);
        if (status > 0 &&
            (!by_sanitizer || (WIFEXITED(status) && WEXITSTATUS(status) == SANITIZER)))
            return;
    }
    fail_msg("not found: %s", what);
}

static void a_missing_barrier_is_found(void **state) {
    (void)state;
    must_be_found(1, QUIET, false,
                  "caml_modify enters no old block that it makes point at a young one");
}

#ifdef ISOHEAP_THREAD_SANITIZED
static void a_missing_lock_is_found(void **state) {
    (void)state;
    must_be_found(2, QUIET, true, "global roots are entered without the lock");
}

static void a_missing_order_is_found(void **state) {
    (void)state;
    must_be_found(3, QUIET, true, "caml_modify stores without release");
}

/* A defect of 5.3, which has no edit: ocaml/ocaml#14061. */
static void the_missing_order_of_ephemerons_is_found(void **state) {
    (void)state;
    must_be_found(0, QUIET_CHANGE, true, "Weak.set stores without release");
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_barrier_is_found),
#ifdef ISOHEAP_THREAD_SANITIZED
        cmocka_unit_test(a_missing_lock_is_found),
        cmocka_unit_test(a_missing_order_is_found),
        cmocka_unit_test(the_missing_order_of_ephemerons_is_found),
#endif
        cmocka_unit_test(every_interleaving_is_sound),
    };
    return cmocka_run_group_tests(tests, find_seeds, NULL);
}

#else

int main(void) {
    return 0; /* this build has no OCaml 5.3, or no clang */
}

#endif
