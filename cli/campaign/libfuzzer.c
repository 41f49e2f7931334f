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

#include "harness/current_input.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What it reads, names in the work folder: the corpus, to which it adds; or of a large one a part,
 * and a folder for what is new. */
static const char *const whole[] = {"corpus", "seeds", NULL};
static const char *const part[] = {"engine/grown", "engine/part", "seeds", NULL};

static const char *const *folders_of(const struct target *t) {
    return t->sampled ? part : whole;
}

static void add_option(const char *key, const char *value, void *context) {
    add_word(context, "-%s=%s", key, value);
}

static void command(const struct target *t, unsigned number, double seconds, struct words *argv) {
    add_word(argv, "./target");
    for_each_option(t, add_option, argv);
    if (has_here(t, "target.dict"))
        add_word(argv, "-dict=target.dict");
    add_word(argv, "-fork=%u", t->campaign->jobs_each);
    add_word(argv, "-ignore_crashes=1");
    add_word(argv, "-ignore_timeouts=1");
    add_word(argv, "-ignore_ooms=1");
    add_word(argv, "-max_total_time=%.0f", seconds);
    add_word(argv, "-seed=%u", t->campaign->seed + number + t->restarts);
    add_word(argv, "-artifact_prefix=found/");
    for (const char *const *folder = folders_of(t); *folder; folder++)
        if (has_here(t, *folder))
            add_word(argv, "%s", *folder);
}

/* Names in stack traces are for classify(), which knows when it needs them. */
static void environment(const struct target *t, struct words *words) {
    (void)t;
    add_word(words, "TMPDIR=engine");
    add_word(words, CURRENT_VARIABLE "=current");
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

enum { MEASURE_EVERY = 20, PART_OF_TIME = 10, LAST_SECONDS = 2 };

/* A corpus file that fails ends this before it has said anything; the figure then stays. */
static void measure(struct target *t, double end) {
    static struct process p;
    struct reach reach = {.known = false};
    if (measure_begin(&p, t, folders_of(t), NULL))
        while (process_poll(&p, measure_line, &reach) && seconds_now() < end &&
               !campaign_interrupts)
            take_a_nap();
    end_reader(t, &p);
    if (reach.known)
        t->figures.edges = reach.edges;
}

/* While the engine runs, beside it; the longer it takes the more seldom. */
static void poll_measure(struct target *t) {
    struct process *p = &t->helper;
    double now = seconds_now();
    if (p->warden) {
        if (process_poll(p, measure_line, &t->helper_reach))
            return;
        t->helper_next = now + MEASURE_EVERY + 20 * (now - t->helper_started);
        if (t->helper_reach.known)
            t->figures.edges = t->helper_reach.edges;
        return;
    }
    if (!(t->helper_next > 0))
        t->helper_next = now + MEASURE_EVERY;
    if (now < t->helper_next || t->asked_to_end > 0)
        return;
    t->helper_started = now;
    t->helper_reach.known = false;
    measure_begin(p, t, folders_of(t), NULL);
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
static void save_jobs(const char *folder, char *corpus) {
    struct dirent *entry;
    DIR *d = opendir(folder);
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] == 'C') {
            char *path = text_of("%s/%s", folder, entry->d_name);
            visit_folder(path, save_input, corpus);
            free(path);
        }
    if (d)
        closedir(d);
}

static void save_all_jobs(const struct target *t) {
    struct dirent *entry;
    char *folder = text_of("%s/engine", t->work);
    char *corpus = text_of("%s/%s", t->work, folders_of(t)[0]);
    DIR *d = opendir(folder);
    while (d && (entry = readdir(d)))
        if (strncmp(entry->d_name, "libFuzzerTemp.", 14) == 0) {
            char *path = text_of("%s/%s", folder, entry->d_name);
            save_jobs(path, corpus);
            remove_folder(path);
            free(path);
        }
    if (d)
        closedir(d);
    free(corpus);
    free(folder);
}

/* What grew beside a part of the corpus goes into the corpus. */
static void save_grown(const struct target *t) {
    char *grown = text_of("%s/engine/grown", t->work), *sample = text_of("%s/engine/part", t->work);
    visit_folder(grown, save_input, t->corpus);
    remove_folder(grown);
    remove_folder(sample);
    free(grown);
    free(sample);
}

static bool prepare(struct target *t) {
    save_all_jobs(t);
    if (!t->running)
        save_grown(t);
    return true;
}

static bool take_part(struct target *t) {
    unsigned most = inputs_to_read(t), n = count_files(t->corpus);
    if (n <= most)
        return true;
    char *grown = text_of("%s/engine/grown", t->work), *sample = text_of("%s/engine/part", t->work);
    bool good = make_folder(grown) && make_folder(sample);
    unsigned taken = good ? link_inputs(t->corpus, sample, most, t->campaign->seed) : 0;
    if (!good)
        perror(grown);
    if (taken)
        say("%s: the engine gets %u of the %u files of its corpus, as many as it reads in the "
            "time; "
            "`isoheap corpus minimise` makes it smaller",
            t->name, taken, n);
    t->sampled = taken > 0;
    free(grown);
    free(sample);
    return good;
}

/* An input of the corpus that fails ends the reading; it is taken out, and the rest read again. */
static bool begin(struct target *t) {
    int before;
    double end = seconds_now() + t->share / PART_OF_TIME + 1;
    if (!take_part(t))
        return false;
    do {
        before = t->campaign->pending;
        measure(t, end);
        take_all(t);
    } while (t->campaign->pending > before && seconds_now() < end);
    t->figures.edges_at_start = t->figures.edges;
    return true;
}

static void finish(struct target *t) {
    save_all_jobs(t);
    end_reader(t, &t->helper);
    double end = seconds_now() + LAST_SECONDS, latest = t->campaign->end + 2 * LAST_SECONDS - 1;
    measure(t, end < latest ? end : latest);
    if (t->sampled)
        save_grown(t);
}

const struct engine libfuzzer = {.name = "libfuzzer",
                                 .folder = "build/fuzz/bin",
                                 .prepare = prepare,
                                 .begin = begin,
                                 .command = command,
                                 .environment = environment,
                                 .line = line,
                                 .poll = poll_measure,
                                 /* it waits for jobs that do not hear what else we could say */
                                 .end_signal = SIGKILL,
                                 .finish = finish};
