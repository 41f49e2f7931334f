/* SPDX-License-Identifier: MIT
 *
 * Barriers and semaphores.  The system's types say nothing of what is in them: they are the room
 * for ours.
 */
#define _GNU_SOURCE
#include "collectors/threads/rename.h"

#include "collectors/threads/fibers.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <string.h>

struct barrier {
    unsigned needed, arrived;
};
_Static_assert(sizeof(struct barrier) <= sizeof(pthread_barrier_t), "a barrier has room");
_Static_assert(sizeof(unsigned) <= sizeof(sem_t), "a semaphore has room");

/* ---- barriers ---------------------------------------------------------------------------------
 */

static struct barrier barrier_of(const pthread_barrier_t *b) {
    struct barrier is;
    memcpy(&is, b, sizeof is);
    return is;
}

static void set_barrier(pthread_barrier_t *b, struct barrier is) {
    memcpy(b, &is, sizeof is);
}

int pthread_barrier_init(pthread_barrier_t *b, const pthread_barrierattr_t *attributes,
                         unsigned needed) {
    (void)attributes;
    if (!needed)
        return EINVAL;
    set_barrier(b, (struct barrier){.needed = needed});
    return 0;
}

int pthread_barrier_destroy(pthread_barrier_t *b) {
    if (barrier_of(b).arrived)
        fiber_misused("pthread_barrier_destroy of a barrier that a thread waits at");
    return 0;
}

int pthread_barrier_wait(pthread_barrier_t *b) {
    fiber_point();
    struct barrier is = barrier_of(b);
    bool last = ++is.arrived == is.needed;
    if (last)
        is.arrived = 0;
    set_barrier(b, is);
    if (!last) {
        fiber_wait(FIBER_ON_BARRIER, b, 0, false);
        return 0;
    }
    fiber_wake(b, true);
    fiber_point();
    return PTHREAD_BARRIER_SERIAL_THREAD;
}

/* ---- semaphores -------------------------------------------------------------------------------
 */

static unsigned value_of(const sem_t *s) {
    unsigned value;
    memcpy(&value, s, sizeof value);
    return value;
}

static void set_value(sem_t *s, unsigned value) {
    memcpy(s, &value, sizeof value);
}

static int fails(int error) {
    errno = error;
    return -1;
}

int sem_init(sem_t *s, int shared, unsigned value) {
    (void)shared;
    set_value(s, value);
    return 0;
}

int sem_destroy(sem_t *s) {
    if (fiber_awaited(s))
        fiber_misused("sem_destroy of a semaphore that a thread waits for");
    return 0;
}

static int take(sem_t *s, bool a_while) {
    fiber_point();
    while (!value_of(s))
        if (!fiber_wait(FIBER_ON_SEMAPHORE, s, 0, a_while))
            return fails(ETIMEDOUT);
    set_value(s, value_of(s) - 1);
    return 0;
}

int sem_wait(sem_t *s) {
    return take(s, false);
}

int sem_timedwait(sem_t *s, const struct timespec *until) {
    (void)until;
    return take(s, true);
}

int sem_trywait(sem_t *s) {
    fiber_point();
    if (!value_of(s))
        return fails(EAGAIN);
    set_value(s, value_of(s) - 1);
    return 0;
}

int sem_post(sem_t *s) {
    set_value(s, value_of(s) + 1);
    fiber_wake(s, true);
    fiber_point();
    return 0;
}

int sem_getvalue(sem_t *s, int *value) {
    *value = (int)value_of(s);
    return 0;
}
