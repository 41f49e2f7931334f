/* SPDX-License-Identifier: MIT
 *
 * Exact figures (figures.h).
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include "tests/support/figures.h"

#include <errno.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { FIGURES = 512, WHAT = 96 };

static struct line {
    char what[WHAT];
    uint64_t number;
    bool asked;
} lines[FIGURES];
static size_t n_lines;
static bool is_update, is_loaded;

static void golden_path(char *out, size_t size) {
    snprintf(out, size, "%s/tests/golden/figures/%s.txt", SOURCE_DIR,
             program_invocation_short_name);
}

static void write_all(void) {
    char path[1024];
    golden_path(path, sizeof path);
    FILE *file = fopen(path, "w");
    if (!file)
        return;
    for (size_t i = 0; i < n_lines; i++)
        fprintf(file, "%" PRIu64 " %s\n", lines[i].number, lines[i].what);
    fclose(file);
}

/* The program's own tests have passed or failed by now, so only the exit status can tell. */
static void all_asked(void) {
    for (size_t i = 0; i < n_lines; i++)
        if (!lines[i].asked) {
            fprintf(stderr, "golden figure that nobody asks for: %s\n", lines[i].what);
            fflush(NULL);
            _exit(1);
        }
}

static void load(void) {
    char path[1024], text[WHAT + 32];
    is_loaded = true;
    is_update = getenv("ISOHEAP_UPDATE");
    atexit(is_update ? write_all : all_asked);
    golden_path(path, sizeof path);
    FILE *file = is_update ? NULL : fopen(path, "r");
    while (file && n_lines < FIGURES && fgets(text, sizeof text, file)) {
        char *end;
        struct line *line = &lines[n_lines++];
        line->number = strtoull(text, &end, 10);
        snprintf(line->what, WHAT, "%.*s", (int)strcspn(end + 1, "\n"), end + 1);
    }
    if (file)
        fclose(file);
}

static struct line *find(const char *what) {
    for (size_t i = 0; i < n_lines; i++)
        if (strcmp(lines[i].what, what) == 0)
            return &lines[i];
    return NULL;
}

void figure(const char *what, uint64_t number) {
    if (!is_loaded)
        load();
    struct line *line = find(what);
    if (is_update) {
        assert_true(line || n_lines < FIGURES);
        if (!line) {
            line = &lines[n_lines++];
            snprintf(line->what, WHAT, "%s", what);
            line->number = number;
        }
    }
    if (!line)
        fail_msg("no golden figure for `%s`, which is %" PRIu64, what, number);
    line->asked = true;
    if (line->number != number)
        fail_msg("%s: %" PRIu64 ", and %" PRIu64 " in the golden file", what, number, line->number);
}

static void named(const char *of, const char *kind, const char *name, uint64_t number) {
    char what[WHAT];
    snprintf(what, sizeof what, "%s: %s%s", of, kind, name);
    if (number)
        figure(what, number);
}

void figures_of_counts(const char *what, const struct run_counts *counts) {
    for (unsigned o = 0; o < OP_CODES; o++) {
        char name[32];
        snprintf(name, sizeof name, "%u %s", o, op_shapes[o].name);
        named(what, "operation ", name, counts->ops[o]);
    }
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        named(what, "oracle ", oracle_name((enum oracle)o), counts->oracles[o]);
    named(what, "", "operations without effect", counts->skipped);
    named(what, "", "comparisons", counts->checks);
    named(what, "", "refusals", counts->refusals);
}
