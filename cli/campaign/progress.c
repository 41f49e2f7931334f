/* SPDX-License-Identifier: MIT
 *
 * What a campaign shows: a live line for each running target on a terminal, a log line now and then
 * elsewhere; the summary at the end (campaign.h).
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"

#include "cli/judgements/judgements.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LOG_SECONDS = 10, WIDTH = 120 };

static unsigned drawn; /* live lines on the terminal */

static void erase(void) {
    if (drawn)
        printf("\033[%uA\033[J", drawn);
    drawn = 0;
}

void say(const char *format, ...) {
    va_list arguments;
    erase();
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
}

static unsigned columns(void) {
    struct winsize size;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : WIDTH;
}

static int name_width(const struct campaign *c) {
    size_t width = 6;
    for (unsigned i = 0; i < c->n_targets; i++)
        width = strlen(c->targets[i].name) > width ? strlen(c->targets[i].name) : width;
    return (int)width;
}

/* "none", or "lost_object 1 new 3 known, overlap 1 new"; classes with several guilty parties are
 * added up. */
static void print_findings(FILE *out, const struct target *t) {
    const char *separator = "";
    for (unsigned i = 0; i < t->n_tallies; i++) {
        unsigned fresh = 0, known = 0, flaky = 0;
        bool counted = false;
        for (unsigned j = 0; j < t->n_tallies; j++) {
            if (strcmp(t->tallies[i].violation, t->tallies[j].violation) != 0)
                continue;
            counted = counted || j < i;
            fresh += t->tallies[j].fresh;
            known += t->tallies[j].known + t->tallies[j].more;
            flaky += t->tallies[j].flaky;
        }
        if (counted)
            continue;
        fprintf(out, "%s%s", separator, t->tallies[i].violation);
        if (fresh)
            fprintf(out, " %u new", fresh);
        if (known)
            fprintf(out, " %u known", known);
        if (flaky)
            fprintf(out, " %u flaky", flaky);
        separator = ", ";
    }
    if (t->trouble)
        fprintf(out, "%strouble", separator);
    else if (!separator[0])
        fprintf(out, "none");
}

/* "950", "85k", "3.2M": a terminal may be narrow. */
static void put_short(FILE *out, double n, const char *unit) {
    static const char *const suffix[] = {"", "k", "M", "G"};
    unsigned i = 0;
    while (n >= 1000 && i < 3) {
        n /= 1000;
        i++;
    }
    fprintf(out, "  %*.*f%s%s", 4 - (int)strlen(suffix[i]), i && n < 10 ? 1 : 0, n, suffix[i],
            unit);
}

static void print_live(FILE *out, const struct target *t) {
    put_short(out, (double)t->figures.executions, " runs");
    put_short(out, t->figures.rate, "/s");
    fprintf(out, "  %u edges  %u files  ", t->figures.edges, t->figures.corpus);
}

static void print_log(FILE *out, const struct target *t) {
    fprintf(out, "  %11" PRIu64 " executions  %7.0f/s  %5u edges  %5u files  ",
            t->figures.executions, t->figures.rate, t->figures.edges, t->figures.corpus);
}

static char *line_of(const struct campaign *c, const struct target *t,
                     void print_figures(FILE *, const struct target *)) {
    char *text = NULL;
    size_t size;
    double seconds = seconds_now() - t->started;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return NULL;
    fprintf(out, "%-*s %3.0f/%.0f s", name_width(c), t->name,
            seconds < t->share ? seconds : t->share, t->share);
    print_figures(out, t);
    print_findings(out, t);
    fclose(out);
    return text;
}

static void print_lines(const struct campaign *c, bool live) {
    for (unsigned i = 0; i < c->n_targets; i++) {
        const struct target *t = &c->targets[i];
        char *text = !t->running ? NULL
                     : live      ? line_of(c, t, print_live)
                                 : line_of(c, t, print_log);
        if (!text)
            continue;
        if (live)
            printf("%.*s\n", (int)columns() - 1, text);
        else
            printf("%s\n", text);
        drawn += live;
        free(text);
    }
    if (live && c->pending > 0) {
        printf("%d finding%s to classify and reduce\n", c->pending, c->pending > 1 ? "s" : "");
        drawn++;
    }
    fflush(stdout);
}

void show_progress(struct campaign *c, bool last) {
    static double next;
    double now = seconds_now();
    if (isatty(STDOUT_FILENO)) {
        erase();
        if (!last)
            print_lines(c, true);
        return;
    }
    if (next > 0 && now >= next)
        print_lines(c, false);
    if (!(next > 0) || now >= next)
        next = now + LOG_SECONDS;
}

/* ---- summary ----------------------------------------------------------------------------------
 */

static void print_row(const struct campaign *c, const struct target *t) {
    const struct figures *f = &t->figures;
    double rate = t->seconds > 0 ? (double)f->executions / t->seconds : 0;
    printf("%-*s %12" PRIu64 " %9.0f  %6u -> %-6u %6u -> %-6u  ", name_width(c), t->name,
           f->executions, rate, f->edges_at_start, f->edges, f->corpus_at_start, f->corpus);
    print_findings(stdout, t);
    printf("\n");
}

static void print_violations(const struct target *t) {
    if (t->violations > t->kept)
        printf("%s: %" PRIu64
               " runs ended in a violation that an oracle saw, like others before them; %" PRIu64
               " of their inputs were kept\n",
               t->name, t->violations, t->kept);
}

/* What could not be run is nothing that passed. */
static void print_not_run(const struct target *t) {
    if (t->not_run)
        printf("%s: %" PRIu64 " of %" PRIu64 " programs were not run; the first: %s\n", t->name,
               t->not_run, t->runs_seen, t->why_not);
}

/* Of programs with any config: what is silent is so by the default one. */
static void print_oracles(const struct target *t) {
    struct program empty;
    const struct collector *subject = t->subject ? find_collector(t->subject) : NULL;
    bool any = false;
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        any = any || t->judged[o];
    if (!any || !subject)
        return;
    program_clear(&empty);
    const struct gc_config config = program_gc_config(&empty);
    printf("%s: how often oracles judged %s\n", t->name, t->subject);
    print_judgements(subject, &config, 0, t->judged);
}

static void print_trouble(const struct target *t) {
    const struct process *p = t->troubled ? t->troubled : &t->engines[0];
    unsigned first = p->lines > TAIL_LINES ? p->lines - TAIL_LINES : 0;
    if (!t->trouble)
        return;
    printf("\n%s did not run; %sthe last lines that the engine wrote:\n", t->name,
           t->figures.executions ? "" : "it executed nothing; ");
    for (unsigned i = first; i < p->lines; i++)
        printf("  %s\n", p->tail[i % TAIL_LINES]);
}

static int status_of(const struct campaign *c, unsigned *fresh, unsigned *known, unsigned *flaky) {
    bool harness = c->trouble || c->disk_full;
    *fresh = *known = *flaky = 0;
    for (unsigned i = 0; i < c->n_targets; i++) {
        const struct target *t = &c->targets[i];
        harness = harness || t->trouble;
        for (unsigned k = 0; k < t->n_tallies; k++) {
            harness = harness || strcmp(t->tallies[k].violation, "harness_error") == 0;
            *fresh += t->tallies[k].fresh;
            *known += t->tallies[k].known + t->tallies[k].more;
            *flaky += t->tallies[k].flaky;
        }
    }
    return harness                                      ? EXIT_HARNESS
           : *fresh + *known + *flaky || c->pending > 0 ? EXIT_VIOLATION
                                                        : EXIT_OK;
}

int print_summary(struct campaign *c, double seconds) {
    unsigned fresh, known, flaky;
    int status = status_of(c, &fresh, &known, &flaky);
    printf("\n%-*s %12s %9s  %-16s %-16s  %s\n", name_width(c), "target", "executions", "exec/s",
           "edges", "corpus files", "violations");
    for (unsigned i = 0; i < c->n_targets; i++)
        if (c->targets[i].ended)
            print_row(c, &c->targets[i]);
    for (unsigned i = 0; i < c->n_targets; i++)
        print_violations(&c->targets[i]);
    for (unsigned i = 0; i < c->n_targets; i++)
        print_not_run(&c->targets[i]);
    for (unsigned i = 0; i < c->n_targets; i++)
        if (c->targets[i].ended)
            print_oracles(&c->targets[i]);
    for (unsigned i = 0; i < c->n_targets; i++)
        print_trouble(&c->targets[i]);
    printf("\n");
    if (c->disk_full)
        printf("the disk is full: the campaign has stopped; what was filed is safe, and what is "
               "queued is taken up when there is room\n");
    if (c->pending > 0)
        printf("%d finding%s left in the queue for the next campaign\n", c->pending,
               c->pending > 1 ? "s are" : " is");
    printf("%s%u new violation%s, %u known", campaign_interrupts ? "interrupted: " : "", fresh,
           fresh == 1 ? "" : "s", known);
    if (flaky)
        printf(", %u flaky", flaky);
    printf(", in %.0f s", seconds);
    if (fresh)
        printf("; filed in %s/", quoted_path(c->crashes));
    printf("\n");
    return status;
}
