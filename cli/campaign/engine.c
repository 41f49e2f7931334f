/* SPDX-License-Identifier: MIT
 *
 * Starts, watches and ends the engines of a target (campaign.h).
 *
 * An engine that dies before its time, by whatever signal, is started again for the time that is
 * left.  One that dies three times in a row without having executed anything does not run.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    EARLY_ENDS_MAX = 3,
    RESTARTS_TOLD = 5,
    PATIENCE = 2,  /* seconds to wrap up in */
    NOT_WORTH = 1, /* seconds for which no engine is started again */
    /* Inputs that an engine reads at the start for each second that it gets, and always: at a few
     * thousand a second that is a small part. */
    READ_EACH_SECOND = 300,
    READ_ALWAYS = 2000
};

void add_word(struct words *w, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    if (w->n < WORDS_MAX && vasprintf(&w->word[w->n], format, arguments) >= 0)
        w->word[++w->n] = NULL;
    va_end(arguments);
}

void free_words(struct words *w) {
    for (unsigned i = 0; i < w->n; i++)
        free(w->word[i]);
    *w = (struct words){.n = 0};
}

/* Our options files say what continuous fuzzing services and campaigns pass to the engine. */
void for_each_option(const struct target *t,
                     void (*visit)(const char *key, const char *value, void *), void *context) {
    char *path = text_of("%s/target.options", t->work), line[LINE_SIZE], key[64], value[64];
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, " %63[a-z_] = %63[^ \n]", key, value) == 2 && is_plain(value))
            visit(key, value, context);
    if (file)
        fclose(file);
    free(path);
}

static void copy_input(const char *path, const char *name, void *context) {
    const char *to = context;
    size_t size;
    char *data = load_file(path, &size);
    (void)name;
    if (data)
        add_to_folder(to, data, size);
    free(data);
}

void copy_inputs(const char *from, const char *to) {
    visit_folder(from, copy_input, (char *)(uintptr_t)to);
}

unsigned inputs_to_read(const struct target *t) {
    double most = READ_EACH_SECOND * t->share;
    return most > 1e9 ? 1000000000 : most > READ_ALWAYS ? (unsigned)most : READ_ALWAYS;
}

struct sample {
    const char *to;
    unsigned all, most, at, taken;
};

/* Of `all` files in a row `most`, evenly. */
static void sample_input(const char *path, const char *name, void *context) {
    struct sample *s = context;
    uint64_t before = (uint64_t)s->at * s->most / s->all;
    uint64_t after = ((uint64_t)s->at + 1) * s->most / s->all;
    s->at++;
    if (after == before)
        return;
    char *to = text_of("%s/%s", s->to, name);
    s->taken += link(path, to) == 0;
    free(to);
}

unsigned link_inputs(const char *from, const char *to, unsigned most, unsigned seed) {
    struct sample s = {to, count_files(from), most, 0, 0};
    s.at = seed % (s.all ? s.all : 1);
    visit_folder(from, sample_input, &s);
    return s.taken;
}

/* ---- life -------------------------------------------------------------------------------------
 */

bool make_target_folders(const struct target *t) {
    static const char *const folders[] = {"found",  "queue",   "filed", "flaky",
                                          "engine", "current", "said"};
    bool good = make_folder(t->corpus);
    for (unsigned i = 0; good && i < sizeof folders / sizeof *folders; i++) {
        char *path = text_of("%s/%s", t->work, folders[i]);
        good = make_folder(path);
        free(path);
    }
    if (!good)
        perror(t->work);
    return good;
}

bool target_prepare(struct target *t) {
    if (!make_target_folders(t))
        return false;
    char *queue = text_of("%s/queue", t->work);
    t->campaign->pending += (int)count_files(queue);
    free(queue);
    if (!furnish(t, true))
        return false;
    if (t->campaign->engine->prepare && !t->campaign->engine->prepare(t))
        return false;
    take_all(t);
    t->runs_seen = 0;
    t->watched = true;
    t->figures.corpus = t->figures.corpus_at_start = count_files(t->corpus);
    return true;
}

static bool start_process(struct target *t, unsigned number) {
    const struct engine *engine = t->campaign->engine;
    struct words argv = {.n = 0}, environment = {.n = 0};
    double left = t->started + t->share - seconds_now();
    engine->environment(t, &environment);
    engine->command(t, number, left > 1 ? left : 1, &argv);
    bool good = process_start(&t->engines[number], t->work, argv.word, environment.word);
    free_words(&argv);
    free_words(&environment);
    return good;
}

bool target_start(struct target *t) {
    t->started = seconds_now();
    if (t->campaign->engine->begin && !t->campaign->engine->begin(t))
        return false;
    t->n_engines = t->campaign->engine->process_a_job ? t->campaign->jobs_each : 1;
    t->running = true;
    for (unsigned i = 0; i < t->n_engines; i++)
        if (!start_process(t, i)) {
            perror("isoheap: no process for the engine");
            return false;
        }
    return true;
}

/* A crash, of which libFuzzer keeps the input, is nothing to speak of; more is said of whoever was
 * killed, or did nothing. */
static void restart(struct target *t, unsigned number, bool crash) {
    struct process *p = &t->engines[number];
    t->restarts++;
    if (!crash && t->restarts_told++ < RESTARTS_TOLD)
        say("%s: the engine ended before its time (%s %d); starting it again", t->name,
            p->status > 128 ? "signal" : "status", p->status > 128 ? p->status - 128 : p->status);
    if (t->campaign->engine->prepare)
        t->campaign->engine->prepare(t);
    if (!start_process(t, number))
        t->trouble = true;
}

/* After the end of a process: is it over, or must it be started again? */
static void look_at_end(struct target *t, unsigned number) {
    double left = t->started + t->share - seconds_now();
    int status = t->engines[number].status;
    bool killed = status > 128;
    if (killed)
        t->engine_died = time(NULL);
    if (t->asked_to_end > 0 || left < NOT_WORTH)
        return;
    take_current(t, false);
    take_in(t, false);                                          /* what would crash again */
    uint64_t executions = t->figures.executions + t->runs_seen; /* it counts none that was killed */
    bool worked = executions > t->executions_at_restart;
    t->executions_at_restart = executions;
    t->early_ends = worked ? 0 : t->early_ends + 1;
    if (t->early_ends >= EARLY_ENDS_MAX) {
        t->trouble = true;
        t->troubled = &t->engines[number];
        return;
    }
    restart(t, number, worked && !killed && t->campaign->engine == &libfuzzer);
}

static void target_has_ended(struct target *t) {
    t->running = false;
    t->ended = true;
    t->seconds = seconds_now() - t->started;
    if (t->campaign->engine->finish)
        t->campaign->engine->finish(t);
    take_all(t);
    bool counts = t->campaign->engine != &libfuzzer && t->figures.executions;
    if (!counts && t->runs_seen > t->figures.executions) /* but for a process that was killed */
        t->figures.executions = t->runs_seen;
    t->figures.corpus = count_files(t->corpus);
    bool cut_short = campaign_interrupts || t->campaign->disk_full || t->campaign->filing_ended;
    t->trouble = t->trouble || (t->figures.executions == 0 && !cut_short);
}

bool target_poll(struct target *t) {
    const struct campaign *c = t->campaign;
    bool alive = false;
    for (unsigned i = 0; i < t->n_engines; i++) {
        bool had = t->engines[i].warden != 0;
        if (!process_poll(&t->engines[i], c->engine->line, t) && had && !t->trouble)
            look_at_end(t, i);
        alive = alive || t->engines[i].warden;
    }
    if (c->engine->poll)
        c->engine->poll(t);
    take_current(t, false);
    take_in(t, false);
    bool over = c->runs && t->figures.executions >= c->runs;
    over = over || seconds_now() >= t->started + t->share;
    if (alive && over && !(t->asked_to_end > 0))
        target_stop(t, false);
    if (alive && t->asked_to_end > 0 && seconds_now() > t->asked_to_end + PATIENCE)
        target_stop(t, true);
    if (!alive)
        target_has_ended(t);
    return t->running;
}

void target_stop(struct target *t, bool force) {
    if (!(t->asked_to_end > 0)) {
        take_current(t, false); /* whoever has ended until now has ended of itself */
        t->asked_to_end = seconds_now();
    }
    for (unsigned i = 0; i < t->n_engines; i++)
        if (force)
            process_kill(&t->engines[i]);
        else
            process_signal(&t->engines[i], t->campaign->engine->end_signal);
}
