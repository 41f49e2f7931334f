/* SPDX-License-Identifier: MIT
 *
 * CakeML's collectors: every seed on every level and in every kind, every program that a known-bad
 * one was found with, and the representation.
 */
#define _POSIX_C_SOURCE 200809L
#include "collectors/cakeml/cakeml.h"
#include "collectors/cakeml/levels.h"
#include "collectors/cakeml/representation.h"
#include "collectors/cheney/cheney.h"
#include "tests/support/figures.h"
#include "tests/support/passing.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

static struct program program;

/* ---- seeds ------------------------------------------------------------------------------------
 */

struct pass {
    struct runner *runner;
    struct run_counts total;
    int level, kind; /* -1: as the seed has it */
};

static void run_seed(const char *path, void *context) {
    struct pass *pass = context;
    char what[1024];
    load_program(&program, path);
    if (pass->level >= 0)
        program.config[CONFIG_VARIANT] =
            (uint16_t)(program.config[CONFIG_VARIANT] / 4 * 4 + pass->level);
    if (pass->kind >= 0)
        program.config[CONFIG_KIND] = (uint16_t)pass->kind;
    snprintf(what, sizeof what, "%s, level %d, kind %d", path, pass->level, pass->kind);
    must_pass(pass->runner, &program, what, &pass->total);
}

/* In one pass over the seeds of a folder. */
static struct pass run_seeds(const struct collector *subject, const struct collector *reference,
                             const char *seeds, int level, int kind) {
    struct pass pass = {.runner = open_pair(subject, reference), .level = level, .kind = kind};
    assert_true(for_each_program(seeds, run_seed, &pass) > 0);
    runner_close(pass.runner);
    return pass;
}

static void figures_of(const struct pass *pass) {
    static const enum oracle oracles[] = {ORACLE_refinement_words, ORACLE_layout};
    char what[64];
    for (unsigned i = 0; i < 2; i++) {
        snprintf(what, sizeof what, "level %d, kind %d: %s", pass->level, pass->kind,
                 oracle_name(oracles[i]));
        figure(what, pass->total.oracles[oracles[i]]);
    }
    snprintf(what, sizeof what, "level %d, kind %d: refusals", pass->level, pass->kind);
    figure(what, pass->total.refusals);
}

static void seeds_pass_on_every_level_and_kind(void **state) {
    (void)state;
    for (int level = 0; level < 4; level++)
        for (int kind = -1; kind < CAKEML_KINDS; kind++) {
            struct pass pass = run_seeds(&cakeml, &cheney, SEEDS_DIR "/cakeml", level, kind);
            figures_of(&pass);
            run_seeds(&cakeml, NULL, SEEDS_DIR "/mark_sweep", level, kind);
        }
}

/* A collector without an image gets blocks that point at younger ones: no generational heap. */
static void seeds_pass_without_an_image(void **state) {
    (void)state;
    struct collector built = cakeml;
    built.image = NULL;
    built.adopt = NULL;
    for (int level = 0; level < 4; level++)
        run_seeds(&built, NULL, SEEDS_DIR "/mark_sweep", level, CAKEML_SIMPLE);
}

/* ---- the representation -----------------------------------------------------------------------
 */

/* Every address of a largest heap, in both widths and with all bits that a variant can choose. */
static void addresses_survive_words(void **state) {
    (void)state;
    for (unsigned n = 0; n < 128; n++) {
        struct cakeml_rep c = {.width = n & 64 ? 32 : 64,
                               .len_size = n & 64 ? 16 : 32,
                               .len_bits = n & 3,
                               .tag_bits = n >> 2 & 3,
                               .pad_bits = n >> 4 & 3};
        for (uint32_t a = 0; a < CAKEML_LIMIT; a += 13) {
            cakeml_value v = cakeml_pointer(a, cakeml_ptr_bits(&c, a % 256, a % 11));
            uint64_t w = cakeml_word_addr(&c, v);
            assert_true((w & 1) && w == cakeml_word(&c, w));
            assert_true(cakeml_value_of(&c, w) == v);
            assert_true(cakeml_value_of(&c, cakeml_update_addr(&c, 7, w)) ==
                        cakeml_pointer(7, cakeml_information(v)));
        }
        assert_true(cakeml_word_addr(&c, 20) == 20); /* Data (Word 20w) */
    }
}

static void headers_and_pointer_bits(void **state) {
    (void)state;
    struct cakeml_rep c = {
        .width = 32, .len_size = 16, .len_bits = 2, .tag_bits = 3, .pad_bits = 1};
    struct cakeml_element block = {.kind = CAKEML_DATA, .tag = 3, .length = 2};
    struct cakeml_element ref = {.kind = CAKEML_DATA, .tag = 3, .length = 2, .ref = true};
    /* Figure 7: make_header conf 12w 2, for BlockTag 3 and two fields */
    assert_int_equal(cakeml_header(&c, &block), 2u << 16 | 12u << 2 | 3);
    assert_int_equal(cakeml_decode_length(&c, cakeml_header(&c, &ref)), 2);
    assert_true(cakeml_header_is(cakeml_header(&c, &ref), CAKEML_REF_BIT));
    assert_int_equal(cakeml_decode_tag(cakeml_header(&c, &ref)), 3);
    assert_false(cakeml_is_fwd_ptr(cakeml_header(&c, &block)));
    assert_true(cakeml_is_fwd_ptr(5u << 2));
    assert_int_equal(cakeml_bits_of(&c, &block), 3u << 3 | 2u << 1);
    assert_int_equal(cakeml_bits_of(&c, &ref), 0); /* RefPtr: Word 0w */
    assert_int_equal(cakeml_ptr_bits(&c, 200, 9), 7u << 3 | 3u << 1);
    assert_int_equal(cakeml_shift_length(&c), 7);
}

static void crash_programs_pass(void **state) {
    (void)state;
    for (int level = 0; level < 4; level++)
        run_seeds(&cakeml, &cheney, CRASHES_DIR, level, -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_pass_on_every_level_and_kind),
        cmocka_unit_test(seeds_pass_without_an_image),
        cmocka_unit_test(crash_programs_pass),
        cmocka_unit_test(addresses_survive_words),
        cmocka_unit_test(headers_and_pointer_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
