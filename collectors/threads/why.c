/* SPDX-License-Identifier: MIT
 *
 * Why threads are stuck, in words (threads_why).
 */
#include "collectors/threads/fibers.h"

#include <stdarg.h>
#include <stdio.h>

struct text {
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at, t->left, format, arguments);
    va_end(arguments);
    size_t written = n < 0 ? 0 : (size_t)n < t->left ? (size_t)n : t->left - 1;
    t->at += written;
    t->left -= written;
}

static void say_state(struct text *t, const struct fiber *f) {
    static const char *const causes[] = {
#define X(name, words) [FIBER_ON_##name] = words,
        FIBER_CAUSES(X)
#undef X
    };
    if (f->state == FIBER_READY) {
        say(t, "thread %llu can go on", (unsigned long long)f->serial);
        return;
    }
    say(t, "thread %llu waits for %s", (unsigned long long)f->serial, causes[f->cause]);
    if (f->holder == FIBER_OUTSIDE)
        say(t, " that was taken outside of all threads");
    else if (f->holder)
        say(t, f->cause == FIBER_ON_END ? " of thread %llu" : " that thread %llu holds",
            (unsigned long long)f->holder);
}

void why_stuck(const struct fiber *fiber, enum threads_answer answer, char *out, size_t capacity) {
    struct text t = {out, capacity};
    const char *between = "";
    if (!capacity)
        return;
    *out = '\0';
    if (answer == THREADS_DONE)
        return;
    say(&t, answer == THREADS_DEADLOCK ? "no thread can go on: " : "the threads go on for ever: ");
    for (unsigned i = 0; i < THREADS_MOST; i++) {
        if (fiber[i].state == FIBER_FREE || fiber[i].state == FIBER_ENDED)
            continue;
        say(&t, "%s", between);
        say_state(&t, &fiber[i]);
        between = "; ";
    }
    if (!*between)
        say(&t, "there is none");
}
