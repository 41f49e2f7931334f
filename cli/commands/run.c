/* SPDX-License-Identifier: MIT
 *
 * isoheap run: replay programs and judge them.
 */
#define _GNU_SOURCE
#include "cli/beside/beside.h"
#include "cli/job_options.h"
#include "cli/nearest.h"
#include "cli/schedule.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct job_options job_options;
    struct job *job;
    const char *expect, *block;
    enum violation expected;
    bool trace, quiet, verbose, digest, colour;
    char **files;
    int n_files;
    unsigned jobs; /* 0: one file after the other, in no process of their own */
    struct tally {
        int status;
        unsigned n_passed, n_failed, n_not_run, n_unreadable;
    } tally;
};

enum { IN_PROCESS = 1000, DIGEST };
static const struct argp_option options[] = {
    {"trace", 't', "BLOCK", OPTION_ARG_OPTIONAL,
     "print every operation as it runs, and what changed; --trace=b3: what happens to one block",
     0},
    {"expect", 'e', "CLASS", 0, "succeed if and only if every file raises CLASS (or none)", 0},
    {"jobs", 'j', "N", 0,
     "run so many files at once; what is printed is in the order of the files all the same", 0},
    {"in-process", IN_PROCESS, NULL, 0, "no child process: for a debugger", 0},
    {"digest", DIGEST, NULL, 0, "print a digest of verdict, final graph and step counts", 0},
    {"quiet", 'q', NULL, 0, "a line for each file, no reports", 0},
    {"verbose", 'v', NULL, 0,
     "how often each oracle judged, or why it did not, and which operations were skipped", 0},
    {0}};

static void parse_expected(struct run *r, const char *name, struct argp_state *state) {
    r->expect = name;
    r->expected = violation_named(name);
    if (r->expected == VIOLATION_classes)
        argp_error(state, "no violation class is called %s%s (`isoheap list classes` names them)",
                   name, did_you_mean(name, class_names));
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct run *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        take_job_options(state, job_children, &r->job_options);
        return 0;
    case 't':
        r->trace = true;
        r->block = argument;
        if (argument && !life_is_name(argument))
            argp_error(state, "--trace takes the name of a block, b3 or n7 (or n7:2, b3#2), not %s",
                       argument);
        return 0;
    case 'e':
        parse_expected(r, argument, state);
        return 0;
    case DIGEST:
        r->digest = true;
        return 0;
    case 'j':
        r->jobs = choose_number("--jobs", argument, 1, BESIDE_MOST);
        return 0;
    case ARGP_KEY_END:
        if (r->jobs && !r->job->seconds)
            argp_error(state, "--in-process runs one file after the other, without --jobs");
        return 0;
    case IN_PROCESS:
        r->job->seconds = 0;
        return 0;
    case 'q':
        r->quiet = true;
        return 0;
    case 'v':
        r->verbose = true;
        return 0;
    case ARGP_KEY_ARGS:
        r->files = state->argv + state->next;
        r->n_files = state->argc - state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "no FILE; - is standard input");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void raise_status(struct run *r, int status) {
    if (status > r->tally.status)
        r->tally.status = status;
}

static void print_result(const struct run *r, const char *path, const struct verdict *v,
                         const struct program *p) {
    const char *on = r->colour ? "\033[1;31m" : "", *off = r->colour ? "\033[0m" : "";
    if (v->harness_error) {
        printf("%s: %sharness error%s: %s", path, on, off, v->detail);
    } else if (v->violation == VIOLATION_none && v->not_run) {
        printf("%s: not run: %s", path, v->detail);
    } else if (v->violation == VIOLATION_none) {
        printf("%s: ok", path);
    } else {
        printf("%s: %sviolation %s%s (%s) ", path, on, violation_name(v->violation), off,
               party_name(v->guilty));
        if (v->op < p->n_ops)
            printf("at operation %u: %s", v->op, v->operation);
        else
            printf("at %s", v->operation);
    }
    if (r->digest)
        printf(", digest %016llx", (unsigned long long)v->digest);
    printf("\n");
}

static void count(struct run *r, const struct verdict *v, bool good) {
    if (v->harness_error)
        raise_status(r, EXIT_HARNESS);
    else if (!good)
        raise_status(r, EXIT_VIOLATION);
    else if (v->not_run)
        raise_status(r, EXIT_UNREADABLE);
    if (good && v->not_run)
        r->tally.n_not_run++;
    else if (good)
        r->tally.n_passed++;
    else
        r->tally.n_failed++;
}

/* "3 operations skipped: a lazy key (forward 3)": a line for each reason. */
static void print_skips(const struct run_counts *counts) {
    for (unsigned why = 0; why < SKIP_COUNT; why++) {
        unsigned long long n = 0;
        for (unsigned o = 0; o < OP_CODES; o++)
            n += counts->skips[why][o];
        if (!n)
            continue;
        printf("  %llu operation%s skipped: %s (", n, n == 1 ? "" : "s",
               skip_meaning((enum skip)why));
        const char *separator = "";
        for (unsigned o = 0; o < OP_CODES; o++)
            if (counts->skips[why][o]) {
                printf("%s%s %llu", separator, op_shapes[o].name,
                       (unsigned long long)counts->skips[why][o]);
                separator = ", ";
            }
        printf(")\n");
    }
}

static void print_closure_keys(const struct run_counts *counts) {
    if (counts->closure_keys)
        printf("  %llu key%s set: a closure, for an infix pointer to it (a known defect)\n",
               (unsigned long long)counts->closure_keys, counts->closure_keys == 1 ? "" : "s");
}

/* What was judged of the subject and, if there is one, of the reference.  A process that dies takes
 * its counts with it. */
static void print_oracles(const struct job *job, const struct verdict *v, const struct program *p) {
    struct gc_config config = program_gc_config(p);
    if (v->counts.checks == 0) {
        printf("  no oracle came to judge a heap\n");
        return;
    }
    printf("  %-18s %8s %9s\n", "oracle", "subject", "reference");
    for (unsigned o = 0; o < ORACLE_COUNT; o++) {
        char why[64] = "";
        uint64_t subject = v->counts.subject[o], all = v->counts.oracles[o];
        if (!subject)
            runner_silence(job->subject, &config, job->oracles, (enum oracle)o, why, sizeof why);
        printf("  %-18s %8llu %9llu%s%s\n", oracle_name((enum oracle)o),
               (unsigned long long)subject, (unsigned long long)(all - subject), why[0] ? "  " : "",
               why);
    }
}

/* A schedule of the on-the-fly model brings its collector with it. */
static void run_schedule(struct run *r, const char *path) {
    enum violation expected = r->expect ? r->expected : VIOLATION_none;
    int status = replay_schedule(path, 0, expected, r->trace, r->quiet);
    raise_status(r, status);
    if (status == EXIT_OK)
        r->tally.n_passed++;
    else if (status == EXIT_UNREADABLE)
        r->tally.n_unreadable++;
    else
        r->tally.n_failed++;
}

static void run_file(const char *path, void *context) {
    static struct program program;
    struct run *r = context;
    char *report, only[2 * VERDICT_TEXT];
    if (is_schedule_file(path)) {
        run_schedule(r, path);
        return;
    }
    if (!read_program(path, &program, NULL)) {
        raise_status(r, EXIT_UNREADABLE);
        r->tally.n_unreadable++;
        return;
    }
    if (r->trace)
        printf("%s\n", path);
    if (r->block && program_is_large(&program)) {
        fprintf(stderr, "isoheap: %s: --trace of a block: " NO_PICTURE "\n", path);
        raise_status(r, EXIT_USAGE);
        return;
    }
    if (r->block && !life_begin(r->block, &program, path)) {
        raise_status(r, EXIT_USAGE);
        return;
    }
    choose_target_for(r->job, path);
    struct verdict v = run_job(r->job, &program, &report);
    bool good = !v.harness_error && v.violation == (r->expect ? r->expected : VIOLATION_none);
    print_result(r, path, &v, &program);
    describe_without_target(r->job, &program, &v, only, sizeof only);
    if (only[0])
        printf("  %s\n", only);
    if (r->expect && !good)
        printf("  expected %s\n", r->expect);
    if (r->verbose) {
        print_oracles(r->job, &v, &program);
        print_skips(&v.counts);
        print_closure_keys(&v.counts);
    }
    if (!r->quiet && report && report[0] && !good)
        printf("\n%s\n", report);
    fflush(stdout);
    free(report);
    count(r, &v, good);
}

/* ---- files side by side -----------------------------------------------------------------------
 */

static void work(const char *path, void *context, void *result) {
    struct run *r = context;
    r->tally = (struct tally){.status = EXIT_OK};
    run_file(path, r);
    memcpy(result, &r->tally, sizeof r->tally);
}

static void done(const char *path, void *context, const void *result) {
    struct run *r = context;
    const struct tally *t = result;
    if (!t) {
        printf("%s: harness error: the process that was to run it has died\n", path);
        raise_status(r, EXIT_HARNESS);
        r->tally.n_failed++;
        return;
    }
    raise_status(r, t->status);
    r->tally.n_passed += t->n_passed;
    r->tally.n_failed += t->n_failed;
    r->tally.n_not_run += t->n_not_run;
    r->tally.n_unreadable += t->n_unreadable;
}

static void run_beside(struct run *r) {
    const struct beside b = {.jobs = r->jobs,
                             .work = work,
                             .done = done,
                             .context = r,
                             .result_size = sizeof(struct tally)};
    struct paths paths = {.names = NULL};
    for (int i = 0; i < r->n_files; i++)
        if (!for_each_file(r->files[i], paths_add, &paths))
            raise_status(r, EXIT_UNREADABLE);
    if (!work_beside(&b, &paths))
        raise_status(r, EXIT_HARNESS);
    paths_free(&paths);
}

static void print_summary(const struct run *r) {
    const struct tally *t = &r->tally;
    if (t->n_passed + t->n_failed + t->n_not_run + t->n_unreadable < 2)
        return;
    printf("%u passed, %u failed", t->n_passed, t->n_failed);
    if (t->n_not_run)
        printf(", %u not run", t->n_not_run);
    if (t->n_unreadable)
        printf(", %u unreadable", t->n_unreadable);
    printf("\n");
}

static const char about[] =
    "Run programs on a collector, a reference and the model, and judge.  A FILE may be a folder; "
    "each program runs in a child process."
    "\v"
    "Exit status: 0 no violation, 1 violation (with --expect: not the expected one), 2 usage, 3 "
    "unreadable input, or a program that the collector cannot be given (\"not run\"), 4 harness "
    "fault; of several files the highest.";

int command_run(int argc, char **argv) {
    static const struct argp argp = {options, parse, "FILE...", about, job_children, NULL, NULL};
    struct run r = {.job_options = JOB_OPTIONS, .job = &r.job_options.job};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &r))
        return EXIT_USAGE;
    if (!complete_job(&r.job_options))
        return EXIT_USAGE;
    r.job->observe = r.block ? life_observe : r.trace ? trace : NULL;
    r.job->listen = r.block ? life_listen : NULL;
    r.job->switches = r.trace && !r.block ? trace_switch : NULL;
    r.job->sections = r.trace && !r.block ? trace_section : NULL;
    r.colour = wants_colour();
    if (r.jobs)
        run_beside(&r);
    for (int i = 0; !r.jobs && i < r.n_files; i++)
        if (!for_each_file(r.files[i], run_file, &r))
            raise_status(&r, EXIT_UNREADABLE);
    print_summary(&r);
    return r.tally.status;
}
