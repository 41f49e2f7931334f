/* SPDX-License-Identifier: MIT
 *
 * Programs with threads, as anybody writes them: healthy ones, and ones with the defects of
 * textbooks (programs.c).  Each begins its threads when it is called and is over when `ended` says
 * so.
 */
#ifndef ISOHEAP_TESTS_THREADS_PROGRAMS_H
#define ISOHEAP_TESTS_THREADS_PROGRAMS_H

#include <stdbool.h>

/* X(name, may deadlock, may livelock, may go wrong, only if preempted) */
#define THREAD_PROGRAMS(X)                                                                         \
    X(producer_consumer, 0, 0, 0, 0)                                                               \
    X(one_condition_for_both, 1, 0, 0, 0) /* signal, where broadcast is needed */                  \
    X(wake_up_lost, 1, 0, 0, 0)           /* looks without the mutex, then waits */                \
    X(wake_up_kept, 0, 0, 0, 0)                                                                    \
    X(locks_crossed, 1, 0, 0, 0)                                                                   \
    X(locks_in_order, 0, 0, 0, 0)                                                                  \
    X(philosophers, 1, 0, 0, 0)                                                                    \
    X(nobody_sets_it, 0, 1, 0, 0)   /* spins and yields */                                         \
    X(busy_for_ever, 0, 1, 0, 0)    /* spins and calls nothing */                                  \
    X(busy_for_a_while, 0, 0, 0, 0) /* until another sets what it looks at */                      \
    X(busy_with_a_lock, 0, 0, 0, 0) /* until it gets a lock that it tries */                       \
    X(counter_unlocked, 0, 0, 1, 1)                                                                \
    X(counter_locked, 0, 0, 0, 0)                                                                  \
    X(if_instead_of_while, 0, 0, 1, 0)                                                             \
    X(readers_writers, 0, 0, 0, 0)                                                                 \
    X(barriers, 0, 0, 0, 0)                                                                        \
    X(semaphores, 0, 0, 0, 0)                                                                      \
    X(once_and_keys, 0, 0, 0, 0)                                                                   \
    X(timed, 0, 0, 0, 0)                                                                           \
    X(kinds_of_mutex, 0, 0, 0, 0)                                                                  \
    X(lives, 0, 0, 0, 0)                                                                           \
    X(c11, 0, 0, 0, 0)

#define X(name, ...) void program_##name(void);
THREAD_PROGRAMS(X)
#undef X

extern bool ended, wrong; /* it has come to its end; what it has computed is not right */

/* Calls without meaning, for a thread. */
void misuse_unlock(void *);
void misuse_destroy(void *);
void misuse_wait(void *);
void misuse_rwlock(void *);
/* Waits for ever, holding a mutex that others may want. */
void hold_for_ever(void *);

/* A thread of the collector's own, which becomes a mutator: -1 as long as it is none. */
void raise_one_that_enlists(void);
extern int enlisted;
extern bool has_served; /* and has been dismissed */

extern int own;        /* each thread's, by threads_local */
void note_own(void *); /* adds one to it, and to errno, and to *argument what is there */

#endif
