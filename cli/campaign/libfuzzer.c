/* SPDX-License-Identifier: MIT
 *
 * libFuzzer in fork mode (campaign.h).
 *
 * Fork mode counts coverage in a way of its own, and only what is new to it, so coverage is
 * measured: a process reads the corpus and says what that reaches.
 *
 * One process deals out jobs to children, each on a part of the corpus; a finding ends a child and
 * no more than that.  Its temporary folder is ours, so that the corpus files of children that were
 * killed with it are saved by the next start.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void add_option(const char *key, const char *value, void *context) {
    add_word(context, "-%s=%s", key, value);
}

static void add_folder(struct words *argv, const char *folder) {
    if (access(folder, R_OK) == 0)
        add_word(argv, "%s", folder);
}

static void command(const struct target *t, unsigned number, double seconds, struct words *argv) {
    char *dictionary = text_of("%s.dict", t->binary);
    add_word(argv, "%s", t->binary);
    for_each_option(t, add_option, argv);
    if (access(dictionary, R_OK) == 0)
        add_word(argv, "-dict=%s", dictionary);
    add_word(argv, "-fork=%u", t->campaign->jobs_each);
    add_word(argv, "-ignore_crashes=1");
    add_word(argv, "-ignore_timeouts=1");
    add_word(argv, "-ignore_ooms=1");
    add_word(argv, "-max_total_time=%.0f", seconds);
    add_word(argv, "-seed=%u", t->campaign->seed + number);
    add_word(argv, "-artifact_prefix=%s/found/", t->work);
    add_word(argv, "%s", t->corpus);
    if (t->seeds)
        add_folder(argv, t->seeds);
    free(dictionary);
}

/* Names in stack traces are for classify(), which knows when it needs them. */
static void environment(const struct target *t, struct words *words) {
    add_word(words, "TMPDIR=%s/engine", t->work);
    add_word(words, "ASAN_OPTIONS=detect_leaks=0:print_legend=0:symbolize=0");
    add_word(words, "UBSAN_OPTIONS=symbolize=0");
}

/* "#34700: cov: 0 ft: 0 corp: 0 exec/s 34700 oom/timeout/crash: 0/0/0 time: 1s job: 1 ...": after
 * every job. */
static void line(const char *text, void *context) {
    struct target *t = context;
    struct figures *f = &t->figures;
    uint64_t executions;
    unsigned corpus;
    if (sscanf(text, "#%" SCNu64 ": cov: %*u ft: %*u corp: %u", &executions, &corpus) != 2)
        return;
    f->started = true;
    f->executions = t->executions_before + executions;
    f->corpus = corpus;
    f->rate = (double)f->executions / (seconds_now() - t->started);
}

/* ---- coverage ---------------------------------------------------------------------------------
 */

enum { MEASURE_EVERY = 20, MEASURE_LONGEST = 60, MEASURE_AGAIN = 5 };

static void measure_command(const struct target *t, struct words *argv) {
    add_word(argv, "%s", t->binary);
    for_each_option(t, add_option, argv);
    add_word(argv, "-runs=0");
    add_word(argv, "-artifact_prefix=%s/found/", t->work);
    add_word(argv, "%s", t->corpus);
    if (t->seeds)
        add_folder(argv, t->seeds);
}

/* "#307\tINITED cov: 373 ft: 1264 corp: 295/1998b ..." */
static void measured_line(const char *text, void *context) {
    unsigned *edges = context, n;
    const char *cov = strstr(text, "INITED cov: ");
    if (cov && sscanf(cov, "INITED cov: %u", &n) == 1)
        *edges = n;
}

/* A corpus file that fails ends this before it has said anything; the figure then stays. */
static void measure(struct target *t) {
    struct words argv = {.n = 0}, settings = {.n = 0};
    static struct process p;
    double end = seconds_now() + MEASURE_LONGEST;
    measure_command(t, &argv);
    environment(t, &settings);
    if (process_start(&p, argv.word, settings.word))
        while (process_poll(&p, measured_line, &t->figures.edges) && seconds_now() < end)
            take_a_nap();
    process_kill(&p);
    free_words(&argv);
    free_words(&settings);
}

/* While the engine runs, beside it; the longer it takes the more seldom. */
static void poll_measure(struct target *t) {
    struct process *p = &t->helper;
    double now = seconds_now();
    if (p->warden) {
        if (!process_poll(p, measured_line, &t->figures.edges))
            t->helper_next = now + MEASURE_EVERY + 20 * (now - t->helper_started);
        return;
    }
    if (!(t->helper_next > 0))
        t->helper_next = now + MEASURE_EVERY;
    if (now < t->helper_next || t->asked_to_end > 0)
        return;
    struct words argv = {.n = 0}, settings = {.n = 0};
    measure_command(t, &argv);
    environment(t, &settings);
    t->helper_started = now;
    process_start(p, argv.word, settings.word);
    free_words(&argv);
    free_words(&settings);
}

/* ---- what a killed engine left ----------------------------------------------------------------
 */

static void save_input(const char *path, const char *name, void *context) {
    char *to = text_of("%s/%s", (const char *)context, name);
    rename(path, to);
    free(to);
}

/* TMPDIR/libFuzzerTemp.FuzzWithFork<pid>.dir/C<job>/ are the new inputs of a job, which are merged
 * into the corpus when it ends. */
static void save_jobs(const struct target *t, const char *folder) {
    struct dirent *entry;
    DIR *d = opendir(folder);
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] == 'C') {
            char *path = text_of("%s/%s", folder, entry->d_name);
            visit_folder(path, save_input, t->corpus);
            free(path);
        }
    if (d)
        closedir(d);
}

static void save_all_jobs(const struct target *t) {
    struct dirent *entry;
    char *folder = text_of("%s/engine", t->work);
    DIR *d = opendir(folder);
    while (d && (entry = readdir(d)))
        if (strncmp(entry->d_name, "libFuzzerTemp.", 14) == 0) {
            char *path = text_of("%s/%s", folder, entry->d_name);
            save_jobs(t, path);
            remove_folder(path);
            free(path);
        }
    if (d)
        closedir(d);
    free(folder);
}

/* An input of the corpus that fails ends the reading; it is taken out, and the rest read again. */
static void measure_start(struct target *t) {
    int before;
    unsigned times = 0;
    do {
        before = t->campaign->pending;
        measure(t);
        take_in(t, true);
    } while (t->campaign->pending > before && ++times < MEASURE_AGAIN);
    t->figures.edges_at_start = t->figures.edges;
}

static bool prepare(struct target *t) {
    save_all_jobs(t);
    if (!t->running)
        measure_start(t);
    return true;
}

static void finish(struct target *t) {
    save_all_jobs(t);
    process_kill(&t->helper);
    measure(t);
}

const struct engine libfuzzer = {.name = "libfuzzer",
                                 .folder = "build/fuzz/bin",
                                 .prepare = prepare,
                                 .command = command,
                                 .environment = environment,
                                 .line = line,
                                 .poll = poll_measure,
                                 /* it waits for jobs that do not hear what else we could say */
                                 .end_signal = SIGKILL,
                                 .finish = finish};
