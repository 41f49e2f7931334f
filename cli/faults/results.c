/* SPDX-License-Identifier: MIT
 *
 * What runs of seeded faults gave (faults.h): <folder>/results.tsv, a line a run, appended as soon
 * as the run has ended.  A line that was cut off is passed over.
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/faults/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FIELDS = 15 };
#define HEADER                                                                                     \
    "fault\tarm\tseed\tkey\tbudget\texecutions\treached\ttriggered\tdetected\tseconds\tclass\t"    \
    "oracle\talone\twithout\trepeats\n"

static bool keep(struct results *r, const struct fault_run *run) {
    if (r->n == r->room) {
        unsigned room = r->room ? 2 * r->room : 256;
        struct fault_run *runs = realloc(r->runs, room * sizeof *runs);
        if (!runs)
            return false;
        r->runs = runs;
        r->room = room;
    }
    r->runs[r->n++] = *run;
    return true;
}

static bool parse_line(const char *line, struct fault_run *run) {
    memset(run, 0, sizeof *run);
    return sscanf(line,
                  "%95s %95s %u %16s %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %lf %95s %95s %" SCNx64 " %" SCNx64 " %u",
                  run->fault, run->arm, &run->seed, run->key, &run->budget, &run->executions,
                  &run->reached, &run->triggered, &run->detected, &run->seconds, run->violation,
                  run->oracle, &run->alone, &run->without, &run->repeats) == FIELDS;
}

bool results_read(struct results *r, const char *folder) {
    char *line = NULL;
    size_t room = 0;
    struct fault_run run;
    *r = (struct results){.path = text_of("%s/results.tsv", folder)};
    FILE *file = fopen(r->path, "r");
    if (!file && errno == ENOENT)
        return true;
    bool good = file;
    ssize_t length;
    while (good && (length = getline(&line, &room, file)) > 0)
        if (line[length - 1] == '\n' && parse_line(line, &run))
            good = keep(r, &run);
    free(line);
    if (file)
        fclose(file);
    if (!good)
        fprintf(stderr, "isoheap: %s: %s\n", r->path, strerror(errno));
    return good;
}

/* Whatever ended before its end is a line of its own. */
static bool is_cut_off(int file, off_t size) {
    char last = '\n';
    return size > 0 && pread(file, &last, 1, size - 1) == 1 && last != '\n';
}

/* The line as a whole, or nothing. */
static bool append(const char *path, const char *text) {
    int file = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0)
        return false;
    off_t before = lseek(file, 0, SEEK_END);
    char *line = text_of("%s%s", is_cut_off(file, before) ? "\n" : "", text);
    ssize_t length = (ssize_t)strlen(line);
    errno = 0;
    bool good = before >= 0 && write(file, line, (size_t)length) == length;
    int why = errno ? errno : ENOSPC;
    if (!good && before >= 0 && ftruncate(file, before) != 0)
        why = errno;
    good = close(file) == 0 && good;
    free(line);
    if (!good)
        errno = why;
    return good;
}

bool results_add(struct results *r, const struct fault_run *run) {
    char *line =
        text_of("%s%s\t%s\t%u\t%s\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                "\t%.3f\t%s\t%s\t%" PRIx64 "\t%" PRIx64 "\t%u\n",
                access(r->path, F_OK) == 0 ? "" : HEADER, run->fault, run->arm, run->seed, run->key,
                run->budget, run->executions, run->reached, run->triggered, run->detected,
                run->seconds, run->violation, run->oracle, run->alone, run->without, run->repeats);
    bool good = append(r->path, line) && keep(r, run);
    free(line);
    if (!good)
        fprintf(stderr, "isoheap: %s: %s\n", r->path, strerror(errno));
    return good;
}

const struct fault_run *results_find(const struct results *r, const char *fault, const char *arm,
                                     unsigned seed) {
    for (unsigned i = r->n; i-- > 0;)
        if (r->runs[i].seed == seed && strcmp(r->runs[i].fault, fault) == 0 &&
            strcmp(r->runs[i].arm, arm) == 0)
            return &r->runs[i];
    return NULL;
}

bool run_found(const struct fault_run *run) {
    return run->detected && run->repeats;
}

bool run_flaky(const struct fault_run *run) {
    return run->detected && !run->repeats;
}

void results_free(struct results *r) {
    free(r->path);
    free(r->runs);
}
