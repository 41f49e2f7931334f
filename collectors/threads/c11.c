/* SPDX-License-Identifier: MIT
 *
 * The threads of C11, by those of pthreads: the C library's types are the same ones.
 */
#define _GNU_SOURCE
#include "collectors/threads/rename.h"

#include "collectors/threads/fibers.h"

#include <errno.h>
#include <pthread.h>
#include <threads.h>

_Static_assert(sizeof(mtx_t) >= sizeof(pthread_mutex_t) &&
                   sizeof(cnd_t) >= sizeof(pthread_cond_t) &&
                   sizeof(once_flag) == sizeof(pthread_once_t) &&
                   sizeof(tss_t) == sizeof(pthread_key_t),
               "the types of C11 are those of pthreads");

static int answer(int error) {
    switch (error) {
    case 0:
        return thrd_success;
    case EBUSY:
        return thrd_busy;
    case ETIMEDOUT:
        return thrd_timedout;
    case EAGAIN:
        return thrd_nomem;
    default:
        return thrd_error;
    }
}

/* ---- threads ----------------------------------------------------------------------------------
 */

int thrd_create(thrd_t *thread, thrd_start_t body, void *argument) {
    struct fiber *f = fiber_make(NULL, body, argument);
    if (!f)
        return thrd_nomem;
    *thread = f->serial;
    fiber_point();
    return thrd_success;
}

int thrd_join(thrd_t thread, int *result) {
    void *value;
    int error = pthread_join(thread, &value);
    if (!error && result)
        *result = (int)(intptr_t)value;
    return answer(error);
}

int thrd_detach(thrd_t thread) {
    return answer(pthread_detach(thread));
}

void thrd_exit(int result) {
    pthread_exit((void *)(intptr_t)result);
}

thrd_t thrd_current(void) {
    return pthread_self();
}

int thrd_equal(thrd_t a, thrd_t b) {
    return a == b;
}

void thrd_yield(void) {
    fiber_yield();
}

int thrd_sleep(const struct timespec *wanted, struct timespec *left) {
    (void)wanted;
    (void)left;
    fiber_yield();
    return 0;
}

void call_once(once_flag *once, void (*body)(void)) {
    pthread_once((pthread_once_t *)once, body);
}

int tss_create(tss_t *key, tss_dtor_t destructor) {
    return answer(pthread_key_create(key, destructor));
}

void tss_delete(tss_t key) {
    pthread_key_delete(key);
}

void *tss_get(tss_t key) {
    return pthread_getspecific(key);
}

int tss_set(tss_t key, void *value) {
    return answer(pthread_setspecific(key, value));
}

/* ---- mutexes and conditions -------------------------------------------------------------------
 */

int mtx_init(mtx_t *m, int type) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (type & mtx_recursive)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init((pthread_mutex_t *)m, &attributes);
    pthread_mutexattr_destroy(&attributes);
    return thrd_success;
}

void mtx_destroy(mtx_t *m) {
    pthread_mutex_destroy((pthread_mutex_t *)m);
}

int mtx_lock(mtx_t *m) {
    return answer(pthread_mutex_lock((pthread_mutex_t *)m));
}

int mtx_trylock(mtx_t *m) {
    return answer(pthread_mutex_trylock((pthread_mutex_t *)m));
}

int mtx_timedlock(mtx_t *restrict m, const struct timespec *restrict until) {
    return answer(pthread_mutex_timedlock((pthread_mutex_t *)m, until));
}

int mtx_unlock(mtx_t *m) {
    return answer(pthread_mutex_unlock((pthread_mutex_t *)m));
}

int cnd_init(cnd_t *c) {
    return answer(pthread_cond_init((pthread_cond_t *)c, NULL));
}

void cnd_destroy(cnd_t *c) {
    pthread_cond_destroy((pthread_cond_t *)c);
}

int cnd_wait(cnd_t *c, mtx_t *m) {
    return answer(pthread_cond_wait((pthread_cond_t *)c, (pthread_mutex_t *)m));
}

int cnd_timedwait(cnd_t *restrict c, mtx_t *restrict m, const struct timespec *restrict until) {
    return answer(pthread_cond_timedwait((pthread_cond_t *)c, (pthread_mutex_t *)m, until));
}

int cnd_signal(cnd_t *c) {
    return answer(pthread_cond_signal((pthread_cond_t *)c));
}

int cnd_broadcast(cnd_t *c) {
    return answer(pthread_cond_broadcast((pthread_cond_t *)c));
}
