/* SPDX-License-Identifier: MIT
 *
 * What of a collector belongs together (collectors/contract.h): each row refuses a collector that
 * lacks it, in words, and so does the runner; every collector of this build has all; every trait
 * has a judge, and its row in docs/collectors.md.
 */
#include "collectors/contract.h"
#include "collectors/generational/generational.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"
#include "conformance/conform.h"
#include "harness/harness.h"
#include "tests/conformance/table.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void expect_fault(const struct collector *c, const char *words) {
    struct runner_options options = {.subject = c};
    const char *fault = contract_fault(c);
    assert_non_null(fault);
    assert_non_null(strstr(fault, words));
    assert_ptr_equal(runner_fault(&options), fault);
    assert_null(runner_open(&options));
    options = (struct runner_options){.subject = &generational, .reference = c};
    assert_ptr_equal(runner_fault(&options), fault);
    assert_null(runner_open(&options));
}

/* ---- functions --------------------------------------------------------------------------------
 */

#define LACKS(words, ...)                                                                          \
    do {                                                                                           \
        struct collector c = generational;                                                         \
        __VA_ARGS__;                                                                               \
        expect_fault(&c, words);                                                                   \
    } while (0)

static void comes(struct gc *g, unsigned m) {
    (void)g, (void)m;
}
static bool settles(struct gc *g) {
    (void)g;
    return true;
}

static void functions_belong_together(void **state) {
    (void)state;
    static const struct gc_extras none;
    static struct gc_mask masks[GC_MASKS + 2];
    for (unsigned n = 0; n <= GC_MASKS; n++)
        masks[n].name = "mask";
    LACKS("no name", c.name = "");
    LACKS("no name", c.name = NULL);
    LACKS("no name or no summary", c.summary = NULL);
    LACKS("other characters", c.name = "my gc");
    LACKS("open, reset, close", c.open = NULL);
    LACKS("open, reset, close", c.reset = NULL);
    LACKS("open, reset, close", c.close = NULL);
    LACKS("alloc", c.alloc = NULL);
    LACKS("image and adopt", c.image = NULL);
    LACKS("image and adopt", c.adopt = NULL);
    LACKS("young and remembered", c.young = NULL);
    LACKS("young and remembered", c.remembered = NULL);
    LACKS("attach and detach", c.attach = comes);
    LACKS("attach and detach", c.detach = comes);
    LACKS("settled", c.settled = settles);
    LACKS("cycle", c.step = NULL);
    LACKS("switch_kind", c.kinds = NULL);
    LACKS("extras", c.extras = &none);
    LACKS("masks", c.masks = masks);
    LACKS("longer than 64", c.name =
                                "a_name_of_sixty_five_characters_which_is_one_more_than_there_may_"
                                "b");
    static const char *many[GC_NAMES + 2];
    for (unsigned n = 0; n <= GC_NAMES; n++)
        many[n] = "variant";
    LACKS("256 variants", c.variants = many);
    LACKS("256 kinds", c.kinds = many);
    LACKS("max_mutators", c.traits.max_mutators = 0);
    LACKS("max_mutators", c.traits.max_mutators = GC_MUTATORS + 1);
}

/* ---- traits -----------------------------------------------------------------------------------
 */

/* Those that need much of what another needs; nor what it tells. */
static void promise_no_cost(struct collector *c) {
    c->traits.linear = c->traits.paced = 0;
    c->traits.rescans = c->traits.waits = c->traits.steady = false;
    c->traits.young_first = c->traits.ages = false;
    c->traits.tells = 0;
}

static void traits_need_what_they_need(void **state) {
    (void)state;
    LACKS("slides needs moves", c.traits.slides = true; c.traits.moves = false);
    LACKS("compacts needs", c.traits.compacts = true; c.collect = NULL);
    LACKS("infix needs start_env", c.traits.start_env = false);
    LACKS("conservative needs", c.traits.conservative = true);
    LACKS("whitens needs", promise_no_cost(&c); c.traits.free_list = false;
          c.traits.sorted_free_list = false; c.traits.merged_free_list = false;
          c.traits.full_until_exact = 0; c.traits.tells_phases = false; c.walk = NULL);
    LACKS("sorted_free_list needs free_list", c.traits.free_list = false);
    LACKS("merged_free_list needs free_list", c.traits.sorted_free_list = false;
          c.traits.free_list = false);
    LACKS("ticks needs the function collect", c.collect = NULL);
    LACKS("tells_phases needs the functions mark_stack", c.mark_stack = NULL);
    LACKS("tells needs the functions", c.traits.tells = 2u << GC_TELLS_FILL);
    LACKS("full_until_exact needs", promise_no_cost(&c);
          c.traits.ticks = c.traits.tells_phases = false; c.collect = NULL);
    LACKS("shallow needs conservative to be off", promise_no_cost(&c); c.traits.shallow = true;
          c.traits.full_until_exact = 0; c.traits.renews = false; c.traits.conservative = true);
    LACKS("renews needs", promise_no_cost(&c); c.traits.full_until_exact = 0);
    LACKS("exact_minor needs", promise_no_cost(&c); c.young = NULL; c.remembered = NULL);
    LACKS("closure_keys needs extras", c.traits.closure_keys = true);
    LACKS("forwards needs extras", c.traits.forwards = true);
    LACKS("refines needs", c.traits.refines = c.traits.refines_words = true);
}

/* A number that a collector says is one that the harness has room for. */
static void numbers_are_bounded(void **state) {
    (void)state;
    LACKS("8192 (GC_NURSERY_WORDS)", c.traits.nursery_words = GC_NURSERY_WORDS + 1);
    LACKS("8192 (GC_NURSERY_WORDS)", c.traits.nursery_words = 1 << 20);
    LACKS("16 (GC_FULL_COLLECTIONS)", c.traits.full_until_exact = GC_FULL_COLLECTIONS + 1);
    LACKS("max_wosize needs to be 2^54 - 1", c.traits.max_wosize = (size_t)1 << 54);
    LACKS("trait refusal has a value that its type has not",
          c.traits.refusal = (gc_refusal)(REFUSES_EXACTLY + 1));
    LACKS("trait raw has a value that its type has not", memset(&c.traits.raw, 2, 1));
    struct collector c = generational;
    c.traits.nursery_words = GC_NURSERY_WORDS;
    c.traits.full_until_exact = GC_FULL_COLLECTIONS;
    c.traits.max_wosize = ((size_t)1 << 54) - 1;
    assert_null(contract_fault(&c));
}

static void spoil(const struct gc_config *config, struct collector_traits *traits) {
    generational.promise(config, traits);
    traits->infix = true;
    traits->start_env = config->variant != 3;
}

static void variants_are_looked_at_too(void **state) {
    (void)state;
    struct collector c = generational;
    struct runner_options options = {.subject = &c};
    assert_null(contract_fault(&c));
    c.promise = spoil;
    assert_null(contract_fault(&c));
    assert_string_equal(runner_fault(&options), "trait infix needs start_env");
    assert_null(runner_open(&options));
}

static void collectors_of_this_build_have_all(void **state) {
    (void)state;
    for (unsigned i = 0; registered_collectors[i]; i++) {
        struct runner_options options = {.subject = registered_collectors[i]};
        assert_null(runner_fault(&options));
    }
    for (unsigned i = 0; known_bad()[i].collector; i++) {
        struct runner_options options = {.subject = known_bad()[i].collector};
        assert_null(runner_fault(&options));
    }
}

/* ---- the table --------------------------------------------------------------------------------
 */

/* A step of the kit that a plug-in of tests/conformance/table.h breaks, or an oracle. */
static bool is_judge(const char *name) {
    static const char *const broken[] = {
#define X(name, step, base, what) #step,
        BROKEN_PROMISES(X)
#undef X
    };
    bool is_step = false, is_broken = false;
    for (unsigned s = 0; s < conform_steps(); s++)
        is_step |= strcmp(conform_name(s), name) == 0;
    for (size_t b = 0; b < sizeof broken / sizeof *broken; b++)
        is_broken |= strcmp(broken[b], name) == 0;
    return (is_step && is_broken) || oracle_named(name) != ORACLE_COUNT;
}

static void every_trait_has_a_judge(void **state) {
    (void)state;
    for (unsigned t = 0; t < TRAITS; t++)
        if (!is_judge(trait_table[t].judge))
            fail_msg("trait %s: %s judges nothing", trait_table[t].name, trait_table[t].judge);
}

static void every_step_can_be_broken(void **state) {
    (void)state;
    for (unsigned s = 0; s < conform_steps(); s++)
        if (!is_judge(conform_name(s)))
            fail_msg("no plug-in of tests/conformance/table.h breaks the step %s", conform_name(s));
}

/* The rows of docs/collectors.md behind "| trait |", one for each trait and in its order. */
static void the_docs_have_every_trait(void **state) {
    (void)state;
    char line[1024], want[1024];
    unsigned t = 0;
    FILE *f = fopen(SOURCE_DIR "/docs/collectors.md", "r");
    assert_non_null(f);
    while (fgets(line, sizeof line, f) && strncmp(line, "| trait |", 9) != 0)
        ;
    assert_non_null(fgets(line, sizeof line, f)); /* |---| */
    for (; fgets(line, sizeof line, f) && line[0] == '|'; t++) {
        if (t == TRAITS)
            fail_msg("a row too many: %s", line);
        snprintf(want, sizeof want, "| `%s` | %s | %s | %s |\n", trait_table[t].name,
                 trait_table[t].meaning, trait_table[t].needs, trait_table[t].judge);
        assert_string_equal(line, want);
    }
    fclose(f);
    assert_int_equal(t, TRAITS);
}

static void values_are_those_of_the_struct(void **state) {
    (void)state;
    const struct collector_traits t = {
        .moves = true, .full_until_exact = 3, .refusal = REFUSES_EXACTLY, .max_wosize = 1 << 20};
    assert_int_equal(trait_value(&t, TRAIT_moves), 1);
    assert_int_equal(trait_value(&t, TRAIT_slides), 0);
    assert_int_equal(trait_value(&t, TRAIT_full_until_exact), 3);
    assert_int_equal(trait_value(&t, TRAIT_refusal), REFUSES_EXACTLY);
    assert_int_equal(trait_value(&t, TRAIT_max_wosize), 1 << 20);
    assert_string_equal(refusal_name(REFUSES_EXACTLY), "exactly");
}

/* A promise under one config counts as well as those that hold for all. */
static void promise_half(const struct gc_config *config, struct collector_traits *traits) {
    traits->start_env = config->variant == 0;
}

static void traits_of_one_config_are_checked(void **state) {
    (void)state;
    static const char *const variants[] = {"whole", "half", NULL};
    struct gc_config config = {.heap_words = 64};
    struct collector c = generational;
    assert_null(traits_fault(&c, &c.traits));
    assert_null(promises_fault(&c, &config));
    struct collector_traits half = c.traits;
    half.start_env = false;
    assert_string_equal(traits_fault(&c, &half), "trait infix needs start_env");
    c.variants = variants;
    c.kinds = NULL;
    c.switch_kind = NULL;
    c.promise = promise_half; /* variant 1 only */
    assert_string_equal(promises_fault(&c, &config), "trait infix needs start_env");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(functions_belong_together),
        cmocka_unit_test(traits_need_what_they_need),
        cmocka_unit_test(numbers_are_bounded),
        cmocka_unit_test(variants_are_looked_at_too),
        cmocka_unit_test(collectors_of_this_build_have_all),
        cmocka_unit_test(every_trait_has_a_judge),
        cmocka_unit_test(every_step_can_be_broken),
        cmocka_unit_test(the_docs_have_every_trait),
        cmocka_unit_test(values_are_those_of_the_struct),
        cmocka_unit_test(traits_of_one_config_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
