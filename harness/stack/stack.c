/* SPDX-License-Identifier: MIT
 *
 * A small stack for the calls of a collector (stack.h).
 *
 * What runs there is one thing that lives as long as the stack: it takes a call, does it, and says
 * that it is done, or that something is to be done for it on the other stack.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "harness/stack/stack.h"

#include "collectors/switch/switch.h"

#include <stdlib.h>
#include <sys/mman.h>

__attribute__((weak)) void __sanitizer_start_switch_fiber(void **, const void *, size_t);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *, const void **, size_t *);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *, size_t);

/* As large as the frames of functions may be that reach beyond the end at once. */
enum { BEYOND_BYTES = 1 << 20 };

struct task {
    void (*body)(void *);
    void *argument;
};

struct stack {
    char *map, *bottom;
    size_t bytes;
    struct place there, here; /* of what runs on it, and of whoever called */
    struct task called, wanted;
    bool lives; /* somebody waits at `there` */
    bool busy;  /* a call is under way */
    bool on;
    /* AddressSanitizer's: of both sides, and where the caller's stack lies. */
    void *fake_there, *fake_here;
    const void *caller_bottom;
    size_t caller_bytes;
    /* Where whoever came back was: on this stack, or on one of the collector's own. */
    const void *there_bottom;
    size_t there_bytes;
};

/* ---- life -------------------------------------------------------------------------------------
 */

struct stack *stack_open(size_t kib) {
    struct stack *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->bytes = kib << 10;
    void *map = mmap(NULL, s->bytes + 2 * (size_t)BEYOND_BYTES, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED) {
        free(s);
        return NULL;
    }
    s->map = map;
    s->bottom = s->map + BEYOND_BYTES;
    if (mprotect(s->bottom, s->bytes, PROT_READ | PROT_WRITE) == 0)
        return s;
    stack_close(s);
    return NULL;
}

/* Of the frames of a call that has been left nobody takes the poison away. */
static void forget_frames(const struct stack *s) {
    if (__asan_unpoison_memory_region)
        __asan_unpoison_memory_region(s->bottom, s->bytes);
}

void stack_close(struct stack *s) {
    if (s) {
        forget_frames(s);
        munmap(s->map, s->bytes + 2 * (size_t)BEYOND_BYTES);
    }
    free(s);
}

/* ---- switching --------------------------------------------------------------------------------
 */

static void go_there(struct stack *s) {
    s->on = true;
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&s->fake_here, s->there_bottom, s->there_bytes);
    place_switch(&s->here, &s->there);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(s->fake_here, &s->there_bottom, &s->there_bytes);
    s->on = false;
}

static void arrive(struct stack *s) {
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(s->fake_there, &s->caller_bottom, &s->caller_bytes);
}

static void go_here(struct stack *s) {
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&s->fake_there, s->caller_bottom, s->caller_bytes);
    place_switch(&s->there, &s->here);
    arrive(s);
}

/* What runs there. */
static void live(void *context) {
    struct stack *s = context;
    arrive(s);
    for (;;) {
        s->called.body(s->called.argument);
        s->wanted.body = NULL;
        go_here(s);
    }
}

/* ---- calls ------------------------------------------------------------------------------------
 */

void stack_call(struct stack *s, void (*body)(void *), void *argument) {
    if (s->busy) {
        body(argument);
        return;
    }
    if (!s->lives) {
        place_make(&s->there, s->bottom, s->bytes, live, s);
        s->there_bottom = s->bottom;
        s->there_bytes = s->bytes;
    }
    s->lives = s->busy = true;
    s->called = (struct task){body, argument};
    go_there(s);
    while (s->wanted.body) {
        s->wanted.body(s->wanted.argument);
        go_there(s);
    }
    s->busy = false;
}

void stack_back(struct stack *s, void (*body)(void *), void *argument) {
    if (!s->on) {
        body(argument);
        return;
    }
    s->wanted = (struct task){body, argument};
    go_here(s);
}

void stack_abandon(struct stack *s) {
    if (!s->busy)
        return;
    s->busy = s->lives = s->on = false;
    forget_frames(s);
}

/* ---- what is known of it ----------------------------------------------------------------------
 */

bool stack_is_on(const struct stack *s) {
    return s->on;
}

bool stack_is_behind(const struct stack *s, const void *address) {
    const char *a = address;
    return a >= s->map && a < s->bottom;
}

size_t stack_kib(const struct stack *s) {
    return s->bytes >> 10;
}
