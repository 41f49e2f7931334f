/* SPDX-License-Identifier: MIT
 *
 * What a person sees of an exploration: on a terminal one line that changes, elsewhere a line now
 * and then, both with an estimate of the rest (programs.h).
 */
#define _GNU_SOURCE
#include "cli/explore/programs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

enum { LOG_SECONDS = 30 };
static const double frame_seconds = 0.25;

/* "40 s", "12 min", "3.5 h", "9 d". */
static void put_time(FILE *out, double seconds) {
    if (seconds < 90)
        fprintf(out, "%.0f s", seconds);
    else if (seconds < 90 * 60)
        fprintf(out, "%.0f min", seconds / 60);
    else if (seconds < 48 * 3600)
        fprintf(out, "%.1f h", seconds / 3600);
    else
        fprintf(out, "%.0f d", seconds / 86400);
}

/* "950", "85k", "3.2M" */
static void put_number(FILE *out, double n) {
    static const char *const suffix[] = {"", "k", "M", "G", "T", "P"};
    unsigned i = 0;
    for (; n >= 1000 && i < 5; i++)
        n /= 1000;
    fprintf(out, "%.*f%s", i && n < 100 ? 1 : 0, n, suffix[i]);
}

static void put_line(const struct exploration *x, FILE *out, uint64_t running) {
    double took = seconds_now() - x->started;
    double all = (double)x->total.programs, now = (double)(x->figures.programs + running);
    double rate = took > 0 ? (now - (double)x->programs_before) / took : 0;
    fprintf(out, "%s: %.1f %%, ", x->job.subject->name, all > 0 ? 100 * now / all : 100);
    put_number(out, now);
    fprintf(out, " of ");
    put_number(out, all);
    fprintf(out, " programs, ");
    put_number(out, rate);
    fprintf(out, "/s, ");
    if (x->found) {
        fprintf(out, "violation found, looking for an earlier one");
    } else if (rate > 0 && all >= now) {
        fprintf(out, "about ");
        put_time(out, (all - now) / rate);
        fprintf(out, " left");
    }
}

/* In one write, so that lines of several processes do not mix. */
static void show(const struct exploration *x, uint64_t running) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return;
    fputs(x->terminal ? "\r" : "", out);
    put_line(x, out, running);
    fputs(x->terminal ? "\033[K" : "\n", out);
    if (fclose(out) == 0)
        fwrite(text, 1, size, stderr);
    free(text);
}

void explore_begin(struct exploration *x) {
    x->terminal = isatty(STDERR_FILENO);
    x->started = x->shown = seconds_now();
    x->programs_before = x->figures.programs;
}

void explore_show(struct exploration *x, uint64_t running) {
    double now = seconds_now();
    if (x->quiet || now - x->shown < (x->terminal ? frame_seconds : LOG_SECONDS))
        return;
    x->shown = now;
    show(x, running);
}

void explore_end(struct exploration *x) {
    double took = seconds_now() - x->started;
    uint64_t programs = x->figures.programs - x->programs_before;
    if (x->terminal)
        fprintf(stderr, "\r\033[K");
    if (!x->quiet)
        fprintf(stderr, "%s: %" PRIu64 " programs in %.1f s, %.0f/s\n", x->job.subject->name,
                programs, took, took > 0 ? (double)programs / took : 0.0);
}
