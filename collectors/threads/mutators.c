/* SPDX-License-Identifier: MIT
 *
 * Threads that do as they are told (threads_mutator).
 */
#include "collectors/threads/fibers.h"

struct mutator {
    struct fiber *fiber;
    void (*body)(void *); /* NULL: it is free */
    void *argument;
    void (*idle)(void *);
    void *context;
    bool dismissed;
};

static struct mutator mutators[THREADS_MOST];
static unsigned n_mutators;

void mutators_reset(void) {
    n_mutators = 0;
}

static void serve(struct mutator *u) {
    while (u->body || !u->dismissed) {
        if (u->body) {
            u->body(u->argument);
            u->body = NULL;
            fiber_point();
        } else if (u->idle) {
            u->idle(u->context);
            fiber_yield();
        } else {
            fiber_wait(FIBER_ON_ORDERS, u, 0, false);
        }
    }
    u->fiber = NULL;
}

static void *obey(void *argument) {
    serve(argument);
    return NULL;
}

static unsigned free_place(void) {
    unsigned i = 0;
    while (i < n_mutators && mutators[i].fiber)
        i++;
    return i;
}

/* -1: there is no such fiber. */
static int enter(unsigned i, struct fiber *f, void (*idle)(void *), void *context) {
    if (!f)
        return -1;
    mutators[i] = (struct mutator){.fiber = f, .idle = idle, .context = context};
    n_mutators = i == n_mutators ? i + 1 : n_mutators;
    return (int)i;
}

int threads_mutator(void (*idle)(void *), void *context) {
    unsigned i = free_place();
    struct fiber *f = i < THREADS_MOST ? fiber_make(obey, NULL, &mutators[i]) : NULL;
    if (f)
        f->detached = true;
    return enter(i, f, idle, context);
}

int threads_enlist(void (*idle)(void *), void *context) {
    unsigned i = free_place();
    return enter(i, i < THREADS_MOST ? fiber_self() : NULL, idle, context);
}

void threads_serve(int mutator) {
    serve(&mutators[mutator]);
}

void threads_order(int mutator, void (*body)(void *), void *argument) {
    struct mutator *u = &mutators[mutator];
    u->argument = argument;
    u->body = body;
    fiber_wake(u, true);
}

bool threads_is_free(int mutator) {
    return !mutators[mutator].body;
}

static bool is_free(void *context) {
    const struct mutator *u = context;
    return !u->body;
}

static bool is_gone(void *context) {
    const struct mutator *u = context;
    return !u->fiber;
}

enum threads_answer threads_do(int mutator, void (*body)(void *), void *argument) {
    threads_order(mutator, body, argument);
    return threads_run(is_free, &mutators[mutator]);
}

enum threads_answer threads_dismiss(int mutator) {
    struct mutator *u = &mutators[mutator];
    u->dismissed = true;
    fiber_wake(u, true);
    return threads_run(is_gone, u);
}
