/* SPDX-License-Identifier: MIT
 *
 * Crossover: children with something of both parents, edges and infix pointers intact, always
 * valid.
 */
#include "program/mutation/mutate.h"

#include "program/bytes/bytes.h"
#include "tests/support/figures.h"
#include "tests/support/mutate_support.h"
#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

enum { ROOM = 1 << 12 };

static struct program program, other;
static uint8_t bytes[ROOM], second[ROOM], out[ROOM];

static const char second_parent[] = "isoheap program 1\n"
                                    "config stress=3 fail=9\n"
                                    "heap\n"
                                    "  b0 = closure arity=1,1 env=[b1]\n"
                                    "  b1 = block tag=21 [b0+3]\n"
                                    "roots\n"
                                    "  r5 = b0+3\n"
                                    "script\n"
                                    "  r2 = alloc tag=23 [r5]\n"
                                    "  minor\n"
                                    "  r2.0 := 2\n";

static bool has_first(const struct program *p) {
    bool found = false;
    for (unsigned i = 0; i < p->n_items; i++)
        found |= p->items[i].tag == 11 || p->items[i].tag == 12;
    for (unsigned i = 0; i < p->n_ops; i++)
        found |= p->ops[i].tag == 13 || p->ops[i].code == OP_FULL;
    return found;
}

static bool has_second(const struct program *p) {
    bool found = p->config[CONFIG_STRESS] == 3 || p->config[CONFIG_FAIL] == 9;
    for (unsigned i = 0; i < p->n_items; i++)
        found |= p->items[i].tag == 21 || p->items[i].kind == ITEM_CLOSURE;
    for (unsigned i = 0; i < p->n_ops; i++)
        found |= p->ops[i].tag == 23 || p->ops[i].code == OP_MINOR ||
                 (p->ops[i].code == OP_STORE && p->ops[i].dst == 2);
    return found;
}

static void children_have_two_parents(void **state) {
    (void)state;
    struct mutation *m = mutation_open(NULL, NULL);
    unsigned grafted = 0, scripts = 0, settings = 0;
    parse_program(&program, small_program);
    size_t size = program_encode(&program, bytes, ROOM);
    parse_program(&other, second_parent);
    size_t size2 = program_encode(&other, second, ROOM);
    for (unsigned round = 0; round < 2000; round++) {
        size_t n = mutation_cross(m, bytes, size, second, size2, out, ROOM, round);
        check_mutation(m, out, n, ROOM);
        const struct program *p = mutation_program(m);
        assert_true(has_first(p) && has_second(p));
        /* the closure with the infix pointer at it, renumbered */
        grafted += p->n_items == 4 && p->roots[0][5].kind == VALUE_INFIX &&
                   p->roots[0][5].block == 2 && p->fields[3].kind == VALUE_INFIX;
        for (unsigned i = 0; i < p->n_ops; i++)
            scripts += p->ops[i].tag == 23;
        settings += p->config[CONFIG_STRESS] == 3;
    }
    figure("crossovers that graft blocks, of 2000", grafted);
    figure("operations of the second parent in them", scripts);
    figure("crossovers that take settings, of 2000", settings);
    mutation_close(m);
}

static void crossover_is_always_valid(void **state) {
    (void)state;
    struct mutation *m = mutation_open(NULL, NULL);
    struct rng rng = {3};
    uint64_t all = 0;
    for (unsigned round = 0; round < 6000; round++) {
        size_t n = random_bytes_or_program(&rng, bytes, 600),
               n2 = random_bytes_or_program(&rng, second, 600);
        size_t limit = rng_below(&rng, 900);
        size_t size = mutation_cross(m, bytes, n, second, n2, out, limit, rng_next(&rng));
        check_mutation(m, out, size, limit);
        all = seen_too(all, out, size);
    }
    figure("digest of 6000 crossovers", all);
    mutation_close(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(children_have_two_parents),
        cmocka_unit_test(crossover_is_always_valid),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
