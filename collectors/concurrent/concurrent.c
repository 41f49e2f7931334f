/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly collector behind the plug-in interface (concurrent.h, docs/on-the-fly.md).
 *
 * Its code is that of the model's threads, included as it is: each step of theirs, at a label of
 * the model, is a point at which another may go on.  What they store into shared memory goes into
 * store buffers here, as on x86-TSO, and comes out when a thread of its own is let on (variant
 * tso), or only when it must (lazy); or there are none (sc).  A mutator's operations are the
 * program's, one after the other; so a store of one is in memory before another reads that field or
 * writes it, and the harness looks when all are (settled).
 */
#include "collectors/threads/rename.h"

#include "collectors/concurrent/concurrent.h"

#include "collectors/arena.h"
#include "collectors/faults.h"
#include "collectors/threads/plug.h"

#include <sched.h>
#include <stdlib.h>

/* ---- the collector's code, with its known-bad variants ----------------------------------------
 */

#include "models/onthefly/model.h"

/* X(variant of the model, the defect in collectors/faults.def) */
#define KNOWN_VARIANTS(X)                                                                          \
    X(no_deletion_barrier, otf_no_deletion_barrier)                                                \
    X(no_insertion_barrier, otf_no_insertion_barrier)                                              \
    X(plain_mark, otf_plain_mark)                                                                  \
    X(no_gc_fence, otf_no_gc_fence)                                                                \
    X(no_mutator_fence, otf_no_mutator_fence)                                                      \
    X(early_fA, otf_early_colour)                                                                  \
    X(no_roots_handshake, otf_no_roots_handshake)                                                  \
    X(alloc_white, otf_alloc_white)                                                                \
    X(no_last_round, otf_no_last_round)                                                            \
    X(old_sense, otf_old_sense)                                                                    \
    X(skip_mark, otf_skip_mark)

static inline uint64_t known_variant(void) {
    uint64_t variant = 0;
#define X(name, defect) variant |= FAULTY(defect) ? VARIANT(name) : 0;
    KNOWN_VARIANTS(X)
#undef X
    return variant;
}

#define OTF_API      __attribute__((unused)) static
#define otf_variants known_variant()
#include "models/onthefly_threads/cycle.c"
#include "models/onthefly_threads/heap.c"
#include "models/onthefly_threads/mark.c"
#include "models/onthefly_threads/mutator.c"

/* ---- state ------------------------------------------------------------------------------------
 */

enum {
    GROWTH = OTF_STRIDE / 2, /* places for as many of the smallest blocks as the words make */
    CAPACITY = GROWTH << 16,
    DEPTH = 8,   /* of a store buffer */
    YIELDS = 256 /* of a slice, at most */
};
enum memory { MEMORY_TSO, MEMORY_LAZY, MEMORY_SC };

_Static_assert((int)OTF_ROOTS == (int)GC_SLOTS && (int)OTF_MUTATORS == (int)GC_MUTATORS,
               "rows of slots are the roots");

struct entry {
    otf_cell *cell;
    word value;
};

struct gc {
    struct arena arena;
    struct gc_config config;
    enum memory memory;
    struct otf *otf; /* NULL: there was no reset yet */
    struct otf_hooks hooks;
    int mutator[OTF_MUTATORS];
    uint64_t cycles; /* that hooks->collections has */
    bool freed;      /* a block, since somebody has looked */
    struct buffer {
        struct entry entry[DEPTH];
        unsigned n;
    } buffer[TSO_PROCESSES];
    unsigned turn; /* of the buffer that comes out next */
};

/* ---- store buffers ----------------------------------------------------------------------------
 */

static void commit(struct buffer *b) {
    atomic_store_explicit(b->entry[0].cell, b->entry[0].value, memory_order_release);
    b->n--;
    for (unsigned i = 0; i < b->n; i++)
        b->entry[i] = b->entry[i + 1];
}

static void drain(struct gc *g, unsigned process) {
    while (g->buffer[process].n)
        commit(&g->buffer[process]);
}

static bool has_entry(const struct buffer *b, const otf_cell *cell) {
    for (unsigned i = 0; i < b->n; i++)
        if (b->entry[i].cell == cell)
            return true;
    return false;
}

/* What other mutators have stored there is in memory now: they did it in an operation before. */
static void commit_others(struct gc *g, unsigned process, const otf_cell *cell) {
    for (unsigned m = 0; m < OTF_MUTATORS; m++)
        while (m != process && has_entry(&g->buffer[m], cell))
            commit(&g->buffer[m]);
}

/* The memory's own thread: one entry each time that it is let on. */
static void let_out(void *context) {
    struct gc *g = context;
    for (unsigned k = 0; k < TSO_PROCESSES; k++) {
        struct buffer *b = &g->buffer[g->turn++ % TSO_PROCESSES];
        if (b->n) {
            commit(b);
            return;
        }
    }
}

/* ---- the hooks of the collector's code --------------------------------------------------------
 */

/* Locked instructions find the buffer empty. */
static void step_at(void *context, unsigned process, unsigned label) {
    threads_point();
    if (label == OTF_MARK + mo_co_lock || label == OTF_COLLECTOR + gc_free)
        drain(context, process);
}

static word load_from(void *context, unsigned process, const otf_cell *cell) {
    const struct gc *g = context;
    const struct buffer *b = &g->buffer[process];
    for (unsigned i = b->n; i-- > 0;)
        if (b->entry[i].cell == cell)
            return b->entry[i].value;
    return atomic_load_explicit(cell, memory_order_acquire);
}

static void store_to(void *context, unsigned process, otf_cell *cell, word value) {
    struct gc *g = context;
    struct buffer *b = &g->buffer[process];
    if (process < OTF_MUTATORS)
        commit_others(g, process, cell);
    if (b->n == DEPTH)
        commit(b);
    b->entry[b->n++] = (struct entry){cell, value};
    if (g->memory == MEMORY_SC)
        drain(g, process);
}

static void fence_of(void *context, unsigned process) {
    drain(context, process);
}

static word *plain(otf_cell *cell) {
    return (word *)(uintptr_t)cell;
}

static void dead_words(void *context, otf_cell *first, size_t words) {
    struct gc *g = context;
    g->freed = true;
    g->config.hooks->poison(plain(first), words);
}

/* What a block leaves of its place is fragments. */
static void used_words(void *context, otf_cell *first, size_t words) {
    const struct gc *g = context;
    word *rest = plain(first) + words;
    g->config.hooks->unpoison(plain(first), OTF_WOSIZE);
    for (size_t i = 0; i < OTF_WOSIZE - words; i++)
        rest[i] = header_make(0, WHITE, 0);
}

struct complaint {
    struct gc_hooks *hooks;
    const char *sentence;
};

static void complain_outside(void *context) {
    const struct complaint *c = context;
    c->hooks->broken(c->hooks, c->sentence);
}

static void complain(void *context, const char *sentence) {
    const struct gc *g = context;
    threads_outside(complain_outside, &(struct complaint){g->config.hooks, sentence});
}

/* ---- life -------------------------------------------------------------------------------------
 */

static struct gc *concurrent_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (g && arena_open(&g->arena, CAPACITY))
        return g;
    free(g);
    return NULL;
}

static void end(struct gc *g) {
    if (g->otf)
        otf_abandon(g->otf);
    g->otf = NULL;
}

static void concurrent_close(struct gc *g) {
    threads_close();
    end(g);
    arena_close(&g->arena);
    free(g);
}

static size_t words_of(const struct gc_config *config) {
    return config->heap_words * GROWTH / OTF_STRIDE * OTF_STRIDE;
}

static void concurrent_promise(const struct gc_config *config, struct collector_traits *traits) {
    traits->grows_to = words_of(config);
}

static void answer_handshakes(void *context) {
    struct otf_process *p = context;
    otf_poll(p->gc, p->number);
}

static void make_threads(struct gc *g) {
    bool good = otf_start(g->otf);
    for (unsigned m = 0; m < g->config.mutators; m++) {
        otf_take_roots(g->otf, m, g->config.slots[m]);
        g->mutator[m] = threads_mutator(answer_handshakes, &g->otf->process[m]);
        good &= g->mutator[m] >= 0;
    }
    if (g->memory == MEMORY_TSO)
        good &= threads_mutator(let_out, g) >= 0;
    if (!good)
        g->config.hooks->broken(g->config.hooks, "there is no room for its threads");
}

/* More than any operation needs: a cycle or two, in which each of the others takes its turns. */
static uint64_t fuel_for(size_t words) {
    return 1000000 + 2000 * (uint64_t)words;
}

static void concurrent_reset(struct gc *g, const struct gc_config *config) {
    size_t words = words_of(config);
    const struct threads_schedule schedule = threads_schedule_of(config, fuel_for(words));
    threads_reset(&schedule);
    end(g);
    g->config = *config;
    g->memory = (enum memory)(config->variant % (MEMORY_SC + 1));
    g->cycles = 0;
    g->turn = 0;
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        g->buffer[p].n = 0;
    arena_reset(&g->arena, config->hooks, words);
    config->hooks->unpoison(g->arena.base, words);
    g->hooks = (struct otf_hooks){.context = g,
                                  .step = step_at,
                                  .load = load_from,
                                  .store = store_to,
                                  .fence = fence_of,
                                  .heap = (otf_cell *)g->arena.base,
                                  .dead = dead_words,
                                  .used = used_words,
                                  .broken = complain};
    g->otf = otf_open(config->mutators, words / OTF_STRIDE, &g->hooks);
    if (!g->otf)
        config->hooks->broken(config->hooks, "there is no memory for its lists");
    g->freed = false;
    make_threads(g);
}

/* ---- operations: on the thread of the mutator, and the others run beside it -------------------
 */

struct order {
    struct gc *gc;
    unsigned m, dst, obj, value, tag;
    size_t i;
    const word *raw;
    bool done;
};

static void perform(void (*body)(void *), struct order *o) {
    struct gc *g = o->gc;
    struct gc_hooks *hooks = g->config.hooks;
    enum threads_answer answer = threads_do(g->mutator[o->m], body, o);
    uint64_t ended = otf_cycles(g->otf) - g->cycles;
    hooks->collections += ended ? ended : g->freed; /* of a sweep that is under way too */
    g->cycles += ended;
    g->freed = false;
    threads_tell_answer(hooks, answer);
}

/* A cycle that begins after now has ended. */
static void await_cycle(struct gc *g, unsigned m) {
    uint64_t last = otf_cycles(g->otf) + 2;
    drain(g, m);
    while (otf_cycles(g->otf) < last) {
        otf_poll(g->otf, m);
        sched_yield();
    }
}

static void do_alloc(void *context) {
    struct order *o = context;
    struct gc *g = o->gc;
    drain(g, o->m); /* the free list is under a lock */
    o->done = otf_alloc(g->otf, o->m, o->dst, o->i, o->tag, o->raw);
    if (o->done)
        return;
    await_cycle(g, o->m);
    o->done = otf_alloc(g->otf, o->m, o->dst, o->i, o->tag, o->raw);
}

static enum gc_result concurrent_alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize,
                                       unsigned tag, const word *raw) {
    struct order o = {.gc = g, .m = m, .dst = dst, .i = wosize, .tag = tag, .raw = raw};
    perform(do_alloc, &o);
    return o.done ? GC_OK : GC_OUT_OF_MEMORY;
}

static void do_load(void *context) {
    const struct order *o = context;
    const struct gc *g = o->gc;
    commit_others(o->gc, o->m, otf_field(g->config.slots[o->m][o->obj], o->i));
    otf_load(g->otf, o->m, o->dst, o->obj, o->i);
}

static enum gc_result concurrent_load(struct gc *g, unsigned m, unsigned dst, unsigned obj,
                                      size_t i) {
    perform(do_load, &(struct order){.gc = g, .m = m, .dst = dst, .obj = obj, .i = i});
    return GC_OK;
}

static void do_store(void *context) {
    const struct order *o = context;
    otf_store(o->gc->otf, o->m, o->obj, o->i, o->value);
}

static enum gc_result concurrent_store(struct gc *g, unsigned m, unsigned obj, size_t i,
                                       unsigned value) {
    perform(do_store, &(struct order){.gc = g, .m = m, .obj = obj, .i = i, .value = value});
    return GC_OK;
}

/* With its barriers, and nobody goes on meanwhile; it is in memory at once. */
static void concurrent_init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    const otf_cell *cell = otf_field(g->config.slots[m][obj], i);
    otf_store(g->otf, m, obj, i, value);
    while (has_entry(&g->buffer[m], cell))
        commit(&g->buffer[m]);
}

static void do_collect(void *context) {
    const struct order *o = context;
    await_cycle(o->gc, o->m);
}

static enum gc_result concurrent_collect(struct gc *g, enum gc_collection kind) {
    (void)kind;
    perform(do_collect, &(struct order){.gc = g, .m = g->config.hooks->mutator});
    return GC_OK;
}

static void do_yield(void *context) {
    const struct order *o = context;
    for (size_t n = 0; n < o->i; n++) {
        otf_poll(o->gc->otf, o->m);
        sched_yield();
    }
}

/* So often the others may go on; the cycles follow each other without a pause. */
static enum gc_result concurrent_step(struct gc *g, size_t budget) {
    uint64_t cycles = g->cycles;
    perform(do_yield, &(struct order){.gc = g,
                                      .m = g->config.hooks->mutator,
                                      .i = budget < YIELDS ? budget : YIELDS});
    return g->cycles > cycles ? GC_IDLE : GC_OK;
}

static void do_poll(void *context) {
    const struct order *o = context;
    drain(o->gc, o->m);
    otf_poll(o->gc->otf, o->m);
}

static enum gc_result concurrent_poll(struct gc *g, unsigned m) {
    perform(do_poll, &(struct order){.gc = g, .m = m});
    return GC_OK;
}

/* ---- inspection: everybody stands still -------------------------------------------------------
 */

static bool concurrent_settled(struct gc *g) {
    for (unsigned m = 0; m < OTF_MUTATORS; m++)
        if (g->buffer[m].n)
            return false;
    return true;
}

static void concurrent_walk(struct gc *g, gc_visit *visit, void *context) {
    const word *end = g->arena.base + words_of(&g->config);
    for (const word *place = g->arena.base; place < end; place += OTF_STRIDE) {
        size_t words = header_wosize(*place) + 1;
        visit(context, header_colour(*place) == BLUE ? GC_FREE : GC_LIVE, place, words);
        for (; words < OTF_STRIDE; words++)
            visit(context, GC_FRAGMENT, place + words, 1);
    }
}

/* A block is on one work-list at most (valid_W_inv). */
static const char *concurrent_check(struct gc *g) {
    static unsigned char listed[CAPACITY / OTF_STRIDE];
    const struct otf *otf = g->otf;
    bool twice = false;
    for (size_t i = 0; i < otf->blocks; i++)
        listed[i] = 0;
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        for (size_t i = 0; i < otf->process[p].W.n; i++)
            twice |= listed[otf->process[p].W.block[i]]++;
    for (size_t i = 0; i < otf->W.n; i++)
        twice |= listed[otf->W.block[i]]++;
    return twice ? "a block is on two work-lists" : NULL;
}

static const char *const memories[] = {"tso", "lazy", "sc", NULL};

#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR concurrent
#endif
const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
    .summary = "on-the-fly mark and sweep in a thread of its own, on x86-TSO",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .poisons = true,
               .renews = true,
               .single = true, /* the threads of a process are one set */
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_wosize = OTF_WOSIZE,
               .max_heap_words = CAPACITY / GROWTH,
               .max_mutators = OTF_MUTATORS},
    .variants = memories,
    .promise = concurrent_promise,
    .open = concurrent_open,
    .reset = concurrent_reset,
    .close = concurrent_close,
    .alloc = concurrent_alloc,
    .init = concurrent_init,
    .load = concurrent_load,
    .store = concurrent_store,
    .collect = concurrent_collect,
    .step = concurrent_step,
    .poll = concurrent_poll,
    .settled = concurrent_settled,
    .walk = concurrent_walk,
    .check = concurrent_check,
};
