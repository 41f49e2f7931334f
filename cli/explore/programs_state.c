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
    return text_of("isoheap explore 1\ncollector %s\nreference %s\noracles %x\n%s%s%s%sscope %s\n"
                   "units %" PRIu64 " programs %" PRIu64 " chunk %" PRIu64 "\n",
                   x->job.subject->name, x->job.reference ? x->job.reference->name : "none",
                   x->job.oracles, masks[0] ? "unmask " : "", masks, masks[0] ? "\n" : "", stack,
                   scope, x->total.units, x->total.programs, x->chunk);
}

#define FIGURES                                                                                    \
    "done %" PRIu64 "\nprograms %" PRIu64 "\nwithout_meaning %" PRIu64 "\noperations %" PRIu64     \
    "\nskipped %" PRIu64 "\nchecks %" PRIu64 "\nrefusals %" PRIu64 "\ndigest %" PRIu64 "\n"

bool explore_save(const struct exploration *x) {
    const struct explore_figures *f = &x->figures;
    if (!x->state)
        return true;
    char *path = state_path(x), *subject = subject_lines(x);
    char *figures = text_of(FIGURES, x->done, f->programs, f->without_meaning, f->operations,
                            f->skipped, f->checks, f->refusals, f->digest);
    char *text = text_of("%s%s", subject, figures);
    bool good = make_folder(x->state);
    if (!good)
        fprintf(stderr, "isoheap: cannot make the folder %s: %s\n", x->state, strerror(errno));
    good = good && write_finding(path, text, strlen(text));
    free(text);
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

static bool read_figures(const char *text, struct exploration *x) {
    struct explore_figures f;
    uint64_t done;
    bool good =
        read_figure(&text, "done", &done) && read_figure(&text, "programs", &f.programs) &&
        read_figure(&text, "without_meaning", &f.without_meaning) &&
        read_figure(&text, "operations", &f.operations) &&
        read_figure(&text, "skipped", &f.skipped) && read_figure(&text, "checks", &f.checks) &&
        read_figure(&text, "refusals", &f.refusals) && read_figure(&text, "digest", &f.digest) &&
        !*text && done <= x->chunks && f.programs <= x->total.programs;
    if (good) {
        x->done = done;
        x->figures = f;
    }
    return good;
}

static int read_state(struct exploration *x, const char *path, const char *text) {
    char *subject = subject_lines(x);
    size_t length = strlen(subject);
    int status = EXIT_OK;
    if (strncmp(text, "isoheap explore 1\n", 18) != 0) {
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
