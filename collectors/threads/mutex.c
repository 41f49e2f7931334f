/* SPDX-License-Identifier: MIT
 *
 * Mutexes, conditions and locks of readers and writers.
 *
 * Their state is in the system's types, where the C library has the same: owner, depth, kind,
 * readers and writer.  So the system's static initialisers are ours.  A condition has none: who
 * waits for it is known.
 */
#define _GNU_SOURCE
#include "collectors/threads/rename.h"

#include "collectors/threads/fibers.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

/* Who calls, as an owner. */
static int me(void) {
    return fiber_self() ? (int)threads_self() : FIBER_OUTSIDE;
}

/* ---- mutexes ----------------------------------------------------------------------------------
 */

int pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *attributes) {
    int kind = PTHREAD_MUTEX_DEFAULT;
    if (attributes)
        pthread_mutexattr_gettype(attributes, &kind);
    memset(m, 0, sizeof *m);
    m->__data.__kind = kind;
    return 0;
}

int pthread_mutex_destroy(pthread_mutex_t *m) {
    if (m->__data.__owner)
        fiber_misused("pthread_mutex_destroy of a mutex that is locked");
    return m->__data.__owner ? EBUSY : 0;
}

/* Who waits for a mutex that is given up tries again, and may come too late. */
static int acquire(pthread_mutex_t *m, bool a_while) {
    if (m->__data.__owner == me()) {
        if (m->__data.__kind == PTHREAD_MUTEX_RECURSIVE) {
            m->__data.__count++;
            return 0;
        }
        if (m->__data.__kind == PTHREAD_MUTEX_ERRORCHECK)
            return EDEADLK;
    }
    while (m->__data.__owner)
        if (!fiber_wait(FIBER_ON_MUTEX, m, (uint64_t)m->__data.__owner, a_while))
            return ETIMEDOUT;
    m->__data.__owner = me();
    return 0;
}

int pthread_mutex_lock(pthread_mutex_t *m) {
    fiber_point();
    return acquire(m, false);
}

int pthread_mutex_timedlock(pthread_mutex_t *m, const struct timespec *until) {
    (void)until;
    fiber_point();
    return acquire(m, true);
}

int pthread_mutex_trylock(pthread_mutex_t *m) {
    fiber_attempt();
    bool again = m->__data.__owner == me() && m->__data.__kind == PTHREAD_MUTEX_RECURSIVE;
    return m->__data.__owner && !again ? EBUSY : acquire(m, false);
}

static int release(pthread_mutex_t *m) {
    if (m->__data.__owner != me()) {
        if (m->__data.__kind == PTHREAD_MUTEX_DEFAULT)
            fiber_misused("pthread_mutex_unlock of a mutex that it does not hold");
        return EPERM;
    }
    if (m->__data.__count) {
        m->__data.__count--;
        return 0;
    }
    m->__data.__owner = 0;
    fiber_wake(m, true);
    return 0;
}

int pthread_mutex_unlock(pthread_mutex_t *m) {
    int error = release(m);
    fiber_point();
    return error;
}

/* ---- conditions -------------------------------------------------------------------------------
 */

int pthread_cond_init(pthread_cond_t *c, const pthread_condattr_t *attributes) {
    (void)attributes;
    memset(c, 0, sizeof *c);
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *c) {
    if (fiber_awaited(c))
        fiber_misused("pthread_cond_destroy of a condition that a thread waits for");
    return 0;
}

static int wait_for(pthread_cond_t *c, pthread_mutex_t *m, bool a_while) {
    if (m->__data.__owner != me()) {
        fiber_misused("pthread_cond_wait without its mutex");
        return EPERM;
    }
    unsigned depth = m->__data.__count;
    m->__data.__count = 0;
    release(m);
    bool woken = fiber_wait(FIBER_ON_CONDITION, c, 0, a_while);
    acquire(m, false);
    m->__data.__count = depth;
    return woken ? 0 : ETIMEDOUT;
}

int pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m) {
    return wait_for(c, m, false);
}

int pthread_cond_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *until) {
    (void)until;
    return wait_for(c, m, true);
}

int pthread_cond_signal(pthread_cond_t *c) {
    fiber_wake(c, false);
    fiber_point();
    return 0;
}

int pthread_cond_broadcast(pthread_cond_t *c) {
    fiber_wake(c, true);
    fiber_point();
    return 0;
}

/* ---- readers and writers ----------------------------------------------------------------------
 */

int pthread_rwlock_init(pthread_rwlock_t *l, const pthread_rwlockattr_t *attributes) {
    (void)attributes;
    memset(l, 0, sizeof *l);
    return 0;
}

int pthread_rwlock_destroy(pthread_rwlock_t *l) {
    if (l->__data.__cur_writer || l->__data.__readers)
        fiber_misused("pthread_rwlock_destroy of a lock that is held");
    return 0;
}

int pthread_rwlock_tryrdlock(pthread_rwlock_t *l) {
    fiber_point();
    if (l->__data.__cur_writer)
        return EBUSY;
    l->__data.__readers++;
    return 0;
}

int pthread_rwlock_rdlock(pthread_rwlock_t *l) {
    fiber_point();
    while (l->__data.__cur_writer)
        fiber_wait(FIBER_ON_RWLOCK, l, (uint64_t)l->__data.__cur_writer, false);
    l->__data.__readers++;
    return 0;
}

int pthread_rwlock_trywrlock(pthread_rwlock_t *l) {
    fiber_point();
    if (l->__data.__cur_writer || l->__data.__readers)
        return EBUSY;
    l->__data.__cur_writer = me();
    return 0;
}

int pthread_rwlock_wrlock(pthread_rwlock_t *l) {
    fiber_point();
    while (l->__data.__cur_writer || l->__data.__readers)
        fiber_wait(FIBER_ON_RWLOCK, l, (uint64_t)l->__data.__cur_writer, false);
    l->__data.__cur_writer = me();
    return 0;
}

int pthread_rwlock_unlock(pthread_rwlock_t *l) {
    if (l->__data.__cur_writer == me()) {
        l->__data.__cur_writer = 0;
    } else if (l->__data.__readers) {
        l->__data.__readers--;
    } else {
        fiber_misused("pthread_rwlock_unlock of a lock that it does not hold");
        return EPERM;
    }
    fiber_wake(l, true);
    fiber_point();
    return 0;
}
