/* SPDX-License-Identifier: MIT
 *
 * The class and the guilty party of an input (campaign.h).
 *
 * The input runs in a child on the very binary that failed, since another build may not see what
 * its sanitizers see.  What the binary writes tells the class: isoheap's own line if there is one,
 * else the function that it aborted from, else what a sanitizer or an engine says.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Seconds of processor time, unless the environment says otherwise (tests). */
#define INPUT_SECONDS "ISOHEAP_INPUT_SECONDS"
enum {
    SECONDS_PER_INPUT = 10,
    SECONDS_MOST = 1000,
    KILLS = 3,
    LATE_RUNS = 2,
    PLAIN = 0,
    NAMED = 1
};

/* A leak check at the end stops the world, which containers may forbid.  Names in stack traces cost
 * most of the time and are needed seldom. */
static char *const settings[][4] = {
    [PLAIN] = {"ASAN_OPTIONS=detect_leaks=0:print_legend=0:symbolize=0",
               "UBSAN_OPTIONS=symbolize=0:print_stacktrace=0", NULL},
    [NAMED] = {"ASAN_OPTIONS=detect_leaks=0:print_legend=0:symbolize=1", NULL}};

/* Copies the name that stands behind `before` in the text: letters, digits, underscores. */
static bool name_after(const char *text, const char *before, char name[NAME_SIZE]) {
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ_-0123456789";
    const char *found = strstr(text, before);
    if (!found)
        return false;
    found += strlen(before);
    snprintf(name, NAME_SIZE, "%.*s", (int)strspn(found, letters), found);
    return name[0] != 0;
}

static bool contains(const char *text, const char *part) {
    return strstr(text, part) != NULL;
}

/* Fills in the class if the text knows it without names in stack traces. */
static bool plain_class(const char *text, bool late, struct finding *f) {
    const char *class = NULL;
    if (name_after(text, "isoheap: violation ", f->violation))
        return true;
    if (late || contains(text, "ERROR: libFuzzer: timeout"))
        class = "no_progress";
    else if (contains(text, "isoheap: harness error"))
        class = "harness_error";
    else if (contains(text, "ERROR: AddressSanitizer") || contains(text, "runtime error:") ||
             contains(text, "ERROR: MemorySanitizer") || contains(text, "ERROR: LeakSanitizer") ||
             contains(text, "ERROR: libFuzzer: out-of-memory"))
        class = "sanitizer";
    if (class)
        snprintf(f->violation, NAME_SIZE, "%s", class);
    return class != NULL;
}

/* A collector that ends the process without a word is one that crashes. */
static void named_class(const struct target *t, const char *text, struct finding *f) {
    if (name_after(text, " in violation_", f->violation))
        return;
    /* the bodies of a target on one collector, and of one on all */
    bool on_collectors =
        contains(text, " in collector_target ") || contains(text, " in all_collectors_target ");
    bool silent = !contains(text, "isoheap: ") && !contains(text, "#0 0x");
    snprintf(f->violation, NAME_SIZE, "%s",
             on_collectors          ? "collector_assertion"
             : silent && t->subject ? "sanitizer"
                                    : "harness_error");
}

/* "  guilty     subject (bad_infix_root)", or without the parenthesis. */
static void find_guilty(const struct target *t, const char *text, struct finding *f) {
    char party[NAME_SIZE] = "";
    const char *line = strstr(text, "  guilty     ");
    if (line)
        name_after(line, "  guilty     ", party);
    const char *end = line ? strchr(line, '\n') : NULL, *name = line ? strchr(line, '(') : NULL;
    if (name && end && name < end && name_after(name, "(", f->guilty))
        return;
    const char *known = strcmp(party, "reference") == 0 ? t->reference : t->subject;
    const struct collector *c = known ? find_collector(known) : NULL; /* of a path, its name */
    if (strcmp(f->violation, "harness_error") == 0 || !c)
        snprintf(f->guilty, NAME_SIZE, "%s", t->name);
    else
        snprintf(f->guilty, NAME_SIZE, "%s", c->name);
}

/* What our own checks say before they abort. */
static void find_message(const char *text, int status, struct finding *f) {
    const char *line = strstr(text, "isoheap: ");
    snprintf(f->message, NAME_SIZE, "none");
    if (line && strncmp(line, "isoheap: violation ", 19) != 0)
        snprintf(f->message, NAME_SIZE, "%.*s", (int)strcspn(line, "\n"), line);
    else if (status == PROCESS_KILLED)
        snprintf(f->message, NAME_SIZE, "the process was killed (signal 9)");
}

bool classify_said(const struct target *t, const char *said, struct finding *f) {
    *f = (struct finding){.failed = false};
    if (!plain_class(said, false, f))
        return false;
    find_guilty(t, said, f);
    find_message(said, 0, f);
    return true;
}

/* ---- an input on the target's binary ------------------------------------------------------ */

struct outcome {
    int status;
    enum lateness late;
    unsigned seconds; /* of processor time that it had */
    char *text;       /* malloc'ed */
};

static unsigned seconds_for_input(void) {
    const char *wanted = getenv(INPUT_SECONDS);
    unsigned long seconds = wanted ? strtoul(wanted, NULL, 10) : 0;
    return seconds && seconds < SECONDS_MOST ? (unsigned)seconds : SECONDS_PER_INPUT;
}

/* SIGKILL may come from elsewhere, from who is short of memory, say: it counts if it comes each
 * time.  So does lateness if it comes twice. */
static struct outcome run_input(const struct target *t, const char *input, unsigned how) {
    char *full = realpath(input, NULL), *argv[] = {"./target", full, NULL};
    struct outcome o = {.seconds = seconds_for_input()};
    for (unsigned i = 0, late = 0; i < KILLS && late < LATE_RUNS; i++) {
        free(o.text);
        o.late = run_command_within(t->work, argv, settings[how], o.seconds, &o.status, &o.text);
        late += o.late != IN_TIME;
        if (o.late == IN_TIME && o.status != PROCESS_KILLED)
            break;
    }
    free(full);
    return o;
}

void name_stack(const struct target *t, const char *input, char *out, size_t size) {
    struct outcome o = run_input(t, input, NAMED);
    sanitizer_stack(o.text, out, size);
    free(o.text);
}

/* Which limit it was. */
static void find_lateness(const struct outcome *o, struct finding *f) {
    if (o->late == LATE_PROCESSOR)
        snprintf(f->message, NAME_SIZE, "took more than %u seconds of processor time, twice",
                 o->seconds);
    if (o->late == LATE_IDLE)
        snprintf(f->message, NAME_SIZE, "slept, or was stopped, for more than %u seconds, twice",
                 o->seconds * IDLE_FACTOR);
}

/* libFuzzer says when an input begins and when it has ended: who leaves in between with status 0
 * has not come to the end of it. */
static bool ended_early(const char *text) {
    return contains(text, "Running: ") && !contains(text, "Executed ");
}

bool load_finding(const char *path, struct program *p) {
    struct text_error error;
    size_t size;
    char *data = load_file(path, &size);
    bool good = data != NULL;
    if (good && program_looks_like_text(data, size))
        good = program_parse(p, data, size, &error);
    else if (good)
        program_decode(p, (uint8_t *)data, size);
    free(data);
    return good;
}

/* Of what ends without a word the target is asked once more, as any command asks it. */
static bool judged_class(const struct target *t, const char *input, struct finding *f) {
    static struct program p;
    char *target = text_of("%s/target", t->work), *report;
    struct job job = {.subject = t->subject ? find_collector(t->subject) : NULL,
                      .reference = t->reference ? find_collector(t->reference) : NULL,
                      .seconds = seconds_for_input(),
                      .trial_ms = 1000 * seconds_for_input(),
                      .unmask = getenv("ISOHEAP_UNMASK"),
                      .target = target,
                      .target_asked = true};
    bool good = job.subject && load_finding(input, &p);
    struct verdict v = good ? run_job(&job, &p, &report) : (struct verdict){.op = 0};
    free(target);
    if (!v.violation)
        return false;
    snprintf(f->violation, NAME_SIZE, "%s", violation_name(v.violation));
    snprintf(f->guilty, NAME_SIZE, "%s", guilty_name(&job, &v));
    return true;
}

bool classify(const struct target *t, const char *input, struct finding *f) {
    *f = (struct finding){.failed = true};
    struct outcome o = run_input(t, input, PLAIN);
    if (o.status == 127 && contains(o.text, "isoheap: cannot run")) {
        free(o.text);
        return false;
    }
    f->failed = o.late != IN_TIME || o.status != 0 || ended_early(o.text);
    if (f->failed && !plain_class(o.text, o.late != IN_TIME, f) && !judged_class(t, input, f)) {
        free(o.text);
        o = run_input(t, input, NAMED);
        named_class(t, o.text, f);
    }
    if (f->failed) {
        if (!f->guilty[0])
            find_guilty(t, o.text, f);
        find_message(o.text, o.status, f);
        find_lateness(&o, f);
    }
    free(o.text);
    return true;
}
