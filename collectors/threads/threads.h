/* SPDX-License-Identifier: MIT
 *
 * Deterministic threads: the threads of a collector are fibers of one thread of the system, and who
 * goes on is a stream of decisions that the caller gives.  The same decisions, the same run, to the
 * last switch; with them a schedule is a part of a program as its operations are.
 *
 * The files of the collector are compiled with collectors/threads/rename.h, so that their calls of
 * pthread_mutex_lock and the rest come here, and with -fsanitize-coverage=trace-pc, so that each
 * edge is a point at which another may go on (link with
 * -Wl,--wrap=__sanitizer_cov_trace_pc; without it they change at calls alone).  Every call that
 * locks, waits, wakes, makes or joins is such a point, and so are sched_yield and all that sleeps:
 * time does not pass.  Memory is sequentially consistent: what a weaker machine does besides is not
 * seen here.
 *
 * Whoever drives them stands outside, on a stack of his own, and runs them until something has come
 * about (threads_run).  He never waits: that nobody can go on, or that they go on for ever, is an
 * answer.  A collector's adapter is such a driver, and its mutators are threads that do as they are
 * told (threads_mutator, threads_do).  docs/threads.md goes through one.
 *
 * One set of threads for a process, and one thread of the system that uses it.
 */
#ifndef ISOHEAP_THREADS_H
#define ISOHEAP_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    THREADS_MOST = 64, /* that have begun and not been joined; pthread_create: EAGAIN */
    THREADS_STACK_KIB = 256,
    THREADS_LOCALS = 16, /* threads_local */
    THREADS_KEYS = 64    /* pthread_key_create: EAGAIN */
};

/* How they are scheduled.  All zero: each goes on until it must wait or yields, then the next. */
struct threads_schedule {
    uint64_t seed;        /* of the decisions after those of bytes; 0: the first of the choices */
    const uint8_t *bytes; /* the first decisions, a byte each, modulo the number of choices; must
                             live as long as the schedule */
    size_t n_bytes;
    /* If there is one, all of them, and those that are not listed are the first of the choices:
     * number of the decision, from 1 on, times 2^16 and the choice; ascending, and must live as
     * long as the schedule. */
    const uint32_t *decisions;
    size_t n_decisions;
    unsigned gap;  /* a preemption after 1 to gap edges, as the seed says; 0: none.  Each is a
                      decision more; where they are does not depend on the others */
    uint64_t fuel; /* edges and points that one threads_run may take; 0: 10 million */
    /* NULL, or called outside when another goes on than before: after so many decisions
     * (threads_counts.choices), and who. */
    void (*switched)(void *context, uint64_t decision, uint64_t thread);
    void *context;
};

enum threads_answer {
    THREADS_DONE,     /* what was waited for has come about */
    THREADS_DEADLOCK, /* nobody can go on */
    THREADS_LIVELOCK, /* the fuel is used up */
    THREADS_MISUSED   /* a call that has no meaning, such as to unlock what another holds */
};

struct threads_counts {
    uint64_t threads;  /* that have begun */
    uint64_t points;   /* calls at which another might have gone on, and preemptions */
    uint64_t edges;    /* of instrumented files */
    uint64_t switches; /* who goes on is another */
    uint64_t choices;  /* decisions between two or more */
    uint64_t digest;   /* of all switches: who, and at which point and edge */
};

/* Ends all threads, as if they had never been, forgets keys, locals and counts, and begins with
 * that schedule (NULL: all zero).  Their stacks are used again.  What they have allocated is not
 * freed: it is the caller's, who knows.  To be called from outside, as all below are. */
void threads_reset(const struct threads_schedule *);
/* The same, and gives the stacks back to the system. */
void threads_close(void);

/* Runs them until done(context), which is asked before each decision, as if from outside, and must
 * change nothing.
 * After another answer than THREADS_DONE they may be run on (with fuel anew), or reset. */
enum threads_answer threads_run(bool (*done)(void *), void *context);
/* Why the last answer was not THREADS_DONE, in words: who waits for what, and who holds it.  Cut
 * off if there is no room. */
void threads_why(char *out, size_t capacity);
struct threads_counts threads_counts(void);

/* The variable is each thread's own: what a thread_local of the subject becomes, which fibers of
 * one thread would share.  Each thread begins with what stands there now.  To be said
 * between reset and the first thread; errno is known.  At most THREADS_LOCALS of 64 bytes each. */
void threads_local(void *variable, size_t bytes);

/* ---- threads that do as they are told ---------------------------------------------------------
 */

/* Makes one.  Whenever it has nothing to do it calls idle(context), unless that is NULL, and
 * yields: what a mutator does at a safepoint, between two operations.  Its number, or -1 if there
 * is no room for more. */
int threads_mutator(void (*idle)(void *), void *context);
/* The same for a thread that the collector has made: who calls it becomes one, and does as it is
 * told from threads_serve on, which returns when it is dismissed. */
int threads_enlist(void (*idle)(void *), void *context);
void threads_serve(int mutator);
/* It shall call body(argument); threads_run does it.  It must have nothing else to do. */
void threads_order(int mutator, void (*body)(void *), void *argument);
bool threads_is_free(int mutator); /* it has done all */
/* threads_order, and threads_run until it is done. */
enum threads_answer threads_do(int mutator, void (*body)(void *), void *argument);
/* It returns and can be told nothing more; runs them until it has. */
enum threads_answer threads_dismiss(int mutator);

/* ---- called by threads ------------------------------------------------------------------------
 */

/* Another may go on here, as at any call of pthreads. */
void threads_point(void);
/* Something has been done that is done a bounded number of times, and may take long: threads_run
 * has its fuel anew. */
void threads_refuel(void);
/* Calls body(argument) on the stack of threads_run's caller, where nobody else goes on meanwhile;
 * for what must not run on a thread's small stack, or may never return, as the functions of struct
 * gc_hooks do.  Outside: calls it. */
void threads_outside(void (*body)(void *), void *argument);
/* Who calls: 1, 2, ... in the order of their beginning; 0: nobody, it is outside. */
uint64_t threads_self(void);

#ifdef __cplusplus
}
#endif

#endif
