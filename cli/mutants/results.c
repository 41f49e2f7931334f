/* SPDX-License-Identifier: MIT
 *
 * What is known of each mutant, on disk (mutants.h): a line is added whenever something is known
 * better, and the last one of a mutant counts.  The first line is the key.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/mutants/mutants.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void read_result(struct results_file *f, const char *line) {
    unsigned k, fate, tried, ran, twin;
    int harness_error, hung;
    char class[NAME_SIZE];
    uint64_t code;
    if (sscanf(line, "%u\t%u\t%u\t%u\t%95s\t%d\t%d\t%u\t%" SCNx64 ".", &k, &fate, &tried, &ran,
               class, &harness_error, &hung, &twin, &code) != 9 ||
        !strchr(line, '.'))
        return; /* cut short when the machine went down */
    enum violation violation = violation_named(class);
    if (k == 0 || k > f->n || fate > FATE_twin || violation == VIOLATION_classes || twin > f->n)
        return;
    f->result[k] = (struct result){.fate = (enum fate)fate,
                                   .tried = tried,
                                   .ran = ran,
                                   .violation = violation,
                                   .harness_error = harness_error,
                                   .hung = hung,
                                   .twin = twin,
                                   .code = code};
}

static bool begin_results(const struct results_file *f, const char *key) {
    FILE *out = fopen(f->path, "w");
    if (out && fprintf(out, "%s\n", key) > 0 && fclose(out) == 0)
        return true;
    fprintf(stderr, "isoheap: %s: %s\n", f->path, strerror(errno));
    return false;
}

bool mutant_results_open(struct results_file *f, const char *folder, const char *key, unsigned n) {
    size_t size;
    *f = (struct results_file){.path = text_of("%s/results.tsv", folder),
                               .result = calloc(n + 1, sizeof *f->result),
                               .n = n};
    if (!f->result)
        return false;
    char *text = load_file(f->path, &size), *rest = text, *line = text ? strsep(&rest, "\n") : NULL;
    bool same = line && strcmp(line, key) == 0;
    if (line && !same)
        fprintf(stderr,
                "isoheap: %s is of other sources, options or of another isoheap: it begins "
                "anew\n",
                f->path);
    while (same && (line = strsep(&rest, "\n")))
        read_result(f, line);
    free(text);
    return same || begin_results(f, key);
}

bool mutant_results_note(const struct results_file *f, unsigned k) {
    const struct result *r = &f->result[k];
    FILE *out = fopen(f->path, "a");
    if (out &&
        fprintf(out, "%u\t%u\t%u\t%u\t%s\t%d\t%d\t%u\t%" PRIx64 ".\n", k, (unsigned)r->fate,
                r->tried, r->ran, violation_name(r->violation), r->harness_error, r->hung, r->twin,
                r->code) > 0 &&
        fclose(out) == 0)
        return true;
    fprintf(stderr, "isoheap: %s: %s\n", f->path, strerror(errno));
    return false;
}

void mutant_results_close(struct results_file *f) {
    free(f->path);
    free(f->result);
}
