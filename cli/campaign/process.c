/* SPDX-License-Identifier: MIT
 *
 * Child processes that cannot outlive the campaign, nor hurt it (campaign.h).
 *
 * An engine starts processes of its own, and SIGKILL to the campaign would leave them all behind;
 * and what it runs may send signals to its own process group, or to its parent.  Between the
 * campaign and the engine therefore stands a warden, in a process group of its own.  The engine
 * leads a session; whatever it leaves behind becomes the warden's child, who ends it.  The warden
 * is told by the kernel when the campaign dies.  If the subject kills the warden, the kernel kills
 * the engine, and what is left comes to the campaign.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "cli/descendants.h"
#include "cli/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const double LONGEST_LOOK = 0.1;
enum { NOT_STARTED = 127, OUTPUT_KEPT = 64 << 10, GRACE = 8 };
/* To the warden: SEND_ON hands the number with it on to the engine, ABANDONED comes when the
 * campaign has died. */
#define SEND_ON   SIGUSR1
#define ABANDONED SIGUSR2

void take_a_nap(void) {
    static const struct timespec nap = {.tv_nsec = 2000000};
    nanosleep(&nap, NULL);
}

/* ---- the warden and the command ---------------------------------------------------------------
 */

struct start {
    const char *folder; /* to run in; NULL: this one */
    char *const *argv, *const *environment;
    pid_t campaign;
    int output;
    unsigned processor_seconds; /* that it may take; 0: no limit */
};

/* SIGXCPU, and SIGKILL from the kernel a second later. */
static void limit_processor(unsigned seconds) {
    struct rlimit limit = {seconds, seconds + 1};
    if (seconds)
        setrlimit(RLIMIT_CPU, &limit);
}

static _Noreturn void become(const struct start *start, pid_t warden) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    setsid();
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != warden)
        _exit(NOT_STARTED);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        signal(numbers[i], SIG_DFL);
    for (unsigned i = 0; start->environment && start->environment[i]; i++)
        putenv(start->environment[i]);
    limit_processor(start->processor_seconds);
    if (start->folder && chdir(start->folder) != 0)
        fprintf(stderr, "isoheap: cannot run in %s: %s\n", start->folder, strerror(errno));
    else if (execvp(start->argv[0], start->argv) != 0)
        fprintf(stderr, "isoheap: cannot run %s: %s\n", start->argv[0], strerror(errno));
    _exit(NOT_STARTED);
}

static int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static _Noreturn void end_all(int code) {
    end_descendants();
    _exit(code);
}

/* Waits for who has ended, orphans too; true if the engine is among them. */
static bool engine_ended(pid_t engine, int *status) {
    int one;
    pid_t ended;
    bool found = false;
    while ((ended = waitpid(-1, &one, WNOHANG)) > 0)
        if (ended == engine) {
            *status = one;
            found = true;
        }
    return found;
}

/* A subject that forks for ever would take the machine from all that run on it. */
static void limit_processes(pid_t engine, int output) {
    if (proc_descendants(engine, GUARD_PROCESSES_MAX + 1) <= GUARD_PROCESSES_MAX)
        return;
    kill(engine, SIGKILL);
    end_descendants();
    dprintf(output, "isoheap: it has started more than %d processes\n", GUARD_PROCESSES_MAX);
    _exit(PROCESS_KILLED);
}

/* Waits for the engine, and ends with its status.  Signals count only from the campaign. */
static _Noreturn void guard(pid_t engine, pid_t campaign, const sigset_t *awaited, int output) {
    static const struct timespec tick = {.tv_nsec = 100000000};
    int status;
    siginfo_t info;
    for (;;) {
        int number = sigtimedwait(awaited, &info, &tick);
        if (getppid() != campaign)
            end_all(PROCESS_KILLED);
        limit_processes(engine, output);
        if (number == SEND_ON && info.si_pid == campaign && info.si_value.sival_int == SIGKILL)
            end_all(PROCESS_KILLED);
        if (number == SEND_ON && info.si_pid == campaign)
            kill(-engine, info.si_value.sival_int);
        if (number == SIGCHLD && engine_ended(engine, &status))
            end_all(code_of(status));
    }
}

static _Noreturn void run_warden(const struct start *start) {
    sigset_t awaited, all;
    setpgid(0, 0);
    become_subreaper();
    sigemptyset(&awaited);
    sigaddset(&awaited, SEND_ON);
    sigaddset(&awaited, ABANDONED);
    sigaddset(&awaited, SIGCHLD);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    signal(SIGCHLD, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, ABANDONED);
    if (getppid() != start->campaign)
        _exit(NOT_STARTED);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(start->output, STDOUT_FILENO);
    dup2(start->output, STDERR_FILENO);
    pid_t warden = getpid(), engine = fork();
    if (engine == 0)
        become(start, warden);
    if (engine < 0)
        _exit(NOT_STARTED);
    /* the warden's own words go through the pipe, those of what it calls do not */
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    guard(engine, start->campaign, &awaited, start->output);
}

static bool start_within(struct process *p, const char *folder, char *const argv[],
                         char *const environment[], unsigned processor_seconds) {
    int out[2];
    *p = (struct process){.output = -1};
    fflush(NULL);
    become_subreaper();
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    struct start start = {folder, argv, environment, getpid(), out[1], processor_seconds};
    pid_t warden = fork();
    if (warden == 0)
        run_warden(&start);
    int why = errno;
    close(out[1]);
    if (warden < 0) {
        close(out[0]);
        errno = why;
        return false;
    }
    setpgid(warden, warden); /* both do it: whoever comes first */
    note_child(warden);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    p->warden = warden;
    p->output = out[0];
    return true;
}

bool process_start(struct process *p, const char *folder, char *const argv[],
                   char *const environment[]) {
    return start_within(p, folder, argv, environment, 0);
}

/* ---- watching ---------------------------------------------------------------------------------
 */

static void end_line(struct process *p, void (*line)(const char *, void *), void *context) {
    p->line[p->length] = 0;
    memcpy(p->tail[p->lines++ % TAIL_LINES], p->line, p->length + 1);
    if (line)
        line(p->line, context);
    p->length = 0;
}

static void read_lines(struct process *p, void (*line)(const char *, void *), void *context) {
    char buffer[4096];
    ssize_t n;
    while (p->output >= 0 && (n = read(p->output, buffer, sizeof buffer)) > 0)
        for (ssize_t i = 0; i < n; i++) {
            if (buffer[i] == '\n')
                end_line(p, line, context);
            else if (p->length < LINE_SIZE - 1)
                p->line[p->length++] = buffer[i] ? buffer[i] : ' ';
        }
}

/* A warden that was killed could not end what was below it. */
static void forget(struct process *p, int status) {
    forget_child(p->warden);
    p->status = code_of(status);
    p->warden = 0;
    if (WIFSIGNALED(status))
        end_orphans();
    if (p->output >= 0)
        close(p->output);
    p->output = -1;
}

bool process_poll(struct process *p, void (*line)(const char *, void *), void *context) {
    int status;
    if (!p->warden)
        return false;
    kill(p->warden, SIGCONT); /* the subject may have stopped it */
    pid_t ended = waitpid(p->warden, &status, WNOHANG);
    read_lines(p, line, context);
    if (ended != p->warden)
        return true;
    forget(p, status);
    return false;
}

void process_signal(const struct process *p, int number) {
    union sigval value = {.sival_int = number};
    if (p->warden)
        sigqueue(p->warden, SEND_ON, value);
}

void process_kill(struct process *p) {
    int status = 0;
    double end = seconds_now() + GRACE;
    if (!p->warden)
        return;
    process_signal(p, SIGKILL);
    kill(p->warden, SIGCONT);
    while (waitpid(p->warden, &status, WNOHANG) == 0) {
        if (seconds_now() > end)
            kill(p->warden, SIGKILL);
        take_a_nap();
    }
    forget(p, status);
}

/* ---- to the end -------------------------------------------------------------------------------
 */

struct kept {
    char *text;
    size_t length;
};

static void keep_line(const char *line, void *context) {
    struct kept *kept = context;
    size_t length = strlen(line);
    if (kept->length + length + 2 > OUTPUT_KEPT)
        return;
    memcpy(kept->text + kept->length, line, length);
    kept->text[kept->length + length] = '\n';
    kept->length += length + 1;
    kept->text[kept->length] = 0;
}

/* How the command of a process spends its time. */
struct pace {
    double last; /* look, of which there are many a second */
    double idle; /* seconds in which it neither ran nor waited for a processor */
    double used; /* seconds of processor time */
};

/* If we were stopped between two looks, so was it: that is next to no idleness. */
static void look_at(const struct process *p, struct pace *pace) {
    double now = seconds_now(), since = now - pace->last, used;
    pid_t child; /* the command itself, below the warden */
    pace->last = now;
    if (!proc_children(p->warden, 1, &child))
        return;
    used = proc_seconds(child);
    pace->used = used > pace->used ? used : pace->used;
    if (proc_state(child) != 'R')
        pace->idle += since < LONGEST_LOOK ? since : LONGEST_LOOK;
}

/* By SIGXCPU; or, if that was ignored, by the kernel's SIGKILL a second later. */
static bool ended_by_limit(int status, const struct pace *pace, unsigned seconds) {
    return status == 128 + SIGXCPU || (status == 128 + SIGKILL && pace->used >= seconds);
}

enum lateness run_command_within(const char *folder, char *const argv[], char *const environment[],
                                 unsigned seconds, int *status, char **output) {
    static struct process p;
    struct kept kept = {calloc(1, OUTPUT_KEPT), 0};
    struct pace pace = {.last = seconds_now()};
    *output = kept.text;
    *status = NOT_STARTED;
    if (!kept.text || !start_within(&p, folder, argv, environment, seconds))
        return IN_TIME;
    while (process_poll(&p, keep_line, &kept) && pace.idle < seconds * IDLE_FACTOR) {
        look_at(&p, &pace);
        take_a_nap();
    }
    enum lateness late = p.warden ? LATE_IDLE : IN_TIME;
    process_kill(&p);
    *status = p.status;
    if (late == IN_TIME && ended_by_limit(p.status, &pace, seconds))
        late = LATE_PROCESSOR;
    if (p.length)
        keep_line(p.line, &kept);
    return late;
}

int run_command_for(const char *folder, char *const argv[], char *const environment[],
                    double seconds, char **output) {
    static struct process p;
    struct kept kept = {calloc(1, OUTPUT_KEPT), 0};
    double end = seconds_now() + seconds;
    *output = kept.text;
    if (!kept.text || !process_start(&p, folder, argv, environment))
        return NOT_STARTED;
    while (process_poll(&p, keep_line, &kept) && seconds_now() < end)
        take_a_nap();
    if (p.warden) {
        process_kill(&p);
        return -1;
    }
    if (p.length)
        keep_line(p.line, &kept);
    return p.status;
}
