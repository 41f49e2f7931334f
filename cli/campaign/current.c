/* SPDX-License-Identifier: MIT
 *
 * What the processes of a target were doing when they ended (campaign.h; harness/current_input.h).
 *
 * Each keeps its input in current/PID.  When it is gone, its runs are counted and what it said is
 * kept in said/HASH, by the input's content.  Was an input running, then PID.dead waits for the
 * engine to hand over the same input, which it does as a rule; if it does not, since it died as
 * well or has no room, the input goes into found/ from here.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "cli/descendants.h"
#include "harness/current_input.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { ENGINE_SECONDS = 3, AT_ONCE = 2 };
/* Seconds with one input after which a process that has stopped, and one that has not, is ended;
 * libFuzzer itself ends it after ten (fuzz/default.options). */
enum { STOPPED_SECONDS = 5, STUCK_SECONDS = 30 };

/* Marks what was said in a process that had gone on after a violation. */
#define LATER ".later"

struct look {
    struct target *target;
    bool all; /* nobody runs any more */
};

static const struct current_input *load_current(const char *path, size_t *size) {
    const struct current_input *c = (const void *)load_file(path, size);
    if (c && *size == sizeof *c && c->magic == CURRENT_MAGIC)
        return c;
    free((void *)(uintptr_t)c);
    return NULL;
}

static size_t input_size(const struct current_input *c) {
    return c->size < CURRENT_INPUT ? c->size : CURRENT_INPUT;
}

/* ---- a process that has ended -----------------------------------------------------------------
 */

static void keep_said(const struct target *t, const struct current_input *c) {
    char name[17];
    size_t size = c->said_size < CURRENT_SAID ? c->said_size : CURRENT_SAID;
    name_content(c->input, input_size(c), name);
    char *path = text_of("%s/said/%s", t->work, name), *later = text_of("%s" LATER, path);
    if (size)
        save_file(path, c->said, size);
    if (size && c->violations)
        save_file(later, "", 0);
    free(later);
    free(path);
}

/* A crash of the mutator is ours, and no finding: status 4, with what is needed to see it again. */
static void blame_mutator(struct target *t, const struct current_input *c) {
    char name[17];
    name_content(c->input, input_size(c), name);
    char *folder = text_of("%s/harness_error", t->campaign->crashes);
    char *path = text_of("%s/%s-mutator-%s", folder, t->name, name);
    char *history = text_of("%s.history", path);
    char *text = text_of("# violation: harness_error\n# guilty: isoheap's mutator\n# target: %s\n"
                         "# mutation seed: %u\n%.*s",
                         t->name, (unsigned)c->seed,
                         (int)(c->said_size < CURRENT_SAID ? c->said_size : CURRENT_SAID), c->said);
    bool good = make_folder(folder) && save_file(path, c->input, input_size(c)) &&
                save_file(history, text, strlen(text));
    if (!t->mutator_deaths++)
        say("%s: isoheap's own mutator crashed, which is no fault of the collector; %s%s", t->name,
            good ? "what it worked on: " : "what it worked on could not be kept in ",
            quoted_path(path));
    t->campaign->trouble = true;
    free(folder);
    free(path);
    free(history);
    free(text);
}

/* Running when the process ended: set aside, with the time at which that was seen. */
static void set_aside(const char *path) {
    char *dead = text_of("%s.dead", path);
    if (rename(path, dead) == 0)
        utimensat(AT_FDCWD, dead, NULL, 0);
    free(dead);
}

static void note_end(struct target *t, const char *path) {
    size_t size;
    const struct current_input *c = load_current(path, &size);
    uint32_t state = c ? c->state : CURRENT_IDLE;
    if (c) {
        t->runs_seen += c->runs;
        for (unsigned o = 0; o < ORACLE_COUNT; o++)
            t->judged[o] += c->judged[o];
        if (c->not_run && !t->not_run)
            snprintf(t->why_not, sizeof t->why_not, "%.*s", VERDICT_TEXT - 1, c->why_not);
        t->not_run += c->not_run;
        if (c->said_size && state == CURRENT_RUNNING)
            keep_said(t, c);
        if (state == CURRENT_MUTATING && c->said_size) /* else it was killed */
            blame_mutator(t, c);
    }
    /* what we have ended ourselves was no finding */
    if (state == CURRENT_RUNNING && (!(t->asked_to_end > 0) || c->said_size))
        set_aside(path);
    else
        unlink(path);
    free((void *)(uintptr_t)c);
}

/* ---- an input that was running ----------------------------------------------------------------
 */

/* Alone: no engine was killed then, so the process has ended of itself. */
static bool died_alone(const struct target *t, time_t when) {
    return t->watched && !(t->engine_died > 0 && when <= t->engine_died + AT_ONCE &&
                           when >= t->engine_died - AT_ONCE);
}

static void hand_over(struct target *t, const char *path, time_t when) {
    char name[17];
    size_t size;
    const struct current_input *c = load_current(path, &size);
    if (!c) {
        unlink(path);
        return;
    }
    name_content(c->input, input_size(c), name);
    bool certain = c->said_size || died_alone(t, when);
    char *found = text_of("%s/found/%s-%s", t->work, certain ? "killed" : "interrupted", name);
    /* AFL++ keeps what ends a process, and ends slow ones itself */
    bool wanted = !was_taken_in(t, name) && (t->campaign->engine == &libfuzzer || !t->watched);
    if (!wanted || access(found, F_OK) == 0 || save_file(found, c->input, input_size(c)))
        unlink(path);
    else if (errno == ENOSPC || errno == EDQUOT)
        t->campaign->disk_full = true;
    free(found);
    free((void *)(uintptr_t)c);
}

static void look_at_file(const char *path, const char *name, void *context) {
    struct look *look = context;
    struct stat info;
    if (ends_in(name, ".dead")) {
        if (stat(path, &info) == 0 && (look->all || time(NULL) - info.st_mtime >= ENGINE_SECONDS))
            hand_over(look->target, path, info.st_mtime);
        return;
    }
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    if (pid > 0 && !look->all && (kill(pid, 0) == 0 || errno == EPERM))
        return;
    note_end(look->target, path);
}

/* ---- a process that runs ----------------------------------------------------------------------
 */

static bool has_stopped(pid_t pid) {
    char state = proc_state(pid);
    return state == 'T' || state == 't';
}

static struct pulse *pulse_of(struct target *t, pid_t pid) {
    struct pulse *oldest = &t->pulses[0];
    for (unsigned i = 0; i < JOBS_MAX; i++) {
        if (t->pulses[i].pid == pid)
            return &t->pulses[i];
        if (t->pulses[i].seen < oldest->seen)
            oldest = &t->pulses[i];
    }
    *oldest = (struct pulse){.pid = pid};
    return oldest;
}

/* Time counts only as far as we look: who was stopped together with us has not stood still. */
static void feel(struct target *t, pid_t pid, const struct current_input *c) {
    struct pulse *p = pulse_of(t, pid);
    double now = seconds_now(), since = p->seen > 0 ? now - p->seen : 0;
    bool stands = c->state == CURRENT_RUNNING && c->runs == p->runs;
    p->still = stands ? p->still + (since < 1 ? since : 1) : 0;
    p->runs = c->runs;
    p->seen = now;
    if (p->still > STUCK_SECONDS || (p->still > STOPPED_SECONDS && has_stopped(pid)))
        kill(pid, SIGKILL);
}

struct watch {
    struct target *target;
    uint64_t runs;
};

static void watch_one(const char *path, const char *name, void *context) {
    struct watch *w = context;
    static struct current_input head;
    enum { HEAD = offsetof(struct current_input, said) };
    pid_t pid = (pid_t)strtol(name, NULL, 10);
    if (pid <= 0 || ends_in(name, ".dead") || (kill(pid, 0) != 0 && errno == ESRCH))
        return;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return;
    if (read(file, &head, HEAD) == HEAD && head.magic == CURRENT_MAGIC) {
        w->runs += head.runs;
        feel(w->target, pid, &head);
    }
    close(file);
}

uint64_t watch_current(struct target *t) {
    struct watch w = {t, 0};
    char *folder = text_of("%s/current", t->work);
    visit_folder(folder, watch_one, &w);
    free(folder);
    return w.runs;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

void take_current(struct target *t, bool all) {
    struct look look = {t, all};
    char *folder = text_of("%s/current", t->work);
    visit_folder(folder, look_at_file, &look);
    if (all) /* what has just been set aside */
        visit_folder(folder, look_at_file, &look);
    free(folder);
}

char *what_was_said(const struct target *t, const char *hash) {
    size_t size;
    char *path = text_of("%s/said/%.16s", t->work, hash), *text = load_file(path, &size);
    free(path);
    return text;
}

bool said_later(const struct target *t, const char *hash) {
    char *path = text_of("%s/said/%.16s" LATER, t->work, hash);
    bool later = access(path, F_OK) == 0;
    free(path);
    return later;
}

void forget_said(const struct target *t, const char *hash) {
    char *path = text_of("%s/said/%.16s", t->work, hash);
    char *later = text_of("%s" LATER, path);
    unlink(path);
    unlink(later);
    free(later);
    free(path);
}
