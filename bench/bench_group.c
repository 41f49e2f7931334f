/* SPDX-License-Identifier: MIT
 *
 * How many files one defect gets: findings of collectors with one defect each, reduced and grouped
 * as a campaign does it (cli/campaign/group.c), but in one process and without an engine.
 *
 *     bench_group BUILD              every known-bad collector
 *     bench_group BUILD FAULT.so...  seeded faults; also of how many pairs of one collector a
 * finding of one defect would be taken for one of the other
 *
 * A collector's findings are the first ones of a generator, two of each class, oracle and
 * operation: they differ as much as they can, more than those of a campaign of the same length.
 */
#define _DEFAULT_SOURCE /* clock_gettime */
#include "bench/bench.h"

#include "cli/campaign/campaign.h"
#include "cli/fault_object.h"
#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "program/bytes/bytes.h"
#include "program/mutation/mutate.h"
#include "program/reduction/reduce.h"
#include "tests/support/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRIES = 4000,
    HANGS = 3,
    INPUT_MAX = 256,  /* bytes, as a campaign's */
    FINDINGS = 12,    /* of a seeded fault */
    FINDINGS_FEW = 4, /* of a known-bad collector */
    OF_KIND = 2,
    RUNS = 2000, /* of a reduction, as a campaign's */
    COLLECTORS = 256
};

/* What a report of a campaign says: the key of its defect, and those of the forms in it. */
struct file {
    uint64_t defect, forms[FINDINGS];
    unsigned n_forms;
};
struct defect {
    char collector[64]; /* that has it */
    struct file files[FINDINGS];
    unsigned n_files, n_findings;
};
static struct defect defects[COLLECTORS];
static unsigned n_defects;

/* ---- findings ---------------------------------------------------------------------------------
 */

static struct reduction reduction;

static bool keeps_any(const struct program *p, void *context) {
    struct trial *t = context;
    struct verdict v = trial_judge(t, p);
    return v.violation && v.guilty == t->wanted.guilty && !trial_hangs(&v);
}

static void reduce(struct trial *t, struct program *p,
                   bool (*keeps)(const struct program *, void *)) {
    reduction.keeps = keeps;
    reduction.context = t;
    reduction.max_runs = RUNS;
    program_reduce(&reduction, p);
}

static uint64_t key_of(const struct program *p, const struct verdict *v) {
    return finding_key(violation_name(v->violation), "subject", p);
}

static bool has_form(const struct file *file, uint64_t form) {
    for (unsigned i = 0; i < file->n_forms; i++)
        if (file->forms[i] == form)
            return true;
    return false;
}

/* As filing.c does. */
static void file_program(struct trial *t, struct program *p, struct defect *d) {
    reduce(t, p, trial_keeps);
    uint64_t form = key_of(p, &t->wanted);
    d->n_findings++;
    for (unsigned i = 0; i < d->n_files; i++)
        if (has_form(&d->files[i], form))
            return;
    reduce(t, p, keeps_any);
    struct verdict v = trial_judge(t, p);
    uint64_t defect = key_of(p, &v);
    unsigned i = 0;
    while (i < d->n_files && d->files[i].defect != defect)
        i++;
    struct file *file = &d->files[i];
    d->n_files += i == d->n_files;
    file->defect = defect;
    file->forms[file->n_forms++] = form;
}

/* Class, oracle and operation of a verdict as one number. */
static unsigned kind_of(const struct program *p, const struct verdict *v) {
    unsigned code = v->op < p->n_ops ? p->ops[v->op].code : OP_CODES;
    return ((unsigned)v->violation * ORACLE_COUNT + (unsigned)v->oracle) * (OP_CODES + 1) + code;
}

enum { KINDS = VIOLATION_classes * ORACLE_COUNT * (OP_CODES + 1) };

static void find_all(struct trial *t, struct defect *d, unsigned most) {
    static uint8_t bytes[INPUT_MAX], of_kind[KINDS];
    static struct program p;
    static struct mutation *mutation;
    unsigned n_hangs = 0;
    memset(of_kind, 0, sizeof of_kind);
    if (!mutation)
        mutation = mutation_open(mutation_profile_at(0), NULL);
    for (uint64_t seed = 1; mutation && seed <= TRIES && n_hangs < HANGS && d->n_findings < most;
         seed++) {
        program_decode(&p, bytes, mutation_generate(mutation, bytes, sizeof bytes, seed));
        t->wanted = trial_judge(t, &p);
        n_hangs += trial_hangs(&t->wanted);
        if (!t->wanted.violation || t->wanted.guilty != PARTY_SUBJECT || trial_hangs(&t->wanted) ||
            of_kind[kind_of(&p, &t->wanted)]++ >= OF_KIND)
            continue;
        file_program(t, &p, d);
    }
}

static void measure(const struct collector *c, const char *source, const char *name,
                    unsigned findings, const char *build) {
    struct trial t;
    struct defect *d = &defects[n_defects];
    char line[256];
    if (n_defects == COLLECTORS)
        return;
    snprintf(d->collector, sizeof d->collector, "%s", source);
    trial_open(&t, c, &cheney);
    find_all(&t, d, findings);
    trial_close(&t);
    snprintf(line, sizeof line, "files_of_%.*s_", (int)strcspn(name, "."), name);
    bench_line(line, build, d->n_files, "files");
    n_defects += d->n_files > 0;
}

/* ---- figures ----------------------------------------------------------------------------------
 */

static void print_files(const char *build) {
    unsigned files[COLLECTORS], findings = 0;
    for (unsigned d = 0; d < n_defects; d++) {
        files[d] = defects[d].n_files;
        findings += defects[d].n_findings;
    }
    bench_sort(files, n_defects);
    bench_line("defects_grouped_", build, n_defects, "defects");
    bench_line("findings_per_defect_", build, (double)findings / n_defects, "findings");
    bench_line("files_per_defect_median_", build, files[n_defects / 2], "files");
    bench_line("files_per_defect_95_", build, files[n_defects * 95 / 100], "files");
    bench_line("files_per_defect_worst_", build, files[n_defects - 1], "files");
}

/* Would a finding of one be filed with the other? */
static bool meet(const struct defect *a, const struct defect *b) {
    for (unsigned i = 0; i < a->n_files; i++)
        for (unsigned j = 0; j < b->n_files; j++) {
            if (a->files[i].defect == b->files[j].defect)
                return true;
            for (unsigned f = 0; f < a->files[i].n_forms; f++)
                if (has_form(&b->files[j], a->files[i].forms[f]))
                    return true;
        }
    return false;
}

static void print_pairs(const char *build) {
    unsigned pairs = 0, merged = 0;
    for (unsigned a = 0; a < n_defects; a++)
        for (unsigned b = a + 1; b < n_defects; b++) {
            if (strcmp(defects[a].collector, defects[b].collector) != 0)
                continue;
            pairs++;
            merged += meet(&defects[a], &defects[b]);
        }
    bench_line("defect_pairs_", build, pairs, "pairs");
    bench_line("defect_pairs_merged_", build, pairs ? 100.0 * merged / pairs : 0, "percent");
}

/* The folder of x/y.so: the collector that has the fault. */
static const char *folder_of(const char *path) {
    static char folder[64];
    const char *end = strrchr(path, '/'), *at = end;
    while (at > path && at[-1] != '/')
        at--;
    snprintf(folder, sizeof folder, "%.*s", (int)(end - at), at);
    return folder;
}

int main(int argc, char **argv) {
    const char *build = argc > 1 ? argv[1] : "";
    for (int i = 2; i < argc; i++) {
        const struct collector *c = strchr(argv[i], '/') ? load_fault_object(argv[i]) : NULL;
        if (!c)
            return 2;
        measure(c, folder_of(argv[i]), strrchr(argv[i], '/') + 1, FINDINGS, build);
    }
    for (const struct known_bad *bad = known_bad(); argc <= 2 && bad->collector; bad++)
        measure(bad->collector, bad->collector->name, bad->collector->name, FINDINGS_FEW, build);
    if (n_defects == 0)
        return 1;
    print_files(build);
    if (argc > 2)
        print_pairs(build);
    return 0;
}
