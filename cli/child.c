/* SPDX-License-Identifier: MIT
 *
 * A run in a child process, which may crash or hang (cli.h; guard.h has the limits).
 *
 * Parent and child share memory in which the child notes where it is before every operation, and
 * verdict and report at the end; what the child says on stderr comes through a pipe.  As long as
 * the program runs nobody in the child can access the place of the verdict.  When it dies, it notes
 * which party was running.  A second child then runs up to the same operation, to take the heap
 * maps before it.
 *
 * A death in the harness is put to the test: if the program does no harm with the reference in the
 * place of the subject, the subject is guilty, by what it has written or handed over.
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

enum { DONE = 0x600d };

/* Where the child is. */
struct place {
    bool noted;
    bool late;          /* a trial used up its processor time */
    char sanitizer[64]; /* a trial: what AddressSanitizer calls it, or "" */
    enum party running; /* if noted */
    unsigned op;
    char operation[VERDICT_TEXT];
};

/* What it has found out. */
struct result {
    unsigned finished; /* DONE: it has come to its end */
    unsigned judged;   /* DONE: the verdict is there; the report may still be on its way */
    struct verdict verdict;
    char maps[MAPS_SIZE];
    char report[REPORT_SIZE];
    unsigned explaining, explained; /* DONE: the report that follows is taken in its place */
    char closer[REPORT_SIZE];
};

struct shared {
    struct place *place;
    struct result *result;
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
    struct place *place;
    bool trial;
    pid_t process;
} dying; /* what a signal handler or a sanitizer's callback knows */

static void note_running(void) {
    if (!dying.runner || dying.place->noted)
        return;
    runner_current(dying.runner, &dying.place->running);
    dying.place->noted = true;
}

static void on_crash(int number) {
    note_running();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_late(int number) {
    dying.place->late = number == SIGPROF;
    note_running();
    _exit(0);
}

/* AddressSanitizer calls this before it prints its report. */
void __asan_on_error(void) {
    if (!dying.trial)
        return;
    note_running();
    if (__asan_get_report_description)
        snprintf(dying.place->sanitizer, sizeof dying.place->sanitizer, "%s",
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
static void note_death(struct place *place) {
    static char stack[ALT_STACK]; /* a collector that recurses too deep has no other */
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP};
    struct sigaction late = {.sa_handler = on_late}, crash = {.sa_handler = on_crash};
    dying.place = place;
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

/* In a child the result is out of reach until there is one.  A copy of the process, which the
 * collector has made, has nothing to say. */
static void reach_result(const struct watch *w) {
    if (!dying.process)
        return;
    if (getpid() != dying.process)
        _exit(1);
    mprotect(w->shared->result, sizeof *w->shared->result, PROT_READ | PROT_WRITE);
}

static void take_maps(const struct watch *w, struct runner *runner) {
    reach_result(w);
    FILE *out = fmemopen(w->shared->result->maps, MAPS_SIZE - 1, "w");
    if (out) {
        write_where(out, runner);
        write_maps(out, runner, w->job);
        fclose(out);
    }
    _exit(0);
}

static void watch(void *context, struct runner *runner, unsigned op, bool before) {
    struct watch *w = context;
    if (before) {
        w->shared->place->op = op;
        runner_operation(runner, op, w->shared->place->operation, VERDICT_TEXT);
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

/* The report is there; one more run may tell more, or end the process. */
static void explain(struct result *result, struct runner *runner, const struct program *p,
                    struct verdict verdict) {
    result->explaining = DONE;
    runner_explain(runner, p, &verdict);
    runner_report(runner, &verdict, p, result->closer, REPORT_SIZE);
    memcpy(result->verdict.path, verdict.path, sizeof verdict.path);
    memcpy(result->verdict.expected, verdict.expected, sizeof verdict.expected);
    memcpy(result->verdict.found, verdict.found, sizeof verdict.found);
    result->explained = DONE;
}

static void run(struct watch *w, const struct program *p) {
    struct result *result = w->shared->result;
    const struct job *job = w->job;
    struct runner_options options = job_runner(job);
    options.digest = !job->trial_ms;
    options.observe = watch;
    options.explain = w->maps_before || (!job->seconds && !job->trial_ms);
    options.listen = job->listen && !w->maps_before ? listen_for : NULL;
    options.context = w;
    struct verdict verdict;
    struct runner *runner = runner_open(&options);
    if (!runner) {
        reach_result(w);
        note_refusal(&options, &result->verdict);
        if (!job->trial_ms)
            report_death(job, &(struct death){.said = ""}, &result->verdict, p, "", result->report,
                         REPORT_SIZE);
        result->finished = DONE;
        return;
    }
    dying.runner = runner;
    runner_run(runner, p, &verdict);
    reach_result(w);
    result->verdict = verdict;
    result->judged = DONE;
    if (verdict.violation && job->observe) /* the state in which the operation left the heaps */
        job->observe(job->context, runner, verdict.op, false);
    if ((verdict.violation || verdict.harness_error) && !job->trial_ms)
        runner_report(runner, &verdict, p, result->report, REPORT_SIZE);
    result->finished = DONE;
    if (verdict.violation && job->seconds && !job->trial_ms)
        explain(result, runner, p, verdict);
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
    const struct shared *shared = r->watch->shared;
    note_death(shared->place);
    dying.process = getpid();
    mprotect(shared->result, sizeof *shared->result, PROT_NONE);
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
    struct guard_task task = {.seconds = w->job->seconds, .body = run_guarded, .context = &r};
    if (!guard_run(&task, said, &death->said_length, &end))
        return false;
    death->status = end.status;
    death->limit = end.limit;
    death->late = end.limit == GUARD_PROCESSOR || end.limit == GUARD_IDLE || w->shared->place->late;
    death->noted = w->shared->place->noted;
    death->running = w->shared->place->running;
    return true;
}

/* The child may have written anywhere: its strings need not end, its numbers need mean nothing. */
static void end_strings(struct verdict *v) {
    char *const texts[] = {v->operation, v->path, v->expected, v->found, v->detail};
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        texts[i][VERDICT_TEXT - 1] = 0;
}

bool verdict_is_sound(const struct verdict *v, const struct program *p) {
    unsigned char flag;
    memcpy(&flag, &v->harness_error, sizeof flag);
    return flag <= 1 && (unsigned)v->violation < VIOLATION_classes &&
           (unsigned)v->guilty <= PARTY_REFERENCE && (unsigned)v->oracle < ORACLE_COUNT &&
           (v->op <= p->n_ops || v->op == OP_INITIAL);
}

/* Does the program end the process with the reference in the place of the subject too? */
static bool dies_without_the_subject(const struct job *job, const struct program *p) {
    struct job control = *job;
    char *report;
    control.subject = job->reference ? job->reference : find_collector(DEFAULT_REFERENCE);
    control.subject_name = NULL;
    control.reference = NULL;
    control.observe = NULL;
    control.listen = NULL;
    if (!control.subject || (control.subject == job->subject && !job->reference))
        return true;
    struct verdict v = run_job(&control, p, &report);
    free(report);
    return v.harness_error;
}

/* The child that was to run p has died: runs up to the same operation for the maps, and judges. */
static void find_death(const struct job *job, const struct program *p, struct death *death,
                       struct shared *shared) {
    static char unheard[STDERR_KEPT];
    struct result *result = shared->result;
    struct verdict v = {.op = shared->place->op};
    struct watch again = {shared, job, &v.op};
    struct death unused;
    if (v.op > p->n_ops)
        v.op = OP_INITIAL;
    memcpy(v.operation, shared->place->operation, sizeof v.operation);
    judge_death(job, death, &v);
    if (v.harness_error && !death->late && !dies_without_the_subject(job, p)) {
        death->put_to_the_test = true;
        judge_death(job, death, &v);
    }
    end_strings(&v);
    if (job->trial_ms) {
        snprintf(v.found, sizeof v.found, "%.*s", (int)sizeof shared->place->sanitizer - 1,
                 shared->place->sanitizer);
        result->verdict = v;
        return;
    }
    if (v.operation[0] && v.op != OP_INITIAL && !death->put_to_the_test)
        run_in_child(&again, p, &unused, unheard);
    result->maps[MAPS_SIZE - 1] = 0;
    report_death(job, death, &v, p, result->maps, result->report, REPORT_SIZE);
    result->verdict = v;
}

/* The child has died while it wrote the report, which looks at heaps that the violation has left in
 * any state: the verdict stands, and the report is what there is of it. */
static void end_report(struct result *result) {
    size_t length = strnlen(result->report, REPORT_SIZE - 1);
    snprintf(result->report + length, REPORT_SIZE - length,
             "\nThe report ends here: the heaps cannot be read any more.\n");
    result->finished = DONE;
}

/* Runs the program and leaves the verdict in the result. */
static void run_shared(const struct job *job, const struct program *p, struct shared *shared,
                       char *said) {
    struct watch w = {shared, job, NULL};
    struct result *result = shared->result;
    struct death death = {.late = false};
    shared->place->op = OP_INITIAL;
    if (!job->seconds) {
        run(&w, p);
    } else if (!run_in_child(&w, p, &death, said)) {
        result->verdict.harness_error = true;
        result->finished = result->judged = DONE;
        snprintf(result->verdict.detail, VERDICT_TEXT, "no child process: %s", strerror(errno));
    }
    if (!verdict_is_sound(&result->verdict, p)) {
        death.garbled = true;
        result->finished = result->judged = 0;
        result->verdict = (struct verdict){.harness_error = false};
    }
    if (result->finished != DONE && result->judged == DONE) {
        end_report(result);
        death.said_length = 0; /* about the report, not about the collector */
    }
    if (result->finished != DONE)
        find_death(job, p, &death, shared);
    else if (!job->trial_ms && result->explaining == result->explained)
        fwrite(said, 1, death.said_length, stderr);
}

struct verdict run_job(const struct job *job, const struct program *p, char **report) {
    struct verdict verdict = {.harness_error = true};
    char *said = malloc(STDERR_KEPT);
    struct shared shared = {guard_share(sizeof *shared.place), guard_share(sizeof *shared.result)};
    *report = NULL;
    if (said && shared.place && shared.result) {
        run_shared(job, p, &shared, said);
        verdict = shared.result->verdict;
        const struct result *result = shared.result;
        *report =
            job->trial_ms
                ? NULL
                : strndup(result->explained == DONE ? result->closer : result->report, REPORT_SIZE);
    } else {
        snprintf(verdict.detail, VERDICT_TEXT, "no shared memory: %s", strerror(errno));
    }
    end_strings(&verdict);
    guard_unshare(shared.place, sizeof *shared.place);
    guard_unshare(shared.result, sizeof *shared.result);
    free(said);
    return verdict;
}
