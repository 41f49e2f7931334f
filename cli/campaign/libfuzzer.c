/* SPDX-License-Identifier: MIT
 *
 * libFuzzer (campaign.h): a process a job, which we start again if it ends before its time.
 *
 * (Its fork mode would look after crashes too, but its jobs begin with a second each and read their
 * part of the corpus every time: in its first minute it makes a fraction of the executions.)
 *
 * A violation that an oracle sees ends no process (fuzz/go_on.c); a crash costs a start.  Processes
 * share what they find through the folder of the corpus, which libFuzzer reads again now and then.
 * Runs are counted by the targets themselves, in the files of current/.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "harness/current_input.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What it reads, names in the work folder: the corpus, to which it adds; or of a large one a part,
 * and a folder for what is new.  The seeds are copies, since one that crashes must go. */
static const char *const whole[] = {"corpus", "engine/seeds", NULL};
static const char *const part[] = {"engine/grown", "engine/part", "engine/seeds", NULL};

static const char *const *folders_of(const struct target *t) {
    return t->sampled ? part : whole;
}

static void add_option(const char *key, const char *value, void *context) {
    add_word(context, "-%s=%s", key, value);
}

void libfuzzer_target(const struct target *t, struct words *argv) {
    add_word(argv, "./target");
    for_each_option(t, add_option, argv);
}

/* Seconds from one look at what others have added to the next, each of which reads the whole
 * folder; alone there are no others. */
static unsigned reload_seconds(const struct target *t) {
    enum { FILES_A_SECOND = 2000 };
    if (t->campaign->jobs_each == 1)
        return 0;
    return 1 + (t->sampled ? 0 : t->figures.corpus_at_start / FILES_A_SECOND);
}

static void command(const struct target *t, unsigned number, double seconds, struct words *argv) {
    libfuzzer_target(t, argv);
    if (has_here(t, "target.dict"))
        add_word(argv, "-dict=target.dict");
    add_word(argv, "-max_total_time=%.0f", ceil(seconds));
    add_word(argv, "-seed=%u", t->campaign->seed + number + t->restarts * t->campaign->jobs_each);
    add_word(argv, "-reload=%u", reload_seconds(t));
    add_word(argv, "-print_funcs=0"); /* needs a symbolizer */
    add_word(argv, "-artifact_prefix=found/");
    for (const char *const *folder = folders_of(t); *folder; folder++)
        if (has_here(t, *folder))
            add_word(argv, "%s", *folder);
}

void libfuzzer_settings(struct words *words) {
    add_word(words, "TMPDIR=engine");
    add_word(words, CURRENT_VARIABLE "=current");
    /* names in stack traces are for classify(), which knows when it needs them */
    add_word(words, "ASAN_OPTIONS=detect_leaks=0:print_legend=0:symbolize=0");
    add_word(words, "UBSAN_OPTIONS=symbolize=0");
}

static void environment(const struct target *t, struct words *words) {
    (void)t;
    libfuzzer_settings(words);
    add_word(words, GO_ON_VARIABLE "=.");
}

/* "#4096\tNEW    cov: 398 ft: 1264 corp: 295/1998b ..."; the first one is INITED, when the corpus
 * has been read.  Each process counts what it has seen. */
static void line(const char *text, void *context) {
    struct target *t = context;
    struct figures *f = &t->figures;
    unsigned edges, corpus;
    uint64_t executions;
    const char *cov = strstr(text, " cov: ");
    if (sscanf(text, "#%" SCNu64, &executions) == 1 && executions > t->executions_said)
        t->executions_said = executions;
    if (!cov || sscanf(cov, " cov: %u ft: %*u corp: %u", &edges, &corpus) != 2)
        return;
    if (!f->started && strstr(text, "INITED"))
        f->edges_at_start = edges;
    f->started = f->started || strstr(text, "INITED");
    f->edges = edges > f->edges ? edges : f->edges;
    f->corpus = corpus > f->corpus ? corpus : f->corpus;
}

/* What the targets have counted; if they count nothing, what the engine has said. */
static void poll_runs(struct target *t) {
    struct figures *f = &t->figures;
    uint64_t runs = t->runs_seen + watch_current(t);
    f->executions = runs ? runs : t->executions_said;
    f->rate = (double)f->executions / (seconds_now() - t->started);
}

/* ---- a large corpus ---------------------------------------------------------------------------
 */

static void save_input(const char *path, const char *name, void *context) {
    char *to = text_of("%s/%s", (const char *)context, name);
    rename(path, to);
    free(to);
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

static bool copy_seeds(const struct target *t) {
    char *seeds = text_of("%s/engine/seeds", t->work);
    char *counts = text_of("%s/" GO_ON_TABLE, t->work);
    remove_folder(seeds);
    unlink(counts);
    bool good = make_folder(seeds);
    if (!good)
        perror(seeds);
    else
        copy_inputs(t->seeds, seeds);
    free(counts);
    free(seeds);
    return good;
}

static bool begin(struct target *t) {
    return take_part(t) && copy_seeds(t);
}

/* The table in which the target's processes have counted (harness/current_input.h). */
static void count_violations(struct target *t) {
    size_t size;
    char *path = text_of("%s/" GO_ON_TABLE, t->work);
    struct go_on_table *table = (void *)load_file(path, &size);
    if (table && size == sizeof *table) {
        t->kept = table->kept;
        for (unsigned i = 0; i < GO_ON_ROWS; i++)
            t->violations += table->rows[i].count;
    }
    free(table);
    free(path);
}

static void finish(struct target *t) {
    poll_runs(t);
    count_violations(t);
    if (t->sampled)
        save_grown(t);
}

const struct engine libfuzzer = {.name = "libfuzzer",
                                 .folder = "build/fuzz/bin",
                                 .process_a_job = true,
                                 .prepare = prepare,
                                 .begin = begin,
                                 .command = command,
                                 .environment = environment,
                                 .line = line,
                                 .poll = poll_runs,
                                 .end_signal = SIGUSR1, /* after the run at hand */
                                 .finish = finish};
