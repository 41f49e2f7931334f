/* SPDX-License-Identifier: MIT
 *
 * Child processes that cannot outlive the campaign (campaign.h).
 *
 * An engine starts processes of its own, and SIGKILL to the campaign would leave them all behind.
 * Between the campaign and the engine therefore stands a warden.  It leads a process group, waits
 * for the engine, and is told by the kernel when the campaign dies; then it kills the group.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_STARTED = 127, OUTPUT_KEPT = 64 << 10 };

void take_a_nap(void) {
    static const struct timespec nap = {.tv_nsec = 2000000};
    nanosleep(&nap, NULL);
}

/* ---- the warden and the command ---------------------------------------------------------------
 */

static _Noreturn void become(char *const argv[], char *const environment[]) {
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    for (unsigned i = 0; environment && environment[i]; i++)
        putenv(environment[i]);
    execvp(argv[0], argv);
    fprintf(stderr, "isoheap: cannot run %s: %s\n", argv[0], strerror(errno));
    _exit(NOT_STARTED);
}

static int code_of(int status) {
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Waits for the engine, and ends with its status; SIGUSR1 says that the campaign is gone. */
static _Noreturn void guard(pid_t engine, const sigset_t *awaited) {
    int status;
    for (;;) {
        int number = sigwaitinfo(awaited, NULL);
        if (number == SIGUSR1)
            kill(0, SIGKILL);
        if (number == SIGCHLD && waitpid(engine, &status, WNOHANG) == engine)
            _exit(code_of(status));
    }
}

static _Noreturn void run_warden(pid_t campaign, int output, char *const argv[],
                                 char *const environment[]) {
    sigset_t awaited;
    setpgid(0, 0);
    sigemptyset(&awaited);
    sigaddset(&awaited, SIGUSR1);
    sigaddset(&awaited, SIGCHLD);
    sigprocmask(SIG_SETMASK, &awaited, NULL);
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    if (getppid() != campaign)
        _exit(NOT_STARTED);
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(null, STDIN_FILENO);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    pid_t engine = fork();
    if (engine == 0)
        become(argv, environment);
    if (engine < 0)
        _exit(NOT_STARTED);
    /* an engine that keeps the pipe open must be the only one that does */
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(output);
    guard(engine, &awaited);
}

bool process_start(struct process *p, char *const argv[], char *const environment[]) {
    int out[2];
    pid_t campaign = getpid();
    *p = (struct process){.output = -1};
    fflush(NULL);
    if (pipe2(out, O_CLOEXEC) != 0)
        return false;
    pid_t warden = fork();
    if (warden == 0)
        run_warden(campaign, out[1], argv, environment);
    int why = errno;
    close(out[1]);
    if (warden < 0) {
        close(out[0]);
        errno = why;
        return false;
    }
    setpgid(warden, warden); /* both do it: whoever comes first */
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    p->warden = warden;
    p->output = out[0];
    return true;
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

static void forget(struct process *p) {
    kill(-p->warden, SIGKILL); /* whoever the engine left */
    p->warden = 0;
    if (p->output >= 0)
        close(p->output);
    p->output = -1;
}

bool process_poll(struct process *p, void (*line)(const char *, void *), void *context) {
    int status;
    if (!p->warden)
        return false;
    pid_t ended = waitpid(p->warden, &status, WNOHANG);
    read_lines(p, line, context);
    if (ended != p->warden)
        return true;
    p->status = code_of(status);
    forget(p);
    return false;
}

/* The warden ignores what asks an engine to end. */
void process_signal(const struct process *p, int number) {
    if (p->warden)
        kill(-p->warden, number);
}

void process_kill(struct process *p) {
    if (!p->warden)
        return;
    kill(-p->warden, SIGKILL);
    while (waitpid(p->warden, &p->status, 0) < 0 && errno == EINTR)
        ;
    p->status = code_of(p->status);
    forget(p);
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

int run_command_for(char *const argv[], char *const environment[], double seconds, char **output) {
    static struct process p;
    struct kept kept = {calloc(1, OUTPUT_KEPT), 0};
    double end = seconds_now() + seconds;
    *output = kept.text;
    if (!kept.text || !process_start(&p, argv, environment))
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
