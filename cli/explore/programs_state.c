/* SPDX-License-Identifier: MIT
 *
 * The state file of an exploration: how far it is, for a later call (programs.h).
 *
 * Text, one `word value` a line, in DIR/COLLECTOR.state; it changes as a whole or not at all.  The
 * lines that say what is explored must be the same word for word.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/explore/programs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *state_path(const struct exploration *x) {
    return text_of("%s/%s.state", x->state, x->job.subject->name);
}

/* What is explored; malloc'ed. */
static char *subject_lines(const struct exploration *x) {
    char scope[SCOPE_TEXT];
    const char *masks = x->job.unmask ? x->job.unmask : "";
    char stack[64] = "";
    if (x->job.stack_kib || x->job.ordinary_stack)
        snprintf(stack, sizeof stack, "stack %zu\n", x->job.stack_kib);
    scope_print(&x->scope, scope, sizeof scope);
    return text_of("isoheap explore 2\ncollector %s\nreference %s\noracles %x\n%s%s%s%sscope %s\n"
                   "units %" PRIu64 " programs %" PRIu64 " chunk %" PRIu64 "\n",
                   x->job.subject->name, x->job.reference ? x->job.reference->name : "none",
                   x->job.oracles, masks[0] ? "unmask " : "", masks, masks[0] ? "\n" : "", stack,
                   scope, x->total.units, x->total.programs, x->chunk);
}

#define FIGURES                                                                                    \
    "done %" PRIu64 "\nprograms %" PRIu64 "\nnot_run %" PRIu64 "\noperations %" PRIu64             \
    "\nskipped %" PRIu64 "\nchecks %" PRIu64 "\nrefusals %" PRIu64 "\ndigest %" PRIu64 "\n"

bool explore_save(const struct exploration *x) {
    const struct explore_figures *f = &x->figures;
    if (!x->state)
        return true;
    char *path = state_path(x), *subject = subject_lines(x);
    char *figures = text_of(FIGURES, x->done, f->programs, f->not_run, f->operations, f->skipped,
                            f->checks, f->refusals, f->digest);
    char *why = x->not_run.text[0]
                    ? text_of("why %" PRIu64 " %s\n", x->not_run.chunk, x->not_run.text)
                    : text_of("%s", "");
    char *text = text_of("%s%s%s", subject, figures, why);
    bool good = make_folder(x->state);
    if (!good)
        fprintf(stderr, "isoheap: cannot make the folder %s: %s\n", x->state, strerror(errno));
    good = good && write_finding(path, text, strlen(text));
    free(text);
    free(why);
    free(figures);
    free(subject);
    free(path);
    return good;
}

/* "word number\n" at *text; false if it is not there. */
static bool read_figure(const char **text, const char *name, uint64_t *value) {
    size_t length = strlen(name);
    char *end;
    if (strncmp(*text, name, length) != 0 || (*text)[length] != ' ' || (*text)[length + 1] < '0' ||
        (*text)[length + 1] > '9')
        return false;
    *value = strtoull(*text + length + 1, &end, 10);
    *text = end + 1;
    return *end == '\n';
}

/* "why CHUNK TEXT\n" at the end, if anything is there. */
static bool read_reason(const char *text, struct explore_reason *r) {
    int begin = 0, end = 0;
    r->text[0] = '\0';
    if (!*text)
        return true;
    bool good =
        sscanf(text, "why %" SCNu64 " %n%511[^\n]%n", &r->chunk, &begin, r->text, &end) == 2;
    return good && begin > 0 && strcmp(text + end, "\n") == 0;
}

static bool read_figures(const char *text, struct exploration *x) {
    struct explore_figures f;
    struct explore_reason why = {0};
    uint64_t done;
    bool good =
        read_figure(&text, "done", &done) && read_figure(&text, "programs", &f.programs) &&
        read_figure(&text, "not_run", &f.not_run) &&
        read_figure(&text, "operations", &f.operations) &&
        read_figure(&text, "skipped", &f.skipped) && read_figure(&text, "checks", &f.checks) &&
        read_figure(&text, "refusals", &f.refusals) && read_figure(&text, "digest", &f.digest) &&
        read_reason(text, &why) && done <= x->chunks && f.programs <= x->total.programs;
    if (good) {
        x->done = done;
        x->figures = f;
        x->not_run = why;
    }
    return good;
}

static int read_state(struct exploration *x, const char *path, const char *text) {
    char *subject = subject_lines(x);
    size_t length = strlen(subject);
    int status = EXIT_OK;
    if (strncmp(text, "isoheap explore 2\n", 18) != 0) {
        fprintf(stderr, "isoheap: %s is no state of an exploration; remove it to begin anew\n",
                path);
        status = EXIT_UNREADABLE;
    } else if (strncmp(text, subject, length) != 0) {
        fprintf(stderr,
                "isoheap: %s is of another exploration (collector, reference, oracles, masks or "
                "scope); "
                "remove it to begin anew, or name another folder\n",
                path);
        status = EXIT_USAGE;
    } else if (!read_figures(text + length, x)) {
        fprintf(stderr, "isoheap: %s is damaged; remove it to begin anew\n", path);
        status = EXIT_UNREADABLE;
    }
    free(subject);
    return status;
}

int explore_load(struct exploration *x) {
    if (!x->state)
        return EXIT_OK;
    size_t size;
    int status = EXIT_OK;
    char *path = state_path(x), *text = load_file(path, &size);
    if (text)
        status = read_state(x, path, text);
    else if (access(path, F_OK) == 0) {
        fprintf(stderr, "isoheap: cannot read %s: %s\n", path, strerror(errno));
        status = EXIT_UNREADABLE;
    }
    free(text);
    free(path);
    return status;
}
