/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly collector as a collector of programs: it passes under any schedule and on each
 * kind of memory, the same program is the same run, and each of its known-bad variants is found by
 * random programs.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/concurrent/concurrent.h"
#include "collectors/decisions.h"
#include "collectors/known_bad/known_bad.h"
#include "program/random.h"
#include "tests/support/support.h"
#include "tests/support/trial.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PROGRAMS = 300, MOST = 30000, BLOCKS = 4, SLOTS = 4, OPS = 24, MEMORIES = 3 };

static struct program program;

static struct value slot(unsigned s) {
    return (struct value){.kind = VALUE_SLOT, .block = (uint16_t)s};
}

/* What a mutator does between two slices: mostly it takes pointers out of fields and puts others
 * there. */
static struct op some_operation(struct random *r) {
    unsigned dst = random_below(r, SLOTS), src = random_below(r, SLOTS), i = random_below(r, 2);
    switch (random_below(r, 10)) {
    case 0:
    case 1:
    case 2:
        return (struct op){
            .code = OP_LOAD, .dst = (uint8_t)dst, .src = (uint8_t)src, .i = (uint16_t)i};
    case 3:
    case 4:
        return (struct op){.code = OP_STORE,
                           .dst = (uint8_t)dst,
                           .i = (uint16_t)i,
                           .n_values = 1,
                           .values = {slot(src)}};
    case 5:
        return (struct op){.code = OP_STORE, .dst = (uint8_t)dst, .i = (uint16_t)i, .n_values = 1};
    case 6:
        return (struct op){.code = OP_DROP, .dst = (uint8_t)dst};
    case 7:
        return (struct op){
            .code = OP_ALLOC, .dst = (uint8_t)dst, .size = 2, .n_values = 1, .values = {slot(src)}};
    default:
        return (struct op){.code = OP_SLICE, .n = (uint16_t)(1 + random_below(r, 60))};
    }
}

static void make_program(uint64_t seed) {
    struct random r = {seed};
    unsigned mutators = 1 + random_below(&r, 2);
    program_clear(&program);
    program.config[CONFIG_HEAP] = 32 + random_below(&r, 32);
    program.config[CONFIG_VARIANT] = random_below(&r, MEMORIES);
    program.config[CONFIG_SCHEDULE] = 1 + random_below(&r, 4095);
    for (unsigned b = 0; b < BLOCKS; b++) {
        program.items[program.n_items++] = (struct item){
            .kind = ITEM_BLOCK, .wosize = 2, .n_fields = 2, .first_field = program.n_fields};
        for (unsigned f = 0; f < 2; f++)
            program.fields[program.n_fields++] =
                random_below(&r, 3) ? (struct value){.kind = VALUE_BLOCK,
                                                     .block = (uint16_t)random_below(&r, BLOCKS)}
                                    : (struct value){.kind = VALUE_IMMEDIATE};
    }
    for (unsigned m = 0; m < mutators; m++)
        program.roots[m][0] = (struct value){.kind = VALUE_BLOCK};
    while (program.n_ops < OPS) {
        struct op op = some_operation(&r);
        op.mutator = (uint8_t)random_below(&r, mutators);
        program.ops[program.n_ops++] = op;
    }
    program.ops[program.n_ops++] = (struct op){.code = OP_FULL};
    assert_null(program_valid(&program));
}

static void it_passes_under_any_schedule(void **state) {
    (void)state;
    struct trial t;
    trial_open(&t, &concurrent, &cheney);
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        make_program(seed);
        struct verdict v = trial_judge(&t, &program);
        if (v.violation || v.harness_error)
            fail_msg("program %u: %s at %u: %s", (unsigned)seed, violation_name(v.violation), v.op,
                     v.detail);
        assert_true(trial_judge(&t, &program).digest == v.digest);
    }
    trial_close(&t);
}

/* Until the class of the table comes; what is raised before that is another sign of the same. */
static unsigned programs_until_found(const struct known_bad *bad) {
    struct trial t;
    unsigned n = 0;
    enum violation found;
    trial_open(&t, bad->collector, &cheney);
    do {
        make_program(++n);
        found = trial_judge(&t, &program).violation;
    } while (found != bad->violation && n < MOST);
    trial_close(&t);
    if (found != bad->violation)
        fail_msg("%s is not found in %u programs", bad->collector->name, n);
    return n;
}

static void its_variants_are_found(void **state) {
    (void)state;
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++)
        if (strncmp(bad->collector->name, "bad_otf_", 8) == 0)
            print_message("%s: %u programs\n", bad->collector->name, programs_until_found(bad));
}

/* What a number says can be listed, and is the same run then. */
static void a_schedule_can_be_written_out(void **state) {
    static const char text[] = "isoheap program 1\nconfig schedule=412\nscript\n  slice 17\n"
                               "  r0 = alloc tag=0 size=1\n  slice\n";
    const struct known_bad *bad = known_bad();
    uint64_t decisions = decisions_begin(412);
    struct trial t;
    (void)state;
    while (strcmp(bad->collector->name, "bad_otf_alloc_white") != 0)
        bad++;
    parse_program(&program, text);
    trial_open(&t, bad->collector, &cheney);
    struct verdict number = trial_judge(&t, &program);
    assert_int_equal(number.violation, VIOLATION_lost_object);
    program.config[CONFIG_SCHEDULE] = 0;
    assert_int_equal(trial_judge(&t, &program).violation, VIOLATION_none);
    for (unsigned at = 1; at <= PROGRAM_SWITCHES; at++) {
        unsigned choice = (unsigned)(decisions_next(&decisions) % SWITCH_CHOICES);
        if (choice)
            program.switches[program.n_switches++] = switch_make(at, choice);
    }
    assert_null(program_valid(&program));
    struct verdict list = trial_judge(&t, &program);
    assert_int_equal(list.violation, VIOLATION_lost_object);
    assert_int_equal(list.op, number.op);
    trial_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_passes_under_any_schedule),
        cmocka_unit_test(its_variants_are_found),
        cmocka_unit_test(a_schedule_can_be_written_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
