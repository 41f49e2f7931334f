/* SPDX-License-Identifier: MIT
 *
 * Each mutant runs the programs that reach it, until one is a violation (mutants.h).
 *
 * Workers, which may crash or hang, take one mutant after the other, since a process for each would
 * take most of the time.  After each the collector as it is must do well on the last program, or
 * the worker ends: what a mutant leaves behind is no other's.  Those that survive a few programs
 * are run by a runner that is opened for them, since a reset that forgets something may do no harm
 * where others have set it.  A violation counts if it comes again; a crash, or what does not, if it
 * comes again in a process of its own, on that program alone or else after the same ones before it.
 * A mutant that runs when a collector is opened or closed has a process of its own anyway.
 *
 * All mutants run a few programs first, then those that are left more, so that a hunt that is cut
 * short knows most.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/mutants/mutants.h"
#include "harness/judged/judged.h"
#include "program/bytes/bytes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    MUTANT_MS = 1000, /* of processor time, for PROGRAMS_A_LIMIT programs */
    PROGRAMS_A_LIMIT = 16,
    MUTANT_MIB = 2048 /* of memory, beyond what there is */
};

/* A worker's place in shared memory. */
struct hunt_slot {
    unsigned mutant; /* that runs; 0: none, or the collector as it is */
    unsigned at;     /* the program that runs */
    unsigned ran;    /* before it */
    bool finished;
    bool refused; /* the collector as it is cannot be opened */
    struct judged_place place;
    struct result single; /* of a process for one mutant */
};

/* What all processes see. */
struct hunt_board {
    _Atomic unsigned next; /* the mutant that is taken next */
    struct {
        _Atomic bool fresh; /* not yet on disk */
        bool unsure;        /* it did not come again at once */
        struct result result;
    } line[];
};

struct hunting {
    const struct hunt_plan *plan;
    struct results_file *results;
    struct hunt_board *board;
    struct hunt_slot *slots; /* one for each job, and one for single mutants */
    pid_t workers[JOBS_MAX];
    unsigned limit, killed;
    bool anew; /* each mutant has a runner of its own */
    bool failed;
};

/* ---- in a child -------------------------------------------------------------------------------
 */

static void limit_memory(void) {
    unsigned long pages, most = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%*u %*u %*u %*u %*u %lu", &pages) == 1)
        most = pages * (unsigned long)sysconf(_SC_PAGESIZE) + ((unsigned long)MUTANT_MIB << 20);
    if (f)
        fclose(f);
    if (most)
        setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
}

void be_a_child(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
}

static void begin_child(struct hunt_slot *slot) {
    be_a_child();
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDERR_FILENO);
    dup2(null, STDOUT_FILENO);
    judged_watch(&slot->place);
    judged_as_trials();
}

static struct runner *open_runner_of(const struct hunt_plan *plan) {
    judged_limit(MUTANT_MS);
    struct runner_options options = {.subject = plan->suspect->collector,
                                     .reference = find_collector(DEFAULT_REFERENCE),
                                     .tight = true};
    return runner_open(&options);
}

/* Runs a program of the list; true: something is wrong. */
static bool run_listed(const struct hunt_plan *plan, struct runner *runner, unsigned i,
                       struct result *r) {
    static struct program program;
    static struct verdict verdict;
    const struct programs *p = plan->programs;
    program_decode(&program, p->bytes + p->start[i], p->start[i + 1] - p->start[i]);
    runner_run(runner, &program, &verdict);
    r->violation = verdict.violation;
    r->harness_error = verdict.harness_error || (verdict.not_run && !program_is_refused(p, i));
    return r->violation || r->harness_error;
}

/* Runs the programs from..to that reach the slot's mutant, until one is wrong. */
static struct result run_range(const struct hunt_plan *plan, struct runner *runner,
                               struct hunt_slot *slot, unsigned from, unsigned to) {
    struct result r = {.fate = FATE_open, .tried = to};
    bool always = program_reaches_always(plan->programs, slot->mutant);
    slot->ran = 0;
    for (unsigned i = from; i < to; i++) {
        slot->at = i;
        if (!always && !program_reaches(plan->programs, i, slot->mutant))
            continue;
        if (slot->ran++ % PROGRAMS_A_LIMIT == 0)
            judged_limit(MUTANT_MS);
        if (!run_listed(plan, runner, i, &r))
            continue;
        r.fate = FATE_killed;
        r.tried = i + 1;
        break;
    }
    r.ran = slot->ran;
    return r;
}

static bool is_hunted(const struct hunting *h, unsigned k) {
    const struct result *r = &h->board->line[k].result;
    const struct mutant *m = &h->plan->mutants->all[k - 1];
    return is_chosen(m) && r->fate == FATE_open && r->tried < h->limit && !h->board->line[k].unsure;
}

/* One mutant in a worker.  False: the collector as it is does not do well any more. */
static bool work_on(const struct hunting *h, struct hunt_slot *slot, struct runner *runner,
                    unsigned k) {
    const struct hunt_plan *plan = h->plan;
    struct result before = h->board->line[k].result, again;
    struct result r = run_range(plan, runner, slot, before.tried, h->limit);
    h->board->line[k].unsure =
        r.fate == FATE_killed && !run_listed(plan, runner, r.tried - 1, &again);
    r.ran += before.ran;
    r.code = before.code;
    if (!h->board->line[k].unsure)
        h->board->line[k].result = r;
    h->board->line[k].fresh = true;
    slot->mutant = *plan->suspect->export->mutant = 0;
    judged_limit(MUTANT_MS);
    return slot->at >= plan->programs->n || !run_listed(plan, runner, slot->at, &again);
}

static _Noreturn void work(const struct hunting *h, struct hunt_slot *slot) {
    const struct hunt_plan *plan = h->plan;
    unsigned *switched = plan->suspect->export->mutant, k;
    begin_child(slot);
    struct runner *runner = open_runner_of(plan);
    slot->refused = !runner;
    limit_memory();
    while (runner && (k = h->board->next++) <= plan->mutants->n) {
        if (!is_hunted(h, k) || program_reaches_always(plan->programs, k))
            continue;
        slot->at = h->board->line[k].result.tried;
        slot->mutant = *switched = k;
        if (h->anew) { /* what a reset forgets is not known from an earlier mutant's */
            runner_close(runner);
            runner = open_runner_of(plan);
        }
        if (!runner || !work_on(h, slot, runner, k))
            _exit(1);
    }
    slot->finished = true;
    _exit(0);
}

static _Noreturn void work_alone(const struct hunt_plan *plan, struct hunt_slot *slot,
                                 unsigned from, unsigned to) {
    begin_child(slot);
    *plan->suspect->export->mutant = slot->mutant;
    struct runner *runner = open_runner_of(plan);
    slot->single = (struct result){
        .fate = FATE_killed, .tried = from + 1, .violation = VIOLATION_collector_assertion};
    limit_memory(); /* arenas for large heaps are there now */
    if (runner)
        slot->single = run_range(plan, runner, slot, from, to);
    if (runner && slot->single.fate == FATE_open)
        runner_close(runner);
    slot->finished = true;
    _exit(0);
}

/* ---- how a child ended ------------------------------------------------------------------------
 */

/* It has crashed or hung, or what it wrote makes no sense. */
static struct result outcome_of_death(const struct hunt_slot *slot, unsigned from, unsigned to) {
    bool sound = slot->at >= from && slot->at < to;
    return (struct result){.fate = FATE_killed,
                           .tried = sound ? slot->at + 1 : to,
                           .ran = slot->ran,
                           .hung = slot->place.late,
                           .violation =
                               slot->place.late ? VIOLATION_no_progress : VIOLATION_sanitizer};
}

static struct result run_alone(struct hunting *h, unsigned k, unsigned from, unsigned to) {
    struct hunt_slot *slot = &h->slots[h->plan->jobs];
    memset(slot, 0, sizeof *slot);
    slot->mutant = k;
    slot->at = from;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        work_alone(h->plan, slot, from, to);
    h->failed |= child < 0;
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        if (campaign_interrupts)
            kill(child, SIGKILL);
    return slot->finished ? slot->single : outcome_of_death(slot, from, to);
}

static void note_line(struct hunting *h, unsigned k) {
    struct result *r = &h->results->result[k];
    h->board->line[k].fresh = false;
    *r = h->board->line[k].result;
    h->killed += r->fate == FATE_killed;
    h->failed |= !mutant_results_note(h->results, k);
}

/* A mutant whose end is to come again in a process of its own; from: what it has behind it. */
static void confirm(struct hunting *h, unsigned k, struct result r) {
    struct result *line = &h->board->line[k].result, before = *line, again = r;
    if (!r.hung) /* which takes long enough */
        again = run_alone(h, k, r.tried - 1, r.tried);
    if (again.fate != FATE_killed)
        again = run_alone(h, k, before.tried, r.tried);
    if (campaign_interrupts)
        return;
    if (again.fate != FATE_killed) /* an accident */
        again = run_alone(h, k, before.tried, h->limit);
    if (campaign_interrupts)
        return;
    again.ran = before.ran + (again.fate == FATE_killed ? r.ran : again.ran);
    again.code = before.code;
    *line = again;
    h->board->line[k].unsure = false;
    note_line(h, k);
}

static void take_death(struct hunting *h, struct hunt_slot *slot) {
    unsigned k = slot->mutant;
    slot->mutant = 0;
    if (k > h->plan->mutants->n || k == 0 || h->board->line[k].fresh)
        return;
    confirm(h, k, outcome_of_death(slot, h->board->line[k].result.tried, h->limit));
}

static void note_fresh(struct hunting *h) {
    for (unsigned k = 1; k <= h->plan->mutants->n; k++) {
        if (!h->board->line[k].fresh)
            continue;
        if (h->board->line[k].unsure) {
            h->board->line[k].fresh = false;
            struct result r = h->board->line[k].result;
            confirm(h, k, (struct result){.fate = FATE_killed, .tried = h->limit, .ran = r.ran});
        } else {
            note_line(h, k);
        }
    }
}

/* ---- all --------------------------------------------------------------------------------------
 */

static bool is_over(const struct hunting *h) {
    return campaign_interrupts || h->failed || (h->plan->end > 0 && seconds_now() > h->plan->end);
}

static void show_hunt(const struct hunting *h) {
    unsigned next = h->board->next;
    if (h->plan->progress)
        fprintf(stderr, "\r%u of %u mutants, %u killed; programs up to %u \033[K",
                next < h->plan->mutants->n ? next : h->plan->mutants->n, h->plan->mutants->n,
                h->killed, h->limit);
}

static bool start_worker(struct hunting *h, unsigned job) {
    memset(&h->slots[job], 0, sizeof h->slots[job]);
    fflush(NULL);
    h->workers[job] = fork();
    if (h->workers[job] == 0)
        work(h, &h->slots[job]);
    h->failed |= h->workers[job] < 0;
    return h->workers[job] > 0;
}

/* Looks after a worker; false: it is at its end. */
static bool tend_worker(struct hunting *h, unsigned job) {
    if (h->workers[job] <= 0)
        return false;
    if (waitpid(h->workers[job], NULL, WNOHANG) == 0)
        return true;
    h->workers[job] = 0;
    if (h->slots[job].refused) {
        fprintf(stderr, "isoheap: no memory for the collectors' arenas\n");
        h->failed = true;
    }
    take_death(h, &h->slots[job]);
    return !h->slots[job].finished && !is_over(h) && start_worker(h, job);
}

static void stop_workers(struct hunting *h) {
    for (unsigned i = 0; i < h->plan->jobs; i++)
        if (h->workers[i] > 0) {
            kill(h->workers[i], SIGKILL);
            waitpid(h->workers[i], NULL, 0);
            h->workers[i] = 0;
        }
}

static void run_openers(struct hunting *h) {
    for (unsigned k = 1; k <= h->plan->mutants->n && !is_over(h); k++) {
        struct result *line = &h->board->line[k].result, before = *line;
        if (!program_reaches_always(h->plan->programs, k) || !is_hunted(h, k))
            continue;
        *line = run_alone(h, k, before.tried, h->limit);
        line->ran += before.ran;
        line->code = before.code;
        if (!campaign_interrupts)
            note_line(h, k);
    }
}

static void run_pass(struct hunting *h) {
    run_openers(h);
    h->board->next = 1;
    for (unsigned i = 0; i < h->plan->jobs && !is_over(h); i++)
        start_worker(h, i);
    for (bool running = true; running;) {
        running = false;
        for (unsigned i = 0; i < h->plan->jobs; i++)
            running |= tend_worker(h, i);
        note_fresh(h);
        show_hunt(h);
        if (is_over(h))
            stop_workers(h);
        take_a_nap();
    }
    note_fresh(h);
}

static bool open_hunt(struct hunting *h, const struct hunt_plan *plan, struct results_file *results,
                      size_t slots, size_t board) {
    *h = (struct hunting){
        .plan = plan, .results = results, .slots = guard_share(slots), .board = guard_share(board)};
    for (unsigned k = 1; h->board && k <= plan->mutants->n; k++) {
        h->board->line[k].result = results->result[k];
        h->killed += results->result[k].fate == FATE_killed;
    }
    return h->slots && h->board;
}

bool hunt_mutants(const struct hunt_plan *plan, struct results_file *results, unsigned limit,
                  bool anew) {
    struct hunting h;
    size_t slots = (plan->jobs + 1) * sizeof *h.slots;
    size_t board = sizeof *h.board + (plan->mutants->n + 1) * sizeof *h.board->line;
    bool good = open_hunt(&h, plan, results, slots, board);
    if (good) {
        h.limit = limit < plan->programs->n ? limit : plan->programs->n;
        h.anew = anew;
        run_pass(&h);
        good = !is_over(&h);
    }
    if (plan->progress)
        fprintf(stderr, "\r\033[K");
    guard_unshare(h.slots, slots);
    guard_unshare(h.board, board);
    return good;
}
