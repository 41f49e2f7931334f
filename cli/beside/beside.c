/* SPDX-License-Identifier: MIT
 *
 * The same work on many files, in processes side by side (beside.h).
 *
 * A process writes into files without a name; what is in them is printed when all files before it
 * are done, so that the order is always the same.
 */
#define _GNU_SOURCE
#include "cli/beside/beside.h"

#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OUT, ERR, STREAMS };
enum { SHARES = 4, SHARE_MOST = 16 }; /* shares that a process gets, as a rule; files of a share */

/* Files that one process works on: what it has started for the first serves the others. */
struct share {
    pid_t process; /* while it runs */
    bool ended;
    int written[STREAMS]; /* files without a name, until they have been printed */
};

struct pool {
    const struct beside *b;
    const struct paths *paths;
    size_t n_shares, length; /* files of each share; the last may have fewer */
    struct share *shares;
    char *results, *whole;   /* shared memory, for each file; whole: it has come to its end */
    size_t started, printed; /* shares */
    unsigned running;
    bool terminal;
};

/* ---- files ------------------------------------------------------------------------------------
 */

void paths_add(const char *path, void *context) {
    struct paths *p = context;
    if (p->n == p->capacity) {
        p->capacity = p->capacity ? 2 * p->capacity : 64;
        p->names = realloc(p->names, p->capacity * sizeof *p->names);
    }
    char *copy = p->names ? strdup(path) : NULL;
    if (!copy) {
        fprintf(stderr, "isoheap: no memory for the names of files\n");
        exit(EXIT_HARNESS);
    }
    p->names[p->n++] = copy;
}

void paths_free(struct paths *p) {
    for (size_t i = 0; i < p->n; i++)
        free(p->names[i]);
    free(p->names);
    *p = (struct paths){.names = NULL};
}

/* ---- what a person sees -----------------------------------------------------------------------
 */

static void show_progress(const struct pool *p) {
    size_t n = 0;
    for (size_t i = 0; p->terminal && i < p->paths->n; i++)
        n += p->whole[i] != 0;
    if (p->terminal)
        fprintf(stderr, "\r\033[K%zu of %zu files", n, p->paths->n);
}

static void hide_progress(const struct pool *p) {
    if (p->terminal)
        fprintf(stderr, "\r\033[K");
}

static void copy(int from, FILE *to) {
    char buffer[1 << 14];
    ssize_t n;
    for (off_t at = 0; (n = pread(from, buffer, sizeof buffer, at)) > 0; at += n)
        fwrite(buffer, 1, (size_t)n, to);
    fflush(to);
}

static void finish_share(const struct pool *p, size_t share) {
    size_t first = share * p->length, end = first + p->length;
    for (size_t i = first; i < end && i < p->paths->n; i++)
        p->b->done(p->paths->names[i], p->b->context,
                   p->whole[i] ? p->results + i * p->b->result_size : NULL);
}

/* All that is done up to the first share that is not. */
static void print_ended(struct pool *p) {
    if (p->printed == p->n_shares || !p->shares[p->printed].ended)
        return;
    hide_progress(p);
    for (; p->printed < p->n_shares && p->shares[p->printed].ended; p->printed++) {
        struct share *s = &p->shares[p->printed];
        copy(s->written[OUT], stdout);
        copy(s->written[ERR], stderr);
        for (unsigned i = 0; i < STREAMS; i++)
            close(s->written[i]);
        finish_share(p, p->printed);
        fflush(stdout);
    }
}

/* ---- processes --------------------------------------------------------------------------------
 */

/* Ends as others do: what it has started is ended then. */
static _Noreturn void work(const struct pool *p, size_t share, pid_t parent) {
    size_t first = share * p->length, end = first + p->length;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it has died already */
        _exit(EXIT_HARNESS);
    dup2(p->shares[share].written[OUT], STDOUT_FILENO);
    dup2(p->shares[share].written[ERR], STDERR_FILENO);
    for (size_t i = first; i < end && i < p->paths->n; i++) {
        p->b->work(p->paths->names[i], p->b->context, p->results + i * p->b->result_size);
        p->whole[i] = 1;
    }
    exit(0);
}

static bool start(struct pool *p) {
    struct share *s = &p->shares[p->started];
    pid_t parent = getpid();
    for (unsigned i = 0; i < STREAMS; i++)
        if ((s->written[i] = memfd_create("isoheap", MFD_CLOEXEC)) < 0)
            return false;
    fflush(NULL);
    s->process = fork();
    if (s->process == 0)
        work(p, p->started, parent);
    if (s->process < 0)
        return false;
    p->started++;
    p->running++;
    return true;
}

static bool await(struct pool *p) {
    pid_t process;
    while ((process = waitpid(-1, NULL, 0)) < 0 && errno == EINTR)
        ;
    if (process < 0)
        return false;
    for (size_t i = p->printed; i < p->started; i++) {
        struct share *s = &p->shares[i];
        if (s->ended || s->process != process)
            continue;
        s->ended = true;
        p->running--;
    }
    return true;
}

/* Shares wait for those before them, with two descriptors each. */
static bool may_start(const struct pool *p) {
    return p->started < p->n_shares && p->running < p->b->jobs &&
           p->started - p->printed < BESIDE_MOST + 64;
}

static bool work_on_all(struct pool *p) {
    while (p->printed < p->n_shares) {
        while (may_start(p))
            if (!start(p))
                return false;
        show_progress(p);
        if (!await(p))
            return false;
        print_ended(p);
    }
    return true;
}

static bool open_pool(struct pool *p) {
    size_t n = p->paths->n, length = n / ((size_t)p->b->jobs * SHARES);
    p->length = length < 1 ? 1 : length > SHARE_MOST ? SHARE_MOST : length;
    p->n_shares = (n + p->length - 1) / p->length;
    p->shares = calloc(p->n_shares + 1, sizeof *p->shares);
    p->results = guard_share(n * p->b->result_size + 1);
    p->whole = guard_share(n + 1);
    return p->shares && p->results && p->whole;
}

static void close_pool(struct pool *p) {
    for (size_t i = p->printed; p->shares && i < p->started; i++)
        if (!p->shares[i].ended)
            kill(p->shares[i].process, SIGKILL);
    guard_unshare(p->results, p->paths->n * p->b->result_size + 1);
    guard_unshare(p->whole, p->paths->n + 1);
    free(p->shares);
}

bool work_beside(const struct beside *b, const struct paths *paths) {
    struct pool p = {.b = b, .paths = paths, .terminal = isatty(STDERR_FILENO)};
    bool good = open_pool(&p) && work_on_all(&p);
    if (!good)
        fprintf(stderr, "isoheap: no processes side by side: %s; try fewer --jobs\n",
                strerror(errno));
    else
        hide_progress(&p);
    close_pool(&p);
    return good;
}
