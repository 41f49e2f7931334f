/* SPDX-License-Identifier: MIT
 *
 * A run in a child process, which may crash or hang (cli.h; guard.h has the limits).
 *
 * Parent and child share memory in which the child notes where it is before every operation, and
 * verdict and report at the end; what the child says on stderr comes through a pipe.  When it dies,
 * it notes which party was running.  A second child then runs up to the same operation, to take the
 * heap maps before it.
 *
 * A trial (reduction makes thousands) does without report, maps and the sanitizer's output, which
 * take a hundred times as long as the run, and has a limit of processor time, which does not depend
 * on what else the machine does.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { REPORT_SIZE = 1 << 20, MAPS_SIZE = 256 << 10, STDERR_KEPT = 64 << 10, ALT_STACK = 64 << 10 };

struct shared {
    bool finished, noted;
    bool judged;        /* the verdict is there; the report may still be on its way */
    bool late;          /* a trial used up its processor time */
    char sanitizer[64]; /* a trial: what AddressSanitizer calls it, or "" */
    enum party running; /* if noted */
    struct verdict verdict;
    char maps[MAPS_SIZE];
    char report[REPORT_SIZE];
};

struct watch {
    struct shared *shared;
    const struct job *job;
    const unsigned *maps_before; /* take the maps before this operation, then end; or NULL */
};

/* ---- in the child -----------------------------------------------------------------------------
 */

/* LLVM's sanitizer interface, absent without sanitizers. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*)(void));
__attribute__((weak)) const char *__asan_get_report_description(void);
void __asan_on_error(void);

static struct {
    struct runner *runner;
    struct shared *shared;
    bool trial;
} dying; /* what a signal handler or a sanitizer's callback knows */

static void note_running(void) {
    if (!dying.runner || dying.shared->noted)
        return;
    runner_current(dying.runner, &dying.shared->running);
    dying.shared->noted = true;
}

static void on_crash(int number) {
    note_running();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_late(int number) {
    dying.shared->late = number == SIGPROF;
    note_running();
    _exit(0);
}

/* AddressSanitizer calls this before it prints its report. */
void __asan_on_error(void) {
    if (!dying.trial)
        return;
    note_running();
    if (__asan_get_report_description)
        snprintf(dying.shared->sanitizer, sizeof dying.shared->sanitizer, "%s",
                 __asan_get_report_description());
    _exit(1);
}

static void begin_trial(unsigned milliseconds) {
    struct sigaction late = {.sa_handler = on_late};
    struct itimerval limit = {
        .it_value = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000}};
    dying.trial = true;
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    sigaction(SIGPROF, &late, NULL);
    setitimer(ITIMER_PROF, &limit, NULL);
}

/* With a sanitizer crashes are its business: it prints a report and calls back. */
static void note_death(struct shared *shared) {
    static char stack[ALT_STACK]; /* a collector that recurses too deep has no other */
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    struct sigaction late = {.sa_handler = on_late}, crash = {.sa_handler = on_crash};
    dying.shared = shared;
    sigaction(SIGUSR1, &late, NULL);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(note_running);
        return;
    }
    stack_t alternative = {.ss_sp = stack, .ss_size = sizeof stack};
    sigaltstack(&alternative, NULL);
    crash.sa_flags = SA_ONSTACK;
    for (unsigned i = 0; i < sizeof crashes / sizeof *crashes; i++)
        sigaction(crashes[i], &crash, NULL);
}

static void take_maps(const struct watch *w, struct runner *runner) {
    FILE *out = fmemopen(w->shared->maps, MAPS_SIZE - 1, "w");
    if (out) {
        write_maps(out, runner, w->job);
        fclose(out);
    }
    _exit(0);
}

static void watch(void *context, struct runner *runner, unsigned op, bool before) {
    struct watch *w = context;
    if (before) {
        w->shared->verdict.op = op;
        runner_operation(runner, op, w->shared->verdict.operation, VERDICT_TEXT);
        if (w->maps_before && op == *w->maps_before)
            take_maps(w, runner);
    }
    if (w->job->observe && !w->maps_before)
        w->job->observe(w->job->context, runner, op, before);
}

static void listen_for(void *context, struct runner *runner, enum party party, enum gc_event event,
                       word block, const word *place, word to) {
    struct watch *w = context;
    w->job->listen(w->job->context, runner, party, event, block, place, to);
}

/* The runner has not been opened: a collector lacks something, or there is no memory. */
static void note_refusal(const struct runner_options *options, struct verdict *v) {
    struct runner_options alone = *options;
    alone.reference = NULL;
    const char *fault = runner_fault(options);
    v->harness_error = !fault;
    v->violation = fault ? VIOLATION_collector_assertion : VIOLATION_none;
    v->guilty = runner_fault(&alone) ? PARTY_SUBJECT : PARTY_REFERENCE;
    v->oracle = ORACLE_assertion;
    v->op = OP_INITIAL;
    snprintf(v->operation, VERDICT_TEXT, "the initial heap");
    snprintf(v->detail, VERDICT_TEXT, "%s", fault ? fault : "no memory for the collectors' arenas");
}

static void run(struct watch *w, const struct program *p) {
    struct shared *shared = w->shared;
    const struct job *job = w->job;
    struct runner_options options = job_runner(job);
    options.digest = !job->trial_ms;
    options.observe = watch;
    options.listen = job->listen && !w->maps_before ? listen_for : NULL;
    options.context = w;
    struct verdict verdict;
    struct runner *runner = runner_open(&options);
    if (!runner) {
        note_refusal(&options, &shared->verdict);
        if (!job->trial_ms)
            report_death(job, &(struct death){.said = ""}, &shared->verdict, p, "", shared->report,
                         REPORT_SIZE);
        shared->finished = true;
        return;
    }
    dying.runner = runner;
    runner_run(runner, p, &verdict);
    shared->verdict = verdict;
    shared->judged = true;
    if (verdict.violation && job->observe) /* the state in which the operation left the heaps */
        job->observe(job->context, runner, verdict.op, false);
    if ((verdict.violation || verdict.harness_error) && !job->trial_ms)
        runner_report(runner, &verdict, p, shared->report, REPORT_SIZE);
    shared->finished = true;
    dying.runner = NULL;
    runner_close(runner);
}

/* ---- in the parent ----------------------------------------------------------------------------
 */

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

struct run {
    struct watch *watch;
    const struct program *program;
};

static void run_guarded(void *context) {
    const struct run *r = context;
    note_death(r->watch->shared);
    if (r->watch->job->trial_ms) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        begin_trial(r->watch->job->trial_ms);
    }
    run(r->watch, r->program);
}

/* Returns false if there is no child. */
static bool run_in_child(struct watch *w, const struct program *p, struct death *death,
                         char *said) {
    struct run r = {w, p};
    struct guard_end end;
    *death = (struct death){.said = said, .said_length = STDERR_KEPT};
    if (!guard_run(w->job->seconds, run_guarded, &r, said, &death->said_length, &end))
        return false;
    death->status = end.status;
    death->limit = end.limit;
    death->late = end.limit == GUARD_PROCESSOR || end.limit == GUARD_IDLE || w->shared->late;
    death->noted = w->shared->noted;
    death->running = w->shared->running;
    return true;
}

/* The child may have written anywhere: its strings need not end. */
static void end_strings(struct verdict *v) {
    char *const texts[] = {v->operation, v->path, v->expected, v->found, v->detail};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        texts[i][VERDICT_TEXT - 1] = 0;
}

/* The child that was to run p has died: runs up to the same operation for the maps, and judges. */
static void find_death(const struct job *job, const struct program *p, const struct death *death,
                       struct shared *shared) {
    static char unheard[STDERR_KEPT];
    unsigned op = shared->verdict.op;
    struct verdict v = shared->verdict;
    struct watch again = {shared, job, &op};
    struct death unused;
    judge_death(job, death, &v);
    if (job->trial_ms) {
        memcpy(v.found, shared->sanitizer, sizeof shared->sanitizer);
        shared->verdict = v;
        return;
    }
    if (v.operation[0] && op != OP_INITIAL)
        run_in_child(&again, p, &unused, unheard);
    shared->maps[MAPS_SIZE - 1] = 0;
    report_death(job, death, &v, p, shared->maps, shared->report, REPORT_SIZE);
    shared->verdict = v;
}

/* The child has died while it wrote the report, which looks at heaps that the violation has left in
 * any state: the verdict stands, and the report is what there is of it. */
static void end_report(struct shared *shared) {
    size_t length = strnlen(shared->report, REPORT_SIZE - 1);
    snprintf(shared->report + length, REPORT_SIZE - length,
             "\nThe report ends here: the heaps cannot be read any more.\n");
    shared->finished = true;
}

struct verdict run_job(const struct job *job, const struct program *p, char **report) {
    static char said[STDERR_KEPT];
    struct verdict verdict = {.harness_error = true};
    struct shared *shared =
        mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct death death = {.late = false};
    *report = NULL;
    if (shared == MAP_FAILED) {
        snprintf(verdict.detail, VERDICT_TEXT, "no shared memory: %s", strerror(errno));
        return verdict;
    }
    struct watch w = {shared, job, NULL};
    if (!job->seconds) {
        run(&w, p);
    } else if (!run_in_child(&w, p, &death, said)) {
        shared->verdict.harness_error = shared->finished = true;
        snprintf(shared->verdict.detail, VERDICT_TEXT, "no child process: %s", strerror(errno));
    }
    if (!shared->finished && shared->judged) {
        end_report(shared);
        death.said_length = 0; /* about the report, not about the collector */
    }
    if (!shared->finished)
        find_death(job, p, &death, shared);
    else if (!job->trial_ms)
        fwrite(said, 1, death.said_length, stderr);
    verdict = shared->verdict;
    end_strings(&verdict);
    *report = job->trial_ms ? NULL : strndup(shared->report, REPORT_SIZE);
    munmap(shared, sizeof *shared);
    return verdict;
}
