/* SPDX-License-Identifier: MIT
 *
 * The threaded on-the-fly collector under two mutators that store into one field, which the other
 * stress test (onthefly_stress_test.c) leaves to each mutator alone: what becomes of the field is
 * anybody's guess, but a block that a mutator holds must stay what it was.  A defect that needs two
 * stores at the right moments is found here: after an answer a mutator often stores at once, and
 * stands before the store until the other one stands there too or has gone through some handshakes.
 *
 * Each run is a process of its own, which ends as soon as something is lost.
 * ISOHEAP_STRESS_SECONDS: how long the paper's collector runs (default: 1).
 */
#define _POSIX_C_SOURCE 200809L
#include "models/onthefly/labels.h"
#include "models/onthefly/model.h"
#include "models/onthefly_threads/threads.h"
#include "tests/support/stress.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

extern uint64_t otf_variants; /* of models/onthefly_threads/, compiled with OTF_VARIANTS */
uint64_t otf_variants;

enum { MUTATORS = 2, BLOCKS = 12, WOSIZE = 2, SHARED = 0, OWN = 1, HELD = 2, SLOTS = 4, EMPTY = 5 };
enum { KEPT = 0, LOST = 17, UNMARKABLE = 18 }; /* how a run ends: exit statuses */

/* ---- who stands where -------------------------------------------------------------------------
 */

/* What a mutator shows the other one. */
struct place {
    atomic_uint answers; /* handshakes answered, */
    atomic_bool loaded;  /* whether it has loaded after the last one, */
    atomic_uint idle;    /* and how often it has polled in vain since */
    atomic_bool stands;  /* before its store */
};

static struct place places[MUTATORS];

struct mutator {
    struct otf *otf;
    unsigned m;
    uint64_t seed;
    pthread_t thread;
    word number[SLOTS]; /* of the block that a slot holds, 0: of none */
    word made;
    bool inserts, drops;
};

static struct mutator mutators[MUTATORS];
static double deadline;

static uint64_t draw(struct mutator *u, uint64_t n) {
    u->seed ^= u->seed >> 12;
    u->seed ^= u->seed << 25;
    u->seed ^= u->seed >> 27;
    return ((u->seed * 0x2545f4914f6cdd1d) >> 33) % n;
}

/* An insertion stands until the other one stands as well; a deletion until the other one has
 * answered so many more handshakes, and has loaded. */
static bool may_go_on(const struct place *other, unsigned more, unsigned answers) {
    if (!more)
        return atomic_load(&other->stands);
    return atomic_load(&other->answers) - answers >= more && atomic_load(&other->loaded);
}

/* What is waited for may need this very mutator: not longer than the other one has something to do.
 */
static void stand(struct mutator *u) {
    enum { IDLE = 40 };
    const struct place *other = &places[1 - u->m];
    unsigned more = u->inserts ? 0 : 1 + (unsigned)draw(u, 2),
             answers = atomic_load(&other->answers);
    atomic_store(&places[u->m].stands, true);
    while (!may_go_on(other, more, answers) && atomic_load(&other->idle) < IDLE)
        sched_yield();
    atomic_store(&places[u->m].stands, false);
}

static void drop_all(struct mutator *u) {
    for (unsigned s = OWN; s < SLOTS; s++)
        otf_roots(u->otf, u->m)[s] = WORD_UNIT;
}

static void see_step(void *context, unsigned process, unsigned label) {
    (void)context;
    if (process >= MUTATORS)
        return;
    struct mutator *u = &mutators[process];
    if (label == OTF_MUTATOR + mut_store)
        stand(u);
    if (label == OTF_MUTATOR + mut_hs_fence && u->drops)
        drop_all(u);
}

/* Freed memory is not poisoned: a block that is lost shall be seen by its number, or by its colour.
 */
static void leave_it(void *context, otf_cell *first, size_t words) {
    (void)context;
    (void)first;
    (void)words;
}

static void see_broken(void *context, const char *sentence) {
    (void)context;
    (void)sentence;
    _exit(UNMARKABLE);
}

/* ---- a mutator --------------------------------------------------------------------------------
 */

static word number_in(word v) {
    const otf_cell *block = (const otf_cell *)(uintptr_t)v;
    if (header_colour(atomic_load_explicit(block - 1, memory_order_relaxed)) == BLUE)
        _exit(LOST);
    return atomic_load_explicit(block, memory_order_relaxed);
}

static void look(const struct mutator *u) {
    const word *slots = otf_roots(u->otf, u->m);
    for (unsigned s = OWN; s < SLOTS; s++)
        if (is_pointer(slots[s]) && number_in(slots[s]) != u->number[s])
            _exit(LOST);
}

static void make(struct mutator *u) {
    u->number[OWN] = immediate(++u->made * MUTATORS + u->m);
    const word raw[WOSIZE] = {u->number[OWN], WORD_UNIT};
    if (!otf_alloc(u->otf, u->m, OWN, WOSIZE, 0, raw))
        otf_roots(u->otf, u->m)[OWN] = WORD_UNIT;
}

static void load(struct mutator *u) {
    unsigned slot = HELD + (unsigned)draw(u, 2);
    otf_load(u->otf, u->m, slot, SHARED, 0);
    word v = otf_roots(u->otf, u->m)[slot];
    if (is_pointer(v))
        u->number[slot] = number_in(v);
    atomic_store(&places[u->m].loaded, true);
}

/* One of the two inserts, the other one deletes. */
static void operate(struct mutator *u) {
    if (!is_pointer(otf_roots(u->otf, u->m)[OWN]))
        make(u);
    if (draw(u, 3))
        load(u);
    else
        otf_store(u->otf, u->m, SHARED, 0, u->inserts ? OWN : EMPTY);
}

static void answered(struct mutator *u) {
    struct place *own = &places[u->m];
    atomic_store(&own->loaded, false);
    atomic_store(&own->idle, 0);
    atomic_fetch_add(&own->answers, 1);
    operate(u);
    u->drops = !draw(u, 2);
}

/* Between two polls there is mostly nothing. */
static void *mutate(void *context) {
    struct mutator *u = context;
    while (seconds() < deadline) {
        look(u);
        if (otf_poll(u->otf, u->m)) {
            answered(u);
            continue;
        }
        atomic_fetch_add(&places[u->m].idle, 1);
        if (!is_pointer(otf_roots(u->otf, u->m)[OWN]))
            make(u);
        sched_yield();
    }
    while (!otf_stopped(u->otf)) {
        atomic_fetch_add(&places[u->m].idle, 1);
        if (!otf_poll(u->otf, u->m))
            sched_yield();
    }
    return NULL;
}

/* ---- a run ------------------------------------------------------------------------------------
 */

static uint64_t play(uint64_t seed) {
    static const struct otf_hooks hooks = {
        .step = see_step, .dead = leave_it, .used = leave_it, .broken = see_broken};
    const word raw[WOSIZE] = {WORD_UNIT, WORD_UNIT};
    struct otf *otf = otf_open(MUTATORS, BLOCKS, &hooks);
    if (!otf || !otf_alloc(otf, 0, SHARED, WOSIZE, 0, raw) || !otf_start(otf))
        _exit(1);
    otf_roots(otf, 1)[SHARED] = otf_roots(otf, 0)[SHARED];
    for (unsigned m = 0; m < MUTATORS; m++) {
        mutators[m] = (struct mutator){
            .otf = otf, .m = m, .seed = seed * MUTATORS + m + 1, .inserts = m == 0};
        if (pthread_create(&mutators[m].thread, NULL, mutate, &mutators[m]) != 0)
            _exit(1);
    }
    while (seconds() < deadline)
        nanosleep(&(struct timespec){0, 10000000}, NULL);
    otf_stop(otf);
    otf_join(otf);
    for (unsigned m = 0; m < MUTATORS; m++)
        pthread_join(mutators[m].thread, NULL);
    uint64_t cycles = otf_cycles(otf);
    otf_close(otf);
    return cycles;
}

/* The exit status of a run that takes so long at most. */
static int end_of(uint64_t variant, uint64_t seed, double least) {
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        otf_variants = variant;
        deadline = seconds() + least;
        printf("%llu cycles\n", (unsigned long long)play(seed));
        fflush(stdout);
        _exit(KEPT);
    }
    assert_true(child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void nothing_is_lost(void **state) {
    (void)state;
    assert_int_equal(end_of(0, 1, stress_seconds(1)), KEPT);
}

/* A missing handshake, or barrier.  The figure of fence_only_mark: docs/on-the-fly.md. */
static void what_is_missing_loses_a_block(void **state) {
    static const unsigned missing[] = {
        VARIANT_BIT_fence_only_mark,     VARIANT_BIT_skip_mark,
        VARIANT_BIT_fence_only_init,     VARIANT_BIT_skip_init,
        VARIANT_BIT_no_deletion_barrier, VARIANT_BIT_no_insertion_barrier};
    enum { MOST_SECONDS = 90 }; /* it takes one or two */
    (void)state;
    for (unsigned i = 0; i < sizeof missing / sizeof *missing; i++) {
        double began = seconds();
        int end = end_of((uint64_t)1 << missing[i], 1, MOST_SECONDS);
        if (end != LOST && end != UNMARKABLE)
            fail_msg("%s: ended with %d", variant_name(missing[i]), end);
        print_message("%s: %.2f s\n", variant_name(missing[i]), seconds() - began);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost),
        cmocka_unit_test(what_is_missing_loses_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
