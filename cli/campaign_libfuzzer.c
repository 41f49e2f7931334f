/* SPDX-License-Identifier: MIT
 *
 * libFuzzer in fork mode (campaign.h).
 *
 * One process deals out jobs to children, each on a part of the corpus; a finding ends a child and
 * no more than that.  Its temporary folder is ours, so that the corpus files of children that were
 * killed with it are saved by the next start.
 */
#define _GNU_SOURCE
#include "cli/campaign.h"

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
    char *dictionary = text_of("%s.dict", t->binary), *salvage = text_of("%s/salvage", t->work);
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
    add_folder(argv, salvage);
    if (t->seeds)
        add_folder(argv, t->seeds);
    free(dictionary);
    free(salvage);
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
    unsigned edges, features, corpus, rate;
    if (sscanf(text, "#%" SCNu64 ": cov: %u ft: %u corp: %u exec/s %u", &executions, &edges,
               &features, &corpus, &rate) != 5)
        return;
    if (!f->started)
        f->edges_at_start = edges;
    f->started = true;
    f->executions = t->executions_before + executions;
    f->edges = edges > f->edges ? edges : f->edges;
    f->features = features > f->features ? features : f->features;
    f->corpus = corpus;
    f->rate = (double)f->executions / (seconds_now() - t->started);
}

/* ---- what a killed engine left ----------------------------------------------------------------
 */

/* TMPDIR/libFuzzerTemp.FuzzWithFork<pid>.dir/C<job>/ are the new inputs of a job. */
static void save_jobs(const struct target *t, const char *folder) {
    struct dirent *entry;
    DIR *d = opendir(folder);
    char *salvage = text_of("%s/salvage", t->work);
    while (d && (entry = readdir(d)))
        if (entry->d_name[0] == 'C') {
            char *path = text_of("%s/%s", folder, entry->d_name);
            copy_inputs(path, salvage);
            free(path);
        }
    if (d)
        closedir(d);
    free(salvage);
}

static bool prepare(struct target *t) {
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
    return true;
}

/* What was saved has been merged when the first figures came. */
static void finish(struct target *t) {
    char *salvage = text_of("%s/salvage", t->work);
    if (t->figures.started)
        remove_folder(salvage);
    free(salvage);
    prepare(t);
}

const struct engine libfuzzer = {.name = "libfuzzer",
                                 .folder = "build/fuzz/bin",
                                 .prepare = prepare,
                                 .command = command,
                                 .environment = environment,
                                 .line = line,
                                 .finish = finish};
