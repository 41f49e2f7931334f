/* SPDX-License-Identifier: MIT
 *
 * What all collectors share: words, headers and closures, copying words, telling the harness; and
 * the values of the tower's levels.
 */
#include "collectors/collector.h"
#include "collectors/tower/levels.h"
#include "collectors/words_copy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void the_next_pointer_is_found(void **state) {
    (void)state;
    enum { N = 11 };
    word words[N];
    for (size_t place = 0; place <= N; place++) { /* N: none */
        for (size_t i = 0; i < N; i++)
            words[i] = i == place ? outside_pointer(1) : immediate((int64_t)i - 5);
        for (size_t from = 0; from <= N; from++)
            assert_int_equal(next_pointer(words, from, N), from <= place ? place : N);
    }
}

static void closinfo_round_trips(void **state) {
    (void)state;
    for (int arity = -3; arity <= 5; arity++)
        for (word start = 2; start < (word)1 << 50; start = start * 3 + 1) {
            word info = closinfo_make(arity, start);
            assert_int_equal(closinfo_start_env(info), start);
            assert_true(is_immediate(info));
            assert_int_equal((int8_t)(info >> 56), arity);
        }
}

static void words_are_copied(void **state) {
    (void)state;
    enum { N = 300 };
    word from[N], to[N + 1];
    for (size_t i = 0; i < N; i++)
        from[i] = i * 7 + 1;
    for (size_t n = 0; n < N; n++) {
        memset(to, 0, sizeof to);
        words_copy(to, from, n);
        assert_memory_equal(to, from, n * sizeof *to);
        assert_int_equal(to[n], 0);
    }
}

/* ---- telling ----------------------------------------------------------------------------------
 */

static struct {
    unsigned calls;
    enum gc_event event;
    word block, to;
    const word *place;
} told;

static void listen(struct gc_hooks *hooks, enum gc_event event, word block, const word *place,
                   word to) {
    (void)hooks;
    told.calls++;
    told.event = event;
    told.block = block;
    told.place = place;
    told.to = to;
}

static void events_go_to_who_listens(void **state) {
    (void)state;
    struct gc_hooks hooks = {.event = NULL};
    word place = 0;
    gc_tell(&hooks, GC_MARKED, 8, &place, 0); /* nobody: nothing happens */
    assert_int_equal(told.calls, 0);
    hooks.event = listen;
    hooks.listened = true;
    gc_tell(&hooks, GC_MOVED, 8, &place, 16);
    assert_int_equal(told.calls, 1);
    assert_int_equal(told.event, GC_MOVED);
    assert_int_equal(told.block, 8);
    assert_ptr_equal(told.place, &place);
    assert_int_equal(told.to, 16);
}

/* ---- values of the tower ----------------------------------------------------------------------
 */

static void the_next_address_is_found(void **state) {
    (void)state;
    enum { N = 19 };
    tower_value list[N];
    for (uint32_t place = 0; place <= N; place++) {
        for (uint32_t k = 0; k < N; k++)
            list[k] = k == place ? tower_lhs(k) : 2 * k + 1;
        for (uint32_t from = 0; from <= N; from++)
            assert_int_equal(tower_next(list, from, N), from <= place ? place : N);
    }
}

static void values_of_the_tower(void **state) {
    (void)state;
    const tower_value two[] = {tower_lhs(3), TOWER_UNIT};
    uint64_t pair = tower_pair(two);
    assert_memory_equal(&pair, two, sizeof pair);
    assert_int_equal(tower_ref_heap_addr(tower_lhs(3)), 12); /* 4 bytes a word */
    assert_int_equal(tower_ref_heap_addr(TOWER_UNIT), TOWER_UNIT);
}

/* A reference names a half and a block in it; its words are those of that half's store. */
static void words_of_a_block(void **state) {
    (void)state;
    static struct tower_l2 l2;
    for (unsigned half = 0; half < 2; half++) {
        l2.stores[half].blocks[5] = (struct tower_block){.first = 10 + half, .length = 2};
        l2.stores[half].words[10 + half] = tower_lhs(half);
        tower_ref ref = (tower_ref)(2 * 5 + half);
        assert_ptr_equal(tower_block(&l2, ref), &l2.stores[half].blocks[5]);
        assert_ptr_equal(tower_words(&l2, ref), &l2.stores[half].words[10 + half]);
        assert_int_equal(tower_words(&l2, ref)[0], tower_lhs(half));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_next_pointer_is_found), cmocka_unit_test(closinfo_round_trips),
        cmocka_unit_test(words_are_copied),          cmocka_unit_test(events_go_to_who_listens),
        cmocka_unit_test(the_next_address_is_found), cmocka_unit_test(values_of_the_tower),
        cmocka_unit_test(words_of_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
