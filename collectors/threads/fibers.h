/* SPDX-License-Identifier: MIT
 *
 * What the files of the deterministic threads share: the fibers, and how one of them waits, wakes
 * others and is chosen.  Private to them.
 */
#ifndef ISOHEAP_THREADS_FIBERS_H
#define ISOHEAP_THREADS_FIBERS_H

#include "collectors/switch/switch.h"
#include "collectors/threads/threads.h"

enum fiber_state {
    FIBER_FREE,
    FIBER_READY,
    FIBER_WAITS,
    FIBER_WAITS_A_WHILE, /* can go on too: its time is over then */
    FIBER_ENDED          /* and waits to be joined */
};

/* X(name, what it is that a fiber waits for, in words) */
#define FIBER_CAUSES(X)                                                                            \
    X(MUTEX, "a mutex")                                                                            \
    X(CONDITION, "a condition")                                                                    \
    X(RWLOCK, "a lock of readers and writers")                                                     \
    X(BARRIER, "a barrier")                                                                        \
    X(SEMAPHORE, "a semaphore")                                                                    \
    X(ONCE, "an initialisation")                                                                   \
    X(END, "the end")                                                                              \
    X(ORDERS, "something to do")
enum fiber_cause {
#define X(name, words) FIBER_ON_##name,
    FIBER_CAUSES(X)
#undef X
};

enum { FIBER_LOCAL_BYTES = 64, FIBER_OUTSIDE = INT32_MAX /* holds a mutex, but is no fiber */ };

struct fiber {
    struct place place;
    char *stack; /* THREADS_STACK_KIB; NULL: has none yet */
    void *fake;  /* AddressSanitizer's */
    enum fiber_state state;
    enum fiber_cause cause; /* while it waits: for what, */
    const void *object;     /* for which, */
    uint64_t holder;        /* and who held it then; 0: nobody */
    bool begun;             /* has run */
    bool timed_out, detached;
    uint64_t serial; /* who it is: 1, 2, ... since the reset */
    void *(*body)(void *);
    int (*body_c11)(void *); /* instead, unless NULL */
    void *argument, *result;
    void *keys[THREADS_KEYS];
    int error; /* its errno */
    unsigned char locals[THREADS_LOCALS][FIBER_LOCAL_BYTES];
};

/* ---- fibers.c ---------------------------------------------------------------------------------
 */

struct fiber *fiber_self(void); /* NULL: outside */
/* Whether the caller is a fiber: the program may have other threads of the system beside them. */
bool fiber_here(void);
struct fiber *fiber_find(uint64_t serial);
/* One that will call body, or body_c11; NULL: there is no room or no memory for its stack. */
struct fiber *fiber_make(void *(*body)(void *), int (*body_c11)(void *), void *argument);
_Noreturn void fiber_end(void *result); /* of the one that calls */
void fiber_free(struct fiber *);        /* one that has ended, and has been joined */
void fibers_forget_key(unsigned key);   /* all of them */

/* Another may go on.  Outside: nothing. */
void fiber_point(void);
/* The same, and who comes here again and again may be spinning: at a preemption, or where it tries
 * a lock. */
void fiber_attempt(void);
/* Another goes on, if one can. */
void fiber_yield(void);
/* Waits for the object until somebody wakes it; a_while: or until the schedule says that its time
 * is over, which is false then. */
bool fiber_wait(enum fiber_cause, const void *object, uint64_t holder, bool a_while);
/* Wakes all that wait for the object, or one that the schedule says.  True: there was one. */
bool fiber_wake(const void *object, bool all);
bool fiber_awaited(const void *object);
/* The call, in words, has no meaning: threads_run answers that. */
void fiber_misused(const char *sentence);

/* ---- keys.c -----------------------------------------------------------------------------------
 */

void keys_reset(void);
void keys_destroy(struct fiber *); /* at the end of a thread: the destructors of what it has set */

/* ---- mutators.c -------------------------------------------------------------------------------
 */

void mutators_reset(void);

/* ---- why.c ------------------------------------------------------------------------------------
 */

/* The fibers are an array of THREADS_MOST. */
void why_stuck(const struct fiber *, enum threads_answer, char *out, size_t capacity);

#endif
