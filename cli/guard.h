/* SPDX-License-Identifier: MIT
 *
 * Somebody else's code in a child process that can neither hurt this one nor outlive it (guard.c).
 */
#ifndef ISOHEAP_CLI_GUARD_H
#define ISOHEAP_CLI_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum guard_limit {
    GUARD_NONE,
    GUARD_PROCESSOR, /* its processor time was over */
    GUARD_IDLE,      /* it slept, or had stopped itself, for three times as long */
    GUARD_MEMORY,
    GUARD_PROCESSES
};

enum { GUARD_MEMORY_MIB = 2048, GUARD_PROCESSES_MAX = 128, GUARD_IDLE_FACTOR = 3 };

struct guard_end {
    int status; /* as from waitpid */
    enum guard_limit limit;
};

/* Runs body in a child of a child, which leads a session of its own and gets SIGUSR1 half a second
 * before it is killed at a limit; what it starts ends with it.  seconds: of processor time; three
 * times as long it may be idle.  What it writes to standard error is kept up to *length bytes, and
 * *length set.  False with errno: there is no child. */
bool guard_run(unsigned seconds, void (*body)(void *), void *context, char *said, size_t *length,
               struct guard_end *);

/* "took more than 10 seconds of processor time", as snprintf; "" within the limits. */
int guard_describe(enum guard_limit, unsigned seconds, char *out, size_t capacity);

#endif
