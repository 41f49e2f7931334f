/* SPDX-License-Identifier: MIT
 *
 * What a reduction takes and leaves: from the first random program that raises the class to the
 * fixed point.
 *
 *     bench_reduce BUILD                every known-bad collector, with its image and without one
 *     bench_reduce BUILD COLLECTOR...   some of them; seeded faults, x/y.so, from the first
 *                                       generated program that raises anything
 *
 * With --keep=FOLDER behind BUILD the reduced programs are kept there.
 *
 * Without an image the harness builds the initial heap by allocations, which may collect: blocks
 * then lie where the allocator puts them, and a program that fills a heap must do so in other ways.
 * The same in every build, but for the collectors that crash without a sanitizer elsewhere than
 * with one.
 */
#define _DEFAULT_SOURCE /* clock_gettime */
#include "bench/bench.h"

#include "cli/fault_object.h"
#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"
#include "program/reduction/reduce.h"
#include "program/text/text.h"
#include "tests/support/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPS = 200,
    RUNS = 100000,
    TRIES = 20000,
    HANGS = 10,
    INPUT_MAX = 256, /* bytes, as a campaign's */
    MEASURED_MAX = 1024,
    TEXT_MAX = 1 << 16
};

#define KEEP "--keep="

/* ---- figures of all ---------------------------------------------------------------------------
 */

enum figure { FIGURE_RUNS, FIGURE_OPERATIONS, FIGURE_ITEMS, FIGURES };
static const char *const figure_names[] = {"runs", "operations", "items"};

struct figures {
    const char *mode; /* "", "_no_image" */
    unsigned n, of[FIGURES][MEASURED_MAX], not_found;
};

static void print_all(struct figures *f, const char *build) {
    char name[96];
    snprintf(name, sizeof name, "reduce_measured%s_", f->mode);
    bench_line(name, build, f->n, "collectors");
    snprintf(name, sizeof name, "reduce_not_found%s_", f->mode);
    bench_line(name, build, f->not_found, "collectors");
    for (unsigned k = 0; k < FIGURES && f->n > 0; k++) {
        bench_sort(f->of[k], f->n);
        snprintf(name, sizeof name, "reduce_%s_median%s_", figure_names[k], f->mode);
        bench_line(name, build, f->of[k][f->n / 2], figure_names[k]);
        snprintf(name, sizeof name, "reduce_%s_worst%s_", figure_names[k], f->mode);
        bench_line(name, build, f->of[k][f->n - 1], figure_names[k]);
    }
}

/* ---- one reduction ----------------------------------------------------------------------------
 */

static const char *programs; /* a folder for what is left; NULL: not wanted */

static void keep_program(const char *name, const char *mode, const struct program *p) {
    static char path[4096], text[TEXT_MAX];
    if (!programs)
        return;
    snprintf(path, sizeof path, "%s/%s%s.txt", programs, name, mode);
    program_print(p, text, sizeof text);
    FILE *out = fopen(path, "w");
    if (out) {
        fputs(text, out);
        fclose(out);
    }
}

static void reduce(struct trial *t, const char *collector, const char *build, struct program *p,
                   struct figures *f) {
    static struct reduction reduction;
    char name[128];
    reduction.max_runs = RUNS;
    trial_reduce(t, &reduction, p);
    const unsigned figures[] = {reduction.runs, p->n_ops, p->n_items};
    for (unsigned k = 0; k < FIGURES; k++) {
        f->of[k][f->n] = figures[k];
        snprintf(name, sizeof name, "reduce_%s_%s%s_", figure_names[k], collector, f->mode);
        bench_line(name, build, figures[k], figure_names[k]);
    }
    f->n += f->n + 1 < MEASURED_MAX;
    keep_program(collector, f->mode, p);
}

/* The first program of a generator's that raises anything; the verdict is wanted from then on. */
static bool find_generated(struct trial *t, struct program *p) {
    static uint8_t bytes[INPUT_MAX];
    static struct mutation *mutation;
    if (!mutation)
        mutation = mutation_open(mutation_profile_at(0), NULL);
    unsigned hangs = 0; /* each takes its whole time */
    for (uint64_t seed = 1; mutation && seed <= TRIES && hangs < HANGS; seed++) {
        program_decode(p, bytes, mutation_generate(mutation, bytes, sizeof bytes, seed));
        t->wanted = trial_judge(t, p);
        if (trial_hangs(&t->wanted))
            hangs++;
        else if (t->wanted.violation && t->wanted.guilty == PARTY_SUBJECT)
            return true;
    }
    return false;
}

/* wanted: VIOLATION_none is any. */
static void measure(const struct collector *c, const char *name, enum violation wanted,
                    const char *build, struct figures *f) {
    static struct program p;
    struct trial t;
    trial_open(&t, c, &cheney);
    bool found = wanted ? trial_find(&t, wanted, OPS, &p) : find_generated(&t, &p);
    if (found)
        reduce(&t, name, build, &p, f);
    f->not_found += !found;
    trial_close(&t);
}

/* ---- all collectors ---------------------------------------------------------------------------
 */

static struct figures with_image = {.mode = ""}, without_image = {.mode = "_no_image"};

static void measure_both(const struct collector *c, const char *name, enum violation wanted,
                         const char *build) {
    struct collector without = *c;
    without.image = NULL;
    without.adopt = NULL;
    measure(c, name, wanted, build, &with_image);
    if (c->image)
        measure(&without, name, wanted, build, &without_image);
}

/* x/y.so of .../x/y.so */
static const char *last_two(const char *path) {
    const char *at = path + strlen(path);
    for (unsigned slashes = 0; at > path && slashes < 2; at--)
        slashes += at[-1] == '/' && slashes < 2;
    return *at == '/' ? at + 1 : at;
}

static void measure_fault(const char *path, const char *build) {
    char name[96];
    const struct collector *c = load_fault_object(path);
    if (!c)
        exit(2);
    snprintf(name, sizeof name, "%s", last_two(path));
    for (char *at = name; *at; at++)
        if (*at == '/' || *at == '.')
            *at = *at == '/' ? '-' : '\0';
    measure_both(c, name, VIOLATION_none, build);
}

static bool is_asked_for(const char *name, char **names) {
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names;
}

int main(int argc, char **argv) {
    const char *build = argc > 1 ? argv[1] : "";
    int first = argc > 2 && strncmp(argv[2], KEEP, strlen(KEEP)) == 0 ? 3 : 2;
    programs = first == 3 ? argv[2] + strlen(KEEP) : NULL;
    for (int i = first; i < argc; i++)
        if (strchr(argv[i], '/'))
            measure_fault(argv[i], build);
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++)
        if (argc <= first || is_asked_for(bad->collector->name, argv + first))
            measure_both(bad->collector, bad->collector->name, bad->violation, build);
    print_all(&with_image, build);
    print_all(&without_image, build);
    return 0;
}
