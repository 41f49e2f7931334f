/* SPDX-License-Identifier: MIT
 *
 * Programs with threads (programs.h).  Compiled as the files of a collector are: with rename.h, and
 * every edge a point.
 */
#define _GNU_SOURCE /* pthread_getattr_np, usleep */
#include "tests/collectors/threads/programs.h"

#include "collectors/threads/threads.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

bool ended, wrong;
int own;

static pthread_mutex_t a, b;
static pthread_cond_t condition, other;
static pthread_rwlock_t lock;
static pthread_barrier_t barrier;
static sem_t semaphore;
static atomic_int flag;
static volatile int number;

static void must(bool right) {
    wrong |= !right;
}

static void start(void) {
    ended = wrong = false;
    number = 0;
    atomic_store(&flag, 0);
    pthread_mutex_init(&a, NULL);
    pthread_mutex_init(&b, NULL);
    pthread_cond_init(&condition, NULL);
    pthread_cond_init(&other, NULL);
}

/* ---- a main thread with children, as programs have it -----------------------------------------
 */

enum { CHILDREN = 3 };
struct family {
    void *(*child)(void *);
    unsigned n;
    void (*then)(void);
};

static void *parent(void *context) {
    const struct family *f = context;
    pthread_t children[CHILDREN];
    for (unsigned i = 0; i < f->n; i++)
        must(pthread_create(&children[i], NULL, f->child, (void *)(uintptr_t)i) == 0);
    for (unsigned i = 0; i < f->n; i++)
        must(pthread_join(children[i], NULL) == 0);
    if (f->then)
        f->then();
    ended = true;
    return NULL;
}

static void raise_family(void *(*child)(void *), unsigned n, void (*then)(void)) {
    static struct family family;
    pthread_t first;
    family = (struct family){child, n, then};
    must(pthread_create(&first, NULL, parent, &family) == 0);
    must(pthread_detach(first) == 0);
}

/* ---- a bounded buffer -------------------------------------------------------------------------
 */

enum { ROOM = 1, ITEMS = 6 };
static int buffer[ROOM], held, taken, sum;

static void give(int item, pthread_cond_t *room, pthread_cond_t *something) {
    pthread_mutex_lock(&a);
    while (held == ROOM)
        pthread_cond_wait(room, &a);
    buffer[held++] = item;
    pthread_cond_signal(something);
    pthread_mutex_unlock(&a);
}

static void take(pthread_cond_t *room, pthread_cond_t *something) {
    pthread_mutex_lock(&a);
    while (held == 0)
        pthread_cond_wait(something, &a);
    sum += buffer[--held];
    taken++;
    pthread_cond_signal(room);
    pthread_mutex_unlock(&a);
}

static void *produce_or_consume(void *who) {
    for (int i = 1; i <= ITEMS; i++)
        if (who == NULL)
            give(i, &condition, &other);
        else if (i % 2)
            take(&condition, &other);
    return NULL;
}

static void all_is_there(void) {
    must(taken == ITEMS && sum == ITEMS * (ITEMS + 1) / 2);
}

void program_producer_consumer(void) {
    start();
    held = taken = sum = 0;
    raise_family(produce_or_consume, 3, all_is_there);
}

static void *one_condition(void *who) {
    for (int i = 1; i <= ITEMS; i++)
        if (who == NULL)
            give(i, &condition, &condition);
        else if (i % 2)
            take(&condition, &condition);
    return NULL;
}

void program_one_condition_for_both(void) {
    start();
    held = taken = sum = 0;
    raise_family(one_condition, 3, all_is_there);
}

/* ---- wake-ups ---------------------------------------------------------------------------------
 */

static void *wait_or_wake(void *who) {
    if (who == NULL) {
        if (!atomic_load(&flag)) {
            pthread_mutex_lock(&a);
            pthread_cond_wait(&condition, &a);
            pthread_mutex_unlock(&a);
        }
    } else {
        atomic_store(&flag, 1);
        pthread_cond_signal(&condition);
    }
    return NULL;
}

void program_wake_up_lost(void) {
    start();
    raise_family(wait_or_wake, 2, NULL);
}

static void *wait_or_wake_well(void *who) {
    pthread_mutex_lock(&a);
    if (who == NULL) {
        while (!atomic_load(&flag))
            pthread_cond_wait(&condition, &a);
    } else {
        atomic_store(&flag, 1);
        pthread_cond_signal(&condition);
    }
    pthread_mutex_unlock(&a);
    return NULL;
}

void program_wake_up_kept(void) {
    start();
    raise_family(wait_or_wake_well, 2, NULL);
}

/* Two are woken for one thing: the second finds nothing. */
static void *take_one_or_put(void *who) {
    pthread_mutex_lock(&a);
    if (who == NULL) {
        number = number + 1;
        pthread_cond_broadcast(&condition);
        pthread_mutex_unlock(&a);
        pthread_mutex_lock(&a);
        number = number + 1;
        pthread_cond_broadcast(&condition);
    } else {
        if (number == 0)
            pthread_cond_wait(&condition, &a);
        must(number > 0);
        number = number - 1;
    }
    pthread_mutex_unlock(&a);
    return NULL;
}

void program_if_instead_of_while(void) {
    start();
    raise_family(take_one_or_put, 3, NULL);
}

/* ---- two locks --------------------------------------------------------------------------------
 */

static void lock_both(pthread_mutex_t *first, pthread_mutex_t *second) {
    pthread_mutex_lock(first);
    pthread_mutex_lock(second);
    number = number + 1;
    pthread_mutex_unlock(second);
    pthread_mutex_unlock(first);
}

static void *cross(void *who) {
    lock_both(who ? &a : &b, who ? &b : &a);
    return NULL;
}

static void *in_order(void *who) {
    (void)who;
    lock_both(&a, &b);
    return NULL;
}

static void two_have_counted(void) {
    must(number == 2);
}

void program_locks_crossed(void) {
    start();
    raise_family(cross, 2, two_have_counted);
}

void program_locks_in_order(void) {
    start();
    raise_family(in_order, 2, two_have_counted);
}

static pthread_mutex_t fork_at[CHILDREN];

static void *dine(void *who) {
    uintptr_t i = (uintptr_t)who;
    for (unsigned meal = 0; meal < 2; meal++)
        lock_both(&fork_at[i], &fork_at[(i + 1) % CHILDREN]);
    return NULL;
}

void program_philosophers(void) {
    start();
    for (unsigned i = 0; i < CHILDREN; i++)
        pthread_mutex_init(&fork_at[i], NULL);
    raise_family(dine, CHILDREN, NULL);
}

/* ---- spinning ---------------------------------------------------------------------------------
 */

static void *spin_and_yield(void *who) {
    (void)who;
    while (!atomic_load(&flag))
        sched_yield();
    return NULL;
}

void program_nobody_sets_it(void) {
    start();
    raise_family(spin_and_yield, 2, NULL);
}

static void *spin(void *who) {
    (void)who;
    while (!atomic_load(&flag))
        continue;
    return NULL;
}

void program_busy_for_ever(void) {
    start();
    raise_family(spin, 2, NULL);
}

static void *spin_or_set(void *who) {
    if (who == NULL)
        return spin(NULL);
    atomic_store(&flag, 1);
    return NULL;
}

void program_busy_for_a_while(void) {
    start();
    raise_family(spin_or_set, 2, NULL);
}

static pthread_mutex_t tried;

static void *try_or_hold(void *who) {
    if (who == NULL) {
        pthread_mutex_lock(&tried);
        sched_yield();
    } else {
        while (pthread_mutex_trylock(&tried) != 0)
            continue;
    }
    pthread_mutex_unlock(&tried);
    return NULL;
}

void program_busy_with_a_lock(void) {
    start();
    pthread_mutex_init(&tried, NULL);
    raise_family(try_or_hold, 2, NULL);
}

/* ---- a thread that becomes one which does as it is told ---------------------------------------
 */

int enlisted;
bool has_served;

static void *enlist(void *context) {
    enlisted = threads_enlist(NULL, context);
    threads_serve(enlisted);
    has_served = true;
    return NULL;
}

void raise_one_that_enlists(void) {
    pthread_t thread;
    enlisted = -1;
    has_served = false;
    pthread_create(&thread, NULL, enlist, NULL);
    pthread_detach(thread);
}

/* ---- a counter --------------------------------------------------------------------------------
 */

/* A function has an edge of its own: what was read is old when it comes back. */
__attribute__((noinline)) static int next_number(int n) {
    return n + 1;
}

static void *count(void *who) {
    (void)who;
    for (int i = 0; i < 4; i++)
        number = next_number(number);
    return NULL;
}

static void *count_locked(void *who) {
    pthread_mutex_lock(&a);
    count(who);
    pthread_mutex_unlock(&a);
    return NULL;
}

static void eight_are_counted(void) {
    must(number == 8);
}

void program_counter_unlocked(void) {
    start();
    raise_family(count, 2, eight_are_counted);
}

void program_counter_locked(void) {
    start();
    raise_family(count_locked, 2, eight_are_counted);
}

/* ---- readers and writers ----------------------------------------------------------------------
 */

static void *read_or_write(void *who) {
    if (who == NULL) {
        pthread_rwlock_wrlock(&lock);
        number = 1;
        must(pthread_rwlock_tryrdlock(&lock) == EBUSY);
        sched_yield();
        number = 2;
    } else {
        pthread_rwlock_rdlock(&lock);
        must(number != 1);
        must(pthread_rwlock_trywrlock(&lock) == EBUSY);
        sched_yield();
        must(number != 1);
    }
    must(pthread_rwlock_unlock(&lock) == 0);
    return NULL;
}

static void nobody_holds_it(void) {
    must(pthread_rwlock_trywrlock(&lock) == 0);
    must(pthread_rwlock_unlock(&lock) == 0);
    must(pthread_rwlock_tryrdlock(&lock) == 0);
    must(pthread_rwlock_unlock(&lock) == 0);
    must(pthread_rwlock_destroy(&lock) == 0);
}

void program_readers_writers(void) {
    start();
    pthread_rwlock_init(&lock, NULL);
    raise_family(read_or_write, CHILDREN, nobody_holds_it);
}

/* ---- barriers and semaphores ------------------------------------------------------------------
 */

static void *meet(void *who) {
    (void)who;
    for (int round = 1; round <= 3; round++) {
        atomic_fetch_add(&flag, 1);
        int answer = pthread_barrier_wait(&barrier);
        must(answer == 0 || answer == PTHREAD_BARRIER_SERIAL_THREAD);
        must(atomic_load(&flag) >= round * CHILDREN);
        if (answer)
            number = number + 1;
    }
    return NULL;
}

static void one_in_each_round(void) {
    must(number == 3 && pthread_barrier_destroy(&barrier) == 0);
}

void program_barriers(void) {
    start();
    must(pthread_barrier_init(&barrier, NULL, 0) == EINVAL);
    must(pthread_barrier_init(&barrier, NULL, CHILDREN) == 0);
    raise_family(meet, CHILDREN, one_in_each_round);
}

static void *use_one_of_two(void *who) {
    const struct timespec soon = {0, 0};
    (void)who;
    sem_wait(&semaphore);
    must(atomic_fetch_add(&flag, 1) < 2);
    sched_yield();
    if (sem_timedwait(&semaphore, &soon) == 0)
        sem_post(&semaphore);
    else
        must(errno == ETIMEDOUT);
    atomic_fetch_sub(&flag, 1);
    return (void *)(intptr_t)sem_post(&semaphore);
}

static void two_are_left(void) {
    int value;
    sem_getvalue(&semaphore, &value);
    must(value == 2 && sem_trywait(&semaphore) == 0 && sem_trywait(&semaphore) == 0);
    must(sem_trywait(&semaphore) == -1 && errno == EAGAIN && sem_destroy(&semaphore) == 0);
}

void program_semaphores(void) {
    start();
    sem_init(&semaphore, 0, 2);
    raise_family(use_one_of_two, CHILDREN, two_are_left);
}

/* ---- once, and data of a thread's own ---------------------------------------------------------
 */

static pthread_once_t once;
static pthread_key_t key;
static atomic_int destroyed;

static void destroy(void *value) {
    atomic_fetch_add(&destroyed, (int)(intptr_t)value);
}

static void make_key(void) {
    must(pthread_key_create(&key, destroy) == 0);
    sched_yield();
    atomic_fetch_add(&flag, 1);
}

static void *use_key(void *who) {
    intptr_t mine = 1 + (intptr_t)who;
    pthread_once(&once, make_key);
    must(atomic_load(&flag) == 1 && pthread_getspecific(key) == NULL);
    must(pthread_setspecific(key, (void *)mine) == 0);
    sched_yield();
    must((intptr_t)pthread_getspecific(key) == mine);
    return NULL;
}

static void all_are_destroyed(void) {
    must(atomic_load(&destroyed) == 1 + 2 + 3 && pthread_getspecific(key) == NULL);
    must(pthread_key_delete(key) == 0 && pthread_key_delete(key) == EINVAL);
    must(pthread_setspecific(key, &flag) == EINVAL);
}

void program_once_and_keys(void) {
    start();
    once = PTHREAD_ONCE_INIT;
    atomic_store(&destroyed, 0);
    raise_family(use_key, CHILDREN, all_are_destroyed);
}

/* ---- waiting for a while ----------------------------------------------------------------------
 */

static void *wait_a_while(void *who) {
    struct timespec soon = {0, 1};
    (void)who;
    nanosleep(&soon, NULL);
    clock_nanosleep(CLOCK_MONOTONIC, 0, &soon, NULL);
    usleep(1);
    sleep(1);
    pthread_mutex_lock(&a);
    must(pthread_cond_timedwait(&condition, &a, &soon) == ETIMEDOUT);
    must(pthread_mutex_unlock(&a) == 0);
    pthread_mutex_lock(&b);
    must(pthread_mutex_unlock(&b) == 0);
    return NULL;
}

void program_timed(void) {
    start();
    raise_family(wait_a_while, 2, NULL);
}

/* ---- kinds of mutexes -------------------------------------------------------------------------
 */

static void *enter_often(void *who) {
    pthread_mutexattr_t attributes;
    static pthread_mutex_t again = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP, strict;
    (void)who;
    pthread_mutex_lock(&again);
    must(pthread_mutex_lock(&again) == 0 && pthread_mutex_trylock(&again) == 0);
    number = number + 1;
    for (int i = 0; i < 3; i++)
        must(pthread_mutex_unlock(&again) == 0);
    must(pthread_mutex_unlock(&again) == EPERM);
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_lock(&a);
    pthread_mutex_init(&strict, &attributes);
    must(pthread_mutex_unlock(&strict) == EPERM && pthread_mutex_lock(&strict) == 0);
    must(pthread_mutex_lock(&strict) == EDEADLK && pthread_mutex_trylock(&strict) == EBUSY);
    must(pthread_mutex_timedlock(&a, &(struct timespec){0, 0}) == ETIMEDOUT);
    must(pthread_mutex_unlock(&strict) == 0 && pthread_mutex_destroy(&strict) == 0);
    pthread_mutex_unlock(&a);
    pthread_mutexattr_destroy(&attributes);
    return NULL;
}

void program_kinds_of_mutex(void) {
    start();
    raise_family(enter_often, 2, two_have_counted);
}

/* ---- lives of threads -------------------------------------------------------------------------
 */

static void *leave_early(void *who) {
    pthread_exit(who);
}

static void *look_at_oneself(void *who) {
    pthread_attr_t attributes;
    void *bottom, *result;
    size_t bytes;
    pthread_t self = pthread_self(), child;
    if (who)
        return who;
    must(pthread_join(self, NULL) == EDEADLK && pthread_join(9999, NULL) == ESRCH);
    must(pthread_detach(9999) == ESRCH && pthread_setname_np(self, "name") == 0);
    must(pthread_getattr_np(self, &attributes) == 0);
    pthread_attr_getstack(&attributes, &bottom, &bytes);
    must((char *)&result > (char *)bottom && (char *)&result < (char *)bottom + bytes);
    pthread_attr_destroy(&attributes);
    must(pthread_create(&child, NULL, leave_early, &flag) == 0);
    must(!pthread_equal(child, self) && pthread_join(child, &result) == 0 && result == &flag);
    must(pthread_join(child, NULL) == ESRCH);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    for (int i = 0; i < 200; i++) { /* more than there is room for at once */
        must(pthread_create(&child, &attributes, leave_early, NULL) == 0);
        sched_yield();
        while (pthread_detach(child) != ESRCH)
            sched_yield();
    }
    pthread_attr_destroy(&attributes);
    return NULL;
}

void program_lives(void) {
    start();
    raise_family(look_at_oneself, 2, NULL);
}

/* ---- C11 --------------------------------------------------------------------------------------
 */

static mtx_t mutex;
static cnd_t changed;
static tss_t mine;
static once_flag first = ONCE_FLAG_INIT;

static void make_mine(void) {
    must(tss_create(&mine, destroy) == thrd_success);
}

static int worker(void *argument) {
    struct timespec soon = {0, 1};
    call_once(&first, make_mine);
    must(tss_set(mine, argument) == thrd_success && tss_get(mine) == argument);
    thrd_yield();
    thrd_sleep(&soon, NULL);
    mtx_lock(&mutex);
    int woken = cnd_timedwait(&changed, &mutex, &soon);
    must(woken == thrd_timedout || (woken == thrd_success && atomic_load(&flag)));
    while (!atomic_load(&flag))
        cnd_wait(&changed, &mutex);
    mtx_unlock(&mutex);
    must(!thrd_equal(thrd_current(), 0));
    thrd_exit(40 + (int)(intptr_t)argument);
}

static void *c11_main(void *argument) {
    thrd_t t[2];
    int result;
    struct timespec soon = {0, 1};
    for (intptr_t i = 0; i < 2; i++)
        must(thrd_create(&t[i], worker, (void *)(i + 1)) == thrd_success);
    mtx_lock(&mutex);
    must(mtx_trylock(&mutex) == thrd_success); /* it is recursive */
    must(mtx_timedlock(&mutex, &soon) == thrd_success);
    mtx_unlock(&mutex);
    mtx_unlock(&mutex);
    mtx_unlock(&mutex);
    thrd_yield();
    mtx_lock(&mutex);
    atomic_store(&flag, 1);
    cnd_broadcast(&changed);
    mtx_unlock(&mutex);
    for (int i = 0; i < 2; i++)
        must(thrd_join(t[i], &result) == thrd_success && result == 41 + i);
    must(atomic_load(&destroyed) == 1 + 2);
    tss_delete(mine);
    cnd_destroy(&changed);
    mtx_destroy(&mutex);
    ended = true;
    return argument;
}

void program_c11(void) {
    thrd_t t;
    start();
    first = (once_flag)ONCE_FLAG_INIT;
    atomic_store(&destroyed, 0);
    mtx_init(&mutex, mtx_plain | mtx_recursive);
    cnd_init(&changed);
    must(pthread_create(&t, NULL, c11_main, NULL) == 0);
    must(thrd_detach(t) == thrd_success);
}

/* ---- what the tests do besides ----------------------------------------------------------------
 */

void misuse_unlock(void *context) {
    (void)context;
    start();
    pthread_mutex_unlock(&a);
}

void misuse_destroy(void *context) {
    (void)context;
    start();
    pthread_mutex_lock(&a);
    pthread_mutex_destroy(&a);
}

void misuse_wait(void *context) {
    (void)context;
    start();
    pthread_cond_wait(&condition, &a);
}

void misuse_rwlock(void *context) {
    (void)context;
    start();
    pthread_rwlock_init(&lock, NULL);
    pthread_rwlock_unlock(&lock);
}

void hold_for_ever(void *context) {
    (void)context;
    pthread_mutex_lock(&b);
    pthread_mutex_lock(&a);
    pthread_cond_wait(&condition, &a);
}

void note_own(void *argument) {
    int *result = argument;
    own++;
    errno++;
    sched_yield();
    *result = own * 100 + errno;
}
