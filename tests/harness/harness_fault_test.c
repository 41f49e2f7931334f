/* SPDX-License-Identifier: MIT
 *
 * Faults of the harness itself: each sentence that a harness error can have is provoked here, and
 * is a verdict on nobody.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/incremental/incremental.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

static struct program program;
static char text[1 << 16];

/* ---- a subject that never refuses --------------------------------------------------------------
 */

enum { ENDLESS_WORDS = 1 << 18 };
static word arena[ENDLESS_WORDS];

struct gc {
    word (*slots)[GC_SLOTS];
    size_t used;
};
static struct gc endless_gc;

static struct gc *endless_open(void) {
    return &endless_gc;
}
static void endless_reset(struct gc *gc, const struct gc_config *config) {
    gc->slots = config->slots;
    gc->used = 0;
}
static void endless_close(struct gc *gc) {
    (void)gc;
}
static enum gc_result endless_alloc(struct gc *gc, unsigned m, unsigned dst, size_t wosize,
                                    unsigned tag, const word *raw) {
    if (ENDLESS_WORDS - gc->used <= wosize)
        return GC_OUT_OF_MEMORY;
    arena[gc->used] = header_make(wosize, WHITE, tag);
    memcpy(arena + gc->used + 1, raw, wosize * sizeof *raw);
    gc->slots[m][dst] = pointer_word(arena + gc->used + 1);
    gc->used += wosize + 1;
    return GC_OK;
}
static enum gc_result endless_ephemeron(struct gc *gc, unsigned dst, size_t keys) {
    static const word units[64] = {WORD_UNIT};
    return endless_alloc(gc, 0, dst, keys + 1, 0, units);
}
/* The other functions of a runtime, which no program here calls. */
static enum gc_result no_resource(struct gc *gc, unsigned dst, size_t words, uint64_t number) {
    (void)gc, (void)dst, (void)words, (void)number;
    return GC_OUT_OF_MEMORY;
}
static void no_set(struct gc *gc, unsigned obj, size_t i, unsigned value) {
    (void)gc, (void)obj, (void)i, (void)value;
}
static void no_unset(struct gc *gc, unsigned obj, size_t i) {
    (void)gc, (void)obj, (void)i;
}
static bool no_get(struct gc *gc, unsigned dst, unsigned obj, size_t i) {
    (void)gc, (void)dst, (void)obj, (void)i;
    return false;
}
static void no_blit(struct gc *gc, unsigned src, size_t i, unsigned dst, size_t j, size_t n) {
    (void)gc, (void)src, (void)i, (void)dst, (void)j, (void)n;
}
static void no_forward(struct gc *gc, unsigned obj, unsigned value) {
    (void)gc, (void)obj, (void)value;
}
static enum gc_result no_finalise(struct gc *gc, unsigned obj, uint64_t number, bool last) {
    (void)gc, (void)obj, (void)number, (void)last;
    return GC_OK;
}
static enum gc_result no_marshal(struct gc *gc, unsigned dst, unsigned src, bool unshared,
                                 size_t words) {
    (void)gc, (void)dst, (void)src, (void)unshared, (void)words;
    return GC_OUT_OF_MEMORY;
}
static size_t no_measure(struct gc *gc, unsigned obj) {
    (void)gc, (void)obj;
    return SIZE_MAX;
}
static const struct gc_extras endless_extras = {.ephemeron = endless_ephemeron,
                                                .resource = no_resource,
                                                .set = no_set,
                                                .unset = no_unset,
                                                .get = no_get,
                                                .blit = no_blit,
                                                .forward = no_forward,
                                                .truncate = no_unset,
                                                .finalise = no_finalise,
                                                .marshal = no_marshal,
                                                .measure = no_measure};
static const struct collector endless = {
    .name = "endless",
    .summary = "never collects, never refuses",
    .traits = {.infix = true, .start_env = true, .max_mutators = 1},
    .open = endless_open,
    .reset = endless_reset,
    .close = endless_close,
    .alloc = endless_alloc};

/* Lists in all slots: as many objects, and as many of their words, as the model has room for; then
 * one operation more. */
static void fill_the_model(const char *one_more) {
    size_t n = (size_t)snprintf(text, sizeof text, "isoheap program 1\nscript\n");
    for (unsigned slot = 0; slot < PROGRAM_SLOTS; slot++)
        n += (size_t)snprintf(text + n, sizeof text - n, "  r%u = list 1024 1\n", slot);
    snprintf(text + n, sizeof text - n, "  %s\n", one_more);
    parse_program(&program, text);
}

/* Nobody is asked for more, however much he would give: that is no verdict, and no fault. */
static void must_not_be_asked(const struct collector *subject, const char *one_more) {
    struct runner_options options = {.subject = subject, .oracles = 1u << ORACLE_assertion};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    fill_the_model(one_more);
    size_t used;
    runner_run(runner, &program, &verdict);
    assert_false(verdict.harness_error);
    assert_int_equal(verdict.violation, VIOLATION_none);
    used = endless_gc.used;
    fill_the_model("full");
    runner_run(runner, &program, &verdict);
    assert_int_equal(endless_gc.used, used);
    runner_close(runner);
}

static void more_than_the_model_holds(void **state) {
    (void)state;
    struct collector runtime = endless;
    runtime.extras = &endless_extras;
    must_not_be_asked(&endless, "r0 = alloc tag=0 [r0]");
    must_not_be_asked(&endless, "r0 = closure arity=1,1 env=[r0]");
    must_not_be_asked(&endless, "r0 = list 2 r0");
    must_not_be_asked(&runtime, "r0 = ephemeron 1");
    must_not_be_asked(&runtime, "r0 = resource 1");
    must_not_be_asked(&runtime, "r0 = marshal r0");
}

/* Without the last one everything fits. */
static void the_model_is_exactly_full(void **state) {
    (void)state;
    struct runner_options options = {.subject = &endless, .oracles = 1u << ORACLE_assertion};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    fill_the_model("full");
    runner_run(runner, &program, &verdict);
    assert_false(verdict.harness_error);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_int_equal(verdict.counts.ops[OP_BUILD], PROGRAM_SLOTS);
    runner_close(runner);
}

/* ---- no memory --------------------------------------------------------------------------------
 */

/* The linker puts these in the place of calloc and mmap (tests/CMakeLists.txt). */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset);
static unsigned allocations_left;
static bool allocations_counted;

static bool is_allowed(void) {
    if (allocations_counted && allocations_left == 0)
        return false;
    allocations_left -= allocations_counted;
    return true;
}
void *__wrap_calloc(size_t n, size_t size) {
    return is_allowed() ? __real_calloc(n, size) : NULL;
}
void *__wrap_mmap(void *at, size_t bytes, int access, int flags, int file, off_t offset) {
    return is_allowed() ? __real_mmap(at, bytes, access, flags, file, offset) : MAP_FAILED;
}

/* Memory ends after so many allocations. */
static struct runner *open_with(unsigned allocations) {
    struct runner_options options = {.subject = &incremental, .reference = &cheney};
    allocations_counted = true;
    allocations_left = allocations;
    struct runner *runner = runner_open(&options);
    allocations_counted = false;
    return runner;
}

static void a_runner_without_memory(void **state) {
    (void)state;
    unsigned needed = 0;
    struct runner *runner;
    while (!(runner = open_with(needed)))
        needed++;
    assert_true(needed > 0);
    runner_close(runner);
}

static void an_oracle_without_memory(void **state) {
    (void)state;
    struct runner_options options = {.subject = &incremental};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    assert_non_null(runner);
    parse_program(&program, "isoheap program 1\nscript\n  slice 1\n  full\n");
    allocations_counted = true;
    allocations_left = 0;
    runner_run(runner, &program, &verdict);
    allocations_counted = false;
    assert_true(verdict.harness_error);
    assert_string_equal(verdict.detail, "no memory for the state of an oracle");
    runner_report(runner, &verdict, &program, text, sizeof text);
    assert_non_null(strstr(text, "harness_error"));
    assert_non_null(strstr(text, verdict.detail));
    runner_run(runner, &program, &verdict); /* there is memory again */
    assert_false(verdict.harness_error);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_true(verdict.counts.oracles[ORACLE_snapshot] > 0);
    runner_close(runner);
}

/* ---- a fault of the subject --------------------------------------------------------------------
 */

static struct gc_hooks *hooks;
static void remembering_reset(struct gc *gc, const struct gc_config *config) {
    hooks = config->hooks;
    incremental.reset(gc, config);
}
/* Says that it has moved the blocks that it takes over, which it promises not to do: where they are
 * is not known then. */
static void moving_adopt(struct gc *gc, size_t words) {
    incremental.adopt(gc, words);
    hooks->collections++;
}

static void a_cycle_over_blocks_that_adopt_has_moved(void **state) {
    (void)state;
    struct collector moving = incremental;
    moving.reset = remembering_reset;
    moving.adopt = moving_adopt;
    parse_program(&program, "isoheap program 1\nheap\n  b0 = block tag=0 [1]\nroots\n  r0 = b0\n"
                            "script\n  slice 1\n  full\n");
    struct verdict verdict = run_here(&moving, NULL, &program);
    assert_false(verdict.harness_error);
    assert_int_equal(verdict.violation, VIOLATION_lost_object); /* it is not where it was */
    assert_int_equal(verdict.guilty, PARTY_SUBJECT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_the_model_holds),
        cmocka_unit_test(the_model_is_exactly_full),
        cmocka_unit_test(a_runner_without_memory),
        cmocka_unit_test(an_oracle_without_memory),
        cmocka_unit_test(a_cycle_over_blocks_that_adopt_has_moved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
