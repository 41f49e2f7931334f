/* SPDX-License-Identifier: MIT
 *
 * Somebody else's code in a child process that can neither hurt this one nor outlive it (guard.c).
 */
#ifndef ISOHEAP_CLI_GUARD_H
#define ISOHEAP_CLI_GUARD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

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

struct guard_task {
    unsigned seconds; /* of processor time; three times as long it may be idle */
    unsigned mib;     /* of memory; 0: GUARD_MEMORY_MIB */
    void (*body)(void *);
    void *context;
    /* NULL, or a number in shared memory: whenever it has changed, the time begins anew. */
    const _Atomic uint64_t *pace;
    bool forks; /* the child does nothing itself: its own first child does, one after another */
};

/* Runs the body in a child of a child, which leads a session of its own and gets SIGUSR1 half a
 * second before it is killed at a limit; what it starts ends with it.  What it writes to standard
 * error is kept up to *length bytes, and *length set.  False with errno: there is no child. */
bool guard_run(const struct guard_task *, char *said, size_t *length, struct guard_end *);

/* The same in steps, for a child that answers in between.  What it writes to standard error is kept
 * in `said`, of which `length` bytes are there. */
struct guard_child {
    char *said;
    size_t room, length;
    /* private */
    pid_t guardian;
    int from, answer;
    bool gone;   /* the code has killed the guardian */
    bool silent; /* nobody writes any more */
};
bool guard_begin(const struct guard_task *, char *said, size_t room, struct guard_child *);
/* Waits until something can be read from fd; false: the child has ended. */
bool guard_wait(struct guard_child *, int fd);
/* Keeps what it has written so far. */
void guard_listen(struct guard_child *);
/* Waits for the end of the child, and frees what was begun. */
struct guard_end guard_finish(struct guard_child *);

/* Zeroed memory that is shared with children, between guards that nobody can access: who runs out
 * of his own does not get there.  NULL with errno if the system refuses. */
void *guard_share(size_t size);
void guard_unshare(void *, size_t size); /* NULL is fine */

/* "took more than 10 seconds of processor time", as snprintf; "" within the limits.  mib: as in the
 * task. */
int guard_describe(enum guard_limit, unsigned seconds, unsigned mib, char *out, size_t capacity);

#endif
