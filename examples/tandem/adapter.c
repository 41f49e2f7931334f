/* SPDX-License-Identifier: MIT
 *
 * Tandem as a collector of isoheap (docs/threads.md): its threads are deterministic, the schedule
 * is that of the program's config.
 */
#include "collectors/arena.h"
#include "collectors/collector.h"
#include "collectors/threads/plug.h"
#include "tandem.h"

#include <sched.h>
#include <stdlib.h>

enum { CAPACITY = 1 << 16 };

struct gc {
    struct arena arena;
    struct gc_config config;
    struct tandem tandem;
    int mutator[TANDEM_MUTATORS];
};

/* The last one that was reset: what Tandem calls back has no context. */
static struct gc_hooks *hooks_now;

static void dead(word *start, size_t words) {
    hooks_now->poison(start, words);
}

static void used(word *start, size_t words) {
    hooks_now->unpoison(start, words);
}

/* ---- life ------------------------------------------------------------------------------------ */

static struct gc *tandem_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (g && arena_open(&g->arena, CAPACITY))
        return g;
    free(g);
    return NULL;
}

static void tandem_close(struct gc *g) {
    threads_close();
    arena_close(&g->arena);
    free(g);
}

/* More than any operation needs: marking passes over the heap for each block of a list. */
static uint64_t fuel(uint64_t words) {
    return 100000 + 16 * words * words;
}

static void idle(void *context) {
    tandem_safepoint(context);
}

static void tandem_reset(struct gc *g, const struct gc_config *config) {
    struct tandem *t = &g->tandem;
    const struct threads_schedule schedule = threads_schedule_of(config, fuel(config->heap_words));
    threads_reset(&schedule);
    g->config = *config;
    hooks_now = config->hooks;
    arena_reset(&g->arena, config->hooks, config->heap_words);
    *t = (struct tandem){.heap = g->arena.base,
                         .end = g->arena.base + config->heap_words,
                         .n_roots = GC_SLOTS,
                         .dead = dead,
                         .used = used,
                         .ended = &config->hooks->collections};
    tandem_make_free(t, t->heap, config->heap_words);
    if (!tandem_begin(t))
        config->hooks->broken(config->hooks, "there is no memory for the collector's thread");
}

/* ---- operations: on the thread of the mutator, and the others run beside it ------------------ */

struct call {
    struct gc *gc;
    unsigned m, root, tag, value;
    size_t i;
    const word *content;
    bool done;
};

static void perform(void (*body)(void *), struct call *c) {
    threads_tell_answer(c->gc->config.hooks, threads_do(c->gc->mutator[c->m], body, c));
}

static void do_join(void *context) {
    struct call *c = context;
    tandem_join(&c->gc->tandem);
}

static void attach(struct gc *g, unsigned m) {
    g->tandem.roots[m] = g->config.slots[m];
    g->mutator[m] = threads_mutator(idle, &g->tandem);
    if (g->mutator[m] < 0)
        g->config.hooks->broken(g->config.hooks, "there is no room for the thread of a mutator");
    perform(do_join, &(struct call){.gc = g, .m = m});
}

static void do_leave(void *context) {
    struct call *c = context;
    tandem_leave(&c->gc->tandem);
}

static void detach(struct gc *g, unsigned m) {
    perform(do_leave, &(struct call){.gc = g, .m = m});
    threads_tell_answer(g->config.hooks, threads_dismiss(g->mutator[m]));
    g->tandem.roots[m] = NULL;
}

static void do_alloc(void *context) {
    struct call *c = context;
    c->done = tandem_alloc(&c->gc->tandem, c->m, c->root, c->i, c->tag, c->content);
}

static enum gc_result alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                            const word *raw) {
    struct call c = {.gc = g, .m = m, .root = dst, .i = wosize, .tag = tag, .content = raw};
    perform(do_alloc, &c);
    return c.done ? GC_OK : GC_OUT_OF_MEMORY;
}

static void do_store(void *context) {
    struct call *c = context;
    const word *slots = c->gc->config.slots[c->m];
    tandem_store(&c->gc->tandem, slots[c->root], c->i, slots[c->value]);
}

static enum gc_result store(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    perform(do_store, &(struct call){.gc = g, .m = m, .root = obj, .i = i, .value = value});
    return GC_OK;
}

static void do_collect(void *context) {
    struct call *c = context;
    tandem_collect(&c->gc->tandem);
}

static enum gc_result full(struct gc *g, enum gc_collection kind) {
    (void)kind;
    perform(do_collect, &(struct call){.gc = g, .m = g->config.hooks->mutator});
    return GC_OK;
}

/* Lets the others go on for a while; the cycle is under way beside what comes. */
static void do_step(void *context) {
    struct call *c = context;
    tandem_want(&c->gc->tandem);
    tandem_safepoint(&c->gc->tandem);
    sched_yield();
}

static enum gc_result step(struct gc *g, size_t budget) {
    uint64_t ended = g->tandem.cycles;
    (void)budget; /* the schedule says how far they come */
    perform(do_step, &(struct call){.gc = g, .m = g->config.hooks->mutator});
    return g->tandem.cycles > ended ? GC_IDLE : GC_OK;
}

/* ---- inspection: everybody stands still, and each header is that of a block ------------------ */

static void walk(struct gc *g, gc_visit *visit, void *context) {
    for (word *hp = g->tandem.heap; hp < g->tandem.end; hp += header_wosize(*hp) + 1) {
        size_t words = header_wosize(*hp) + 1;
        enum gc_extent kind = words == 1                   ? GC_FRAGMENT
                              : header_colour(*hp) == BLUE ? GC_FREE
                                                           : GC_LIVE;
        visit(context, kind, hp, words);
    }
}

/* ---- the initial heap ------------------------------------------------------------------------ */

static word *image(struct gc *g, size_t *words) {
    *words = g->config.heap_words;
    g->config.hooks->unpoison(g->arena.base, *words);
    return g->arena.base;
}

static void adopt(struct gc *g, size_t words) {
    (void)words;
    for (word *hp = g->tandem.heap; hp < g->tandem.end; hp += header_wosize(*hp) + 1)
        if (header_colour(*hp) == BLUE)
            g->config.hooks->poison(hp + 1, header_wosize(*hp));
}

const struct collector tandem = {
    .name = "tandem",
    .summary = "marks in a thread beside two mutators; the example of docs/threads.md",
    .traits = {.infix = true,
               .start_env = true,
               .raw = true,
               .outside = true,
               .poisons = true,
               .renews = true,
               .single = true, /* the threads of a process are one set */
               .full_until_exact = 1,
               .refusal = REFUSES_NO_FREE_BLOCK,
               .max_heap_words = CAPACITY,
               .max_mutators = TANDEM_MUTATORS},
    .open = tandem_open,
    .reset = tandem_reset,
    .close = tandem_close,
    .attach = attach,
    .detach = detach,
    .image = image,
    .adopt = adopt,
    .alloc = alloc,
    .store = store,
    .collect = full,
    .step = step,
    .walk = walk,
};
