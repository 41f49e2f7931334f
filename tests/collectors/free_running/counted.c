/* SPDX-License-Identifier: MIT
 *
 * Whatever is to be told of its death is told of it once, by whichever domain (player.h).
 */
#include "tests/collectors/free_running/player.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 1 << 20 };
static _Atomic uint8_t ran[MOST];
static _Atomic uint64_t asked, done;

uint64_t counted_new(void) {
    uint64_t n = atomic_fetch_add_explicit(&asked, 1, memory_order_relaxed);
    if (n >= MOST) {
        fprintf(stderr, "free-running: more than %d finalisers\n", MOST);
        exit(4);
    }
    return n;
}

void counted_ran(struct gc_hooks *hooks, uint64_t number) {
    (void)hooks;
    if (number >= MOST || atomic_exchange_explicit(&ran[number], 1, memory_order_relaxed)) {
        fprintf(stderr, "free-running: finaliser %llu runs twice\n", (unsigned long long)number);
        abort();
    }
    atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
}

uint64_t counted_waiting(void) {
    return atomic_load(&asked) - atomic_load(&done);
}

void counted_reset(void) {
    for (uint64_t n = 0; n < atomic_load(&asked); n++)
        atomic_store_explicit(&ran[n], 0, memory_order_relaxed);
    atomic_store(&asked, 0);
    atomic_store(&done, 0);
}
