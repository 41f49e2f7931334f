/* SPDX-License-Identifier: MIT
 *
 * Odd collectors, which are sound (odd.h).
 */
#include "tests/support/odd.h"

#include "collectors/cheney/cheney.h"
#include "program/bytes/bytes.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

enum { RUNS = 1500 };

struct seeds {
    struct runner *runner;
    struct run_counts *sum;
};
static void seed_passes(const char *path, void *context) {
    static struct program program;
    const struct seeds *s = context;
    load_program(&program, path);
    must_pass(s->runner, &program, path, s->sum);
}

struct run_counts odd_must_pass(const struct collector *c) {
    static struct program program;
    static struct conform_answer answer;
    struct run_counts sum = {0};
    struct seeds seeds = {open_pair(c, &cheney), &sum};
    uint8_t bytes[RANDOM_BYTES];
    uint64_t state = 7;
    assert_true(for_each_program(SEEDS_DIR "/mark_sweep", seed_passes, &seeds) > 40);
    assert_true(for_each_program(SEEDS_DIR "/generational", seed_passes, &seeds) > 40);
    for (unsigned n = 0; n < RUNS; n++) {
        state = next_bytes(state, bytes, sizeof bytes);
        program_decode(&program, bytes, sizeof bytes);
        must_pass(seeds.runner, &program, "a random program", &sum);
    }
    runner_close(seeds.runner);
    for (unsigned s = 0; s < conform_steps(); s++) {
        conform_run(c, s, &answer);
        if (answer.result == CONFORM_BROKEN)
            fail_msg("%s, %s: %s", c->name, conform_name(s), answer.text);
    }
    return sum;
}

void odd_program_passes(const struct collector *c, struct program *program, const char *source) {
    struct runner *r = open_pair(c, &cheney);
    parse_program(program, source);
    must_pass(r, program, source, NULL);
    runner_close(r);
}

enum conform_result odd_step(const struct collector *c, const char *name) {
    static struct conform_answer answer;
    for (unsigned s = 0; s < conform_steps(); s++)
        if (strcmp(conform_name(s), name) == 0) {
            conform_run(c, s, &answer);
            return answer.result;
        }
    fail_msg("no step %s", name);
    return CONFORM_NOT_PROMISED;
}
