/* SPDX-License-Identifier: MIT
 *
 * The seeds: every one passes on every healthy pair of collectors, together they reach every
 * operation, item, config key and oracle, and their verdicts are the same in every build.
 */
#define _POSIX_C_SOURCE 200809L /* open_memstream */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "program/bytes/bytes.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

struct pass {
    struct runner *runner;
    struct run_counts total;
    unsigned config_seen[CONFIG_KEYS], items_seen[ITEM_FRAGMENT + 1], tags_seen[256];
    FILE *digests;
};

static void run_one(const char *path, void *context) {
    struct pass *pass = context;
    load_program(&program, path);
    must_pass(pass->runner, &program, path, &pass->total);
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        pass->config_seen[k] += program.config[k] != config_ranges[k].initial;
    for (unsigned i = 0; i < program.n_items; i++) {
        pass->items_seen[program.items[i].kind]++;
        pass->tags_seen[program.items[i].tag]++;
    }
}

static unsigned run_all(struct pass *pass, const struct collector *subject,
                        const struct collector *reference) {
    pass->runner = open_pair(subject, reference);
    unsigned n = for_each_program(SEEDS_DIR "/mark_sweep", run_one, pass);
    runner_close(pass->runner);
    return n;
}

static bool can_judge(unsigned oracle, const struct collector *c) {
    return !(oracle_needs((enum oracle)oracle) & ~oracle_needs_met(c, &c->traits));
}

/* Skipped by both, since neither collector has it, or done by other operations: the seeds of the
 * OCaml runtime have these. */
static bool is_of_others(unsigned op) {
    static const enum op_code others[] = {
        OP_SLICE,     OP_KIND,       OP_POLL,       OP_FINALISE, OP_FINALISE_THEN, OP_MEASURE,
        OP_EPHE_COPY, OP_EPHE_CHECK, OP_ATTACH,     OP_DETACH,   OP_SUB,           OP_APPEND,
        OP_DUP,       OP_UPDATE,     OP_FORWARDING, OP_CLONE,    OP_DAMAGE,        OP_STARVE};
    bool is = false;
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        is |= op == others[i];
    return is;
}

static void seeds_pass_and_reach_everything(void **state) {
    (void)state;
    static struct pass pass;
    assert_true(run_all(&pass, &mark_sweep, &cheney) > 0);
    figures_of_counts("mark_sweep against cheney", &pass.total);
    for (unsigned o = 0; o < OP_CODES; o++)
        if (!pass.total.ops[o] && !is_of_others(o))
            fail_msg("no seed runs operation %s", op_shapes[o].name);
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        if (!pass.total.oracles[o] &&
            (can_judge(o, &mark_sweep) || can_judge(o, &cheney))) /* else: its collectors' tests */
            fail_msg("no seed is judged by oracle %s", oracle_name((enum oracle)o));
    for (unsigned k = 0; k < CONFIG_KEYS; k++)
        if (!pass.config_seen[k])
            fail_msg("no seed sets config %s", config_ranges[k].name);
    for (unsigned k = 0; k <= ITEM_FRAGMENT; k++)
        assert_true(pass.items_seen[k] > 0);
    for (unsigned t = TAG_LAZY; t < 256; t++)
        if (!pass.tags_seen[t] && t != TAG_INFIX)
            fail_msg("no seed has a block with tag %u", t);
}

static void seeds_pass_on_other_pairs(void **state) {
    (void)state;
    static struct pass pass;
    run_all(&pass, &cheney, NULL);
    run_all(&pass, &mark_sweep, NULL);
    run_all(&pass, &cheney, &mark_sweep);
}

/* A collector without image and adopt gets the same heap by alloc and init. */
static void seeds_pass_without_an_image(void **state) {
    (void)state;
    static struct pass pass;
    struct collector moving = cheney, still = mark_sweep;
    moving.image = still.image = NULL;
    moving.adopt = still.adopt = NULL;
    run_all(&pass, &moving, NULL);
    run_all(&pass, &still, &moving);
    run_all(&pass, &still, &cheney);
    figures_of_counts("without an image", &pass.total);
}

static void print_digest(const char *path, void *context) {
    struct pass *pass = context;
    struct verdict again;
    load_program(&program, path);
    uint64_t digest = must_pass(pass->runner, &program, path, NULL)->digest;
    for (unsigned i = 1; i < 100; i++) {
        runner_run(pass->runner, &program, &again);
        assert_int_equal(again.digest, digest);
    }
    fprintf(pass->digests, "%s %016" PRIx64 "\n", strrchr(path, '/') + 1, digest);
}

/* Verdict, final graph and step counts, a hundred times in one process and against the golden file:
 * one digest for every compiler, optimisation level and sanitizer.  After a wanted change set
 * ISOHEAP_UPDATE=1 and look at the difference. */
static void digests_are_the_same_everywhere(void **state) {
    (void)state;
    static struct pass pass;
    static char *text;
    size_t size;
    pass.digests = open_memstream(&text, &size);
    pass.runner = open_pair(&mark_sweep, &cheney);
    for_each_program(SEEDS_DIR "/mark_sweep", print_digest, &pass);
    runner_close(pass.runner);
    fclose(pass.digests);
    const char *golden_path = SOURCE_DIR "/tests/golden/digests.txt";
    FILE *golden = fopen(golden_path, getenv("ISOHEAP_UPDATE") ? "w+" : "r");
    assert_non_null(golden);
    if (getenv("ISOHEAP_UPDATE")) {
        fwrite(text, 1, size, golden);
        rewind(golden);
    }
    static char expected[1 << 16];
    expected[fread(expected, 1, sizeof expected - 1, golden)] = 0;
    fclose(golden);
    assert_string_equal(text, expected);
    free(text);
}

static void decode_some(struct program *p, unsigned number, uint8_t *bytes, uint64_t random) {
    (void)number;
    program_decode(p, bytes, random >> 32 & 127);
}

/* One run leaves nothing behind: the digest does not depend on the inputs before it. */
static void runs_do_not_see_each_other(void **state) {
    (void)state;
    runs_are_alike(&mark_sweep, &cheney, 2000, 20, decode_some);
}

/* Every oracle can be left out, and then does not judge. */
static void oracles_can_be_left_out(void **state) {
    (void)state;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\n"
                            "script\n  full\n  r2 = alloc tag=0 [r0]\n"
                            "  r1 = alloc tag=0 size=300 []\n");
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        struct runner_options options = {
            .subject = &mark_sweep, .reference = &cheney, .oracles = ORACLES_ALL & ~ORACLE_BIT(o)};
        struct runner *runner = runner_open(&options);
        struct run_counts counts = {.skipped = 0};
        must_pass(runner, &program, oracle_name((enum oracle)o), &counts);
        assert_int_equal(counts.oracles[o], 0);
        runner_close(runner);
    }
}

static word *image_base;
static word *remembered_image(struct gc *gc, size_t *words) {
    return image_base = mark_sweep.image(gc, words);
}
static void spoiling_adopt(struct gc *gc, size_t words) {
    mark_sweep.adopt(gc, words);
    image_base[1] = immediate(9);
}

/* What was wrong before the script is not blamed on the first collection in it. */
static void a_spoilt_start_is_told_as_such(void **state) {
    (void)state;
    struct collector spoiling = mark_sweep;
    spoiling.image = remembered_image;
    spoiling.adopt = spoiling_adopt;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\n"
                            "script\n  r1 = alloc tag=0 [r0]\n  full\n");
    struct runner *runner = open_pair(&spoiling, &cheney);
    struct verdict verdict;
    runner_run(runner, &program, &verdict);
    assert_int_equal(verdict.violation, VIOLATION_field_written);
    assert_int_equal(verdict.op, OP_INITIAL);
    runner_close(runner);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_pass_and_reach_everything),
        cmocka_unit_test(seeds_pass_on_other_pairs),
        cmocka_unit_test(seeds_pass_without_an_image),
        cmocka_unit_test(digests_are_the_same_everywhere),
        cmocka_unit_test(runs_do_not_see_each_other),
        cmocka_unit_test(oracles_can_be_left_out),
        cmocka_unit_test(a_spoilt_start_is_told_as_such),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
