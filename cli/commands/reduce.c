/* SPDX-License-Identifier: MIT
 *
 * isoheap reduce: the smallest program with the same violation.
 *
 * The property that a smaller program must keep is the whole of the verdict that does not depend on
 * size: class, guilty party, oracle, and the condition that it names; of a crash the signal and the
 * sanitizer's name for it.  So the reduction cannot slip from one defect to another that looks
 * different.  Each run is a trial in a child process (child.c).
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/descendants.h"
#include "cli/job_options.h"
#include "cli/schedule_file.h"
#include "collectors/decisions.h"
#include "program/reduction/reduce.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    RUNS = 10000,
    SECONDS = 300,
    ANY_SECONDS = 2,
    HURRY_MS = 200, /* processor time of one run of a subject that hangs, at first */
    MOST = 1000000000
};

struct reduce {
    struct job_options job_options;
    struct job job; /* of the runs of the reduction */
    const char *file, *output;
    unsigned runs, seconds;
    bool verify, any;
    /* state */
    struct verdict wanted;
    double start, shown, written;
    double looked, used_before; /* when --time was looked at; processor time at the start */
    bool late;                  /* it is over */
    unsigned used;              /* runs of reductions that are over */
    bool tty, failed;           /* failed: the harness, in a trial */
    bool saves;                 /* the best so far goes to the output on the way */
    bool too_long;              /* the schedule: its first decisions alone do not do it */
};

static struct program program;     /* the best so far */
static struct reduction reduction; /* large */

enum { VERIFY_MINIMAL = 1000, ANY_VIOLATION };
static const struct argp_option options[] = {
    {"runs", 'n', "N", 0, "end after N runs (default: 10000)", 0},
    {"time", 't', "SECONDS", 0,
     "end after so many seconds of processor time, or five times as many by the clock (default: "
     "300)",
     0},
    {"output", 'o', "FILE", 0, "where to write (default: standard output)", 0},
    {"verify-minimal", VERIFY_MINIMAL, NULL, 0,
     "afterwards try every single removal and simplification once more", 0},
    {"any-violation", ANY_VIOLATION, NULL, 0,
     "keep a violation of the same party, of whatever class: what all programs of a defect come "
     "down "
     "to",
     0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct reduce *r = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        take_job_options(state, job_children, &r->job_options);
        return 0;
    case 'n':
        r->runs = choose_number("--runs", argument, 0, MOST);
        return 0;
    case 't':
        r->seconds = choose_number("--time", argument, 1, MOST);
        return 0;
    case 'o':
        r->output = argument;
        return 0;
    case VERIFY_MINIMAL:
        r->verify = true;
        return 0;
    case ANY_VIOLATION:
        r->any = true;
        return 0;
    case ARGP_KEY_ARG:
        if (r->file)
            argp_error(state, "one FILE at a time");
        r->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (!r->file)
            argp_error(state, "no FILE; - is standard input");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the property -----------------------------------------------------------------------------
 */

static struct verdict judge(const struct reduce *r, const struct program *p) {
    char *report;
    return run_job(&r->job, p, &report);
}

static void show_progress(struct reduce *r) {
    double t = seconds_now();
    if (!r->tty || t - r->shown < 0.1)
        return;
    r->shown = t;
    fprintf(stderr, "\r%u runs, %.0f s: %u operations, %u items\033[K", r->used + reduction.runs,
            t - r->start, program.n_ops, program.n_items);
}

/* Is it the violation that is to be kept?  Of any violation a hang is none: each run would take its
 * whole time. */
static bool is_wanted(const struct reduce *r, const struct verdict *v) {
    if (!r->any)
        return verdict_same_defect(v, &r->wanted);
    bool hangs = strcmp(v->detail, NEVER_ENDS) == 0;
    return v->violation && v->guilty == r->wanted.guilty && !hangs;
}

/* A run that a signal ended says nothing. */
static bool keeps(const struct program *p, void *context) {
    struct reduce *r = context;
    show_progress(r);
    struct verdict v = judge(r, p);
    r->failed |= v.harness_error && !signal_caught;
    return !signal_caught && !v.harness_error && is_wanted(r, &v);
}

/* Processor time tells what it has cost, whatever else the machine does.  It takes a few files to
 * find out, so not at every run. */
static bool is_late(struct reduce *r) {
    double now = seconds_now();
    if (r->late || now - r->looked < 0.05)
        return r->late;
    r->looked = now;
    r->late = now - r->start >= (double)r->seconds * REDUCE_WALL_FACTOR ||
              family_seconds() - r->used_before >= r->seconds;
    return r->late;
}

static bool stop(void *context) {
    return signal_caught || is_late(context);
}

/* ---- output -----------------------------------------------------------------------------------
 */

static bool save(struct reduce *r, bool (*write)(const char *path, const void *, size_t)) {
    size_t size;
    char *text = write_up(&r->job_options.job, &r->wanted, &program, r->output, &size);
    bool good = text && write(r->output, text, size);
    if (!text)
        fprintf(stderr, "isoheap: no memory for the text of the program\n");
    free(text);
    return good;
}

/* A file, or none yet: what a pipe or a device got cannot be replaced by something better. */
static bool is_file(const char *path) {
    struct stat info;
    return strcmp(path, "-") != 0 && (stat(path, &info) != 0 || S_ISREG(info.st_mode));
}

/* What is lost if the process is killed is a tenth of a second's work; if the machine is, all. */
static void improved(const struct program *best, void *context) {
    struct reduce *r = context;
    double t = seconds_now();
    (void)best; /* it is `program` */
    if (!r->saves || t - r->written < 0.1)
        return;
    r->saves = save(r, write_file); /* once is enough to be told why not */
    r->written = t;
}

/* ---- reduction --------------------------------------------------------------------------------
 */

static void reduce(struct reduce *r) {
    reduction.keeps = keeps;
    reduction.improved = improved;
    reduction.stop = stop;
    reduction.context = r;
    reduction.max_runs = r->runs - r->used;
    program_reduce(&reduction, &program);
    r->used += reduction.runs;
    reduction.runs = 0;
}

/* The schedule that a number says becomes a list of its decisions, from which one after the other
 * can be taken away; what is more than the list holds is left out.  Where preemptions are the
 * number goes on to say, and each is a decision of the list.  False: there is none, or the list
 * alone has not the violation. */
static bool write_schedule_out(struct reduce *r) {
    static struct program listed;
    uint64_t state = decisions_begin(program.config[CONFIG_SCHEDULE]);
    if (!program.config[CONFIG_SCHEDULE] || program.n_switches)
        return false;
    listed = program;
    if (!program.config[CONFIG_PREEMPT])
        listed.config[CONFIG_SCHEDULE] = config_ranges[CONFIG_SCHEDULE].initial;
    for (unsigned at = 1; at <= PROGRAM_SWITCHES; at++) {
        unsigned choice = (unsigned)(decisions_next(&state) % SWITCH_CHOICES);
        if (choice)
            listed.switches[listed.n_switches++] = switch_make(at, choice);
    }
    r->used++;
    r->too_long = !keeps(&listed, r);
    if (r->too_long)
        return false;
    program = listed;
    return true;
}

/* A subject that hangs costs the whole limit at every run that keeps the hang, so the limit is
 * small at first; a run that is late under it alone was slow, not hanging, and it all begins again
 * with a larger one. */
static void reduce_late(struct reduce *r) {
    static struct program original;
    struct job whole = r->job;
    original = program;
    for (unsigned ms = HURRY_MS;; ms *= 10) {
        bool limited = ms < 1000 * whole.seconds;
        r->job.trial_ms = limited ? ms : whole.trial_ms;
        r->job.seconds = limited ? (ms + 999) / 1000 : whole.seconds;
        reduce(r);
        r->job = whole;
        if (!limited || signal_caught || reduction.improvements == 0)
            return;
        struct verdict v = judge(r, &program);
        if (signal_caught || (!v.harness_error && verdict_same_defect(&v, &r->wanted)))
            return;
        program = original;
    }
}

static int verify(struct reduce *r) {
    reduction.max_runs = MOST;
    bool minimal = program_is_minimal(&reduction, &program);
    if (r->tty)
        fprintf(stderr, "\r\033[K");
    if (minimal)
        fprintf(stderr, "isoheap: minimal: %u single removals and simplifications, none keeps it\n",
                reduction.runs);
    else if (reduction.possible)
        fprintf(stderr, "isoheap: not minimal: one more step keeps it: %s\n", reduction.possible);
    else
        fprintf(stderr, "isoheap: not verified: the time was over after %u runs\n", reduction.runs);
    return minimal ? EXIT_OK : EXIT_VIOLATION;
}

static void say_result(const struct reduce *r, unsigned ops, unsigned items) {
    if (r->tty)
        fprintf(stderr, "\r\033[K");
    fprintf(stderr,
            "isoheap: %s, %s (%s): %u operations and %u items, from %u and %u, in %u runs\n",
            violation_name(r->wanted.violation), party_name(r->wanted.guilty),
            guilty_name(&r->job, &r->wanted), program.n_ops, program.n_items, ops, items, r->used);
    if (!reduction.complete)
        fprintf(stderr, "isoheap: ended by %s: perhaps not minimal\n",
                signal_caught        ? "a signal"
                : r->used >= r->runs ? "--runs"
                                     : "--time");
}

/* What reduction could not do, and why. */
static void say_schedule(const struct reduce *r) {
    if (r->too_long && program.config[CONFIG_SCHEDULE] && !program.n_switches)
        fprintf(stderr,
                "isoheap: schedule=%u stays a number: the violation needs more than its first %u "
                "decisions, and a program lists no more\n",
                program.config[CONFIG_SCHEDULE], PROGRAM_SWITCHES);
    if (program.config[CONFIG_PREEMPT] && program.n_switches)
        fprintf(
            stderr,
            "isoheap: preempt=%u: some decisions are at edges that the compiler has made, which "
            "another build may have elsewhere\n",
            program.config[CONFIG_PREEMPT]);
}

static void say_target(const struct reduce *r) {
    char only[2 * VERDICT_TEXT] = "";
    if (!signal_caught)
        describe_without_target(&r->job_options.job, &program, &r->wanted, only, sizeof only);
    if (only[0])
        fprintf(stderr, "isoheap: %s\n", only);
}

/* ---- life -------------------------------------------------------------------------------------
 */

/* The violation to keep; a status for the command if there is none. */
static int find_violation(struct reduce *r) {
    choose_target_for(&r->job_options.job, r->file);
    r->job = r->job_options.job;
    r->job.trial_ms = 1000 * r->job.seconds;
    r->job.alone = r->job.in_turns = true;
    r->wanted = judge(r, &program);
    if (r->wanted.harness_error) {
        fprintf(stderr, "isoheap: %s: harness error: %s\n", r->file, r->wanted.detail);
        return EXIT_HARNESS;
    }
    if (r->wanted.violation)
        return EXIT_OK;
    bool unrun = r->wanted.not_run;
    fprintf(stderr, "isoheap: %s raises no violation of %s: nothing to reduce%s%s\n", r->file,
            r->job.subject->name, unrun ? "; it was not run: " : "", unrun ? r->wanted.detail : "");
    return EXIT_NOTHING;
}

/* A process that is kept goes on after a violation, which may have left something; and what is
 * found in a sample is looked for thoroughly.  What it has come to must hold alone and in an
 * ordinary run; if it does not, each run is such a one. */
static void reduce_kept(struct reduce *r) {
    static struct program original;
    bool late = strcmp(r->wanted.detail, NEVER_ENDS) == 0;
    original = program;
    r->job.alone = false;
    r->job.thorough = verdict_sampled(&r->wanted);
    for (;;) {
        bool strict = r->job.alone && !r->job.thorough;
        if (late)
            reduce_late(r);
        else
            reduce(r);
        if (reduction.complete && write_schedule_out(r))
            reduce(r);
        r->job.alone = true;
        r->job.thorough = 0;
        if (strict || signal_caught || keeps(&program, r))
            return;
        program = original;
    }
}

static int reduce_file(struct reduce *r) {
    if (!read_program(r->file, &program, NULL))
        return EXIT_UNREADABLE;
    unsigned ops = program.n_ops, items = program.n_items;
    note_signals();
    r->start = seconds_now();
    r->used_before = family_seconds();
    int status = find_violation(r);
    pass_signal_on();
    if (status)
        return status;
    r->saves = is_file(r->output);
    reduce_kept(r);
    if (r->any && !signal_caught && reduction.improvements)
        r->wanted = judge(r, &program); /* what it is now */
    say_result(r, ops, items);
    say_schedule(r);
    say_target(r);
    bool good = save(r, write_finding);
    pass_signal_on();
    if (!good)
        return EXIT_USAGE;
    if (r->verify)
        status = verify(r);
    pass_signal_on();
    return r->failed ? EXIT_HARNESS : status;
}

static const char about[] =
    "Make a program smaller while it keeps its violation: the same class, guilty party and "
    "condition.  The result is text with a header of comments."
    "\v"
    "A signal ends it with the best so far.  Exit status: 0 reduced, 1 with --verify-minimal if it "
    "is not minimal, 2 usage, 3 unreadable input, 4 harness fault, 5 the program raises no "
    "violation.";

int command_reduce(int argc, char **argv) {
    static const struct argp argp = {options, parse, "FILE", about, job_children, NULL, NULL};
    static struct reduce r = {
        .job_options = JOB_OPTIONS, .output = "-", .runs = RUNS, .seconds = SECONDS};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &r))
        return EXIT_USAGE;
    if (is_schedule_file(r.file)) /* brings its collector with it */
        return reduce_schedule(r.file, r.output);
    if (!complete_job(&r.job_options))
        return EXIT_USAGE;
    r.job = r.job_options.job;
    if (r.any) /* and a step that leads to a hang need not be waited for */
        r.job.seconds = r.job.seconds < ANY_SECONDS ? r.job.seconds : ANY_SECONDS;
    r.tty = isatty(STDERR_FILENO);
    return reduce_file(&r);
}
