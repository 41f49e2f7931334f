/* SPDX-License-Identifier: MIT
 *
 * Fibers, and the schedule that says which of them goes on (fibers.h, threads.h).
 *
 * The driver's place is outside.  A fiber that another is to follow goes there, and from there on
 * to the other: two switches of a few nanoseconds, and each fiber needs to know of the driver
 * alone.
 */
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "collectors/threads/fibers.h"

#include "collectors/decisions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

__attribute__((weak)) void __sanitizer_start_switch_fiber(void **, const void *, size_t);
__attribute__((weak)) void __sanitizer_finish_switch_fiber(void *, const void **, size_t *);
__attribute__((weak)) void __asan_unpoison_memory_region(void const volatile *, size_t);

enum {
    STACK_BYTES = THREADS_STACK_KIB << 10,
    GUARD_BYTES = 64 << 10,
    BUSY_EDGES = 4096, /* without a point: somebody spins, and the others must go on */
    WHY_BYTES = 200,
    FUEL = 10000000
};

struct local {
    void *variable;
    size_t bytes;
    unsigned char initial[FIBER_LOCAL_BYTES];
};

static struct {
    struct fiber fiber[THREADS_MOST];
    unsigned used; /* those from here on have not begun since the reset */
    unsigned last; /* the one that ran last */
    struct fiber *self, *next;
    bool running; /* threads_run is under way */
    bool ending;  /* whoever is gone on with has nothing to do but to leave its stack */

    struct threads_schedule schedule;
    uint64_t random, gaps; /* choices and preemptions each have their own numbers, so that a list in
                              the place of the former leaves the latter where they are */
    uint64_t fuel;
    size_t taken, listed;   /* of the schedule's bytes, and of its list */
    unsigned to_preemption; /* edges; 0: there will be none */
    unsigned since_a_point; /* edges */
    struct threads_counts counts;

    bool (*done)(void *);
    void *context;
    void (*wanted)(void *); /* to be called on the driver's stack */
    void *wanted_argument;
    enum threads_answer answer;
    char why[WHY_BYTES]; /* what was misused */

    struct local local[THREADS_LOCALS];
    unsigned n_locals;

    struct place outside;
    void *fake_outside;
    const void *outside_bottom;
    size_t outside_bytes;
    int outside_error;
    unsigned char outside_locals[THREADS_LOCALS][FIBER_LOCAL_BYTES];
} s;

/* ---- decisions --------------------------------------------------------------------------------
 */

/* The one that the list has for the decision of that number; else the first. */
static unsigned listed(uint64_t number) {
    const uint32_t *list = s.schedule.decisions;
    while (s.listed < s.schedule.n_decisions && list[s.listed] >> 16 < number)
        s.listed++;
    bool has = s.listed < s.schedule.n_decisions && list[s.listed] >> 16 == number;
    return has ? list[s.listed] & UINT16_MAX : 0;
}

/* One of n choices. */
static unsigned decide(unsigned n) {
    if (n < 2)
        return 0;
    s.counts.choices++;
    if (s.schedule.n_decisions)
        return listed(s.counts.choices) % n;
    if (s.taken < s.schedule.n_bytes)
        return s.schedule.bytes[s.taken++] % n;
    return s.schedule.seed ? (unsigned)(decisions_next(&s.random) % n) : 0;
}

static void arm_preemption(void) {
    s.to_preemption = s.schedule.gap ? 1 + (unsigned)(decisions_next(&s.gaps) % s.schedule.gap) : 0;
}

static bool can_go_on(const struct fiber *f) {
    return f->state == FIBER_READY || f->state == FIBER_WAITS_A_WHILE;
}

/* The fibers in turn, from the one that ran last. */
static struct fiber *in_turn(unsigned k) {
    return &s.fiber[(s.last + k) % s.used];
}

/* Who goes on; `not` only if nobody else can.  NULL: nobody. */
static struct fiber *choose(struct fiber * not ) {
    struct fiber *can[THREADS_MOST];
    unsigned n = 0;
    for (unsigned k = 0; k < s.used; k++)
        if (can_go_on(in_turn(k)) && in_turn(k) != not )
            can[n++] = in_turn(k);
    if (n)
        return can[decide(n)];
    return not &&can_go_on(not ) ? not : NULL;
}

/* ---- switching --------------------------------------------------------------------------------
 */

/* Each side has its own errno and thread locals. */
static void exchange_locals(int *error_of_old, unsigned char old[][FIBER_LOCAL_BYTES],
                            int error_of_new, unsigned char new[][FIBER_LOCAL_BYTES]) {
    *error_of_old = errno;
    errno = error_of_new;
    for (unsigned i = 0; i < s.n_locals; i++) {
        memcpy(old[i], s.local[i].variable, s.local[i].bytes);
        memcpy(s.local[i].variable, new[i], s.local[i].bytes);
    }
}

/* Whether this is the system's thread that fibers run on. */
static _Thread_local bool drives;

bool fiber_here(void) {
    return drives && s.self;
}

/* The driver's side: f runs until it comes out again. */
static void go_in(struct fiber *f) {
    drives = true;
    s.self = f;
    exchange_locals(&s.outside_error, s.outside_locals, f->error, f->locals);
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(&s.fake_outside, f->stack, STACK_BYTES);
    place_switch(&s.outside, &f->place);
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(s.fake_outside, NULL, NULL);
    exchange_locals(&f->error, f->locals, s.outside_error, s.outside_locals);
    s.self = NULL;
    drives = false;
}

static void arrive(struct fiber *f) {
    if (__sanitizer_finish_switch_fiber)
        __sanitizer_finish_switch_fiber(f->fake, &s.outside_bottom, &s.outside_bytes);
}

/* keep: what AddressSanitizer knows of this stack, since it will be gone on with. */
static void leave(struct fiber *f, bool keep) {
    if (__sanitizer_start_switch_fiber)
        __sanitizer_start_switch_fiber(keep ? &f->fake : NULL, s.outside_bottom, s.outside_bytes);
    place_switch(&f->place, &s.outside);
}

/* The fiber's side: the driver runs, and maybe others. */
static void go_out(struct fiber *f) {
    leave(f, true);
    arrive(f);
    if (s.ending)
        leave(f, false);
}

/* The driver's side: f runs and has done for it on this stack what it wants. */
static void run_fiber(struct fiber *f) {
    uint64_t at = s.counts.points ^ s.counts.edges << 32;
    if (f != &s.fiber[s.last]) {
        s.counts.switches++;
        if (s.schedule.switched)
            s.schedule.switched(s.schedule.context, s.counts.choices, f->serial);
    }
    s.counts.digest = ((s.counts.digest ^ f->serial) * 0x100000001b3 ^ at) * 0x9e3779b97f4a7c15;
    s.last = (unsigned)(f - s.fiber);
    s.since_a_point = 0;
    f->begun = true;
    if (f->state == FIBER_WAITS_A_WHILE) {
        f->timed_out = true;
        f->state = FIBER_READY;
    }
    go_in(f);
    while (s.wanted) {
        void (*body)(void *) = s.wanted;
        s.wanted = NULL;
        body(s.wanted_argument);
        go_in(f);
    }
}

/* As from outside, whoever asks: what it runs of instrumented files is no point. */
static bool is_done(void) {
    struct fiber *self = s.self;
    s.self = NULL;
    bool done = s.done(s.context);
    s.self = self;
    return done;
}

/* The fiber's side: whoever the schedule says goes on. */
static void hand_over(struct fiber * not ) {
    struct fiber *self = s.self;
    if (!is_done()) {
        s.next = choose(not );
        if (s.next == self && self->state == FIBER_READY)
            return;
    }
    go_out(self);
}

static void spend(void) {
    if (s.fuel) {
        s.fuel--;
        return;
    }
    s.answer = THREADS_LIVELOCK;
    s.next = NULL;
    go_out(s.self);
}

/* ---- what fibers do ---------------------------------------------------------------------------
 */

struct fiber *fiber_self(void) {
    return s.self;
}

static void pass(struct fiber * not ) {
    if (!s.self)
        return;
    s.counts.points++;
    spend();
    hand_over(not );
}

void fiber_point(void) {
    s.since_a_point = 0;
    pass(NULL);
}

void fiber_attempt(void) {
    pass(NULL);
}

void fiber_yield(void) {
    s.since_a_point = 0;
    pass(s.self);
}

static _Noreturn void refuse(const char *sentence) {
    fprintf(stderr, "isoheap threads: %s\n", sentence);
    abort();
}

bool fiber_wait(enum fiber_cause cause, const void *object, uint64_t holder, bool a_while) {
    struct fiber *self = s.self;
    if (!self)
        refuse("outside of all threads a call would have to wait: make it in threads_do");
    self->state = a_while ? FIBER_WAITS_A_WHILE : FIBER_WAITS;
    self->cause = cause;
    self->object = object;
    self->holder = holder;
    self->timed_out = false;
    pass(NULL);
    return !self->timed_out;
}

static bool waits_for(const struct fiber *f, const void *object) {
    return (f->state == FIBER_WAITS || f->state == FIBER_WAITS_A_WHILE) && f->object == object;
}

bool fiber_awaited(const void *object) {
    for (unsigned i = 0; i < s.used; i++)
        if (waits_for(&s.fiber[i], object))
            return true;
    return false;
}

bool fiber_wake(const void *object, bool all) {
    struct fiber *waiting[THREADS_MOST];
    unsigned n = 0;
    for (unsigned k = 0; k < s.used; k++)
        if (waits_for(in_turn(k), object))
            waiting[n++] = in_turn(k);
    if (n && !all) {
        waiting[0] = waiting[decide(n)];
        n = 1;
    }
    for (unsigned i = 0; i < n; i++)
        waiting[i]->state = FIBER_READY;
    return n;
}

void fiber_misused(const char *sentence) {
    if (!s.self)
        refuse(sentence);
    snprintf(s.why, sizeof s.why, "thread %llu: %s", (unsigned long long)s.self->serial, sentence);
    s.answer = THREADS_MISUSED;
    s.next = NULL;
    go_out(s.self);
}

/* Stands for __sanitizer_cov_trace_pc in what is linked with --wrap of that name: an engine has one
 * of its own. */
void __wrap___sanitizer_cov_trace_pc(void);
void __wrap___sanitizer_cov_trace_pc(void) {
    if (!s.self)
        return;
    s.counts.edges++;
    bool preempted = s.to_preemption && --s.to_preemption == 0;
    if (preempted)
        arm_preemption();
    if (++s.since_a_point > BUSY_EDGES)
        fiber_yield();
    else if (preempted)
        fiber_attempt();
    else
        spend();
}

/* ---- life of a fiber --------------------------------------------------------------------------
 */

static void live(void *context) {
    struct fiber *self = context;
    arrive(self);
    if (self->body_c11)
        fiber_end((void *)(intptr_t)self->body_c11(self->argument));
    fiber_end(self->body(self->argument));
}

void fiber_end(void *result) {
    struct fiber *self = s.self;
    keys_destroy(self);
    self->result = result;
    self->state = self->detached ? FIBER_FREE : FIBER_ENDED;
    fiber_wake(self, true);
    s.counts.points++;
    s.next = NULL;
    leave(self, false);
    abort(); /* nobody goes on with it */
}

void fiber_free(struct fiber *f) {
    f->state = FIBER_FREE;
}

struct fiber *fiber_find(uint64_t serial) {
    for (unsigned i = 0; i < s.used; i++)
        if (s.fiber[i].state != FIBER_FREE && s.fiber[i].serial == serial)
            return &s.fiber[i];
    return NULL;
}

void fibers_forget_key(unsigned key) {
    for (unsigned i = 0; i < s.used; i++)
        s.fiber[i].keys[key] = NULL;
}

static bool make_stack(struct fiber *f) {
    if (f->stack)
        return true;
    char *map = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return false;
    if (mprotect(map + GUARD_BYTES, STACK_BYTES, PROT_READ | PROT_WRITE) != 0) {
        munmap(map, GUARD_BYTES + STACK_BYTES);
        return false;
    }
    f->stack = map + GUARD_BYTES;
    return true;
}

/* Of the frames of a fiber that was ended nobody takes the poison away. */
static void forget_frames(const struct fiber *f) {
    if (__asan_unpoison_memory_region && f->stack)
        __asan_unpoison_memory_region(f->stack, STACK_BYTES);
}

struct fiber *fiber_make(void *(*body)(void *), int (*body_c11)(void *), void *argument) {
    unsigned i = 0;
    while (i < THREADS_MOST && s.fiber[i].state != FIBER_FREE)
        i++;
    if (i == THREADS_MOST || !make_stack(&s.fiber[i]))
        return NULL;
    struct fiber *f = &s.fiber[i];
    s.used = i >= s.used ? i + 1 : s.used;
    forget_frames(f);
    *f = (struct fiber){.stack = f->stack,
                        .state = FIBER_READY,
                        .serial = ++s.counts.threads,
                        .body = body,
                        .body_c11 = body_c11,
                        .argument = argument};
    for (unsigned k = 0; k < s.n_locals; k++)
        memcpy(f->locals[k], s.local[k].initial, s.local[k].bytes);
    place_make(&f->place, f->stack, STACK_BYTES, live, f);
    return f;
}

/* ---- the driver's side ------------------------------------------------------------------------
 */

/* Those that have run and not ended come back once to leave their stacks, so that AddressSanitizer
 * frees what it has for them. */
static void end_all(void) {
    s.ending = true;
    s.n_locals = 0;
    for (unsigned i = 0; i < s.used; i++) {
        struct fiber *f = &s.fiber[i];
        bool stands = f->begun && f->state != FIBER_ENDED && f->state != FIBER_FREE;
        if (stands && __sanitizer_start_switch_fiber)
            go_in(f);
        forget_frames(f);
        f->state = FIBER_FREE;
    }
    s.ending = false;
}

void threads_reset(const struct threads_schedule *schedule) {
    if (s.self)
        refuse("threads_reset by a thread: it belongs outside");
    end_all();
    s.schedule = schedule ? *schedule : (struct threads_schedule){0};
    if (!s.schedule.fuel)
        s.schedule.fuel = FUEL;
    s.random = decisions_begin(s.schedule.seed);
    s.gaps = decisions_begin(~s.schedule.seed);
    s.counts = (struct threads_counts){0};
    s.used = s.last = 0;
    s.taken = s.listed = 0;
    s.next = NULL;
    s.wanted = NULL;
    s.running = false;
    s.answer = THREADS_DONE;
    arm_preemption();
    keys_reset();
    mutators_reset();
}

void threads_close(void) {
    threads_reset(NULL);
    for (unsigned i = 0; i < THREADS_MOST; i++)
        if (s.fiber[i].stack) {
            munmap(s.fiber[i].stack - GUARD_BYTES, GUARD_BYTES + STACK_BYTES);
            s.fiber[i].stack = NULL;
        }
}

void threads_local(void *variable, size_t bytes) {
    if (s.n_locals == THREADS_LOCALS || bytes > FIBER_LOCAL_BYTES)
        refuse("threads_local: more than 16 variables, or one of more than 64 bytes");
    struct local *l = &s.local[s.n_locals++];
    l->variable = variable;
    l->bytes = bytes;
    memcpy(l->initial, variable, bytes);
}

void threads_refuel(void) {
    s.fuel = s.schedule.fuel;
}

enum threads_answer threads_run(bool (*done)(void *), void *context) {
    if (s.self || s.running)
        refuse("threads_run by a thread, or while it runs: it belongs outside");
    s.done = done;
    s.context = context;
    s.answer = THREADS_DONE;
    s.fuel = s.schedule.fuel;
    s.next = NULL;
    s.running = true;
    while (!s.answer && !done(context)) {
        struct fiber *next = s.next ? s.next : choose(NULL);
        s.next = NULL;
        if (next)
            run_fiber(next);
        else
            s.answer = THREADS_DEADLOCK;
    }
    s.running = false;
    return s.answer;
}

void threads_why(char *out, size_t capacity) {
    if (s.answer == THREADS_MISUSED)
        snprintf(out, capacity, "%s", s.why);
    else
        why_stuck(s.fiber, s.answer, out, capacity);
}

struct threads_counts threads_counts(void) {
    return s.counts;
}

void threads_point(void) {
    fiber_point();
}

uint64_t threads_self(void) {
    return s.self ? s.self->serial : 0;
}

void threads_outside(void (*body)(void *), void *argument) {
    struct fiber *self = s.self;
    if (!self) {
        body(argument);
        return;
    }
    s.wanted = body;
    s.wanted_argument = argument;
    go_out(self);
}
