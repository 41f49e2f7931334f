/* SPDX-License-Identifier: MIT
 *
 * Threads as pthreads has them: made, joined, ended; and what lets others go on, since time does
 * not pass.
 */
#define _GNU_SOURCE /* pthread_getattr_np */
#include "collectors/threads/rename.h"

#include "collectors/threads/fibers.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) {
    int detach = PTHREAD_CREATE_JOINABLE;
    struct fiber *f = fiber_make(body, NULL, argument);
    if (!f)
        return EAGAIN;
    if (attributes)
        pthread_attr_getdetachstate(attributes, &detach);
    f->detached = detach == PTHREAD_CREATE_DETACHED;
    *thread = f->serial;
    fiber_point();
    return 0;
}

int pthread_join(pthread_t thread, void **result) {
    struct fiber *f = fiber_find(thread);
    if (!f)
        return ESRCH;
    if (f == fiber_self())
        return EDEADLK;
    if (f->detached)
        return EINVAL;
    fiber_point();
    while (f->state != FIBER_ENDED)
        fiber_wait(FIBER_ON_END, f, f->serial, false);
    if (result)
        *result = f->result;
    fiber_free(f);
    return 0;
}

int pthread_detach(pthread_t thread) {
    struct fiber *f = fiber_find(thread);
    if (!f)
        return ESRCH;
    if (f->detached)
        return EINVAL;
    f->detached = true;
    if (f->state == FIBER_ENDED)
        fiber_free(f);
    return 0;
}

/* Frames are left as they are: nobody unwinds them. */
void pthread_exit(void *result) {
    if (!fiber_self())
        fiber_misused("pthread_exit outside of all threads");
    fiber_end(result);
}

pthread_t pthread_self(void) {
    return threads_self();
}

/* Where its stack is, for those that look for roots there. */
int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    const struct fiber *f = fiber_find(thread);
    if (!f)
        return ESRCH;
    int error = pthread_attr_init(attributes);
    return error ? error
                 : pthread_attr_setstack(attributes, f->stack, (size_t)THREADS_STACK_KIB << 10);
}

int pthread_setname_np(pthread_t thread, const char *name) {
    (void)name;
    return fiber_find(thread) ? 0 : ESRCH;
}

/* 0: nobody has called it; then who does; -1: it is done. */
int pthread_once(pthread_once_t *once, void (*body)(void)) {
    fiber_point();
    while (*once > 0)
        fiber_wait(FIBER_ON_ONCE, once, (uint64_t)*once, false);
    if (*once == 0) {
        *once = fiber_self() ? (int)threads_self() : FIBER_OUTSIDE;
        body();
        *once = -1;
        fiber_wake(once, true);
    }
    return 0;
}

/* ---- letting others go on ---------------------------------------------------------------------
 */

int sched_yield(void) {
    fiber_yield();
    return 0;
}

/* The system's header gives pthread_yield the name of its own sched_yield, whatever rename.h says:
 * so this is that one, for all of the program, and the threads of the system must get what they ask
 * for. */
int pthread_yield(void);
int pthread_yield(void) {
    return fiber_here() ? sched_yield() : (int)syscall(SYS_sched_yield);
}

int nanosleep(const struct timespec *wanted, struct timespec *left) {
    (void)wanted;
    (void)left;
    return sched_yield();
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                    struct timespec *left) {
    (void)clock;
    (void)flags;
    return nanosleep(wanted, left);
}

int usleep(useconds_t wanted) {
    (void)wanted;
    return sched_yield();
}

unsigned sleep(unsigned wanted) {
    (void)wanted;
    fiber_yield();
    return 0;
}
