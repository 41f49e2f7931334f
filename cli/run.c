/* SPDX-License-Identifier: MIT
 *
 * isoheap run: replay programs and judge them.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct run {
    struct job job;
    const char *collector, *reference, *expect;
    enum violation expected;
    bool trace, quiet, colour;
    char **files;
    int n_files;
    int status;
    unsigned n_passed, n_failed;
};

enum { IN_PROCESS = 1000 };
static const struct argp_option options[] = {
    {"collector", 'c', "NAME", 0, "the collector under test (default: mark_sweep)", 0},
    {"reference", 'r', "NAME", 0, "the reference (default: cheney); none: the model alone", 0},
    {"oracles", 'O', "LIST", 0, "only these, a,b,c; or all but these, -a,-b", 0},
    {"trace", 't', NULL, 0, "print every operation as it runs, and what changed", 0},
    {"expect", 'e', "CLASS", 0, "succeed if and only if every file raises CLASS (or none)", 0},
    {"timeout", 'T', "SECONDS", 0, "time for each file (default: 10)", 0},
    {"in-process", IN_PROCESS, NULL, 0, "no child process: for a debugger", 0},
    {"quiet", 'q', NULL, 0, "a line for each file, no reports", 0},
    {0}};

static void parse_expected(struct run *r, const char *name, struct argp_state *state) {
    r->expect = name;
    r->expected = choose_violation(name);
    if (r->expected == VIOLATION_classes)
        argp_error(state, "no violation class is called %s; see `isoheap list`", name);
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct run *r = state->input;
    switch (key) {
    case 'c':
        r->collector = argument;
        return 0;
    case 'r':
        r->reference = argument;
        return 0;
    case 'O':
        r->job.oracles = choose_oracles(argument);
        if (!r->job.oracles)
            exit(EXIT_USAGE);
        return 0;
    case 't':
        r->trace = true;
        return 0;
    case 'e':
        parse_expected(r, argument, state);
        return 0;
    case 'T':
        r->job.seconds = (unsigned)strtoul(argument, NULL, 10);
        if (r->job.seconds == 0 || r->job.seconds > 100000)
            argp_error(state, "--timeout takes a number of seconds from 1 to 100000");
        return 0;
    case IN_PROCESS:
        r->job.seconds = 0;
        return 0;
    case 'q':
        r->quiet = true;
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

/* ---- the trace --------------------------------------------------------------------------------
 */

static void print_slot(const struct snapshot *s, unsigned i) {
    struct snapshot_edge edge = snapshot_resolve(s, s->slots[i]);
    printf("  ");
    if (i / GC_SLOTS)
        printf("mutator %u: ", i / GC_SLOTS);
    printf("r%u = ", i % GC_SLOTS);
    if (!edge.pointer && is_immediate(s->slots[i]))
        printf("%lld", (long long)immediate_value(s->slots[i]));
    else if (!edge.pointer)
        printf("0x%llx", (unsigned long long)s->slots[i]);
    else if (edge.block == SIZE_MAX)
        printf("(points at no block)");
    else
        printf("%s%s%.0zu", s->blocks[edge.block].name[0] ? s->blocks[edge.block].name : "?",
               edge.offset ? "+" : "", edge.offset);
}

/* After every operation: the model's slots that changed, and how many blocks the subject has. */
static void trace(void *context, struct runner *runner, unsigned op, bool before) {
    static word last[GC_MUTATORS * GC_SLOTS];
    struct snapshot s;
    char line[VERDICT_TEXT];
    (void)context;
    if (before) {
        runner_operation(runner, op, line, sizeof line);
        if (op == OP_INITIAL) {
            for (unsigned i = 0; i < GC_MUTATORS * GC_SLOTS; i++)
                last[i] = WORD_UNIT;
            printf("   -  %s\n", line);
        } else {
            printf("%4u  %s\n", op, line);
        }
        fflush(stdout);
        return;
    }
    size_t live = 0, reachable = 0;
    if (runner_snapshot(runner, PARTY_SUBJECT, &s))
        for (size_t i = 0; i < s.n_blocks; i++) {
            live += s.blocks[i].extent == GC_LIVE;
            reachable += s.blocks[i].extent == GC_LIVE && s.blocks[i].reachable;
        }
    printf("      %zu blocks, %zu reachable;", live, reachable);
    runner_snapshot(runner, PARTY_MODEL, &s);
    for (unsigned i = 0; i < s.mutators * GC_SLOTS; i++)
        if (s.slots[i] != last[i] && i % GC_SLOTS < PROGRAM_SLOTS) {
            print_slot(&s, i);
            last[i] = s.slots[i];
        }
    printf("\n");
    fflush(stdout);
}

/* ---- files ------------------------------------------------------------------------------------
 */

static void raise_status(struct run *r, int status) {
    if (status > r->status)
        r->status = status;
}

static void print_result(const struct run *r, const char *path, const struct verdict *v,
                         const struct program *p) {
    const char *on = r->colour ? "\033[1;31m" : "", *off = r->colour ? "\033[0m" : "";
    if (v->harness_error) {
        printf("%s: %sharness error%s: %s\n", path, on, off, v->detail);
    } else if (v->violation == VIOLATION_none) {
        printf("%s: ok, digest %016llx\n", path, (unsigned long long)v->digest);
    } else {
        printf("%s: %sviolation %s%s (%s) ", path, on, violation_name(v->violation), off,
               party_name(v->guilty));
        if (v->op < p->n_ops)
            printf("at operation %u: %s\n", v->op, v->operation);
        else
            printf("at %s\n", v->operation);
    }
}

static void run_file(const char *path, void *context) {
    static struct program program;
    struct run *r = context;
    char *report;
    if (!read_program(path, &program, NULL)) {
        raise_status(r, EXIT_UNREADABLE);
        return;
    }
    struct verdict v = run_job(&r->job, &program, &report);
    print_result(r, path, &v, &program);
    bool good = r->expect ? v.violation == r->expected : v.violation == VIOLATION_none;
    if (v.harness_error)
        raise_status(r, EXIT_HARNESS);
    else if (!good)
        raise_status(r, EXIT_VIOLATION);
    if (r->expect && !good)
        printf("  expected %s\n", r->expect);
    if (!r->quiet && report && (v.violation || v.harness_error) && !(r->expect && good))
        printf("\n%s\n", report);
    fflush(stdout);
    free(report);
    if (good && !v.harness_error)
        r->n_passed++;
    else
        r->n_failed++;
}

int command_run(int argc, char **argv) {
    static const struct argp argp = {options,
                                     parse,
                                     "FILE...",
                                     "Run programs on a collector, a reference and the model, and "
                                     "judge.  A FILE may be a folder; "
                                     "each program runs in a child process.  Exit status: 0 no "
                                     "violation, 1 violation, 2 usage, 3 "
                                     "unreadable input, 4 harness fault.",
                                     NULL,
                                     NULL,
                                     NULL};
    struct run r = {.job = {.seconds = 10}, .collector = "mark_sweep", .reference = "cheney"};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &r))
        return EXIT_USAGE;
    r.job.subject = choose_collector(r.collector);
    bool alone = strcmp(r.reference, "none") == 0;
    r.job.reference = alone ? NULL : choose_collector(r.reference);
    if (!r.job.subject || (!alone && !r.job.reference))
        return EXIT_USAGE;
    r.job.observe = r.trace ? trace : NULL;
    r.colour = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    for (int i = 0; i < r.n_files; i++)
        for_each_file(r.files[i], run_file, &r);
    if (r.n_passed + r.n_failed > 1)
        printf("%u passed, %u failed\n", r.n_passed, r.n_failed);
    return r.status;
}
