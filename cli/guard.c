/* SPDX-License-Identifier: MIT
 *
 * Somebody else's code in a child process that can neither hurt this one nor outlive it (guard.h).
 *
 * Between the command and the code stands a guardian.  Signals of the code to its process group or
 * to its parent end there; what the code forks comes to the guardian when it is orphaned, and goes
 * with it.  The guardian also watches the limits.  Beside processor time it counts ticks in which
 * the code was idle: that the machine is busy, or that all of us were stopped for a while, is no
 * lateness of the code.
 */
#define _GNU_SOURCE
#include "cli/guard.h"

#include "cli/cli.h"
#include "cli/descendants.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { TICK_MS = 20, TICK_LONGEST_MS = 100, SLICE_MS = 200, GUARD_BYTES = 1 << 20 };
static const double last_words = 0.5; /* seconds between SIGUSR1 and SIGKILL */

struct guarded {
    const struct guard_task *task;
    pid_t command;
    int said, end; /* ends of pipes to write to */
};

/* ---- limits -----------------------------------------------------------------------------------
 */

static size_t memory_mib(pid_t child) {
    char path[64];
    size_t pages = 0;
    snprintf(path, sizeof path, "/proc/%ld/statm", (long)child);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%*u %zu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages / ((1u << 20) / (size_t)sysconf(_SC_PAGESIZE));
}

/* Neither running nor waiting for a processor: it sleeps, or it has been stopped. */
static bool is_idle(pid_t child) {
    return proc_state(child) != 'R';
}

/* Since the pace has changed; seconds. */
struct spent {
    uint64_t pace;
    double before; /* processor time until then */
    double idle;
};

static void begin_anew(const struct guard_task *task, pid_t child, struct spent *spent) {
    uint64_t pace = task->pace ? atomic_load(task->pace) : 0;
    if (pace != spent->pace)
        *spent = (struct spent){.pace = pace, .before = proc_seconds(child)};
}

static enum guard_limit limit_hit(const struct guard_task *task, pid_t child,
                                  const struct spent *spent) {
    if (proc_seconds(child) - spent->before > task->seconds)
        return GUARD_PROCESSOR;
    if (spent->idle > (double)task->seconds * GUARD_IDLE_FACTOR)
        return GUARD_IDLE;
    if (memory_mib(child) > GUARD_MEMORY_MIB)
        return GUARD_MEMORY;
    return proc_children(child, GUARD_PROCESSES_MAX + 1, NULL) > GUARD_PROCESSES_MAX
               ? GUARD_PROCESSES
               : GUARD_NONE;
}

int guard_describe(enum guard_limit limit, unsigned seconds, char *out, size_t capacity) {
    switch (limit) {
    case GUARD_PROCESSOR:
        return snprintf(out, capacity, "took more than %u seconds of processor time", seconds);
    case GUARD_IDLE:
        return snprintf(out, capacity, "slept, or was stopped, for more than %u seconds",
                        seconds * GUARD_IDLE_FACTOR);
    case GUARD_MEMORY:
        return snprintf(out, capacity, "took more than %d MiB of memory", GUARD_MEMORY_MIB);
    case GUARD_PROCESSES:
        return snprintf(out, capacity, "started more than %d processes", GUARD_PROCESSES_MAX);
    case GUARD_NONE:
        break;
    }
    return snprintf(out, capacity, "%s", "");
}

/* ---- the guardian -----------------------------------------------------------------------------
 */

static _Noreturn void run_body(const struct guarded *g, pid_t guardian) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != guardian)
        _exit(1);
    close(g->end);
    dup2(g->said, STDERR_FILENO);
    close(g->said);
    g->task->body(g->task->context);
    fflush(NULL);
    _exit(0);
}

/* True when the child has ended; orphans that have come to us are waited for too. */
static bool has_ended(pid_t child, int *status) {
    int one;
    pid_t ended;
    bool found = false;
    while ((ended = waitpid(-1, &one, WNOHANG)) > 0)
        if (ended == child) {
            *status = one;
            found = true;
        }
    return found;
}

/* Waits for a signal or a tick; returns the time that it took, as far as it counts. */
static double wait_a_tick(const sigset_t *awaited) {
    static const struct timespec tick = {.tv_nsec = TICK_MS * 1000000L};
    double before = seconds_now();
    sigtimedwait(awaited, NULL, &tick);
    double took = seconds_now() - before, most = TICK_LONGEST_MS / 1000.0;
    return took < most ? took : most;
}

static struct guard_end watch_child(const struct guarded *g, pid_t child, const sigset_t *awaited) {
    struct guard_end end = {0, GUARD_NONE};
    struct spent spent = {.pace = 0};
    double told = 0; /* seconds */
    while (!has_ended(child, &end.status)) {
        double tick = wait_a_tick(awaited);
        begin_anew(g->task, child, &spent);
        spent.idle += is_idle(child) ? tick : 0;
        told += end.limit == GUARD_NONE ? 0 : tick;
        if (getppid() != g->command || told > last_words)
            kill(child, SIGKILL);
        if (end.limit == GUARD_NONE &&
            (end.limit = limit_hit(g->task, child, &spent)) != GUARD_NONE)
            kill(child, SIGUSR1); /* it may note where it is */
    }
    return end;
}

static _Noreturn void be_guardian(const struct guarded *g) {
    sigset_t all, awaited;
    setpgid(0, 0);
    become_subreaper();
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGCHLD);
    sigaddset(&awaited, SIGUSR2);
    prctl(PR_SET_PDEATHSIG, SIGUSR2);
    pid_t guardian = getpid(), child = getppid() == g->command ? fork() : -1;
    if (child == 0)
        run_body(g, guardian);
    if (child < 0)
        _exit(1);
    close(g->said);
    struct guard_end end = watch_child(g, child, &awaited);
    end_descendants();
    _exit(write(g->end, &end, sizeof end) != sizeof end);
}

/* ---- the command ------------------------------------------------------------------------------
 */

/* What the command has of a guarded run. */
struct watch {
    pid_t guardian;
    bool gone; /* the code has killed it */
    int said, answer;
};

/* Waits until there is something to read, for a slice of the time.  The code may have killed the
 * guardian, or stopped it. */
static bool wait_for(struct watch *w, int fd) {
    int status;
    struct pollfd p = {.fd = fd, .events = POLLIN};
    bool ready = poll(&p, 1, SLICE_MS) > 0;
    if (ready || w->gone || waitpid(w->guardian, &status, WNOHANG | WUNTRACED) != w->guardian)
        return ready;
    if (WIFSTOPPED(status))
        kill(w->guardian, SIGCONT);
    else
        w->gone = true;
    return false;
}

/* Keeps what comes until all writers are gone. */
static void listen_to(struct watch *w, char *said, size_t *length) {
    char scrap[4096];
    size_t room = *length;
    *length = 0;
    while (!w->gone) {
        if (!wait_for(w, w->said))
            continue;
        bool fits = *length < room;
        ssize_t n = fits ? read(w->said, said + *length, room - *length)
                         : read(w->said, scrap, sizeof scrap);
        if (n == 0 || (n < 0 && errno != EINTR))
            return;
        *length += fits && n > 0 ? (size_t)n : 0;
    }
}

/* The guardian's answer.  Without one the code has killed it, and so itself. */
static struct guard_end answer_of(struct watch *w) {
    struct guard_end end = {SIGKILL, GUARD_NONE};
    bool ready = false;
    while (!ready && !w->gone)
        ready = wait_for(w, w->answer);
    if (!ready || read(w->answer, &end, sizeof end) != sizeof end)
        end = (struct guard_end){SIGKILL, GUARD_NONE};
    while (!w->gone && waitpid(w->guardian, NULL, 0) < 0 && errno == EINTR)
        ;
    forget_child(w->guardian);
    if (!ready)
        end_orphans();
    return end;
}

bool guard_run(const struct guard_task *task, char *said, size_t *length, struct guard_end *end) {
    int words[2], answer[2];
    if (pipe2(words, O_CLOEXEC) != 0)
        return false;
    if (pipe2(answer, O_CLOEXEC) != 0) {
        close(words[0]);
        close(words[1]);
        return false;
    }
    fflush(NULL);
    become_subreaper();
    struct guarded g = {task, getpid(), words[1], answer[1]};
    pid_t guardian = fork();
    if (guardian == 0)
        be_guardian(&g);
    int why = errno;
    close(words[1]);
    close(answer[1]);
    if (guardian > 0) {
        note_child(guardian);
        struct watch w = {.guardian = guardian, .said = words[0], .answer = answer[0]};
        listen_to(&w, said, length);
        *end = answer_of(&w);
    }
    close(words[0]);
    close(answer[0]);
    errno = why;
    return guardian > 0;
}

/* ---- shared memory ----------------------------------------------------------------------------
 */

static size_t whole_pages(size_t size) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (size + page - 1) / page * page;
}

void *guard_share(size_t size) {
    size_t bytes = whole_pages(size);
    char *map = mmap(NULL, bytes + 2 * GUARD_BYTES, PROT_NONE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (mprotect(map + GUARD_BYTES, bytes, PROT_READ | PROT_WRITE) == 0)
        return map + GUARD_BYTES;
    munmap(map, bytes + 2 * GUARD_BYTES);
    return NULL;
}

void guard_unshare(void *memory, size_t size) {
    if (memory)
        munmap((char *)memory - GUARD_BYTES, whole_pages(size) + 2 * GUARD_BYTES);
}
