/* SPDX-License-Identifier: MIT
 *
 * The x86-TSO machine against the known outcomes of the classic litmus tests (Sewell and others,
 * CACM 53(7), 2010): every interleaving of small programs, commits included, and what the
 * registers can hold at the end.
 */
#include "models/onthefly/tso.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum code { END, STORE, LOAD, FENCE, LOCK, UNLOCK };
enum { X, Y, THREADS = 4, LENGTH = 6, REGISTERS = 4 };

struct instruction {
    enum code code;
    uint8_t cell, value; /* of a load: the register */
};

struct litmus {
    const struct instruction (*program)[LENGTH];
    unsigned threads;
    bool sequential;
    uint8_t seen[256]; /* outcomes: one bit a register */
};

struct run {
    struct tso tso;
    uint8_t at[THREADS], registers;
};

static bool enabled(const struct litmus *l, const struct run *r, unsigned p) {
    switch (l->program[p][r->at[p]].code) {
    case STORE:
        return l->sequential ? tso_free(&r->tso, p) : tso_can_store(&r->tso, p, TSO_DEPTH);
    case LOAD:
        return tso_free(&r->tso, p);
    case FENCE:
        return tso_drained(&r->tso, p);
    case LOCK:
        return tso_can_lock(&r->tso);
    case UNLOCK:
        return tso_can_unlock(&r->tso, p);
    default:
        return false;
    }
}

static void execute(const struct litmus *l, struct run *r, unsigned p) {
    const struct instruction *i = &l->program[p][r->at[p]++];
    if (i->code == STORE && l->sequential)
        tso_write(&r->tso, p, i->cell, i->value);
    else if (i->code == STORE)
        tso_store(&r->tso, p, i->cell, i->value);
    else if (i->code == LOAD)
        r->registers |= (uint8_t)(tso_load(&r->tso, p, i->cell) << i->value);
    else if (i->code == LOCK)
        tso_lock(&r->tso, p);
    else if (i->code == UNLOCK)
        tso_unlock(&r->tso, p);
}

static void search(struct litmus *l, const struct run *r) {
    bool moved = false;
    for (unsigned p = 0; p < l->threads; p++) {
        struct run next = *r;
        if (enabled(l, r, p)) {
            execute(l, &next, p);
            search(l, &next);
            moved = true;
        }
        next = *r;
        if (tso_can_commit(&r->tso, p)) {
            struct tso_entry e = tso_take(&next.tso, p);
            next.tso.memory[e.cell] = e.value;
            search(l, &next);
            moved = true;
        }
    }
    if (!moved)
        l->seen[r->registers] = 1;
}

/* Whether the registers can end so; bit i is register i. */
static bool can_end(const struct instruction (*program)[LENGTH], unsigned threads, bool sequential,
                    unsigned registers) {
    struct litmus l = {program, threads, sequential, {0}};
    struct run start;
    memset(&start, 0, sizeof start);
    tso_reset(&start.tso);
    search(&l, &start);
    return l.seen[registers];
}

static void store_buffering(void **state) {
    static const struct instruction sb[2][LENGTH] = {{{STORE, X, 1}, {LOAD, Y, 0}},
                                                     {{STORE, Y, 1}, {LOAD, X, 1}}};
    static const struct instruction fenced[2][LENGTH] = {
        {{STORE, X, 1}, {FENCE, 0, 0}, {LOAD, Y, 0}}, {{STORE, Y, 1}, {FENCE, 0, 0}, {LOAD, X, 1}}};
    static const struct instruction half[2][LENGTH] = {{{STORE, X, 1}, {FENCE, 0, 0}, {LOAD, Y, 0}},
                                                       {{STORE, Y, 1}, {LOAD, X, 1}}};
    (void)state;
    assert_true(can_end(sb, 2, false, 0));
    assert_false(can_end(sb, 2, true, 0));
    assert_false(can_end(fenced, 2, false, 0));
    assert_true(can_end(half, 2, false, 0));
    for (unsigned outcome = 1; outcome < 4; outcome++) {
        assert_true(can_end(sb, 2, true, outcome));
        assert_true(can_end(fenced, 2, false, outcome));
    }
}

/* A locked instruction is a fence too: its buffer is empty when it ends. */
static void locked_store_buffering(void **state) {
    static const struct instruction locked[2][LENGTH] = {
        {{LOCK, 0, 0}, {STORE, X, 1}, {UNLOCK, 0, 0}, {LOAD, Y, 0}},
        {{LOCK, 0, 0}, {STORE, Y, 1}, {UNLOCK, 0, 0}, {LOAD, X, 1}}};
    (void)state;
    assert_false(can_end(locked, 2, false, 0));
    assert_true(can_end(locked, 2, false, 3));
}

/* Stores and loads are seen in order. */
static void message_passing(void **state) {
    static const struct instruction mp[2][LENGTH] = {{{STORE, X, 1}, {STORE, Y, 1}},
                                                     {{LOAD, Y, 0}, {LOAD, X, 1}}};
    (void)state;
    assert_false(can_end(mp, 2, false, 1));
    assert_true(can_end(mp, 2, false, 0));
    assert_true(can_end(mp, 2, false, 2));
    assert_true(can_end(mp, 2, false, 3));
}

static void load_buffering(void **state) {
    static const struct instruction lb[2][LENGTH] = {{{LOAD, X, 0}, {STORE, Y, 1}},
                                                     {{LOAD, Y, 1}, {STORE, X, 1}}};
    (void)state;
    assert_false(can_end(lb, 2, false, 3));
    assert_true(can_end(lb, 2, false, 1));
}

/* All agree on the order of stores of others. */
static void independent_reads(void **state) {
    static const struct instruction iriw[4][LENGTH] = {{{STORE, X, 1}},
                                                       {{STORE, Y, 1}},
                                                       {{LOAD, X, 0}, {LOAD, Y, 1}},
                                                       {{LOAD, Y, 2}, {LOAD, X, 3}}};
    (void)state;
    assert_false(can_end(iriw, 4, false, 5));
    assert_true(can_end(iriw, 4, false, 15));
    assert_true(can_end(iriw, 4, false, 1));
}

/* Both see their own store first: allowed only because loads look into the own buffer (n6). */
static void forwarding(void **state) {
    static const struct instruction own[2][LENGTH] = {{{STORE, X, 1}, {LOAD, X, 0}, {LOAD, Y, 1}},
                                                      {{STORE, Y, 1}, {LOAD, Y, 2}, {LOAD, X, 3}}};
    (void)state;
    assert_true(can_end(own, 2, false, 5));
    assert_false(can_end(own, 2, true, 5));
    for (unsigned outcome = 0; outcome < 16; outcome++)
        if ((outcome & 5) != 5)
            assert_false(can_end(own, 2, false, outcome));
}

/* The newest of several pending stores is forwarded, the oldest commits first. */
static void buffers_are_queues(void **state) {
    struct tso t;
    (void)state;
    tso_reset(&t);
    tso_store(&t, 0, X, 1);
    tso_store(&t, 0, X, 2);
    tso_store(&t, 0, Y, 3);
    assert_int_equal(tso_load(&t, 0, X), 2);
    assert_int_equal(tso_load(&t, 1, X), 0);
    assert_false(tso_can_store(&t, 0, 3));
    struct tso_entry e = tso_take(&t, 0);
    assert_int_equal(e.cell, X);
    assert_int_equal(e.value, 1);
    assert_int_equal(t.count[0], 2);
}

/* The lock blocks loads, commits, locks and fences' effects of others, not their stores. */
static void lock_blocks_others(void **state) {
    struct tso t;
    (void)state;
    tso_reset(&t);
    tso_store(&t, 1, X, 1);
    tso_lock(&t, 0);
    assert_true(tso_free(&t, 0));
    assert_false(tso_free(&t, 1));
    assert_false(tso_can_commit(&t, 1));
    assert_false(tso_can_lock(&t));
    assert_true(tso_can_store(&t, 1, TSO_DEPTH));
    tso_store(&t, 0, Y, 1);
    assert_false(tso_can_unlock(&t, 0));
    assert_false(tso_can_unlock(&t, 1));
    assert_true(tso_can_commit(&t, 0));
    tso_take(&t, 0);
    assert_true(tso_can_unlock(&t, 0));
    tso_unlock(&t, 0);
    assert_true(tso_can_commit(&t, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(store_buffering),    cmocka_unit_test(locked_store_buffering),
        cmocka_unit_test(message_passing),    cmocka_unit_test(load_buffering),
        cmocka_unit_test(independent_reads),  cmocka_unit_test(forwarding),
        cmocka_unit_test(buffers_are_queues), cmocka_unit_test(lock_blocks_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
