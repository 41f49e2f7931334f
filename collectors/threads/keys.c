/* SPDX-License-Identifier: MIT
 *
 * Data of a thread's own by keys: pthread_key_create and what belongs to it.
 */
#define _GNU_SOURCE /* PTHREAD_DESTRUCTOR_ITERATIONS */
#include "collectors/threads/rename.h"

#include "collectors/threads/fibers.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

static struct {
    bool used;
    void (*destructor)(void *);
} keys[THREADS_KEYS];
static void *values_outside[THREADS_KEYS];

void keys_reset(void) {
    for (unsigned k = 0; k < THREADS_KEYS; k++) {
        keys[k].used = false;
        values_outside[k] = NULL;
    }
}

static bool destroy_round(struct fiber *f) {
    bool any = false;
    for (unsigned k = 0; k < THREADS_KEYS; k++) {
        void *value = f->keys[k];
        if (!value || !keys[k].used || !keys[k].destructor)
            continue;
        f->keys[k] = NULL;
        keys[k].destructor(value);
        any = true;
    }
    return any;
}

/* A destructor may set what another, or itself, has to destroy. */
void keys_destroy(struct fiber *f) {
    for (unsigned round = 0; round < PTHREAD_DESTRUCTOR_ITERATIONS && destroy_round(f); round++)
        continue;
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *)) {
    for (unsigned k = 0; k < THREADS_KEYS; k++)
        if (!keys[k].used) {
            keys[k].used = true;
            keys[k].destructor = destructor;
            *key = k;
            return 0;
        }
    return EAGAIN;
}

static void **values(void) {
    struct fiber *self = fiber_self();
    return self ? self->keys : values_outside;
}

/* What threads have set is not destroyed, but must not be there for the next key of that number. */
int pthread_key_delete(pthread_key_t key) {
    if (key >= THREADS_KEYS || !keys[key].used)
        return EINVAL;
    keys[key].used = false;
    values_outside[key] = NULL;
    fibers_forget_key(key);
    return 0;
}

void *pthread_getspecific(pthread_key_t key) {
    return key < THREADS_KEYS ? values()[key] : NULL;
}

int pthread_setspecific(pthread_key_t key, const void *value) {
    if (key >= THREADS_KEYS || !keys[key].used)
        return EINVAL;
    values()[key] = (void *)(uintptr_t)value;
    return 0;
}
