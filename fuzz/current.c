/* SPDX-License-Identifier: MIT
 *
 * The input that runs now, in a file that outlives the process (current.h).
 */
#define _DEFAULT_SOURCE /* SA_ONSTACK */
#include "fuzz/current.h"

#include "harness/current_input.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

static struct current_input *current; /* NULL: nobody asks for it */
static pid_t owner;                   /* a subject may fork */

/* Whoever has lost its parent gets another one, and a subject that kills its parent would go on
 * with that. */
static void end_with_parent(void) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
}

/* Without room for all of it there is none: a write into a hole would be a crash. */
void *current_map(const char *path, int flags, size_t size) {
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | flags, 0666);
    if (file < 0)
        return NULL;
    void *map = MAP_FAILED;
    if (posix_fallocate(file, 0, (off_t)size) == 0)
        map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    return map == MAP_FAILED ? NULL : map;
}

static bool is_open(void) {
    static bool tried;
    if (tried)
        return current && owner == getpid();
    tried = true;
    const char *folder = getenv(CURRENT_VARIABLE);
    char path[4096];
    owner = getpid();
    if (!folder || !folder[0] ||
        snprintf(path, sizeof path, "%s/%ld", folder, (long)owner) >= (int)sizeof path)
        return false;
    end_with_parent();
    current = current_map(path, O_TRUNC, sizeof *current);
    if (current)
        current->magic = CURRENT_MAGIC;
    else
        unlink(path);
    return current;
}

/* ---- a crash of the mutator ---- */

static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
enum { CRASHES = sizeof crashes / sizeof *crashes };
static struct sigaction engines[CRASHES]; /* what the engine does at such a signal */

/* A process that is killed while it mutates says nothing; one that crashes there says so. */
static void note_crash(int number, siginfo_t *info, void *context) {
    if (current && owner == getpid() && current->state == CURRENT_MUTATING)
        current_say("a signal of a crash while it mutated an input\n");
    for (unsigned i = 0; i < CRASHES; i++) {
        const struct sigaction *engine = &engines[i];
        if (crashes[i] != number)
            continue;
        sigaction(number, engine, NULL);
        if (engine->sa_flags & SA_SIGINFO)
            engine->sa_sigaction(number, info, context);
        else if (engine->sa_handler == SIG_DFL)
            raise(number);
        else if (engine->sa_handler != SIG_IGN)
            engine->sa_handler(number);
    }
}

static void watch_crashes(void) {
    static bool watched;
    struct sigaction ours = {.sa_sigaction = note_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    for (unsigned i = 0; !watched && i < CRASHES; i++)
        sigaction(crashes[i], &ours, &engines[i]);
    watched = true;
}

static void keep(const uint8_t *data, size_t size) {
    current->state = CURRENT_IDLE;
    current->said_size = 0;
    current->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    if (size)
        memcpy(current->input, data, size < CURRENT_INPUT ? size : CURRENT_INPUT);
}

void current_begin(const uint8_t *data, size_t size) {
    if (!is_open())
        return;
    keep(data, size);
    current->runs++;
    current->state = CURRENT_RUNNING;
}

void current_mutate(const uint8_t *data, size_t size, unsigned seed) {
    if (!is_open())
        return;
    watch_crashes();
    keep(data, size);
    current->seed = seed;
    current->state = CURRENT_MUTATING;
}

void current_end(void) {
    if (current)
        current->state = CURRENT_IDLE;
}

void current_violated(unsigned number) {
    if (current)
        current->violations = number;
}

void current_judged(const uint64_t *counts) {
    for (unsigned o = 0; current && o < ORACLE_COUNT; o++)
        current->judged[o] += counts[o];
}

void current_not_run(const char *why) {
    if (current && current->not_run++ == 0)
        snprintf(current->why_not, sizeof current->why_not, "%s", why);
}

void current_say(const char *text) {
    if (!is_open())
        return;
    size_t room = CURRENT_SAID - current->said_size, length = strlen(text);
    memcpy(current->said + current->said_size, text, length < room ? length : room);
    current->said_size += (uint32_t)(length < room ? length : room);
}
