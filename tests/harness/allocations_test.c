/* SPDX-License-Identifier: MIT
 *
 * What an operation says of the blocks that it makes (op_blocks, op_words) is what it does; and
 * those who ask for it (semantic coverage, aimed mutation, the reducer) see blocks of every
 * operation.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "harness/coverage.h"
#include "harness/internal.h"
#include "program/mutation/internal.h"
#include "program/reduction/reduce.h"
#include "tests/support/program_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct program program;

struct made {
    unsigned blocks;
    size_t words;
};

static void see(void *context, struct runner *r, unsigned op, bool before) {
    struct made *made = context;
    if (op == 0 && !before)
        *made = (struct made){r->serial, r->model.bound_words};
}

/* Runs the one operation of the program in a heap with room for it. */
static struct made run_alone(void) {
    struct made made = {0, 0};
    struct runner_options options = {
        .subject = &mark_sweep, .reference = &cheney, .observe = see, .context = &made};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    assert_non_null(runner);
    runner_run(runner, &program, &verdict);
    runner_close(runner);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_int_equal(verdict.counts.refusals, 0);
    return made;
}

static void operations_make_what_they_say(void **state) {
    struct rng rng = {1};
    unsigned tried[OP_CODES] = {0};
    (void)state;
    for (unsigned n = 0; n < 4000; n++) {
        struct op op = random_op(&rng);
        if (op_blocks(&op) == 0 || op_words(&op, op_blocks(&op)) > 2000)
            continue;
        program_clear(&program);
        program.config[CONFIG_HEAP] = 4096;
        program.config[CONFIG_NURSERY] = 4096;
        op.mutator = 0;
        program.ops[program.n_ops++] = op;
        struct made made = run_alone();
        if (made.blocks != op_blocks(&op) || made.words != op_words(&op, made.blocks))
            fail_msg("%s makes %u blocks of %zu words, and says %u of %u", op_shapes[op.code].name,
                     made.blocks, made.words, op_blocks(&op), op_words(&op, op_blocks(&op)));
        for (unsigned k = 0; k < made.blocks; k++)
            assert_true(op_words(&op, k) < op_words(&op, k + 1));
        tried[op.code]++;
    }
    for (unsigned code = 0; code < OP_CODES; code++) {
        bool unknown = code == OP_EXHAUST || code == OP_MARSHAL || code == OP_EPHE_COPY ||
                       code == OP_SUB || code == OP_APPEND || code == OP_DUP || code == OP_CLONE;
        assert_int_equal(tried[code] > 0, op_has(code, ALLOCATES) && !unknown);
    }
}

static void coverage_sees_a_heap_filled_by_a_list(void **state) {
    static uint8_t table[COVERAGE_BYTES];
    struct runner_options options = {.subject = &mark_sweep,
                                     .reference = &cheney,
                                     .coverage = table,
                                     .coverage_parts = COVER_ALL};
    struct runner *runner = runner_open(&options);
    struct verdict verdict;
    (void)state;
    assert_non_null(runner);
    parse_program(&program, "isoheap program 1\nconfig heap=16\nscript\n  r0 = list 5 1\n");
    runner_run(runner, &program, &verdict);
    runner_close(runner);
    assert_int_equal(verdict.violation, VIOLATION_none);
    assert_int_equal(table[coverage_fill(FILL_ALLOCATED, 1)], 1); /* 15 words of 16 */
}

/* How many of some rounds on the program that aim set a key to a value. */
static unsigned count_aims(bool aim(struct mutation *), enum config_key key, unsigned value) {
    static const char text[] = "isoheap program 1\nscript\n  r0 = list 40 1\n  r1 = ephemeron 3\n";
    struct mutation *m = mutation_open(NULL, NULL);
    unsigned n = 0;
    assert_non_null(m);
    for (unsigned round = 0; round < 4000; round++) {
        start_round(m, round);
        parse_program(&m->program, text);
        n += aim(m) && m->program.config[key] == value;
    }
    mutation_close(m);
    return n;
}

static void aims_see_blocks_of_a_list(void **state) {
    (void)state;
    assert_true(count_aims(mutate_aim_heap, CONFIG_HEAP, 40 * 3) > 5);
    assert_true(count_aims(mutate_aim_heap, CONFIG_HEAP, 40 * 3 + 5) > 5); /* and the ephemeron */
    assert_true(count_aims(mutate_aim_nursery, CONFIG_NURSERY, 20 * 3) > 5);
    assert_true(count_aims(mutate_aim_count, CONFIG_STRESS, 40) > 5);
    assert_true(count_aims(mutate_aim_count, CONFIG_FAIL, 41) > 5);
    assert_int_equal(count_aims(mutate_aim_count, CONFIG_FAIL, 42), 0);
}

/* A property of a collection, which a list causes too. */
static bool collects(const struct program *p, void *context) {
    (void)context;
    for (unsigned i = 0; i < p->n_ops; i++)
        if (p->ops[i].code == OP_FULL || op_words(&p->ops[i], op_blocks(&p->ops[i])) > 100)
            return true;
    return false;
}

static void a_list_becomes_a_full_collection(void **state) {
    static struct reduction reduction;
    static const char *const causes[] = {"list 300 r1", "array 300 2", "tree 300 3",
                                         "resource 200"};
    (void)state;
    for (unsigned i = 0; i < sizeof causes / sizeof *causes; i++) {
        char text[100];
        snprintf(text, sizeof text, "isoheap program 1\nscript\n  r0 = %s\n  drop r0\n", causes[i]);
        parse_program(&program, text);
        reduction.keeps = collects;
        reduction.max_runs = 1000;
        program_reduce(&reduction, &program);
        assert_true(reduction.complete);
        assert_int_equal(program.n_ops, 1);
        assert_int_equal(program.ops[0].code, OP_FULL);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_make_what_they_say),
        cmocka_unit_test(coverage_sees_a_heap_filled_by_a_list),
        cmocka_unit_test(aims_see_blocks_of_a_list),
        cmocka_unit_test(a_list_becomes_a_full_collection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
