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
#include "harness/judged/judged.h"
#include "program/text/text.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { STDERR_KEPT = 64 << 10 };

struct shared {
    struct judged_place *place;
    struct judged_result *result;
};

struct watch {
    struct shared *shared;
    const struct job *job;
    const unsigned *maps_before; /* take the maps before this operation, then end; or NULL */
    const unsigned *until;       /* end before what comes behind this operation; or NULL */
};

/* ---- in the child -----------------------------------------------------------------------------
 */

static pid_t child_process; /* we are that one; 0: no child */

/* In a child the result is out of reach until there is one.  A copy of the process, which the
 * collector has made, has nothing to say. */
static void reach_result(const struct watch *w) {
    if (!child_process)
        return;
    if (getpid() != child_process)
        _exit(1);
    mprotect(w->shared->result, sizeof *w->shared->result, PROT_READ | PROT_WRITE);
}

static void take_maps(const struct watch *w, struct runner *runner) {
    reach_result(w);
    FILE *out = fmemopen(w->shared->result->maps, JUDGED_MAPS - 1, "w");
    if (out) {
        write_where(out, runner);
        write_maps(out, runner, w->job);
        fclose(out);
    }
    _exit(0);
}

/* The initial heap comes before the operations. */
static bool is_behind(unsigned op, unsigned other) {
    return op != OP_INITIAL && (other == OP_INITIAL || op > other);
}

static _Noreturn void end_here(const struct watch *w) {
    reach_result(w);
    w->shared->result->judged = w->shared->result->finished = JUDGED_DONE;
    fflush(NULL);
    _exit(0);
}

static void watch(void *context, struct runner *runner, unsigned op, bool before) {
    struct watch *w = context;
    if (before && w->until && is_behind(op, *w->until))
        end_here(w);
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

static void follow(void *context, uint64_t decision, uint64_t thread) {
    struct watch *w = context;
    w->job->switches(w->job->context, decision, thread);
}

static void enter(void *context, enum gc_section what, unsigned m, uint64_t decision) {
    struct watch *w = context;
    w->job->sections(w->job->context, what, m, decision);
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
    struct judged_result *result = w->shared->result;
    const struct job *job = w->job;
    struct runner_options options = job_runner(job);
    options.digest = !job->trial_ms;
    options.observe = watch;
    options.explain = w->maps_before || (!job->seconds && !job->trial_ms);
    options.listen = job->listen && !w->maps_before ? listen_for : NULL;
    options.switches = job->switches && !w->maps_before ? follow : NULL;
    options.sections = job->sections && !w->maps_before ? enter : NULL;
    options.context = w;
    struct verdict verdict;
    struct runner *runner = runner_open(&options);
    if (!runner) {
        reach_result(w);
        note_refusal(&options, &result->verdict);
        if (!job->trial_ms)
            report_death(job, &(struct death){.said = ""}, &result->verdict, p, "", result->report,
                         JUDGED_REPORT);
        result->finished = JUDGED_DONE;
        return;
    }
    judged_runner(runner);
    runner_run(runner, p, &verdict);
    reach_result(w);
    result->verdict = verdict;
    result->judged = JUDGED_DONE;
    if (verdict.violation && job->observe) /* the state in which the operation left the heaps */
        job->observe(job->context, runner, verdict.op, false);
    if ((verdict.violation || verdict.harness_error) && !job->trial_ms)
        runner_report(runner, &verdict, p, result->report, JUDGED_REPORT);
    result->finished = JUDGED_DONE;
    if (verdict.violation && job->seconds && !job->trial_ms)
        judged_explain(result, runner, p, &verdict);
    judged_runner(NULL);
    runner_close(runner);
}

/* ---- in the parent ----------------------------------------------------------------------------
 */

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* A large heap takes its time: what a busy machine needs for three runs of it. */
static unsigned more_seconds(const struct program *p) {
    enum { WORDS_A_SECOND = 1 << 18 };
    return program_is_large(p) ? 1 + p->config[CONFIG_HEAP] / WORDS_A_SECOND : 0;
}

static unsigned memory_for(const struct program *p) {
    return program_is_large(p) ? GUARD_MEMORY_MIB + runner_mib(p) : 0;
}

struct run {
    struct watch *watch;
    const struct program *program;
};

static void run_guarded(void *context) {
    const struct run *r = context;
    const struct shared *shared = r->watch->shared;
    judged_watch(shared->place);
    child_process = getpid();
    mprotect(shared->result, sizeof *shared->result, PROT_NONE);
    if (r->watch->job->trial_ms) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        judged_as_trials();
        judged_limit(r->watch->job->trial_ms + 1000 * more_seconds(r->program));
    }
    run(r->watch, r->program);
}

/* Returns false if there is no child. */
static bool run_in_child(struct watch *w, const struct program *p, struct death *death,
                         char *said) {
    struct run r = {w, p};
    struct guard_end end;
    *death = (struct death){.said = said, .said_length = STDERR_KEPT};
    struct guard_task task = {.seconds = w->job->seconds + more_seconds(p),
                              .mib = memory_for(p),
                              .body = run_guarded,
                              .context = &r};
    if (!guard_run(&task, said, &death->said_length, &end))
        return false;
    death->status = end.status;
    death->limit = end.limit;
    death->seconds = task.seconds;
    death->mib = task.mib;
    death->late = end.limit == GUARD_PROCESSOR || end.limit == GUARD_IDLE || w->shared->place->late;
    death->noted = w->shared->place->noted;
    death->running = w->shared->place->running;
    death->used_up = w->shared->place->used_up;
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
    struct job control = job_unwatched(job);
    char *report;
    control.subject = job->reference ? job->reference : find_collector(DEFAULT_REFERENCE);
    control.subject_name = NULL;
    control.reference = NULL;
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
    struct judged_result *result = shared->result;
    struct verdict v = {.op = shared->place->op};
    struct watch again = {shared, job, &v.op, NULL};
    struct death unused;
    if (v.op > p->n_ops)
        v.op = OP_INITIAL;
    memcpy(v.operation, shared->place->operation, sizeof v.operation);
    if (!v.operation[0] && v.op < p->n_ops)
        op_print(&p->ops[v.op], v.operation, sizeof v.operation);
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
    result->maps[JUDGED_MAPS - 1] = 0;
    report_death(job, death, &v, p, result->maps, result->report, JUDGED_REPORT);
    result->verdict = v;
}

/* The child has died while it wrote the report, which looks at heaps that the violation has left in
 * any state: the verdict stands, and the report is what there is of it. */
static void end_report(struct judged_result *result) {
    size_t length = strnlen(result->report, JUDGED_REPORT - 1);
    snprintf(result->report + length, JUDGED_REPORT - length,
             "\nThe report ends here: the heaps cannot be read any more.\n");
    result->finished = JUDGED_DONE;
}

/* By a process that judges one program after the other: a target, or for trials in turns a copy of
 * this one; but what the harness has left on its stack may be a root to a conservative collector.
 */
static bool is_kept(const struct job *job, const struct program *p) {
    bool trials = job->trial_ms && job->in_turns && !job->observe && !job->listen &&
                  !job->subject->traits.conservative;
    return job->seconds && (job->target || trials) && !program_is_large(p);
}

/* Runs the program and leaves the verdict in the result. */
static void run_shared(const struct job *job, const struct program *p, struct shared *shared,
                       char *said) {
    struct watch w = {shared, job, NULL, NULL};
    struct judged_result *result = shared->result;
    struct death death = {.late = false};
    shared->place->op = OP_INITIAL;
    if (!job->seconds) {
        run(&w, p);
    } else if (is_kept(job, p)) {
        death.said_length = STDERR_KEPT;
        target_run(job, p, &death, said);
    } else if (!run_in_child(&w, p, &death, said)) {
        result->verdict.harness_error = true;
        result->finished = result->judged = JUDGED_DONE;
        snprintf(result->verdict.detail, VERDICT_TEXT, "no child process: %s", strerror(errno));
    }
    if (!verdict_is_sound(&result->verdict, p)) {
        death.garbled = true;
        result->finished = result->judged = 0;
        result->verdict = (struct verdict){.harness_error = false};
    }
    if (result->finished != JUDGED_DONE && result->judged == JUDGED_DONE) {
        end_report(result);
        death.said_length = 0; /* about the report, not about the collector */
    }
    if (result->finished != JUDGED_DONE)
        find_death(job, p, &death, shared);
    else if (!job->trial_ms && result->explaining == result->explained)
        fwrite(said, 1, death.said_length, stderr);
}

/* A default that judges nothing is said once. */
static bool does_without(const struct job *job, const char *why) {
    static bool told;
    if (!job->target)
        return true;
    if (job->target_asked)
        return false;
    if (!told)
        fprintf(stderr, "isoheap: %s; judging without it\n", why);
    told = true;
    return true;
}

static struct verdict run_in_kept(const struct job *job, const struct program *p, char **report) {
    struct verdict verdict = {.harness_error = true};
    struct shared shared;
    char *said = malloc(STDERR_KEPT);
    if (!said) {
        snprintf(verdict.detail, VERDICT_TEXT, "no memory");
    } else if (target_begin(job, &shared.place, &shared.result, verdict.detail)) {
        run_shared(job, p, &shared, said);
        verdict = shared.result->verdict;
        *report = job->trial_ms ? NULL : judged_report(shared.result);
    } else if (does_without(job, verdict.detail)) {
        struct job own = *job;
        own.target = NULL;
        own.in_turns = false;
        free(said);
        return run_job(&own, p, report);
    }
    end_strings(&verdict);
    free(said);
    return verdict;
}

/* Its own verdict does not count: the target's run ended with that operation. */
static void observe_until(const struct job *job, const struct program *p, unsigned op) {
    char *said = malloc(STDERR_KEPT);
    struct shared shared = {guard_share(sizeof *shared.place), guard_share(sizeof *shared.result)};
    struct watch w = {&shared, job, NULL, &op};
    struct death death;
    if (said && shared.place && shared.result)
        run_in_child(&w, p, &death, said);
    guard_unshare(shared.place, sizeof *shared.place);
    guard_unshare(shared.result, sizeof *shared.result);
    free(said);
}

struct verdict run_job(const struct job *job, const struct program *p, char **report) {
    struct verdict verdict = {.harness_error = true};
    struct shared shared;
    *report = NULL;
    if (job->target && job->target_asked && program_is_large(p)) {
        snprintf(verdict.detail, VERDICT_TEXT,
                 "a fuzz target has no heap of more than %d words, and "
                 "none by count: say --target=none",
                 PROGRAM_HEAP_WORDS);
        return verdict;
    }
    if (is_kept(job, p)) {
        verdict = run_in_kept(job, p, report);
        if (job->observe)
            observe_until(job, p, verdict.violation ? verdict.op : p->n_ops);
        return verdict;
    }
    char *said = malloc(STDERR_KEPT);
    shared.place = guard_share(sizeof *shared.place);
    shared.result = guard_share(sizeof *shared.result);
    if (said && shared.place && shared.result) {
        run_shared(job, p, &shared, said);
        verdict = shared.result->verdict;
        *report = job->trial_ms ? NULL : judged_report(shared.result);
    } else {
        snprintf(verdict.detail, VERDICT_TEXT, "no shared memory: %s", strerror(errno));
    }
    end_strings(&verdict);
    guard_unshare(shared.place, sizeof *shared.place);
    guard_unshare(shared.result, sizeof *shared.result);
    free(said);
    return verdict;
}
