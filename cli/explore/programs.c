/* SPDX-License-Identifier: MIT
 *
 * isoheap explore on programs: every program of a small scope on a collector (programs.h,
 * docs/explore.md).
 */
#define _GNU_SOURCE
#include "cli/explore/programs.h"

#include "cli/campaign/campaign.h"
#include "cli/plugin.h"
#include "collectors/registry/registry.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_PROGRAMS = 4096 };
static struct program found_program;

enum { COUNT = 1000, STATE, CRASHES };
static const struct argp_option options[] = {
    {"jobs", 'j', "N", 0, "processes (default: all processor cores)", 0},
    {"state", STATE, "DIR", 0, "keep in DIR how far it is, and go on from there", 0},
    {"crashes", CRASHES, "DIR", 0, "findings go to DIR/CLASS (default: crashes)", 0},
    {"count", COUNT, NULL, 0, "print the scope and its number of programs, run nothing", 0},
    {"quiet", 'q', NULL, 0, "no progress and no reports", 0},
    {0}};

static const struct argp_child children[] = {
    {&explore_scope_argp, 0, NULL, 0}, {&judge_argp, 0, NULL, 0}, {&plugin_argp, 0, NULL, 0}, {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct exploration *x = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = x;
        take_job_options(state, children, &x->job_options);
        return 0;
    case 'j':
        x->jobs = choose_number("--jobs", argument, 1, JOBS_MAX);
        return 0;
    case STATE:
        x->state = argument;
        return 0;
    case CRASHES:
        x->crashes = argument;
        return 0;
    case COUNT:
        x->count_only = true;
        return 0;
    case 'q':
        x->quiet = true;
        return 0;
    case ARGP_KEY_ARG:
        if (x->n_names == sizeof x->names / sizeof *x->names)
            argp_error(state, "too many collectors");
        x->names[x->n_names++] = argument;
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (!last_plugin())
            argp_error(state, "no COLLECTOR; all: every one of `isoheap list`");
        x->names[x->n_names++] = default_collector();
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- findings ---------------------------------------------------------------------------------
 */

static bool write_program(const struct exploration *x, const struct verdict *v, const char *path) {
    size_t size;
    char *text = write_up(&x->job, v, x->program, path, &size);
    bool good = text && write_finding(path, text, size);
    if (!text)
        fprintf(stderr, "isoheap: no memory for the text of the program\n");
    free(text);
    return good;
}

static int file_program(const struct exploration *x, const struct verdict *v, const char *report) {
    const char *class = v->harness_error ? "harness_error" : violation_name(v->violation);
    char *folder = text_of("%s/%s", x->crashes, class);
    char *path = text_of("%s/explore-%s.txt", folder, x->job.subject->name);
    bool good = make_folder(folder);
    if (!good)
        fprintf(stderr, "isoheap: cannot make the folder %s: %s\n", folder, strerror(errno));
    good = good && write_program(x, v, path);
    if (good) {
        char *replay = replay_command(&x->job, path);
        printf("  program      %s\n  replay       %s\n", quoted_path(path), replay ? replay : "");
        free(replay);
    }
    if (report && report[0] && !x->quiet)
        printf("\n%s\n", report);
    free(path);
    free(folder);
    if (!good)
        return EXIT_USAGE;
    return v->harness_error ? EXIT_HARNESS : EXIT_VIOLATION;
}

/* What the program does alone, in a process of its own.  A verdict that does not come again is one
 * on a collector that keeps something from one program to the next. */
static int report_violation(const struct exploration *x) {
    char *report;
    struct verdict v = run_job(&x->job, x->program, &report);
    bool again = v.violation || v.harness_error;
    if (!again) {
        v = x->verdict;
        v.violation = v.violation ? v.violation
                      : x->late   ? VIOLATION_no_progress
                                  : VIOLATION_sanitizer;
    }
    printf("%s: violation %s (%s)", x->job.subject->name,
           v.harness_error ? "harness_error" : violation_name(v.violation), party_name(v.guilty));
    if (v.op < x->program->n_ops)
        printf(" at operation %u: %s\n", v.op, v.operation);
    else
        printf(" at %s\n", v.operation[0] ? v.operation : "the initial heap");
    printf("  before       %" PRIu64 " programs or more without one, of %" PRIu64 "\n",
           x->figures.programs, x->total.programs);
    if (!again)
        printf("  attention    not when the program runs alone: the collector keeps something from "
               "the programs before it\n");
    int status = file_program(x, &v, report);
    free(report);
    return status;
}

/* ---- one collector ----------------------------------------------------------------------------
 */

static void print_scope(const struct exploration *x) {
    char scope[SCOPE_TEXT];
    scope_print(&x->scope, scope, sizeof scope);
    printf("  scope        %s\n", scope);
}

static void print_figures(const struct exploration *x) {
    const struct explore_figures *f = &x->figures;
    printf("%s: complete, no violation\n", x->job.subject->name);
    print_scope(x);
    printf("  programs     %" PRIu64 "\n", f->programs);
    if (f->not_run)
        printf("  not run      %" PRIu64 " of them; the first: %s\n", f->not_run, x->not_run.text);
    printf("  operations   %" PRIu64 ", %" PRIu64 " more without effect\n", f->operations,
           f->skipped);
    printf("  comparisons  %" PRIu64 "\n  refusals     %" PRIu64 "\n  digest       %016" PRIx64
           "\n",
           f->checks, f->refusals, f->digest);
}

/* No violation says nothing if nothing happened. */
static void print_nothing(const struct exploration *x) {
    const struct explore_figures *f = &x->figures;
    if (f->not_run == f->programs)
        fprintf(stderr,
                "isoheap: %s: none of %" PRIu64 " programs was run: %s.  Other heaps may fit the "
                "collector (--config=heap=N, --shapes)\n",
                x->job.subject->name, f->programs, x->not_run.text);
    else
        fprintf(stderr,
                "isoheap: %s: no operation of %" PRIu64 " programs had an effect: nothing but "
                "initial heaps has been explored.  %s\n",
                x->job.subject->name, f->programs,
                x->scope.ops == 0
                    ? "--operations=0 asks for that"
                    : "The collector has none of the menu's operations, or they mean nothing on "
                      "these heaps (--menu, --shapes)");
    if (f->not_run && f->not_run < f->programs)
        fprintf(stderr, "isoheap: %" PRIu64 " of them were not run; the first: %s\n", f->not_run,
                x->not_run.text);
    print_scope(x);
}

static int count_scope(const struct exploration *x) {
    uint64_t named = scope_count_named(&x->scope);
    printf("%s\n", x->job.subject->name);
    print_scope(x);
    printf("  programs     %" PRIu64 ", of %" PRIu64 " without renaming\n  units        %" PRIu64
           "\n",
           x->total.programs, named, x->total.units);
    return EXIT_OK;
}

/* All units done, and as many programs as there should be: the enumeration against the formula. */
static int result(const struct exploration *x) {
    if (x->found)
        return report_violation(x);
    if (x->done != x->chunks || x->figures.programs != x->total.programs) {
        fprintf(stderr,
                "isoheap: %" PRIu64 " of %" PRIu64 " programs were run: a fault of the "
                "harness\n",
                x->figures.programs, x->total.programs);
        return EXIT_HARNESS;
    }
    if (x->figures.operations == 0) {
        print_nothing(x);
        return EXIT_USAGE;
    }
    print_figures(x);
    return EXIT_OK;
}

/* Can the menu have what was asked for? */
static bool has_menu(const struct exploration *x) {
    op_bits missing = scope_missing(&x->scope);
    for (unsigned code = 0; code < OP_CODES; code++)
        if (op_bits_have(missing, code)) {
            fprintf(stderr,
                    "isoheap: --menu asks for %s, and the scope has no such operation: %s\n",
                    op_shapes[code].name,
                    op_has(code, ALLOCATES) ? "--allocs (or --shapes) has no shape for it"
                                            : "it needs another slot (--slots)");
            return false;
        }
    if (x->scope.codes == 0 && x->scope.ops > 0)
        fprintf(stderr, "isoheap: the menu is empty\n");
    return x->scope.codes != 0 || x->scope.ops == 0;
}

static int explore(struct exploration *x) {
    const char *fault = scope_valid(&x->scope);
    if (fault) {
        fprintf(stderr, "isoheap: this is no scope: %s\n", fault);
        return EXIT_USAGE;
    }
    if (!has_menu(x))
        return EXIT_USAGE;
    x->total = scope_count(&x->scope);
    if (x->count_only && x->total.programs != UINT64_MAX)
        return count_scope(x);
    if (x->total.programs == UINT64_MAX) {
        fprintf(stderr, "isoheap: the scope has more than 2^64 programs: take fewer operations or "
                        "blocks\n");
        return EXIT_USAGE;
    }
    uint64_t programs_per_unit = x->total.programs / x->total.units;
    x->chunk = programs_per_unit < CHUNK_PROGRAMS ? CHUNK_PROGRAMS / programs_per_unit : 1;
    x->chunks = (x->total.units + x->chunk - 1) / x->chunk;
    int status = explore_load(x);
    if (status)
        return status;
    explore_begin(x);
    bool good = x->done == x->chunks || explore_pool(x);
    explore_end(x);
    pass_signal_on();
    return good ? result(x) : EXIT_HARNESS;
}

static int explore_collector(struct exploration *x, const struct collector *c) {
    x->job.subject = c;
    free(x->job.target);
    x->job.target = NULL;
    if (x->job_options.target && !choose_target(&x->job, x->job_options.target))
        return EXIT_USAGE;
    x->done = 0;
    x->figures = (struct explore_figures){0};
    x->not_run = (struct explore_reason){0};
    x->found = x->late = false;
    explore_scope_for(x, c);
    int status = explore(x);
    fflush(stdout);
    return status;
}

static int explore_each(struct exploration *x, const struct collector *const *list) {
    int status = EXIT_OK;
    for (; *list; list++) {
        int got = explore_collector(x, *list);
        status = got > status ? got : status;
    }
    return status;
}

/* As `isoheap list` has them: the registered ones, and those of plug-ins. */
static int explore_all(struct exploration *x) {
    int status = explore_each(x, registered_collectors), got = explore_each(x, plugin_collectors());
    return got > status ? got : status;
}

static int explore_named(struct exploration *x, const char *name) {
    x->job.subject = choose_collector(name);
    if (!x->job.subject || !knows_masks(&x->job))
        return EXIT_USAGE;
    return explore_collector(x, x->job.subject);
}

/* ---- command ----------------------------------------------------------------------------------
 */

static const char about[] =
    "Run every program of a small scope on a COLLECTOR, once up to renaming, with all oracles; "
    "all: "
    "on every collector of `isoheap list`; of a plug-in it is the default.  Without an option: "
    "every heap of two blocks, every "
    "root "
    "set in two slots, every script of two operations.  The first violation, with the shortest "
    "script, becomes a program file.  docs/explore.md.  `isoheap explore onthefly --help`: every "
    "state "
    "of a model."
    "\v"
    "Exit status: 0 explored and no violation, 1 violation, 2 usage, or no operation had an "
    "effect, 3 unreadable state, 4 harness "
    "fault; of several collectors the highest.";

int explore_programs(int argc, char **argv) {
    static const struct argp argp = {options, parse, "COLLECTOR...", about, children, NULL, NULL};
    static struct exploration x = {
        .job_options = JOB_OPTIONS, .crashes = "crashes", .program = &found_program};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int status = EXIT_OK;
    x.jobs = cores > 0 && cores < JOBS_MAX ? (unsigned)cores : 1;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &x) || !complete_judge(&x.job_options))
        return EXIT_USAGE;
    x.job = x.job_options.job;
    note_signals();
    for (unsigned i = 0; i < x.n_names; i++) /* before the first begins, which may take hours */
        if (strcmp(x.names[i], "all") != 0 && !choose_collector(x.names[i]))
            return EXIT_USAGE;
    for (unsigned i = 0; i < x.n_names; i++) {
        int got = strcmp(x.names[i], "all") == 0 ? explore_all(&x) : explore_named(&x, x.names[i]);
        status = got > status ? got : status;
    }
    return status;
}
