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

struct file {
    pid_t process; /* while it runs */
    bool ended, whole;
    int written[STREAMS]; /* files without a name, until they have been printed; -1 */
};

struct pool {
    const struct beside *b;
    const struct paths *paths;
    struct file *files;
    char *results; /* shared */
    size_t started, printed, ended;
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
    if (p->terminal)
        fprintf(stderr, "\r\033[K%zu of %zu files", p->ended, p->paths->n);
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

/* All that is done up to the first file that is not. */
static void print_ended(struct pool *p) {
    if (p->printed == p->paths->n || !p->files[p->printed].ended)
        return;
    hide_progress(p);
    for (; p->printed < p->paths->n && p->files[p->printed].ended; p->printed++) {
        struct file *f = &p->files[p->printed];
        copy(f->written[OUT], stdout);
        copy(f->written[ERR], stderr);
        for (unsigned s = 0; s < STREAMS; s++)
            close(f->written[s]);
        p->b->done(p->paths->names[p->printed], p->b->context,
                   f->whole ? p->results + p->printed * p->b->result_size : NULL);
        fflush(stdout);
    }
}

/* ---- processes --------------------------------------------------------------------------------
 */

static _Noreturn void work(const struct pool *p, size_t n, pid_t parent) {
    const struct file *f = &p->files[n];
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it has died already */
        _exit(EXIT_HARNESS);
    dup2(f->written[OUT], STDOUT_FILENO);
    dup2(f->written[ERR], STDERR_FILENO);
    p->b->work(p->paths->names[n], p->b->context, p->results + n * p->b->result_size);
    fflush(NULL);
    _exit(0);
}

static bool start(struct pool *p) {
    struct file *f = &p->files[p->started];
    pid_t parent = getpid();
    for (unsigned s = 0; s < STREAMS; s++)
        if ((f->written[s] = memfd_create("isoheap", MFD_CLOEXEC)) < 0)
            return false;
    fflush(NULL);
    f->process = fork();
    if (f->process == 0)
        work(p, p->started, parent);
    if (f->process < 0)
        return false;
    p->started++;
    p->running++;
    return true;
}

static bool await(struct pool *p) {
    int status;
    pid_t process;
    while ((process = waitpid(-1, &status, 0)) < 0 && errno == EINTR)
        ;
    if (process < 0)
        return false;
    for (size_t i = p->printed; i < p->started; i++) {
        struct file *f = &p->files[i];
        if (f->ended || f->process != process)
            continue;
        f->ended = true;
        f->whole = WIFEXITED(status) && WEXITSTATUS(status) == 0;
        p->running--;
        p->ended++;
    }
    return true;
}

/* Files wait for those before them, with two descriptors each. */
static bool may_start(const struct pool *p) {
    return p->started < p->paths->n && p->running < p->b->jobs &&
           p->started - p->printed < BESIDE_MOST + 64;
}

static bool work_on_all(struct pool *p) {
    while (p->printed < p->paths->n) {
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

bool work_beside(const struct beside *b, const struct paths *paths) {
    struct pool p = {.b = b, .paths = paths, .terminal = isatty(STDERR_FILENO)};
    size_t size = paths->n * b->result_size + 1;
    p.files = calloc(paths->n + 1, sizeof *p.files);
    p.results = guard_share(size);
    bool good = p.files && p.results && work_on_all(&p);
    hide_progress(&p);
    if (!good)
        fprintf(stderr, "isoheap: no processes side by side: %s; try fewer --jobs\n",
                strerror(errno));
    for (size_t i = p.printed; p.files && i < p.started; i++)
        if (!p.files[i].ended)
            kill(p.files[i].process, SIGKILL);
    guard_unshare(p.results, size);
    free(p.files);
    return good;
}
