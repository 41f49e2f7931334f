/* SPDX-License-Identifier: MIT
 *
 * AFL++ (campaign.h): a process for every job, which share what they find through one folder.
 *
 * Figures come from each process's fuzzer_stats, which AFL++ 4.04 writes once a minute; findings
 * lie in crashes/ and hangs/.  Where a folder of an earlier campaign lies, AFL++ goes on from
 * there.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "harness/current_input.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *output_folder(const struct target *t) {
    const char *sync = t->campaign->sync;
    return sync ? text_of("%s/%s", sync, t->name) : text_of("%s/engine/afl", t->work);
}

/* What a process is called in that folder. */
static char *job_name(const struct target *t, unsigned number) {
    return t->campaign->sync ? text_of("%s-job%u", t->campaign->node, number)
                             : text_of("job%u", number);
}

/* Its own folder below that one; `below` may be "". */
static char *job_folder(const struct target *t, unsigned number, const char *below) {
    char *output = output_folder(t), *name = job_name(t, number);
    char *folder = text_of("%s/%s%s", output, name, below);
    free(output);
    free(name);
    return folder;
}

struct limits {
    unsigned seconds, length;
};

static void note_limit(const char *key, const char *value, void *context) {
    struct limits *l = context;
    if (strcmp(key, "timeout") == 0)
        l->seconds = (unsigned)strtoul(value, NULL, 10);
    else if (strcmp(key, "max_len") == 0)
        l->length = (unsigned)strtoul(value, NULL, 10);
}

static void command(const struct target *t, unsigned number, double seconds, struct words *argv) {
    struct limits limits = {10, 1024};
    char *name = job_name(t, number);
    for_each_option(t, note_limit, &limits);
    add_word(argv, "afl-fuzz");
    add_word(argv, "-i");
    add_word(argv, "engine/afl-seeds");
    add_word(argv, "-o");
    add_word(argv, t->campaign->sync ? "sync/%s" : "engine/afl", t->name);
    /* With several machines each has a main node: secondary ones take inputs from main nodes alone.
     */
    add_word(argv, number ? "-S" : "-M");
    add_word(argv, "%s", name);
    add_word(argv, "-V");
    add_word(argv, "%.0f", seconds);
    add_word(argv, "-s");
    add_word(argv, "%u", t->campaign->seed + number);
    add_word(argv, "-t");
    add_word(argv, "%u", limits.seconds * 1000);
    add_word(argv, "-G");
    add_word(argv, "%u", limits.length);
    add_word(argv, "-m");
    add_word(argv, "none"); /* AddressSanitizer reserves terabytes */
    if (has_here(t, "target.dict")) {
        add_word(argv, "-x");
        add_word(argv, "target.dict");
    }
    add_word(argv, "--");
    add_word(argv, "./target");
    free(name);
}

static void environment(const struct target *t, struct words *words) {
    static const char *const settings[] = {
        "AFL_NO_UI=1",
        "AFL_SKIP_CPUFREQ=1",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1",
        "AFL_NO_AFFINITY=1",
        "AFL_AUTORESUME=1",
        "AFL_QUIET=1",
        "ASAN_OPTIONS=abort_on_error=1:symbolize=0:detect_leaks=0"};
    add_word(words, CURRENT_VARIABLE "=current");
    for (unsigned i = 0; i < sizeof settings / sizeof *settings; i++)
        add_word(words, "%s", settings[i]);
    if (t->campaign
            ->sync) { /* at the beginning, and then once a minute, what the others have found */
        add_word(words, "AFL_SYNC_TIME=1");
        add_word(words, "AFL_IMPORT_FIRST=1");
    }
    if (has_here(t, "mutator.so"))
        add_word(words, "AFL_CUSTOM_MUTATOR_LIBRARY=./mutator.so");
}

/* ---- figures and findings ---------------------------------------------------------------------
 */

struct stats {
    uint64_t executions;
    double rate;
    unsigned edges, corpus;
    bool found;
};

static void read_stats(const char *path, struct stats *s) {
    char line[LINE_SIZE];
    FILE *file = fopen(path, "r");
    s->found = file != NULL;
    while (file && fgets(line, sizeof line, file)) {
        sscanf(line, "execs_done : %" SCNu64, &s->executions);
        sscanf(line, "execs_per_sec : %lf", &s->rate);
        sscanf(line, "edges_found : %u", &s->edges);
        sscanf(line, "corpus_count : %u", &s->corpus);
    }
    if (file)
        fclose(file);
}

/* A hang may be one of the machine; libFuzzer's word says so to who takes it in. */
static void move_finding(const char *path, const char *name, void *context) {
    const struct target *t = context;
    if (strcmp(name, "README.txt") == 0)
        return;
    char *to = text_of("%s/found/%s%s", t->work, strstr(path, "/hangs") ? "timeout-" : "", name);
    rename(path, to);
    free(to);
}

/* Also the crashes.<date>/ that AFL++ puts aside when it goes on from an earlier campaign. */
static void collect_findings(struct target *t, const char *job) {
    struct dirent *entry;
    DIR *d = opendir(job);
    while (d && (entry = readdir(d)))
        if (strncmp(entry->d_name, "crashes", 7) == 0 || strncmp(entry->d_name, "hangs", 5) == 0) {
            char *path = text_of("%s/%s", job, entry->d_name);
            visit_folder(path, move_finding, t);
            free(path);
        }
    if (d)
        closedir(d);
}

static struct stats stats_of(const struct target *t, unsigned number) {
    struct stats s = {.found = false};
    char *path = job_folder(t, number, "/fuzzer_stats");
    read_stats(path, &s);
    free(path);
    return s;
}

static uint64_t all_executions(const struct target *t) {
    uint64_t sum = 0;
    for (unsigned i = 0; i < t->campaign->jobs_each; i++)
        sum += stats_of(t, i).executions;
    return sum;
}

static void poll_jobs(struct target *t) {
    struct figures *f = &t->figures;
    uint64_t all = all_executions(t);
    f->rate = 0;
    for (unsigned i = 0; i < t->n_engines; i++) {
        struct stats s = stats_of(t, i);
        char *job = job_folder(t, i, "");
        if (all > t->executions_before && !f->started)
            f->edges_at_start = s.edges;
        f->started = f->started || all > t->executions_before;
        f->rate += s.rate;
        f->edges = s.edges > f->edges ? s.edges : f->edges;
        f->corpus = s.corpus > f->corpus ? s.corpus : f->corpus;
        collect_findings(t, job);
        free(job);
    }
    f->executions = all > t->executions_before ? all - t->executions_before : 0;
}

/* ---- before the start -------------------------------------------------------------------------
 */

/* AFL++ counts on from an earlier campaign. */
static bool prepare(struct target *t) {
    if (!t->running)
        t->executions_before = all_executions(t);
    return true;
}

/* AFL++ takes no empty folder of seeds. */
static bool make_seeds(const struct target *t) {
    char *seeds = text_of("%s/engine/afl-seeds", t->work);
    unsigned n = count_files(t->corpus), most = inputs_to_read(t);
    remove_folder(seeds);
    bool good = make_folder(seeds);
    if (good && n > most)
        say("%s: the engine gets %u of the %u files of its corpus, as many as it reads in the "
            "time; "
            "`isoheap corpus minimise` makes it smaller",
            t->name, link_inputs(t->corpus, seeds, most, t->campaign->seed), n);
    else if (good)
        copy_inputs(t->corpus, seeds);
    if (t->seeds)
        copy_inputs(t->seeds, seeds);
    if (good && count_files(seeds) == 0)
        good = add_to_folder(seeds, "\0", 1) >= 0;
    if (!good)
        perror(seeds);
    free(seeds);
    return good;
}

/* The mutator of programs: what the environment names, else the one of this build or installation.
 * Without it AFL++ mutates bytes, which finds next to nothing. */
static bool place_mutator(const struct target *t) {
    char *mutator = afl_mutator(t->campaign);
    bool good = mutator && link_here(t, "mutator.so", mutator);
    if (!mutator && !t->subject) {
        say("%s: without the structured mutator (isoheap_afl_mutator.so)", t->name);
        good = true;
    } else if (!mutator) {
        fprintf(
            stderr,
            "isoheap: the structured mutator, isoheap_afl_mutator.so, is neither in %s nor with "
            "this isoheap; build it there (cmake --build --preset afl --target "
            "isoheap_afl_mutator), or name it in AFL_CUSTOM_MUTATOR_LIBRARY\n",
            t->campaign->bin_dir);
    }
    free(mutator);
    return good;
}

static bool begin(struct target *t) {
    const char *sync = t->campaign->sync;
    char *output = output_folder(t);
    bool good = make_folder(output);
    if (!good)
        perror(output);
    free(output);
    return good && make_seeds(t) && place_mutator(t) && (!sync || link_here(t, "sync", sync));
}

static void finish(struct target *t) {
    poll_jobs(t);
    for (unsigned i = 0; i < t->n_engines; i++) {
        char *queue = job_folder(t, i, "/queue");
        copy_inputs(queue, t->corpus);
        free(queue);
    }
}

const struct engine afl = {.name = "afl",
                           .folder = "build/afl/bin",
                           .process_a_job = true,
                           .prepare = prepare,
                           .begin = begin,
                           .command = command,
                           .environment = environment,
                           .poll = poll_jobs,
                           .end_signal = SIGINT,
                           .finish = finish};
