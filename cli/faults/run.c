/* SPDX-License-Identifier: MIT
 *
 * isoheap faults run: the campaign (faults.h).
 *
 * A run is a process of fuzz_fault for one fault, arm and seed, which ends at the first detection
 * or with its budget; it notes the stages and its input in a file that we map too.  A second, short
 * one runs that input alone: a detection counts if it comes again, in the same way.  A third one
 * then judges the input by each oracle.  Runs are ordered by seed first, so that a
 * campaign that is cut short has something of every fault.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/faults/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    SLOWEST = 300, /* executions per second: below, a run counts as stuck */
    GRACE = 60,    /* seconds besides */
    NOT_RUN = 127,
    BAD_USAGE = 2,
    ENGINE_TIMEOUT = 70
};

struct slot {
    enum { IDLE, FUZZING, REPLAYING, JUDGING } phase;
    struct process process;
    struct fault_record *record;
    char *record_path, *input_path, *corpus;
    const struct fault *fault;
    const struct arm *arm;
    struct fault_run run;
    double end; /* when it is killed */
};

struct hunt {
    const struct plan *plan;
    struct results *results;
    char *binary, *work;
    char (*keys)[FAULT_KEY]; /* of each fault of the catalogue */
    struct slot *slots;
    uint64_t next, items, known, done; /* of all runs of the plan */
    uint64_t flaky;                    /* of those done */
    bool failed;
};

/* The target whose seeds suit a collector: the reference has one under that name. */
static const char *seeds_of(const struct fault *f) {
    return strcmp(f->collector, DEFAULT_REFERENCE) == 0 ? "reference" : f->collector;
}

static char *seeds_folder(const struct plan *p, const struct fault *f) {
    return text_of("%s/seeds/fuzz_%s", p->catalogue->build, seeds_of(f));
}

static bool is_first_of_collector(const struct catalogue *c, unsigned i) {
    return i == 0 || strcmp(c->faults[i].collector, c->faults[i - 1].collector) != 0;
}

static bool wants_seeds(const struct plan *p) {
    bool seeds = false;
    for (unsigned a = 0; a < p->n_arms; a++)
        seeds |= p->arms[a]->seeds;
    return seeds;
}

static bool has_seeds(const struct plan *p) {
    bool there = true;
    unsigned n = wants_seeds(p) ? p->catalogue->n : 0;
    for (unsigned i = 0; there && i < n; i++) {
        if (!is_first_of_collector(p->catalogue, i))
            continue;
        char *folder = seeds_folder(p, &p->catalogue->faults[i]);
        there = access(folder, R_OK | X_OK) == 0;
        if (!there)
            fprintf(stderr, "isoheap: %s: %s; --build makes it\n", folder, strerror(errno));
        free(folder);
    }
    return there;
}

/* ---- building ---------------------------------------------------------------------------------
 */

static bool build(const struct plan *p) {
    struct words words = {.n = 0};
    add_word(&words, "cmake");
    add_word(&words, "--build");
    add_word(&words, "%s", p->catalogue->build);
    add_word(&words, "--target");
    add_word(&words, "fuzz_fault");
    bool all = p->catalogue->n > WORDS_MAX / 2;
    for (unsigned i = 0; !all && i < p->catalogue->n; i++) {
        const char *name = p->catalogue->faults[i].name;
        size_t first = strcspn(name, "/");
        add_word(&words, "fault_%.*s_%s", (int)first, name, name + first + 1);
    }
    if (all)
        add_word(&words, "faults");
    unsigned n = wants_seeds(p) ? p->catalogue->n : 0;
    for (unsigned i = 0; i < n; i++)
        if (is_first_of_collector(p->catalogue, i))
            add_word(&words, "fuzz_%s_seeds", seeds_of(&p->catalogue->faults[i]));
    fflush(NULL);
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(STDERR_FILENO, STDOUT_FILENO);
        execvp(words.word[0], words.word);
        _exit(NOT_RUN);
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    free_words(&words);
    if (status != 0)
        fprintf(stderr,
                "isoheap: the faults cannot be built in %s; configure it first: cmake --preset "
                "fuzz\n",
                p->catalogue->build);
    return status == 0;
}

/* ---- what ran ---------------------------------------------------------------------------------
 */

static bool add_digest(char *key, const char *path) {
    size_t size;
    char content[FAULT_KEY], *data = load_file(path, &size);
    if (!data) {
        fprintf(stderr, "isoheap: %s: %s; --build makes it\n", path, strerror(errno));
        return false;
    }
    name_content(data, size, content);
    free(data);
    char *both = text_of("%s%s", key, content);
    name_content(both, strlen(both), key);
    free(both);
    return true;
}

static bool find_keys(struct hunt *h) {
    const struct catalogue *c = h->plan->catalogue;
    char common[FAULT_KEY];
    h->keys = calloc(c->n ? c->n : 1, sizeof *h->keys);
    snprintf(common, sizeof common, "%u", h->plan->max_len);
    if (!h->keys || !add_digest(common, h->binary))
        return false;
    for (unsigned i = 0; i < c->n; i++) {
        memcpy(h->keys[i], common, FAULT_KEY);
        if (!add_digest(h->keys[i], c->faults[i].object))
            return false;
    }
    return true;
}

/* ---- one run ----------------------------------------------------------------------------------
 */

static bool open_slot(struct hunt *h, struct slot *s, unsigned n) {
    s->record_path = text_of("%s/record%u", h->work, n);
    s->input_path = text_of("%s/input%u", h->work, n);
    s->corpus = text_of("%s/corpus%u", h->work, n);
    int file = open(s->record_path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    errno = posix_fallocate(file, 0, sizeof *s->record); /* a write into a hole may be a crash */
    if (errno) {
        close(file);
        return false;
    }
    void *map = mmap(NULL, sizeof *s->record, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    s->record = map == MAP_FAILED ? NULL : map;
    return s->record;
}

static void close_slot(struct slot *s) {
    process_kill(&s->process);
    if (s->record)
        munmap(s->record, sizeof *s->record);
    free(s->record_path);
    free(s->input_path);
    free(s->corpus);
}

static void common_environment(const struct slot *s, struct words *e) {
    add_word(e, "ASAN_OPTIONS=detect_leaks=0:symbolize=0:print_summary=1:handle_abort=0");
    add_word(e, "UBSAN_OPTIONS=print_summary=1");
    add_word(e, "ISOHEAP_FAULT=%s", s->fault->object);
    add_word(e, "ISOHEAP_FAULT_RECORD=%s", s->record_path);
}

static void common_options(const struct hunt *h, struct words *argv) {
    add_word(argv, "-timeout=10");
    add_word(argv, "-artifact_prefix=%s/", h->work);
}

static void arm_environment(const struct slot *s, struct words *e) {
    common_environment(s, e);
    for (unsigned i = 0; s->arm->environment[i]; i++)
        add_word(e, "%s", s->arm->environment[i]);
    if (s->arm->oracles)
        add_word(e, "ISOHEAP_FAULT_ORACLES=%" PRIu64, s->arm->oracles);
}

static bool start_fuzzing(struct hunt *h, struct slot *s) {
    struct words argv = {.n = 0}, e = {.n = 0};
    const struct plan *p = h->plan;
    memset(s->record, 0, sizeof *s->record);
    arm_environment(s, &e);
    if (s->arm->random)
        add_word(&e, "ISOHEAP_FAULT_RANDOM=%u,%" PRIu64, s->run.seed, p->budget);
    add_word(&argv, "%s", h->binary);
    add_word(&argv, "-seed=%u", s->run.seed);
    add_word(&argv, "-runs=%" PRIu64, p->budget);
    add_word(&argv, "-max_len=%u", p->max_len);
    common_options(h, &argv);
    if (s->arm->option)
        add_word(&argv, "%s", s->arm->option);
    if (s->arm->seeds) {
        remove_folder(s->corpus);
        make_folder(s->corpus);
        add_word(&argv, "%s", s->corpus);
        char *seeds = seeds_folder(p, s->fault);
        add_word(&argv, "%s", seeds);
        free(seeds);
    }
    s->phase = FUZZING;
    s->end = seconds_now() + GRACE + (double)p->budget / SLOWEST;
    bool good = process_start(&s->process, NULL, argv.word, e.word);
    free_words(&argv);
    free_words(&e);
    return good;
}

/* The input that was detected, as the only one of a new process. */
static bool start_replaying(struct hunt *h, struct slot *s) {
    struct words argv = {.n = 0}, e = {.n = 0};
    if (!write_file(s->input_path, (const char *)s->record->input, s->record->input_size))
        return false;
    memset(s->record, 0, sizeof *s->record);
    arm_environment(s, &e);
    add_word(&argv, "%s", h->binary);
    common_options(h, &argv);
    add_word(&argv, "%s", s->input_path);
    s->phase = REPLAYING;
    s->end = seconds_now() + GRACE;
    bool good = process_start(&s->process, NULL, argv.word, e.word);
    free_words(&argv);
    free_words(&e);
    return good;
}

static bool start_judging(struct hunt *h, struct slot *s) {
    struct words argv = {.n = 0}, e = {.n = 0};
    common_environment(s, &e);
    add_word(&e, "ISOHEAP_FAULT_JUDGE=%s", s->input_path);
    add_word(&argv, "%s", h->binary);
    s->phase = JUDGING;
    s->end = seconds_now() + GRACE;
    bool good = process_start(&s->process, NULL, argv.word, e.word);
    free_words(&argv);
    free_words(&e);
    return good;
}

/* ---- its end ----------------------------------------------------------------------------------
 */

/* What the process ended with: a class, and who reported it; "-" if nothing was wrong. */
static void note_detection(const struct slot *s, char violation[FAULT_NAME],
                           char oracle[FAULT_NAME]) {
    const struct fault_record *r = s->record;
    int status = s->process.status;
    if (r->detected || status == 0) {
        snprintf(violation, FAULT_NAME, "%s", r->detected ? violation_name(r->violation) : "-");
        snprintf(oracle, FAULT_NAME, "%s", r->detected ? oracle_label(r->oracle) : "-");
        return;
    }
    /* It died without a word: the engine's time limit, or worse than a sanitizer can tell. */
    snprintf(violation, FAULT_NAME, "%s",
             status == ENGINE_TIMEOUT || status < 0 ? "no_progress" : "sanitizer");
    snprintf(oracle, FAULT_NAME, "engine");
}

static void note_result(const struct hunt *h, struct slot *s) {
    const struct fault_record *r = s->record;
    struct fault_run *run = &s->run;
    run->budget = h->plan->budget;
    run->executions = r->executions;
    run->reached = r->reached;
    run->triggered = r->triggered;
    if (!run->reached && r->canary.reached) /* in the run that it died of */
        run->reached = r->executions;
    if (!run->triggered && r->canary.triggered)
        run->triggered = r->executions;
    run->detected = s->process.status && !r->detected ? r->executions : r->detected;
    run->seconds = r->seconds;
    note_detection(s, run->violation, run->oracle);
}

/* The replay has ended: was it the same? */
static void note_repetition(struct hunt *h, struct slot *s) {
    char violation[FAULT_NAME], oracle[FAULT_NAME];
    struct fault_run *run = &s->run;
    note_detection(s, violation, oracle);
    run->repeats = strcmp(violation, run->violation) == 0 && strcmp(oracle, run->oracle) == 0;
    if (run->repeats)
        return;
    h->flaky++;
    fprintf(stderr,
            "isoheap: %s, %s, seed %u: %s (%s) after %" PRIu64
            " executions is flaky: its input alone gives %s\n",
            run->fault, run->arm, run->seed, run->violation, run->oracle, run->detected,
            strcmp(violation, "-") == 0 ? "nothing" : violation);
}

static void tell_last_words(const struct slot *s) {
    const struct process *p = &s->process;
    unsigned kept = p->lines < TAIL_LINES ? p->lines : TAIL_LINES;
    for (unsigned i = p->lines - kept; i < p->lines; i++)
        fprintf(stderr, "  %s\n", p->tail[i % TAIL_LINES]);
}

static void finish(struct hunt *h, struct slot *s) {
    if (s->phase == JUDGING) {
        s->run.alone = s->record->alone;
        s->run.without = s->record->without;
    }
    s->phase = IDLE;
    h->done++;
    if (!results_add(h->results, &s->run))
        h->failed = true;
}

static void end_of_process(struct hunt *h, struct slot *s) {
    int status = s->process.status;
    bool began = s->phase == JUDGING || s->record->executions > 0 || status < 0;
    if (status == BAD_USAGE || status == NOT_RUN || !began) {
        fprintf(stderr, "isoheap: %s did not run:\n", h->binary);
        tell_last_words(s);
        h->failed = true;
        s->phase = IDLE;
        return;
    }
    if (s->phase == FUZZING)
        note_result(h, s);
    if (s->phase == REPLAYING)
        note_repetition(h, s);
    if (s->phase == FUZZING && s->run.detected)
        began = start_replaying(h, s);
    else if (s->phase == REPLAYING && s->run.repeats && arm_at(0) == s->arm)
        began = start_judging(h, s);
    else
        finish(h, s);
    if (!began) {
        h->failed = true;
        s->phase = IDLE;
    }
}

static void poll_slot(struct hunt *h, struct slot *s) {
    if (s->phase == IDLE)
        return;
    if (process_poll(&s->process, NULL, NULL)) {
        if (seconds_now() < s->end)
            return;
        process_kill(&s->process);
        s->process.status = s->phase == JUDGING ? 0 : -1;
    }
    end_of_process(h, s);
}

/* ---- all runs ---------------------------------------------------------------------------------
 */

static bool is_known(const struct hunt *h, const struct fault_run *run) {
    const struct fault_run *old = results_find(h->results, run->fault, run->arm, run->seed);
    return old && strcmp(old->key, run->key) == 0 && (old->detected || old->budget >= run->budget);
}

/* Item n of the plan: by seed, then fault, then arm. */
static void choose_item(const struct hunt *h, struct slot *s, uint64_t n) {
    const struct plan *p = h->plan;
    uint64_t fault = n / p->n_arms % p->catalogue->n;
    s->arm = p->arms[n % p->n_arms];
    s->fault = &p->catalogue->faults[fault];
    s->run =
        (struct fault_run){.seed = p->first_seed + (unsigned)(n / p->n_arms / p->catalogue->n)};
    snprintf(s->run.fault, FAULT_NAME, "%s", s->fault->name);
    snprintf(s->run.arm, FAULT_NAME, "%s", s->arm->name);
    memcpy(s->run.key, h->keys[fault], FAULT_KEY);
}

static void start_next(struct hunt *h, struct slot *s) {
    while (h->next < h->items) {
        choose_item(h, s, h->next++);
        if (is_known(h, &s->run)) {
            h->known++;
            continue;
        }
        h->failed |= !start_fuzzing(h, s);
        return;
    }
}

static bool any_runs(const struct hunt *h) {
    for (unsigned i = 0; i < h->plan->jobs; i++)
        if (h->slots[i].phase != IDLE)
            return true;
    return false;
}

static void show(const struct hunt *h) {
    static double last;
    if (!isatty(STDERR_FILENO) || seconds_now() < last + 0.5)
        return;
    last = seconds_now();
    fprintf(stderr, "\r%" PRIu64 " of %" PRIu64 " runs, %" PRIu64 " known before \033[K",
            h->done + h->known, h->items, h->known);
}

static void hunt_all(struct hunt *h) {
    double end = h->plan->time > 0 ? seconds_now() + h->plan->time : 0;
    do {
        bool more = !h->failed && !campaign_interrupts && (!(end > 0) || seconds_now() < end);
        for (unsigned i = 0; i < h->plan->jobs; i++) {
            poll_slot(h, &h->slots[i]);
            if (more && h->slots[i].phase == IDLE)
                start_next(h, &h->slots[i]);
        }
        show(h);
        take_a_nap();
    } while (any_runs(h) && !campaign_interrupts); /* what is cut short is made again */
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
}

static bool open_hunt(struct hunt *h) {
    h->slots = calloc(h->plan->jobs, sizeof *h->slots);
    if (!h->slots || !make_folder(h->work)) {
        fprintf(stderr, "isoheap: %s: %s\n", h->work, strerror(errno));
        return false;
    }
    for (unsigned i = 0; i < h->plan->jobs; i++)
        if (!open_slot(h, &h->slots[i], i)) {
            fprintf(stderr, "isoheap: %s: %s\n", h->slots[i].record_path, strerror(errno));
            return false;
        }
    return true;
}

static void close_hunt(struct hunt *h) {
    for (unsigned i = 0; h->slots && i < h->plan->jobs; i++)
        close_slot(&h->slots[i]);
    remove_folder(h->work);
    free(h->slots);
    free(h->binary);
    free(h->work);
    free(h->keys);
}

int faults_run(const struct plan *p, struct results *results) {
    /* Two campaigns would remove each other's work. */
    if (!lock_folder(p->folder, p->folder, "--results"))
        return EXIT_HARNESS;
    struct hunt h = {.plan = p,
                     .results = results,
                     .binary = text_of("%s/faults/fuzz_fault", p->catalogue->build),
                     .work = text_of("%s/.work", p->folder),
                     .items = (uint64_t)p->seeds * p->catalogue->n * p->n_arms};
    bool good = (!p->build || build(p)) && has_seeds(p) && find_keys(&h) && open_hunt(&h);
    if (good)
        hunt_all(&h);
    if (good)
        fprintf(stderr,
                "isoheap: %" PRIu64 " runs, %" PRIu64 " flaky, %" PRIu64 " known before, %" PRIu64
                " to go\n",
                h.done, h.flaky, h.known, h.items - h.done - h.known);
    good &= !h.failed;
    close_hunt(&h);
    return good ? EXIT_OK : EXIT_HARNESS;
}
