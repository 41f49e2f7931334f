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

/* Whose time and memory count. */
static pid_t worker_of(const struct guard_task *task, pid_t child) {
    pid_t first = 0;
    return task->forks && proc_children(child, 1, &first) && first > 0 ? first : child;
}

/* Since the pace has changed, or another one works; seconds. */
struct spent {
    uint64_t pace;
    pid_t worker;
    double before; /* processor time until then */
    double idle;
};

static void begin_anew(const struct guard_task *task, pid_t child, struct spent *spent) {
    uint64_t pace = task->pace ? atomic_load(task->pace) : 0;
    if (pace != spent->pace || child != spent->worker)
        *spent = (struct spent){pace, child, .before = proc_seconds(child)};
}

static enum guard_limit limit_hit(const struct guard_task *task, pid_t child,
                                  const struct spent *spent) {
    if (proc_seconds(child) - spent->before > task->seconds)
        return GUARD_PROCESSOR;
    if (spent->idle > (double)task->seconds * GUARD_IDLE_FACTOR)
        return GUARD_IDLE;
    if (memory_mib(child) > (task->mib ? task->mib : GUARD_MEMORY_MIB))
        return GUARD_MEMORY;
    return proc_children(child, GUARD_PROCESSES_MAX + 1, NULL) > GUARD_PROCESSES_MAX
               ? GUARD_PROCESSES
               : GUARD_NONE;
}

int guard_describe(enum guard_limit limit, unsigned seconds, unsigned mib, char *out,
                   size_t capacity) {
    switch (limit) {
    case GUARD_PROCESSOR:
        return snprintf(out, capacity, "took more than %u seconds of processor time", seconds);
    case GUARD_IDLE:
        return snprintf(out, capacity, "slept, or was stopped, for more than %u seconds",
                        seconds * GUARD_IDLE_FACTOR);
    case GUARD_MEMORY:
        return snprintf(out, capacity, "took more than %u MiB of memory",
                        mib ? mib : (unsigned)GUARD_MEMORY_MIB);
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
    struct spent spent = {.pace = 0, .worker = child};
    double told = 0; /* seconds */
    while (!has_ended(child, &end.status)) {
        double tick = wait_a_tick(awaited);
        pid_t worker = worker_of(g->task, child);
        begin_anew(g->task, worker, &spent);
        spent.idle += is_idle(worker) ? tick : 0;
        told += end.limit == GUARD_NONE ? 0 : tick;
        if (getppid() != g->command || told > last_words)
            kill(child, SIGKILL);
        if (end.limit == GUARD_NONE &&
            (end.limit = limit_hit(g->task, worker, &spent)) != GUARD_NONE)
            kill(worker, SIGUSR1); /* it may note where it is */
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

/* The code may have killed the guardian, or stopped it. */
static void look_after(struct guard_child *run) {
    int status;
    if (run->gone || waitpid(run->guardian, &status, WNOHANG | WUNTRACED) != run->guardian)
        return;
    if (WIFSTOPPED(status))
        kill(run->guardian, SIGCONT);
    else
        run->gone = true;
}

/* Keeps what has come; false: nothing has. */
static bool listen_once(struct guard_child *run) {
    char scrap[4096];
    bool fits = run->length < run->room;
    ssize_t n = fits ? read(run->from, run->said + run->length, run->room - run->length)
                     : read(run->from, scrap, sizeof scrap);
    if (n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN))
        run->silent = true; /* all writers are gone */
    run->length += fits && n > 0 ? (size_t)n : 0;
    return n > 0;
}

/* Waits for a slice of the time until something can be read, and listens; fd: from there too, or
 * -1. */
static void wait_a_slice(struct guard_child *run, int fd, bool *ready, bool *answered) {
    struct pollfd p[] = {{.fd = run->silent ? -1 : run->from, .events = POLLIN},
                         {.fd = run->answer, .events = POLLIN},
                         {.fd = fd, .events = POLLIN}};
    *ready = *answered = false;
    if (poll(p, 3, SLICE_MS) <= 0) {
        look_after(run);
        return;
    }
    if (p[0].revents)
        listen_once(run);
    *answered = (p[1].revents & POLLIN) != 0;
    *ready = p[2].revents != 0;
    if (!*answered && p[1].revents)
        look_after(run);
}

bool guard_begin(const struct guard_task *task, char *said, size_t room, struct guard_child *run) {
    int words[2], answer[2];
    *run = (struct guard_child){.said = said, .room = room};
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
    run->guardian = fork();
    if (run->guardian == 0)
        be_guardian(&g);
    int why = errno;
    close(words[1]);
    close(answer[1]);
    fcntl(words[0], F_SETFL, O_NONBLOCK);
    run->from = words[0];
    run->answer = answer[0];
    if (run->guardian > 0) {
        note_child(run->guardian);
        return true;
    }
    close(words[0]);
    close(answer[0]);
    errno = why;
    return false;
}

void guard_listen(struct guard_child *run) {
    while (!run->silent && listen_once(run))
        ;
}

bool guard_wait(struct guard_child *run, int fd) {
    bool ready = false, ended = false;
    while (!ready && !ended && !run->gone)
        wait_a_slice(run, fd, &ready, &ended);
    return ready;
}

/* Without an answer the code has killed the guardian, and so itself. */
struct guard_end guard_finish(struct guard_child *run) {
    struct guard_end end = {SIGKILL, GUARD_NONE};
    bool ready, answered = false;
    while (!answered && !run->gone)
        wait_a_slice(run, -1, &ready, &answered);
    guard_listen(run);
    if (!answered || read(run->answer, &end, sizeof end) != sizeof end)
        end = (struct guard_end){SIGKILL, GUARD_NONE};
    while (!run->gone && waitpid(run->guardian, NULL, 0) < 0 && errno == EINTR)
        ;
    forget_child(run->guardian);
    if (!answered)
        end_orphans();
    close(run->from);
    close(run->answer);
    return end;
}

bool guard_run(const struct guard_task *task, char *said, size_t *length, struct guard_end *end) {
    struct guard_child run;
    if (!guard_begin(task, said, *length, &run))
        return false;
    *end = guard_finish(&run);
    *length = run.length;
    return true;
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
