/* SPDX-License-Identifier: MIT
 *
 * A run in a child process, which may crash or hang (cli.h).
 *
 * Parent and child share one page in which the child notes where it is before every operation, and
 * the verdict at the end; the report comes through a pipe, what the child says on stderr through
 * another.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "program/text.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_SIZE = 1 << 20, STDERR_KEPT = 64 << 10 };

struct shared {
    bool finished;
    struct verdict verdict;
    size_t report_length;
    char report[REPORT_SIZE];
};

struct watch {
    struct shared *shared;
    const struct job *job;
};

static void watch(void *context, struct runner *runner, unsigned op, bool before) {
    struct watch *w = context;
    if (before) {
        w->shared->verdict.op = op;
        runner_operation(runner, op, w->shared->verdict.operation, VERDICT_TEXT);
    }
    if (w->job->observe)
        w->job->observe(w->job->context, runner, op, before);
}

static void run(const struct job *job, const struct program *p, struct shared *shared) {
    struct watch w = {shared, job};
    struct runner_options options = {.subject = job->subject,
                                     .reference = job->reference,
                                     .oracles = job->oracles,
                                     .digest = true,
                                     .observe = watch,
                                     .context = &w};
    struct verdict verdict;
    struct runner *runner = runner_open(&options);
    if (!runner) {
        shared->verdict.harness_error = shared->finished = true;
        snprintf(shared->verdict.detail, VERDICT_TEXT, "no memory for the collectors' arenas");
        return;
    }
    runner_run(runner, p, &verdict);
    if (verdict.violation && job->observe) /* the state in which the operation left the heaps */
        job->observe(job->context, runner, verdict.op, false);
    if (verdict.violation || verdict.harness_error)
        runner_report(runner, &verdict, p, shared->report, REPORT_SIZE);
    shared->verdict = verdict;
    shared->finished = true;
    runner_close(runner);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Keeps what the child writes to stderr until it ends; true if the time ran out. */
static bool collect(int fd, pid_t child, unsigned seconds, char *kept, size_t *length) {
    double end = now() + seconds;
    char scrap[4096];
    for (;;) {
        double left = end - now();
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (left <= 0) {
            kill(child, SIGKILL);
            return true;
        }
        if (poll(&p, 1, (int)(left * 1000) + 1) <= 0)
            continue;
        bool room = *length < STDERR_KEPT;
        ssize_t n =
            room ? read(fd, kept + *length, STDERR_KEPT - *length) : read(fd, scrap, sizeof scrap);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        *length += room ? (size_t)n : 0;
    }
}

/* What is known of a run that did not come to its end. */
static void report_death(const struct job *job, const struct program *p, struct shared *shared,
                         bool late, int status, const char *said, size_t said_length) {
    struct verdict *v = &shared->verdict;
    v->violation = late ? VIOLATION_no_progress : VIOLATION_sanitizer;
    v->guilty = PARTY_SUBJECT;
    if (late)
        snprintf(v->detail, VERDICT_TEXT, "the run took more than %u seconds", job->seconds);
    else if (WIFSIGNALED(status))
        snprintf(v->detail, VERDICT_TEXT, "the collector crashed: %s", strsignal(WTERMSIG(status)));
    else
        snprintf(v->detail, VERDICT_TEXT, "the collector ended the process with status %d",
                 WEXITSTATUS(status));
    int n = snprintf(shared->report, REPORT_SIZE,
                     "isoheap: violation %s\n  meaning    %s\n  guilty     subject (%s)\n"
                     "  operation  %s%.*u%s%s\n  detail     %s\n",
                     violation_name(v->violation), violation_meaning(v->violation),
                     job->subject->name, "", v->op < p->n_ops ? 1 : 0, v->op < p->n_ops ? v->op : 0,
                     v->op < p->n_ops ? ": " : "", v->operation, v->detail);
    size_t at = (size_t)n;
    if (said_length)
        at += (size_t)snprintf(shared->report + at, REPORT_SIZE - at, "\nthe process said\n%.*s",
                               (int)said_length, said);
    at += (size_t)snprintf(shared->report + at, REPORT_SIZE - at, "\nprogram\n");
    at += program_print(p, shared->report + at, REPORT_SIZE - at);
    snprintf(shared->report + at, REPORT_SIZE - at,
             "\nreplay (save the program as crash.txt)\n  isoheap run --collector %s crash.txt\n",
             job->subject->name);
}

static void run_in_child(const struct job *job, const struct program *p, struct shared *shared) {
    static char said[STDERR_KEPT];
    size_t said_length = 0;
    int out[2], status = 0;
    fflush(NULL);
    pid_t child = pipe(out) == 0 ? fork() : -1;
    if (child == 0) {
        dup2(out[1], 2);
        close(out[0]);
        close(out[1]);
        run(job, p, shared);
        fflush(stdout);
        _exit(0);
    }
    if (child < 0) {
        shared->verdict.harness_error = true;
        snprintf(shared->verdict.detail, VERDICT_TEXT, "no child process: %s", strerror(errno));
        return;
    }
    close(out[1]);
    bool late = collect(out[0], child, job->seconds, said, &said_length);
    close(out[0]);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (!shared->finished)
        report_death(job, p, shared, late, status, said, said_length);
    else if (said_length)
        fwrite(said, 1, said_length, stderr);
}

struct verdict run_job(const struct job *job, const struct program *p, char **report) {
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct verdict verdict;
    *report = NULL;
    if (shared == MAP_FAILED) {
        memset(&verdict, 0, sizeof verdict);
        verdict.harness_error = true;
        return verdict;
    }
    if (job->seconds)
        run_in_child(job, p, shared);
    else
        run(job, p, shared);
    verdict = shared->verdict;
    *report = strdup(shared->report);
    munmap(shared, sizeof *shared);
    return verdict;
}
