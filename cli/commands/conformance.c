/* SPDX-License-Identifier: MIT
 *
 * isoheap conformance: holds a collector to the contract of collectors/collector.h
 * (conformance/conform.h has the steps).
 *
 * Each step has a child process of its own with a time limit: a collector that is being ported
 * crashes and hangs, and that is then the answer of one step.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/judgements/judgements.h"
#include "cli/plugin.h"
#include "conformance/conform.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SAMPLE = 32,
    IN_PROCESS = 1000,
    LARGE,
    WIDTH = 96,
    INDENT = 12,
    SAID = 64 << 10,
    SECONDS_MAX = 100000
};

struct conformance {
    const char *collector, *only;
    unsigned seconds, large; /* large: words of the heap of that step; 0: its own */
    bool in_process, colour;
    unsigned kept, broken, not_promised;
};

static const struct argp_option options[] = {
    {"collector", 'c', "NAME", 0, "the collector to test (default: the plug-in, or mark_sweep)", 0},
    {"only", 'o', "STEP", 0, "this step alone", 0},
    {"timeout", 'T', "SECONDS", 0, "processor time for each step (default: 10)", 0},
    {"large", LARGE, "WORDS", 0, "words of the heap of step large (default: 262144)", 0},
    {"in-process", IN_PROCESS, NULL, 0, "no child process and no time limit: for a debugger", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct conformance *c = state->input;
    switch (key) {
    case 'c':
        c->collector = argument;
        return 0;
    case 'o':
        c->only = argument;
        return 0;
    case 'T':
        c->seconds = choose_number("--timeout", argument, 1, SECONDS_MAX);
        return 0;
    case LARGE:
        c->large = choose_number("--large", argument, 64, PROGRAM_LARGE_WORDS);
        conform_large(c->large);
        return 0;
    case IN_PROCESS:
        c->in_process = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- a step in a child -------------------------------------------------------------------------
 */

enum { DONE = 0x600d };

struct shared {
    unsigned finished; /* DONE: there is an answer */
    struct conform_answer answer;
};

struct step_run {
    const struct collector *collector;
    unsigned step;
    struct shared *shared;
};

static void run_guarded(void *context) {
    const struct step_run *r = context;
    struct rlimit no_core = {0, 0};
    static struct conform_answer answer;
    pid_t self = getpid();
    setrlimit(RLIMIT_CORE, &no_core);
    mprotect(r->shared, sizeof *r->shared, PROT_NONE); /* until there is an answer */
    conform_run(r->collector, r->step, &answer);
    if (getpid() != self)
        _exit(1); /* a copy that the collector has made */
    mprotect(r->shared, sizeof *r->shared, PROT_READ | PROT_WRITE);
    r->shared->answer = answer;
    r->shared->finished = DONE;
}

/* It comes from a process in which the collector may have written anywhere. */
static bool is_sound(struct conform_answer *a) {
    a->text[CONFORM_TEXT - 1] = a->remark[CONFORM_TEXT - 1] = '\0';
    return (unsigned)a->result <= CONFORM_NOT_PROMISED;
}

/* What the child wrote to stderr that people want to see: the line that sums up, or the first. */
static void summary_of(char *text, size_t length, char *out, size_t size) {
    char line[512];
    out[0] = '\0';
    FILE *said = length ? fmemopen(text, length, "r") : NULL;
    while (said && fgets(line, sizeof line, said)) {
        bool sums_up = strstr(line, "ERROR: ") || strstr(line, "SUMMARY: ") ||
                       strstr(line, "runtime error") || strstr(line, "Assertion");
        line[strcspn(line, "\n")] = '\0';
        if ((!out[0] && line[0] && line[0] != '=') || sums_up)
            snprintf(out, size, "%.*s", (int)size - 1, line);
        if (sums_up)
            break;
    }
    if (said)
        fclose(said);
}

static void answer_death(const struct guard_end *end, const struct guard_task *task,
                         const char *said, struct conform_answer *answer) {
    char limit[CONFORM_TEXT / 2];
    guard_describe(end->limit, task->seconds, task->mib, limit, sizeof limit);
    memset(answer, 0, sizeof *answer);
    answer->result = CONFORM_BROKEN;
    if (end->limit == GUARD_PROCESSOR || end->limit == GUARD_IDLE)
        snprintf(answer->text, CONFORM_TEXT, "the step does not end: a hang (it %s)", limit);
    else if (end->limit != GUARD_NONE)
        snprintf(answer->text, CONFORM_TEXT, "the step %s", limit);
    else if (WIFSIGNALED(end->status))
        snprintf(answer->text, CONFORM_TEXT, "the collector crashed: %s%s%s",
                 strsignal(WTERMSIG(end->status)), said[0] ? ": " : "", said);
    else
        snprintf(answer->text, CONFORM_TEXT, "the process ended itself with status %d%s%s",
                 WEXITSTATUS(end->status), said[0] ? ": " : "", said);
}

/* False, after a message, if the system refuses. */
static bool run_step(const struct conformance *c, const struct collector *collector, unsigned step,
                     struct conform_answer *answer) {
    static char said[SAID];
    char line[512];
    size_t length = sizeof said;
    struct guard_end end;
    struct shared *shared = guard_share(sizeof *shared);
    struct step_run run = {collector, step, shared};
    /* A large heap is in memory two or three times, and takes seconds for a million words. */
    struct guard_task task = {.seconds = c->seconds + c->large / (1 << 18),
                              .mib = GUARD_MEMORY_MIB + c->large / (1 << 14),
                              .body = run_guarded,
                              .context = &run};
    bool good = shared && guard_run(&task, said, &length, &end);
    if (!good) {
        perror("isoheap: conformance");
    } else if (shared->finished == DONE && is_sound(&shared->answer)) {
        *answer = shared->answer;
    } else {
        summary_of(said, length, line, sizeof line);
        answer_death(&end, &task, line, answer);
    }
    guard_unshare(shared, sizeof *shared);
    return good;
}

/* ---- printing ----------------------------------------------------------------------------------
 */

static void print_wrapped(const char *text) {
    int column = 0;
    while (*text) {
        int n = (int)strcspn(text, " ");
        if (column && column + 1 + n > WIDTH - INDENT) {
            printf("\n");
            column = 0;
        }
        column +=
            column ? printf(" %.*s", n, text) : printf("%*s%.*s", INDENT, "", n, text) - INDENT;
        text += n + (text[n] == ' ');
    }
    printf("\n");
}

static void print_answer(struct conformance *c, const struct collector *collector, unsigned step,
                         const struct conform_answer *a) {
    const char *on = c->colour ? "\033[1;31m" : "", *off = c->colour ? "\033[0m" : "";
    char where[200];
    if (a->result == CONFORM_NOT_PROMISED) {
        c->not_promised++;
        printf("  -        %-11s %s\n", conform_name(step), a->text);
        return;
    }
    if (a->result == CONFORM_KEPT) {
        c->kept++;
        printf("  kept     %-11s %s\n", conform_name(step), conform_promise(step));
    } else {
        c->broken++;
        printf("  %sBROKEN%s   %-11s %s\n", on, off, conform_name(step), conform_promise(step));
        print_wrapped(a->text);
        const char *const *variants = collector->variants;
        snprintf(where, sizeof where, "(in a heap of %u words%s%s)", a->words,
                 variants ? ", variant " : "", variants ? variants[a->variant] : "");
        if (a->words)
            print_wrapped(where);
    }
    if (a->remark[0]) {
        printf("%*sremark: %s\n", INDENT, "", a->remark);
    }
}

/* Steps see one promise each; what a run judges, and what nobody can, shows in programs. */
static int run_sample(const struct conformance *c, const struct collector *collector) {
    static struct judged_sample sample;
    struct program empty;
    program_clear(&empty);
    const struct gc_config config = program_gc_config(&empty);
    if (!sample_run(&sample, collector, SAMPLE, c->in_process ? 0 : c->seconds)) {
        fprintf(stderr, "isoheap: no memory for programs\n");
        return EXIT_HARNESS;
    }
    const struct verdict *v = &sample.verdict;
    printf("oracles in %u programs made at random (isoheap run -v says it of yours):\n",
           sample.programs);
    print_judgements(collector, &config, 0, sample.judged);
    if (sample.not_run)
        printf("%u of them were not run; the first: %s\n", sample.not_run, sample.why_not);
    if (v->violation || v->harness_error)
        printf("the last of them: %s%s of the %s, %s; isoheap fuzz finds and reduces such\n",
               v->harness_error ? "harness error" : "violation ",
               v->harness_error ? "" : violation_name(v->violation), party_name(v->guilty),
               v->detail);
    return v->harness_error ? EXIT_HARNESS : v->violation ? EXIT_VIOLATION : EXIT_OK;
}

static int run_all(struct conformance *c, const struct collector *collector) {
    bool found = false;
    printf("%s: %s\n", collector->name, collector->summary);
    for (unsigned step = 0; step < conform_steps(); step++) {
        struct conform_answer answer;
        if (c->only && strcmp(c->only, conform_name(step)) != 0)
            continue;
        found = true;
        if (c->in_process)
            conform_run(collector, step, &answer);
        else if (!run_step(c, collector, step, &answer))
            return EXIT_HARNESS;
        print_answer(c, collector, step, &answer);
        fflush(stdout);
    }
    if (!found) {
        fprintf(stderr, "isoheap: no step is called %s; there are:", c->only);
        for (unsigned step = 0; step < conform_steps(); step++)
            fprintf(stderr, " %s", conform_name(step));
        fprintf(stderr, "\n");
        return EXIT_USAGE;
    }
    printf("%u promises kept, %u broken, %u not made\n", c->kept, c->broken, c->not_promised);
    if (c->broken)
        return EXIT_VIOLATION;
    return c->only ? EXIT_OK : run_sample(c, collector);
}

static const char about[] =
    "Call the functions of a collector one after the other on heaps that grow, and say in plain "
    "words "
    "which promise of the interface (collectors/collector.h) is broken.  Traits that are not "
    "claimed "
    "are left out.  Each step runs in a child process.  If all are kept, a few programs tell which "
    "oracles judge the collector, and which cannot and why."
    "\v"
    "Exit status: 0 all promises kept, 1 a broken one, 2 usage, or the plug-in cannot be loaded, 4 "
    "harness fault.";

int command_conformance(int argc, char **argv) {
    static const struct argp argp = {options, parse, "", about, plugin_option, NULL, NULL};
    struct conformance c = {.seconds = 10, .colour = wants_colour()};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &c))
        return EXIT_USAGE;
    const struct collector *collector = choose_collector(c.collector);
    return collector ? run_all(&c, collector) : EXIT_USAGE;
}
