/* SPDX-License-Identifier: MIT
 *
 * The threaded on-the-fly collector under stress: mutators work at full speed while it collects all
 * the time, a scheduler of our own lets threads fall behind at the labels of their steps, and in
 * the end the object graph must be isomorphic to what the model of the oracles makes of the
 * mutators' logs, with nothing else alive.  Meant for ThreadSanitizer and AddressSanitizer.
 *
 * ISOHEAP_STRESS_SECONDS: how long (default: 3).
 */
#define _POSIX_C_SOURCE 200809L
#include "models/onthefly/labels.h"
#include "tests/models/onthefly_log.h"
#include "tests/support/stress.h"
#include "views/heap.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

enum { TAKING_MAX = 24 };

struct mutator {
    struct round *round;
    unsigned m;
    uint64_t seed;
    pthread_t thread;
    struct log log;
    unsigned trees;
    unsigned taking, taken; /* operations left of a burst, and all that were in one */
};

struct round {
    struct otf *otf;
    unsigned mutators;
    struct mutator mutator[OTF_MUTATORS];
    atomic_uint done;
};

static uint64_t draw(uint64_t *seed) {
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return (*seed * 0x2545f4914f6cdd1d) >> 24;
}

/* The perturbing scheduler: threads fall behind now and then, for a while one of them always; the
 * collector while it marks and before it begins, so that mutators have time to do what its work
 * must survive; and a mutator between its barriers and its store. */
struct perturbation {
    uint64_t seed[OTF_MUTATORS + 1], steps[OTF_MUTATORS + 1];
    bool marked_roots[OTF_MUTATORS]; /* since its thread looked last */
};
static struct perturbation perturbation;

static void perturb(void *context, unsigned process, unsigned label) {
    struct perturbation *x = context;
    uint64_t r = draw(&x->seed[process]);
    bool slow = (x->steps[process]++ >> 8) % 7 == process;
    bool marking = label == OTF_COLLECTOR + gc_pick && (r & 7) == 0;
    bool begins = label == OTF_COLLECTOR + gc_roots_load_W && (r & 3);
    bool stores = label == OTF_MUTATOR + mut_store && (r & 255) == 0;
    if (label == OTF_MUTATOR + mut_hs_roots)
        x->marked_roots[process] = true;
    if (begins || stores || (r & 4095) == 0 || (slow && (r & 63) == 0) || marking)
        nanosleep(&(struct timespec){0, (long)(r >> 12 & 0x7fff)}, NULL);
    else if ((r & 31) == 0 || (slow && (r & 7) == 0))
        sched_yield();
}

/* ---- the threads' heap ------------------------------------------------------------------------
 */

static struct mutator *owner(const struct heap *h) {
    return h->owner;
}

/* Only blocks that this mutator holds are looked at; their tags and sizes never change. */
static word header_seen(word v) {
    return atomic_load_explicit((otf_cell *)(uintptr_t)v - 1, memory_order_relaxed);
}

static unsigned real_tag(struct heap *h, word v) {
    (void)h;
    if (is_immediate(v))
        return 256;
    word header = header_seen(v);
    if (header_colour(header) == BLUE)
        fail_msg("a slot leads to a free block");
    return header_tag(header) == TAG_INFIX ? 256 : header_tag(header);
}

static size_t real_wosize(struct heap *h, word v) {
    (void)h;
    return header_wosize(header_seen(v));
}

static word real_offset(word v, size_t fields) {
    return v + fields * sizeof(word);
}

/* Waits for a block for three cycles, in the last of which all that was garbage is freed. */
static bool real_alloc(struct heap *h, unsigned dst, size_t wosize, unsigned tag, const word *raw) {
    struct mutator *u = owner(h);
    struct otf *otf = u->round->otf;
    uint64_t began = otf_cycles(otf);
    while (!otf_alloc(otf, u->m, dst, wosize, tag, raw)) {
        if (otf_cycles(otf) > began + 3)
            return false;
        if (!otf_poll(otf, u->m))
            sched_yield();
    }
    return true;
}

static void real_load(struct heap *h, unsigned dst, unsigned obj, size_t i) {
    otf_load(owner(h)->round->otf, owner(h)->m, dst, obj, i);
}

static void real_store(struct heap *h, unsigned obj, size_t i, unsigned value) {
    otf_store(owner(h)->round->otf, owner(h)->m, obj, i, value);
}

/* The tree in a slot: who made it, and its number there, from 1; 0: none. */
static uint32_t tree_in(struct heap *h, unsigned slot) {
    struct otf *otf = owner(h)->round->otf;
    unsigned scratch = SLOTS;
    if (is_immediate(h->slots[slot]))
        return 0;
    if (!log_is_tree(real_tag(h, h->slots[slot])))
        fail_msg("what came from a mailbox is no tree");
    otf_load(otf, owner(h)->m, scratch, slot, 0);
    uint32_t number = (uint32_t)immediate_value(h->slots[scratch]);
    h->slots[scratch] = WORD_UNIT;
    return number;
}

static bool publish(struct heap *h, const struct operation *x) {
    if (!log_is_tree(real_tag(h, h->slots[x->a])))
        return false;
    otf_store(owner(h)->round->otf, owner(h)->m, MAILBOX, x->b % OTF_WOSIZE, x->a);
    return true;
}

static void choose_operation(struct mutator *u, struct operation *x) {
    /* mostly what moves pointers about; a slot keeps what it holds for a while */
    static const uint8_t kinds[32] = {PLAIN, PLAIN, PLAIN,   CLOSURE, STRING,  TREE,  TREE,  TREE,
                                      STORE, STORE, STORE,   STORE,   STORE,   STORE, STORE, STORE,
                                      STORE, STORE, STORE,   TAKE,    TAKE,    TAKE,  TAKE,  TAKE,
                                      LOAD,  INFIX, PUBLISH, PUBLISH, RECEIVE, COPY,  CLEAR, CLEAR};
    uint64_t r = draw(&u->seed);
    x->kind = kinds[r >> 35];
    x->a = (uint8_t)(1 + (r >> 4) % (SLOTS - 1));
    x->b = (uint8_t)(1 + (r >> 12) % (SLOTS - 1));
    x->c = (uint8_t)(1 + (r >> 20) % (SLOTS - 1));
    x->number = (uint32_t)(r >> 28) % 1000;
    if (x->kind == TREE)
        x->number = u->m << 24 | (u->trees + 1);
}

/* What a missing deletion barrier, or a missing handshake before it, does not survive: this mutator
 * has just marked its roots, and takes what hangs on them out of the graph before the collector
 * gets there; nothing but its slots hold it from then on. */
static void choose_taking(struct mutator *u, struct operation *x) {
    uint64_t r = draw(&u->seed);
    bool deeper = r & 1;
    x->kind = TAKE;
    x->b = (uint8_t)(deeper ? HELD + u->taken % HELD_SLOTS : 1 + (r >> 4) % (SLOTS - 1));
    x->a = (uint8_t)(HELD + ++u->taken % HELD_SLOTS);
    x->c = (uint8_t)(r >> 12);
    u->taking--;
}

static void *mutate(void *context) {
    struct mutator *u = context;
    struct otf *otf = u->round->otf;
    struct heap h = {.alloc = real_alloc,
                     .load = real_load,
                     .store = real_store,
                     .tag = real_tag,
                     .wosize = real_wosize,
                     .offset = real_offset,
                     .slots = otf_roots(otf, u->m),
                     .owner = u};
    while (u->log.n < OPERATIONS) {
        struct operation *x = &u->log.operation[u->log.n];
        if (u->taking)
            choose_taking(u, x);
        else
            choose_operation(u, x);
        if (x->kind == PUBLISH) {
            publish(&h, x); /* changes nothing of its own */
        } else if (x->kind == RECEIVE) {
            otf_load(otf, u->m, x->a, MAILBOX, x->b % OTF_WOSIZE);
            x->number = tree_in(&h, x->a);
            u->log.n++;
        } else if (log_operate(&h, x)) {
            u->trees += x->kind == TREE;
            u->log.n++;
        } else if (x->kind <= TREE) { /* no block is free: let something go */
            *x = (struct operation){.kind = CLEAR, .a = x->a};
            log_operate(&h, x);
            u->log.n++;
        }
        if (!u->taking && otf_poll(otf, u->m) && perturbation.marked_roots[u->m]) {
            perturbation.marked_roots[u->m] = false;
            u->taking = draw(&u->seed) % TAKING_MAX;
        }
    }
    atomic_fetch_add(&u->round->done, 1);
    while (!otf_stopped(otf))
        if (!otf_poll(otf, u->m))
            sched_yield();
    return NULL;
}

/* ---- comparison -------------------------------------------------------------------------------
 */

struct gc {
    const struct otf *otf;
};

static void walk(struct gc *gc, gc_visit *visit, void *context) {
    size_t blocks;
    const word *heap = otf_heap(gc->otf, &blocks);
    for (const word *at = heap; at < heap + blocks * (OTF_WOSIZE + 1); at += OTF_WOSIZE + 1) {
        bool live = header_colour(*at) != BLUE;
        size_t words = header_wosize(*at) + 1;
        visit(context, live ? GC_LIVE : GC_FREE, at, words);
        if (words < OTF_WOSIZE + 1)
            visit(context, GC_UNUSED, at + words, OTF_WOSIZE + 1 - words);
    }
}

/* The mailboxes as the threads have left them: trees, by the numbers in their first fields. */
static void copy_mailboxes(struct otf *otf, struct model *model, unsigned object) {
    const otf_cell *mailbox = (otf_cell *)(uintptr_t)otf_roots(otf, 0)[MAILBOX];
    for (unsigned i = 0; i < OTF_WOSIZE; i++) {
        word v = atomic_load(&mailbox[i]);
        if (is_pointer(v))
            model_fields(model, object)[i] =
                log_tree((uint32_t)immediate_value(word_pointer(v)[0]));
    }
}

static void compare(struct round *r, struct model *model) {
    enum { WORDS = BLOCKS_MAX * (OTF_WOSIZE + 1) };
    static struct graph_cell cells[WORDS], model_cells[MODEL_OBJECTS];
    static uint64_t in_use[WORDS / 64 + 1];
    static struct pair queue[BLOCKS_MAX + 1];
    static word slots[OTF_MUTATORS * GC_SLOTS];
    static uint32_t epoch, run;
    static const struct collector collector = {.walk = walk};
    struct gc gc = {r->otf};
    struct graph real, abstract;
    struct heap_facts facts;
    char path[200] = "";
    size_t blocks;
    const word *heap = otf_heap(r->otf, &blocks);
    for (unsigned m = 0; m < OTF_MUTATORS; m++)
        for (unsigned s = 0; s < GC_SLOTS; s++)
            slots[m * GC_SLOTS + s] =
                m < r->mutators && s < OTF_ROOTS ? otf_roots(r->otf, m)[s] : WORD_UNIT;
    graph_of_heap(&real, heap, blocks * (OTF_WOSIZE + 1), heap, 0, slots, r->mutators, cells, WORDS,
                  in_use);
    real.epoch = epoch;
    heap_walk(&real, &collector, &gc, HEAP_TILES, &facts);
    epoch = real.epoch;
    if (facts.violation)
        fail_msg("%s: %s", violation_name(facts.violation), facts.detail);
    graph_of_model(&abstract, model, model_cells);
    struct isomorphism iso = {.queue = queue, .capacity = BLOCKS_MAX + 1, .run = run};
    enum violation v = isomorphism_compare(&iso, &real, &abstract);
    run = iso.run;
    if (v) {
        isomorphism_path(&iso, path, sizeof path);
        fail_msg("%s at %s", violation_name(v), path);
    }
    if (heap_unreached(&real, &iso))
        fail_msg("garbage is left after three cycles: %zu blocks live, %zu reachable", facts.live,
                 iso.pairs);
}

/* ---- rounds -----------------------------------------------------------------------------------
 */

static void share_mailboxes(struct round *r, struct model *model, unsigned *object) {
    word raw[OTF_WOSIZE];
    for (unsigned i = 0; i < OTF_WOSIZE; i++)
        raw[i] = WORD_UNIT;
    assert_true(otf_alloc(r->otf, 0, MAILBOX, OTF_WOSIZE, TAG_MAILBOX, raw));
    *object = model_add(model, OTF_WOSIZE, TAG_MAILBOX, 0, raw);
    for (unsigned m = 0; m < r->mutators; m++) {
        otf_roots(r->otf, m)[MAILBOX] = otf_roots(r->otf, 0)[MAILBOX];
        model->slots[m][MAILBOX] = model_pointer(*object, 0);
    }
}

/* Returns the number of cycles. */
static uint64_t play_round(struct round *r, struct model *model, uint64_t seed,
                           const struct otf_hooks *hooks) {
    unsigned object;
    memset(r, 0, sizeof *r);
    r->mutators = 1 + seed % OTF_MUTATORS;
    r->otf = otf_open(r->mutators, BLOCKS_MAX >> (seed / 4 % 3), hooks);
    assert_non_null(r->otf);
    assert_true(model_room(model, MODEL_OBJECTS, MODEL_WORDS));
    model_reset(model, r->mutators);
    share_mailboxes(r, model, &object);
    assert_true(otf_start(r->otf));
    for (unsigned m = 0; m < r->mutators; m++) {
        struct mutator *u = &r->mutator[m];
        u->round = r;
        u->m = m;
        u->seed = (seed * OTF_MUTATORS + m + 1) * 0x9e3779b97f4a7c15;
        assert_int_equal(pthread_create(&u->thread, NULL, mutate, u), 0);
    }
    while (atomic_load(&r->done) < r->mutators)
        sched_yield();
    uint64_t cycles = otf_cycles(r->otf); /* one is under way; garbage is gone in the second */
    while (otf_cycles(r->otf) < cycles + 3)
        sched_yield();
    otf_stop(r->otf);
    otf_join(r->otf);
    for (unsigned m = 0; m < r->mutators; m++)
        pthread_join(r->mutator[m].thread, NULL);
    const struct log *logs[OTF_MUTATORS];
    for (unsigned m = 0; m < r->mutators; m++)
        logs[m] = &r->mutator[m].log;
    if (log_replay(model, logs, r->mutators) != r->mutators)
        fail_msg("a mutator received a tree that nobody has made");
    copy_mailboxes(r->otf, model, object);
    compare(r, model);
    cycles = otf_cycles(r->otf);
    otf_close(r->otf);
    return cycles;
}

static void play(const struct otf_hooks *hooks, double least) {
    static struct model model;
    static struct round round;
    double began = seconds();
    unsigned long long cycles = 0, operations = 0, rounds = 0;
    do {
        cycles += play_round(&round, &model, ++rounds, hooks);
        operations += (unsigned long long)round.mutators * OPERATIONS;
    } while (seconds() - began < least || rounds < 8);
    print_message("%llu rounds, %llu operations, %llu cycles\n", rounds, operations, cycles);
}

static double wanted(void) {
    return stress_seconds(3);
}

static void the_graph_survives(void **state) {
    (void)state;
    play(NULL, wanted() / 3);
}

static void the_graph_survives_perturbation(void **state) {
    (void)state;
    for (unsigned p = 0; p <= OTF_MUTATORS; p++)
        perturbation.seed[p] = p + 1;
    const struct otf_hooks hooks = {.context = &perturbation, .step = perturb};
    play(&hooks, wanted() * 2 / 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_graph_survives),
        cmocka_unit_test(the_graph_survives_perturbation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
