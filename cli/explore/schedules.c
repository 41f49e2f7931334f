/* SPDX-License-Identifier: MIT
 *
 * isoheap explore onthefly: every state of a small configuration.
 */
#define _GNU_SOURCE
#include "cli/explore/explore.h"
#include "cli/nearest.h"
#include "cli/schedule.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct exploration {
    struct explore_options o;
    const char *target, *replay, *from, *output;
    struct schedule before; /* what leads to the state that the search begins with: from */
    enum violation expected;
    bool invariants_given, directed, live, columns, quiet, raw;
    bool terminal;
    double started, shown;
    struct explore_figures figures;
};

enum {
    BUFFER = 1000,
    GC_BUFFER,
    SC,
    REDUCTION,
    FIRST,
    NO_SYMMETRY,
    BETWEEN,
    FAIR,
    LIVE,
    DIRECTED,
    FROM,
    STATES,
    REPLAY,
    COLUMNS,
    RAW,
    MEMORY_MIB = 4096,
    MEMORY_MIB_MAX = 1 << 22
};
static const struct argp_option options[] = {
    {"mutators", 'm', "N", 0, "mutators, 1 to 4 (default: 1)", 0},
    {"refs", 'r', "N", 0, "references, 1 to 8 (default: 2)", 0},
    {"fields", 'f', "N", 0, "fields of an object, 1 to 4 (default: 1)", 0},
    {"buffer", BUFFER, "N", 0, "pending stores of a mutator, 1 to 8 (default: 1)", 0},
    {"gc-buffer", GC_BUFFER, "N", 0, "pending stores of the collector (default: 2)", 0},
    {"variant", 'v', "LIST", 0, "a collector with these changes; see below", 0},
    {"sc", SC, NULL, 0, "sequential consistency in place of x86-TSO", 0},
    {"invariants", 'I', "LIST", 0, "all (default), or of: safety, names", 0},
    {"first", FIRST, "LIST", 0, "look for a state that breaks one of these first; follow no others",
     0},
    {"reduction", REDUCTION, "HOW", 0, "none, local, or full (default): docs/on-the-fly.md", 0},
    {"no-symmetry", NO_SYMMETRY, NULL, 0, "tell states apart that differ by names only", 0},
    {"between", BETWEEN, NULL, 0, "look at the states inside macro steps too", 0},
    {"fair", FAIR, NULL, 0, "see that from every state a fair schedule completes the handshake", 0},
    {"live", LIVE, NULL, 0, "look for a cycle that never ends, though everybody is fair, instead",
     0},
    {"directed", DIRECTED, NULL, 0, "look at states near a violation first", 0},
    {"from", FROM, "FILE", 0, "directed, from the state that this schedule leads to", 0},
    {"memory", 'M', "MIB", 0, "end when the states take more (default: 4096)", 0},
    {"states", STATES, "N", 0, "end after so many states", 0},
    {"jobs", 'j', "N", 0, "threads (default: 1); the result is the same", 0},
    {"output", 'o', "FILE", 0, "write the counter-example there", 0},
    {"raw", RAW, NULL, 0, "the counter-example as it was found, without leaving steps out", 0},
    {"replay", REPLAY, "FILE", 0, "run a schedule instead, a counter-example say", 0},
    {"columns", COLUMNS, NULL, 0, "print the interleaving, a column for each process", 0},
    {"expect", 'e', "CLASS", 0, "succeed if and only if this violation is found (or none)", 0},
    {"quiet", 'q', NULL, 0, "verdict and figures only", 0},
    {0}};

/* ---- options ----------------------------------------------------------------------------------
 */

static const char *const reductions[] = {"none", "local", "full"};

static void parse_reduction(struct exploration *x, const char *name, struct argp_state *state) {
    for (unsigned i = 0; i < 3; i++)
        if (strcmp(name, reductions[i]) == 0) {
            x->o.reduction = (enum reduction)i;
            return;
        }
    argp_error(state, "--reduction takes none, local or full, not %s", name);
}

static error_t parse_model(int key, char *argument, struct argp_state *state) {
    struct exploration *x = state->input;
    struct model *m = &x->o.model;
    switch (key) {
    case 'm':
        m->mutators = choose_number("--mutators", argument, 1, MUTATORS_MAX);
        return 0;
    case 'r':
        m->refs = choose_number("--refs", argument, 1, REFS_MAX);
        return 0;
    case 'f':
        m->fields = choose_number("--fields", argument, 1, FIELDS_MAX);
        return 0;
    case BUFFER:
        m->buffer = choose_number("--buffer", argument, 1, BUFFER_MAX);
        return 0;
    case GC_BUFFER:
        m->gc_buffer = choose_number("--gc-buffer", argument, 1, BUFFER_MAX);
        return 0;
    case 'v':
        if (!choose_variants(argument, &m->variant))
            exit(EXIT_USAGE);
        return 0;
    case SC:
        m->sequential = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_search(int key, char *argument, struct argp_state *state) {
    struct exploration *x = state->input;
    switch (key) {
    case REDUCTION:
        parse_reduction(x, argument, state);
        return 0;
    case NO_SYMMETRY:
        x->o.symmetry = false;
        return 0;
    case BETWEEN:
        x->o.between = true;
        return 0;
    case FAIR:
        x->o.fair = true;
        return 0;
    case LIVE:
        x->live = true;
        return 0;
    case DIRECTED:
        x->directed = true;
        return 0;
    case FROM:
        x->directed = true;
        x->from = argument;
        return 0;
    case 'M':
        x->o.memory = (uint64_t)choose_number("--memory", argument, 1, MEMORY_MIB_MAX) << 20;
        return 0;
    case STATES:
        x->o.states = choose_number("--states", argument, 1, UINT32_MAX);
        return 0;
    case 'j':
        x->o.jobs = choose_number("--jobs", argument, 1, 64);
        return 0;
    default:
        return parse_model(key, argument, state);
    }
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct exploration *x = state->input;
    switch (key) {
    case 'I':
        x->o.invariants = choose_invariants(argument);
        x->invariants_given = true;
        if (!x->o.invariants)
            exit(EXIT_USAGE);
        return 0;
    case FIRST:
        x->o.first = choose_invariants(argument);
        if (!x->o.first)
            exit(EXIT_USAGE);
        return 0;
    case 'o':
        x->output = argument;
        return 0;
    case RAW:
        x->raw = true;
        return 0;
    case REPLAY:
        x->replay = argument;
        return 0;
    case COLUMNS:
        x->columns = true;
        return 0;
    case 'q':
        x->quiet = true;
        return 0;
    case 'e':
        x->expected = violation_named(argument);
        if (x->expected == VIOLATION_classes)
            argp_error(state,
                       "no violation class is called %s%s (`isoheap list classes` names them)",
                       argument, did_you_mean(argument, class_names));
        return 0;
    case ARGP_KEY_ARG:
        if (x->target)
            argp_error(state, "one thing to explore at a time");
        x->target = argument;
        return 0;
    case ARGP_KEY_END:
        if (!x->replay && !x->from && !x->target)
            argp_error(state, "what shall be explored? There is: onthefly");
        else if (x->target && strcmp(x->target, "onthefly") != 0)
            argp_error(state, "%s cannot be explored; what can be: onthefly", x->target);
        return 0;
    default:
        return parse_search(key, argument, state);
    }
}

/* ---- progress ---------------------------------------------------------------------------------
 */

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static bool show_progress(const struct explore_figures *f, void *context) {
    struct exploration *x = context;
    double now = seconds();
    if (!x->terminal || now - x->shown < 0.25)
        return true;
    x->shown = now;
    double took = now - x->started;
    fprintf(stderr,
            "\r\033[K%" PRIu64 " states, %" PRIu64 " to look at, depth %u, %.0f states/s, %" PRIu64
            " MiB of %" PRIu64,
            f->states, f->states - f->expanded, f->depth,
            took > 0 ? (double)f->expanded / took : 0.0, f->bytes >> 20, x->o.memory >> 20);
    return true;
}

/* ---- result -----------------------------------------------------------------------------------
 */

static void print_figures(const struct exploration *x, const struct explore_result *r) {
    const struct explore_figures *f = &r->figures;
    const struct model *m = &x->o.model;
    double took = seconds() - x->started;
    printf("  model        mutators=%u refs=%u fields=%u buffer=%u gc-buffer=%u memory=%s\n",
           m->mutators, m->refs, m->fields, m->buffer, m->gc_buffer, m->sequential ? "sc" : "tso");
    for (unsigned i = 0; i < VARIANT_COUNT; i++)
        if (m->variant >> i & 1)
            printf("  variant      %s: %s\n", variant_name(i), variant_meaning(i));
    if (r->reduction != x->o.reduction)
        printf("  reduction    %s: no stronger one is known to hold for this collector\n",
               reductions[r->reduction]);
    printf("  states       %" PRIu64 "\n  transitions  %" PRIu64 "\n  depth        %u\n", f->states,
           f->transitions, f->depth);
    if (x->directed)
        printf("  model steps  %" PRIu64 "\n", f->steps);
    printf("  a state      %u bytes, %.1f with its share of the table\n", f->state_bytes,
           f->states ? (double)f->bytes / (double)f->states : 0.0);
    if (isatty(STDOUT_FILENO)) /* what two runs differ in is for people */
        printf("  time         %.2f s, %.0f states/s\n", took,
               took > 0 ? (double)f->states / took : 0.0);
}

static const char *end_text(enum explore_end end) {
    switch (end) {
    case EXPLORE_COMPLETE:
        return "complete: no state is bad";
    case EXPLORE_DEADLOCK:
        return "violation no_progress: a state without successors";
    case EXPLORE_UNFAIR:
        return "violation no_progress: a handshake that a fair schedule does not complete";
    case EXPLORE_LASSO:
        return "violation no_progress: a cycle of the collector that never ends, though all are "
               "fair";
    case EXPLORE_UNSOUND:
        return "incomplete: the reduction does not hold for this collector; --reduction none does";
    case EXPLORE_STATES:
        return "incomplete: as many states as --states allows, none is bad";
    case EXPLORE_MEMORY:
        return "incomplete: as many states as --memory allows, none is bad";
    default:
        return "stopped";
    }
}

static enum violation result_class(const struct explore_result *r) {
    if (r->end == EXPLORE_VIOLATION)
        return broken_class(r->broken);
    bool hangs = r->end == EXPLORE_DEADLOCK || r->end == EXPLORE_UNFAIR || r->end == EXPLORE_LASSO;
    return hangs ? VIOLATION_no_progress : VIOLATION_none;
}

/* Takes over x->before. */
static int give_counter_example(const struct exploration *x, const struct explore_result *r) {
    struct schedule s = x->before;
    if (!x->from)
        schedule_start_from(&s, &x->o.model, &r->start);
    s.invariants = x->from || x->invariants_given ? x->o.invariants : INVARIANTS_ALL;
    for (size_t i = 0; i < r->trace_length; i++)
        if (!schedule_append(&s, &r->trace[i]))
            return EXIT_HARNESS;
    if (r->end == EXPLORE_VIOLATION && !x->raw)
        schedule_reduce(&s);
    printf("  steps        %zu\n", s.n);
    if (r->end == EXPLORE_LASSO && r->loop == s.n)
        printf("  loop         none: who could take a step need not\n");
    else if (r->end == EXPLORE_LASSO)
        printf("  loop         steps %zu to %zu, again and again\n", r->loop + 1, s.n);
    if (!x->quiet || x->columns) {
        printf("\n");
        schedule_columns(&s, stdout);
    }
    bool good = !x->output || write_schedule(&s, x->output);
    schedule_free(&s);
    return good ? EXIT_OK : EXIT_USAGE;
}

/* The model and the state to begin with, from a schedule. */
static bool begin_from(struct exploration *x, struct state *from) {
    if (!read_schedule(x->from, &x->before) || !schedule_leads_to(x->from, &x->before, from))
        return false;
    x->o.model = x->before.model;
    if (!x->invariants_given)
        x->o.invariants = x->before.invariants;
    return true;
}

static int search(struct exploration *x) {
    struct state from;
    if (x->from && !begin_from(x, &from))
        return EXIT_UNREADABLE;
    x->o.progress = show_progress;
    x->o.context = x;
    x->terminal = isatty(STDERR_FILENO);
    x->started = x->shown = seconds();
    /* full keeps roots that it could discard, so it sees less garbage */
    if (x->o.reduction == REDUCE_FULL && !x->invariants_given)
        x->o.invariants &= ~(unsigned)INVARIANT(garbage);
    x->o.model.track_garbage = x->o.invariants & INVARIANT(garbage) && !x->live;
    if (x->live)
        x->o.reduction = REDUCE_NONE;
    struct explore_result r = x->live       ? explore_lasso(&x->o)
                              : x->directed ? explore_directed(&x->o, x->from ? &from : NULL)
                                            : explore(&x->o);
    if (x->terminal)
        fprintf(stderr, "\r\033[K");
    enum violation found = result_class(&r);
    if (r.end == EXPLORE_VIOLATION) {
        unsigned first = invariant_first(r.broken);
        printf("onthefly: violation %s\n  broken       %s: %s\n", violation_name(found),
               invariant_name(first), invariant_statement(first));
    } else {
        bool ends = x->live && r.end == EXPLORE_COMPLETE;
        printf("onthefly: %s\n", ends ? "complete: every cycle ends" : end_text(r.end));
    }
    if (r.unsound)
        printf("  because      %s\n", r.unsound);
    print_figures(x, &r);
    int status = r.trace ? give_counter_example(x, &r) : EXIT_OK;
    free(r.trace);
    if (status != EXIT_OK)
        return status;
    bool complete = r.end == EXPLORE_COMPLETE || found != VIOLATION_none;
    return found == x->expected ? (complete ? EXIT_OK : EXIT_USAGE) : EXIT_VIOLATION;
}

/* ---- command ----------------------------------------------------------------------------------
 */

static const char about[] =
    "Explore every state of the on-the-fly collector on x86-TSO that a small configuration can "
    "reach, and check the paper's invariants in each; docs/on-the-fly.md.  The target is onthefly."
    "\v"
    "Exit status: 0 explored and no violation, 1 violation (with --expect: not the expected one), "
    "2 usage, or a bound ended the search, 3 unreadable schedule, 4 harness fault.";

/* The names that the options take, after the text above. */
static char *help_filter(int key, const char *text, void *input) {
    char *help = NULL;
    size_t size = 0;
    (void)input;
    if (key != ARGP_KEY_HELP_EXTRA)
        return (char *)(uintptr_t)text;
    FILE *out = open_memstream(&help, &size);
    if (!out)
        return NULL;
    fprintf(out, "Variants:\n");
    for (unsigned i = 0; i < VARIANT_COUNT; i++)
        fprintf(out, "  %-22s%s\n", variant_name(i), variant_meaning(i));
    fprintf(out, "\nInvariants:\n");
    for (unsigned i = 0; i < INVARIANT_COUNT; i++)
        fprintf(out, "  %-22s%s\n", invariant_name(i), invariant_class(i));
    fclose(out);
    return help;
}

int explore_schedules(int argc, char **argv) {
    static const struct argp argp = {options, parse, "onthefly", about, NULL, help_filter, NULL};
    struct exploration x = {
        .o = {.model = {.mutators = 1, .refs = 2, .fields = 1, .buffer = 1, .gc_buffer = 2},
              .reduction = REDUCE_FULL,
              .symmetry = true,
              .invariants = INVARIANTS_ALL,
              .jobs = 1,
              .memory = (uint64_t)MEMORY_MIB << 20}};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &x))
        return EXIT_USAGE;
    if (x.replay)
        return replay_schedule(x.replay, x.invariants_given ? x.o.invariants : 0, x.expected,
                               x.columns, x.quiet);
    return search(&x);
}
