/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime with several domains: its seeds pass, and a program is the same run to the
 * last switch of its threads, whatever ran before, in another process, and wherever that lies.
 */
#define _GNU_SOURCE /* popen, ADDR_NO_RANDOMIZE */
#include "collectors/ocaml5/ocaml5.h"
#include "collectors/threads/threads.h"
#include "program/bytes/bytes.h"
#include "program/random.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#include <cmocka.h>

#ifdef ISOHEAP_HAS_OCAML5_DOMAINS

enum { PROGRAMS = 64, BYTES = 160, MOST_GAP = 400, SAMPLED = 3 };

static struct program program;
static char *self;

/* Number n: one to four mutators, all of which do something, any schedule, every other one with
 * preemption. */
static void make_program(unsigned n) {
    uint8_t bytes[BYTES];
    struct random r = {n * 0x9e3779b97f4a7c15u + 1};
    next_bytes(n * 0x9e3779b97f4a7c15u + 1, bytes, sizeof bytes);
    program_decode(&program, bytes, sizeof bytes);
    program.n_switches = 0;
    program.config[CONFIG_SCHEDULE] = random_below(&r, 4096);
    program.config[CONFIG_PREEMPT] = n % 2 ? random_below(&r, MOST_GAP) : 0;
    for (unsigned i = 0; i < program.n_ops; i++)
        program.ops[i].mutator = (uint8_t)random_below(&r, 1 + n / 2 % GC_MUTATORS);
}

static uint64_t digest_of(struct runner *runner, unsigned n) {
    make_program(n);
    uint64_t digest = must_pass(runner, &program, "a random program", NULL)->digest;
    return digest * 0x9e3779b97f4a7c15 ^ threads_counts().digest;
}

/* Of all programs, in order. */
static struct runner *take_digests(uint64_t digest[PROGRAMS]) {
    struct runner *runner = open_pair(&ocaml5_domains, NULL);
    for (unsigned n = 0; n < PROGRAMS; n++)
        digest[n] = digest_of(runner, n);
    return runner;
}

static void runs_do_not_see_each_other(void **state) {
    (void)state;
    static uint64_t digest[PROGRAMS];
    struct runner *runner = take_digests(digest);
    for (unsigned n = PROGRAMS; n-- > 0;)
        assert_int_equal(digest_of(runner, n), digest[n]);
    for (unsigned n = 0; n < PROGRAMS; n += 3)
        for (unsigned again = 0; again < 2; again++)
            assert_int_equal(digest_of(runner, n), digest[n]);
    runner_close(runner);
}

static void look(void *context, struct runner *r, unsigned op, bool before) {
    struct snapshot snapshot;
    (void)context, (void)op;
    if (!before) /* then there may be no heap yet */
        runner_snapshot(r, PARTY_SUBJECT, &snapshot);
}

/* The digest of a run has what the oracles have judged, which is more. */
static uint64_t switches_of(struct runner *runner, unsigned n) {
    digest_of(runner, n);
    return threads_counts().digest;
}

/* As gcc compiles it, one of the preempted programs (5) has other edges when somebody looks: which
 * are those of the looking is not found yet (docs/ocaml5.md). */
#ifdef __clang__
enum { PREEMPTED_TOO = 1 };
#else
enum { PREEMPTED_TOO = 0 };
#endif

static void who_looks_changes_nothing(void **state) {
    (void)state;
    struct runner *runner = open_pair(&ocaml5_domains, NULL);
    struct runner *observed = runner_open(&(struct runner_options){
        .subject = &ocaml5_domains, .oracles = ORACLES_ALL, .observe = look});
    assert_non_null(observed);
    for (unsigned n = 0; n < PROGRAMS; n += 1 + !PREEMPTED_TOO)
        assert_int_equal(switches_of(observed, n), switches_of(runner, n));
    runner_close(observed);
    runner_close(runner);
}

/* What a process prints that is started for it, with addresses that are not random, or are. */
static void print_digests(void) {
    struct runner *runner = open_pair(&ocaml5_domains, NULL);
    for (unsigned n = PROGRAMS; n-- > 0;)
        printf("%016" PRIx64 "\n", digest_of(runner, n));
    runner_close(runner);
}

static void must_print_the_same(const char *option, const uint64_t *digest) {
    char command[4096], line[32];
    snprintf(command, sizeof command, "'%s' %s", self, option);
    FILE *pipe = popen(command, "r");
    assert_non_null(pipe);
    for (unsigned n = PROGRAMS; n-- > 0;) {
        assert_non_null(fgets(line, sizeof line, pipe));
        assert_int_equal(strtoull(line, NULL, 16), digest[n]);
    }
    assert_int_equal(pclose(pipe), 0);
}

static void processes_do_the_same(void **state) {
    (void)state;
    static uint64_t digest[PROGRAMS];
    runner_close(take_digests(digest));
    must_print_the_same("anywhere", digest);
    must_print_the_same("in-one-place", digest);
}

static void run_sampled(const char *path, void *context) {
    load_program(&program, path);
    program.config[CONFIG_VARIANT] = SAMPLED;
    must_pass(context, &program, path, NULL);
}

/* ---- finalisers ---------------------------------------------------------------------------------
 */

/* Each in its own domain, where it changes slots and collects, or raises; one of a domain that has
 * ended in another, and in one that has come again; an ephemeron that two have, which both change;
 * and of blocks of two domains that lead to each other, with those that die together. */
static const char *const finalised[] = {
    "  mutator 1: r1 = alloc tag=0 [7]\n  mutator 1: keep r1, 0 -> r4\n  mutator 1: drop r1\n"
    "  r1 = alloc tag=0 [8]\n  collect r1, 0 -> r4\n  drop r1\n  full\n"
    "  mutator 1: r0.0 := r4\n  r2 = r0.0\n  full\n",
    "  mutator 1: r1 = alloc tag=0 [7]\n  mutator 1: again r1, 0 -> r4\n"
    "  mutator 1: raise r1, 1 -> r5\n  mutator 1: drop r1\n  mutator 1: slice 3\n"
    "  mutator 1: detach\n  full\n  drop r4\n  mutator 1: attach\n"
    "  mutator 1: r1 = alloc tag=0 [9]\n  mutator 1: keep r1, 0 -> r2\n  mutator 1: drop r1\n"
    "  full\n",
    "  r1 = ephemeron 1\n  r0.0 := r1\n  mutator 1: r1 = r0.0\n  r2 = alloc tag=0 [1]\n"
    "  weaken r2, 0 -> r1\n  drop r2\n  mutator 1: r2 = alloc tag=0 [2]\n"
    "  mutator 1: weaken r2, 0 -> r1\n  mutator 1: drop r2\n  mutator 1: full\n"
    "  r3 = weak r1.1\n  full\n",
    "  r1 = alloc tag=0 [5]\n  r0.0 := r1\n  mutator 1: r1 = r0.0\n"
    "  mutator 1: finalise r1, 0\n  mutator 1: r2 = alloc tag=0 [6]\n"
    "  mutator 1: finalise r2, 0\n  r2 = alloc tag=0 [r1]\n  keep r2, 0 -> r3\n  r0.0 := 1\n"
    "  drop r1\n  drop r2\n  mutator 1: drop r1\n  mutator 1: drop r2\n  slice 4\n"
    "  mutator 1: slice 4\n  slice 9\n  mutator 1: full\n  drop r3\n  full\n",
};
enum { SCHEDULES = 40 };

static void parse_finalised(unsigned script, unsigned schedule, unsigned preempt,
                            unsigned variant) {
    char text[2048];
    snprintf(text, sizeof text,
             "isoheap program 1\nconfig schedule=%u preempt=%u variant=%u\nheap\n  b0 = block "
             "tag=0 [0, 0]\n"
             "roots\n  r0 = b0\n  mutator 1: r0 = b0\nscript\n%s",
             schedule, preempt, variant, finalised[script]);
    parse_program(&program, text);
}

static void finalisers_work_where_they_run(void **state) {
    (void)state;
    struct runner *runner = open_pair(&ocaml5_domains, NULL);
    for (unsigned script = 0; script < sizeof finalised / sizeof *finalised; script++)
        for (unsigned n = 0; n < SCHEDULES; n++) {
            parse_finalised(script, n, n % 4 * 40, n / 4 % 2 * SAMPLED);
            must_pass(runner, &program, finalised[script], NULL);
        }
    runner_close(runner);
}

/* Also of domains that end, which others go on with. */
static void seeds_pass_sampled(void **state) {
    (void)state;
    struct runner *runner = open_pair(&ocaml5_domains, NULL);
    assert_string_equal(ocaml5_domains.variants[SAMPLED], "sampled");
    assert_true(for_each_program(SEEDS_DIR "/ocaml5_domains", run_sampled, runner) >= 5);
    assert_true(for_each_program(SEEDS_DIR "/concurrent", run_sampled, runner) >= 5);
    runner_close(runner);
}

/* One operation, which takes more than its threads have fuel for at once. */
static void many_finalisers_may_collect(void **state) {
    (void)state;
    enum { MANY = 100 };
    static char text[8192];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "isoheap program 1\nconfig schedule=3 preempt=200\nscript\n"
                                "  mutator 3: minor\n  mutator 1: r1 = alloc tag=0 [7]\n");
    for (unsigned i = 0; i < MANY; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  mutator 1: collect r1, 1 -> r2\n");
    snprintf(text + n, sizeof text - n, "  mutator 1: drop r1\n  full\n");
    parse_program(&program, text);
    struct runner *runner = open_pair(&ocaml5_domains, NULL);
    must_pass(runner, &program, "many finalisers that collect", NULL);
    runner_close(runner);
}

/* The collector, but for what a defect changes on the way. */
static struct collector strange;
static struct gc_extras strange_extras;
static struct gc_hooks *lent;

static void lend(struct gc *g, const struct gc_config *config) {
    lent = config->hooks;
    ocaml5_domains.reset(g, config);
}

/* Mutator 0 asks for it. */
static enum gc_result ask_elsewhere(struct gc *g, unsigned obj, uint64_t number, bool last,
                                    const struct gc_finaliser *then) {
    lent->mutator = 0;
    return ocaml5_domains.extras->finalise_then(g, obj, number, last, then);
}

/* It puts its value into another slot. */
static enum gc_result ask_otherwise(struct gc *g, unsigned obj, uint64_t number, bool last,
                                    const struct gc_finaliser *then) {
    struct gc_finaliser other = *then;
    other.slot++;
    return ocaml5_domains.extras->finalise_then(g, obj, number, last, &other);
}

typedef enum gc_result finalise_then(struct gc *, unsigned obj, uint64_t number, bool last,
                                     const struct gc_finaliser *);

static enum violation with(finalise_then *ask) {
    strange = ocaml5_domains;
    strange_extras = *ocaml5_domains.extras;
    strange_extras.finalise_then = ask;
    strange.extras = &strange_extras;
    strange.reset = lend;
    return run_here(&strange, NULL, &program).violation;
}

/* r0 is the same block to both. */
static void finalisers_elsewhere_are_found(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [0]\nroots\n  r0 = b0\n"
                            "  mutator 1: r0 = b0\nscript\n  mutator 1: keep r0, 0 -> r4\n"
                            "  drop r0\n  mutator 1: drop r0\n  full\n");
    assert_int_equal(with(ocaml5_domains.extras->finalise_then), VIOLATION_none);
    assert_int_equal(with(ask_elsewhere), VIOLATION_collector_assertion);
    assert_int_equal(with(ask_otherwise), VIOLATION_edge_changed);
}

static void run_seed(const char *path, void *context) {
    load_program(&program, path);
    must_pass(context, &program, path, NULL);
}

static void seeds_pass(void **state) {
    (void)state;
    struct runner *runner = open_pair(&ocaml5_domains, NULL);
    assert_true(for_each_program(SEEDS_DIR "/ocaml5_domains", run_seed, runner) >= 5);
    assert_true(for_each_program(SEEDS_DIR "/concurrent", run_seed, runner) >= 5);
    assert_true(for_each_program(SEEDS_DIR "/ocaml5", run_seed, runner) >= 3);
    assert_true(for_each_program(SEEDS_DIR "/ocaml", run_seed, runner) >= 40);
    runner_close(runner);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_do_not_see_each_other),
        cmocka_unit_test(who_looks_changes_nothing),
        cmocka_unit_test(processes_do_the_same),
        cmocka_unit_test(finalisers_work_where_they_run),
        cmocka_unit_test(many_finalisers_may_collect),
        cmocka_unit_test(finalisers_elsewhere_are_found),
        cmocka_unit_test(seeds_pass),
        cmocka_unit_test(seeds_pass_sampled),
    };
    self = argv[0];
    if (argc > 1 && strcmp(argv[1], "in-one-place") == 0) {
        if (personality(ADDR_NO_RANDOMIZE) < 0)
            return 2;
        execl("/proc/self/exe", self, "anywhere", (char *)NULL);
    }
    if (argc > 1) {
        print_digests();
        return 0;
    }
    return cmocka_run_group_tests_name("collectors/ocaml5_domains", tests, NULL, NULL);
}

#else

int main(void) {
    puts("this build has no OCaml 5 runtime with domains");
    return 0;
}

#endif
