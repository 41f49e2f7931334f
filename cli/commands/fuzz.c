/* SPDX-License-Identifier: MIT
 *
 * isoheap fuzz: a campaign over fuzz targets (campaign.h has its plan).
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/campaign/shares.h"
#include "cli/descendants.h"
#include "cli/plugin.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    RUNS = 1000,
    UNMASK,
    SEED,
    CORPUS,
    CRASHES,
    BIN_DIR,
    KEEP,
    REDUCE_RUNS,
    REDUCE_TIME,
    SYNC,
    NODE
};
enum { NUMBER_MAX = 1000000000, NODE_LENGTH = 20 };

static const struct argp_option options[] = {
    {"time", 't', "SECONDS", 0, "how long in all (default: 60)", 0},
    {"jobs", 'j', "N", 0, "processor cores to use (default: all)", 0},
    {"engine", 'e', "libfuzzer|afl", 0, "the fuzzing engine (default: libfuzzer)", 0},
    {"runs", RUNS, "N", 0, "end a target after about N executions", 0},
    {"seed", SEED, "N", 0, "seed of the engine (default: 1)", 0},
    {"corpus", CORPUS, "DIR", 0, "inputs worth keeping, in DIR/TARGET (default: corpus)", 0},
    {"crashes", CRASHES, "DIR", 0, "findings, in DIR/CLASS (default: crashes)", 0},
    {"bin-dir", BIN_DIR, "DIR", 0,
     "the targets' binaries (default: the plug-in's folder, build/fuzz/bin, for afl build/afl/bin)",
     0},
    {"keep", KEEP, "N", 0,
     "of one class and guilty party reduce N findings, count the others (default: 20)", 0},
    {"reduce-runs", REDUCE_RUNS, "N", 0, "runs to reduce a finding in (default: 2000)", 0},
    {"reduce-time", REDUCE_TIME, "SECONDS", 0,
     "processor time to reduce a finding in; five times as much by the clock (default: 30)", 0},
    {"sync", SYNC, "DIR", 0, "afl: a folder to share with other machines, DIR/TARGET/NODE-jobN", 0},
    {"unmask", UNMASK, "LIST", 0,
     "known defects of the collectors that are not steered around; all (default: ISOHEAP_UNMASK in "
     "the environment, else none)",
     0},
    {"node", NODE, "NAME", 0, "afl: what this machine is called there (default: its host name)", 0},
    {0}};

/* ---- options ----------------------------------------------------------------------------------
 */

static const struct engine *parse_engine(const char *name, struct argp_state *state) {
    static const struct engine *const engines[] = {&libfuzzer, &afl, NULL};
    for (const struct engine *const *engine = engines; *engine; engine++)
        if (strcmp((*engine)->name, name) == 0)
            return *engine;
    argp_error(state, "--engine takes libfuzzer or afl, not %s", name);
    return NULL;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct campaign *c = state->input;
    switch (key) {
    case 't':
        c->time = choose_number("--time", argument, 1, NUMBER_MAX);
        return 0;
    case 'j':
        c->jobs = choose_number("--jobs", argument, 1, JOBS_MAX);
        return 0;
    case 'e':
        c->engine = parse_engine(argument, state);
        return 0;
    case RUNS:
        c->runs = choose_number("--runs", argument, 1, NUMBER_MAX);
        return 0;
    case SEED:
        c->seed = choose_number("--seed", argument, 1, NUMBER_MAX);
        return 0;
    case CORPUS:
        c->corpus = path_argument(argument);
        return 0;
    case CRASHES:
        c->crashes = path_argument(argument);
        return 0;
    case BIN_DIR:
        c->bin_dir = path_argument(argument);
        return 0;
    case KEEP:
        c->keep = choose_number("--keep", argument, 1, NUMBER_MAX);
        return 0;
    case REDUCE_RUNS:
        c->reduce_runs = choose_number("--reduce-runs", argument, 1, NUMBER_MAX);
        return 0;
    case REDUCE_TIME:
        c->reduce_seconds = choose_number("--reduce-time", argument, 1, NUMBER_MAX);
        return 0;
    case SYNC:
        c->sync = path_argument(argument);
        return 0;
    case UNMASK: /* the targets read it there */
        setenv("ISOHEAP_UNMASK", argument, 1);
        return 0;
    case NODE:
        c->node = argument;
        return 0;
    case ARGP_KEY_ARGS:
        c->names = state->argv + state->next;
        c->n_names = state->argc - state->next;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the order of events ----------------------------------------------------------------------
 */

volatile sig_atomic_t campaign_interrupts;

void note_interrupt(int number) {
    (void)number;
    campaign_interrupts++;
}

void count_interrupts(void) {
    struct sigaction interrupt = {.sa_handler = note_interrupt};
    sigaction(SIGINT, &interrupt, NULL);
    sigaction(SIGTERM, &interrupt, NULL);
}

unsigned jobs_of_machine(void) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return cores < 1 ? 1 : cores > JOBS_MAX ? JOBS_MAX : (unsigned)cores;
}

/* It ends the pause of run_campaign: an engine that crashes is started again at once. */
static void on_child(int number) {
    (void)number;
}

static void catch_signals(void) {
    struct sigaction interrupt = {.sa_handler = note_interrupt};
    struct sigaction child = {.sa_handler = on_child, .sa_flags = SA_RESTART};
    sigaction(SIGCHLD, &child, NULL);
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], &interrupt, NULL);
    signal(SIGPIPE, SIG_IGN); /* whoever read our lines is gone: go on */
}

static double share_now(const struct campaign *c, unsigned waiting) {
    return share_of_next(waiting, c->jobs, c->end - seconds_now(), c->overhead);
}

static void note_overhead(struct campaign *c, const struct target *t) {
    c->overhead = overhead_after(c->overhead, t->share, seconds_now() - t->started);
}

/* Who got no time has fuzzed nothing, and that is said. */
static void note_unstarted(struct campaign *c) {
    if (campaign_interrupts || c->disk_full)
        return;
    for (unsigned i = 0; i < c->n_targets; i++)
        if (!c->targets[i].running && !c->targets[i].ended)
            c->targets[i].trouble = true;
}

static bool plan(struct campaign *c) {
    c->jobs_each = c->jobs / c->n_targets ? c->jobs / c->n_targets : 1;
    if (equal_share(c->n_targets, c->jobs, c->time) >= 1)
        return true;
    fprintf(stderr, "isoheap: --time %.0f is too short for %u targets on %u cores\n", c->time,
            c->n_targets, c->jobs);
    return false;
}

/* Before a write fails: an engine that cannot write an input has lost it. */
static void watch_space(struct campaign *c) {
    if (c->disk_full || (has_space(c->corpus) && has_space(c->crashes)))
        return;
    c->disk_full = true;
    say("isoheap: the disk of %s or %s is full", c->corpus, c->crashes);
}

/* Starts what the cores allow; returns how many run. */
static unsigned start_targets(struct campaign *c, bool end) {
    unsigned running = 0, ended = 0;
    for (unsigned i = 0; i < c->n_targets; i++) {
        running += c->targets[i].running;
        ended += c->targets[i].ended;
    }
    for (unsigned i = 0; i < c->n_targets && !end; i++) {
        struct target *t = &c->targets[i];
        if (running >= c->jobs || t->running || t->ended)
            continue;
        t->share = share_now(c, c->n_targets - running - ended);
        if (!target_start(t)) {
            t->trouble = t->ended = true;
            target_stop(t, true);
            continue;
        }
        running++;
    }
    return running;
}

static void poll_targets(struct campaign *c, bool end) {
    for (unsigned i = 0; i < c->n_targets; i++) {
        struct target *t = &c->targets[i];
        if (!t->running)
            continue;
        if (end && !(t->asked_to_end > 0))
            target_stop(t, campaign_interrupts > 0);
        target_poll(t);
        if (t->ended && !end)
            note_overhead(c, t);
    }
}

static void run_campaign(struct campaign *c) {
    static const struct timespec pause = {.tv_nsec = 100000000};
    bool busy = true;
    while (busy) {
        watch_space(c);
        bool end = campaign_interrupts || c->disk_full || c->filing_ended || seconds_now() > c->end;
        unsigned running = start_targets(c, end);
        poll_targets(c, end);
        bool working = work_on_queue(c);
        show_progress(c, false);
        busy = running || working;
        nanosleep(&pause, NULL);
    }
    note_unstarted(c);
    show_progress(c, true);
}

static const char about[] =
    "Fuzz TARGETs (default: all that are built), and classify, reduce and file what they find."
    "\v"
    "Findings are filed as text in DIR/CLASS/, once for each guilty party and shape.  The "
    "campaign ends when its time is over, or by Ctrl-C; what is still queued is taken up by the "
    "next one with the same --corpus.\n\n"
    "Exit status: 0 no violation, 1 violations, 2 usage, 4 a target did not run or "
    "executed nothing, the disk is full, or isoheap itself is at fault.";

static bool has_afl(void) {
    char *argv[] = {"sh", "-c", "command -v afl-fuzz", NULL}, *said;
    bool found = run_command_for(NULL, argv, NULL, 10, &said) == 0;
    free(said);
    if (!found)
        fprintf(stderr,
                "isoheap: there is no program afl-fuzz; install it (apt-get install afl++)\n");
    return found;
}

/* The target of a plug-in lies beside it, x.so and fuzz_x, and the campaign is about it alone
 * unless somebody names others. */
static void choose_binaries(struct campaign *c) {
    static char *own[1];
    choose_folder(c);
    if (!last_plugin() || c->n_names)
        return;
    own[0] = plugin_target();
    c->names = own;
    c->n_names = 1;
}

/* Folders, targets, and what an earlier campaign left. */
static bool prepare(struct campaign *c) {
    choose_binaries(c);
    if (c->engine == &afl && !has_afl())
        return false;
    if (!find_targets(c) || !lock_work(c))
        return false;
    if (!make_folder(c->crashes)) {
        fprintf(stderr, "isoheap: %s: %s\n", c->crashes, strerror(errno));
        return false;
    }
    c->commit = find_commit();
    for (unsigned i = 0; i < c->n_targets; i++)
        if (!target_prepare(&c->targets[i]))
            return false;
    return true;
}

/* A name that AFL++ takes, of 20 characters at most; the host's is cut to that. */
static bool choose_node(struct campaign *c) {
    static char host[NODE_LENGTH + 1];
    if (!c->sync && !c->node)
        return true;
    if (c->engine != &afl || !c->sync) {
        fprintf(stderr,
                "isoheap: --sync and --node are for --engine=afl, --node only with --sync\n");
        return false;
    }
    if (!c->node) {
        gethostname(host, NODE_LENGTH);
        for (char *s = host; *s; s++)
            if (!isalnum((unsigned char)*s))
                *s = '_';
        c->node = host[0] ? host : "node";
    }
    size_t length =
        strspn(c->node, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    if (length && length <= NODE_LENGTH && !c->node[length])
        return true;
    fprintf(stderr, "isoheap: --node takes 1 to %d letters, digits and _, not \"%s\"\n",
            NODE_LENGTH, c->node);
    return false;
}

int command_fuzz(int argc, char **argv) {
    static const struct argp argp = {options,       parse, "[TARGET...]", about,
                                     plugin_option, NULL,  NULL};
    static struct campaign c = {.engine = &libfuzzer,
                                .time = 60,
                                .seed = 1,
                                .keep = 20,
                                .reduce_runs = 2000,
                                .reduce_seconds = 30,
                                .corpus = "corpus",
                                .crashes = "crashes"};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    c.jobs = cores > 0 && cores < JOBS_MAX ? (unsigned)cores : 1;
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &c))
        return EXIT_USAGE;
    if (!choose_node(&c))
        return EXIT_USAGE;
    c.started = seconds_now();
    c.end = c.started + c.time;
    c.overhead = FIRST_OVERHEAD;
    catch_signals();
    if (!prepare(&c))
        return EXIT_HARNESS;
    if (!plan(&c))
        return EXIT_USAGE;
    say("fuzzing %u target%s with %s for %.0f s, %.0f s each on %u core%s", c.n_targets,
        c.n_targets > 1 ? "s" : "", c.engine->name, c.time,
        equal_share(c.n_targets, c.jobs, c.time), c.jobs, c.jobs > 1 ? "s" : "");
    if (c.pending > 0)
        say("%d finding%s left by an earlier campaign", c.pending, c.pending > 1 ? "s" : "");
    run_campaign(&c);
    int status = print_summary(&c, seconds_now() - c.started);
    for (unsigned i = 0; i < c.n_targets; i++)
        clear_away(&c.targets[i]);
    forget_targets(&c);
    end_descendants();
    return status;
}
