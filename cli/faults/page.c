/* SPDX-License-Identifier: MIT
 *
 * The report of `isoheap faults` as one page without scripts or other files (faults.h).
 */
#define _GNU_SOURCE
#include "cli/campaign/campaign.h"
#include "cli/faults/faults.h"
#include "pictures/escape.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { WIDE = 720, HIGH = 340, SMALL_WIDE = 350, SMALL_HIGH = 190, MOST_CURVES = 8 };

static const char style[] =
    "body{font:15px/1.45 system-ui,sans-serif;color:#1d2429;max-width:1400px;margin:2em auto;"
    "padding:0 1em}h1{font-size:1.5em}h2{font-size:1.15em;margin-top:2em}table{border-collapse:"
    "collapse;font-size:13px}th,td{padding:2px 9px;text-align:right;border-bottom:1px solid "
    "#e3e7ea}th{background:#f3f5f6;position:sticky;top:0}td:first-child,th:first-child,td.text,"
    "th.text{text-align:left}tr.missed td{background:#fdf0ee}.small{display:flex;flex-wrap:wrap;"
    "gap:4px}td.wrong{min-width:28em;text-align:left}pre{font-size:12px;overflow-x:auto}details "
    "summary{cursor:pointer}";
static const char curve_style[] =
    "svg text{font:11px system-ui,sans-serif;fill:#4a555c}svg text.title{font-weight:600;"
    "font-size:12px;fill:#1d2429}svg text.y,svg text.legend{text-anchor:end}svg text.x{text-anchor:"
    "middle}svg text.legend{font-weight:600}.grid{stroke:#e3e7ea}";

struct curves {
    struct curve curve[MOST_CURVES];
    struct survival *steps[MOST_CURVES];
    unsigned n;
};

static struct detection_event page_events[EVENTS_MAX];

static void add_curve(struct curves *all, const struct catalogue *c, const struct results *r,
                      const char *fault, const char *arm, enum measure measure, const char *label) {
    unsigned n = gather(c, r, fault, arm, measure, page_events, EVENTS_MAX);
    struct survival *steps = n && all->n < MOST_CURVES ? calloc(n, sizeof *steps) : NULL;
    if (!steps)
        return;
    all->steps[all->n] = steps;
    all->curve[all->n++] = (struct curve){label, steps, kaplan_meier(page_events, n, steps)};
}

static void draw(FILE *out, const char *title, struct curves *all, double last, bool small) {
    if (all->n)
        put_curves(out, title, all->curve, all->n, last, small ? SMALL_WIDE : WIDE,
                   small ? SMALL_HIGH : HIGH);
    for (unsigned i = 0; i < all->n; i++)
        free(all->steps[i]);
    all->n = 0;
}

static double last_execution(const struct results *r) {
    double last = 10;
    for (unsigned i = 0; i < r->n; i++)
        last = fmax(last, (double)r->runs[i].budget);
    return last;
}

static void put_text(FILE *out, const char *before, const char *text, const char *after) {
    fputs(before, out);
    put_html(out, text, strlen(text));
    fputs(after, out);
}

/* ---- parts ------------------------------------------------------------------------------------
 */

static void put_stages(FILE *out, const struct catalogue *c, const struct results *r) {
    static const char *const labels[] = {"reached", "triggered", "detected"};
    struct curves all = {.n = 0};
    for (unsigned m = REACHED; m <= DETECTED; m++)
        add_curve(&all, c, r, NULL, arm_at(0)->name, (enum measure)m, labels[m]);
    draw(out, "Stages, default arm: part of the runs still without it, by executions", &all,
         last_execution(r), false);
}

/* The detection of all faults, or of one: a curve an arm. */
static void put_detection(FILE *out, const struct catalogue *c, const struct results *r,
                          const char *fault) {
    const struct arm *arms[ARMS_MAX];
    struct curves all = {.n = 0};
    unsigned n_arms = arms_with_results(r, arms);
    for (unsigned a = 0; a < n_arms; a++)
        if (strncmp(arms[a]->name, "without-", 8) != 0)
            add_curve(&all, c, r, fault, arms[a]->name, DETECTED, arms[a]->name);
    draw(out, fault ? fault : "Arms: part of the runs still undetected, by executions", &all,
         last_execution(r), fault != NULL);
}

static void put_arms(FILE *out, const struct results *r) {
    const struct arm *arms[ARMS_MAX];
    unsigned n_arms = arms_with_results(r, arms);
    fputs("<ul>\n", out);
    for (unsigned a = 0; a < n_arms; a++) {
        put_text(out, "<li><b>", arms[a]->name, "</b>: ");
        put_text(out, "", arms[a]->meaning, "</li>\n");
    }
    fputs("</ul>\n", out);
}

static void put_fault(FILE *out, const struct catalogue *c, const struct results *r,
                      const struct fault *f) {
    static const struct {
        enum measure measure;
        double left;
    } columns[] = {{REACHED, 0.5},   {TRIGGERED, 0.5}, {DETECTED, 0.5},
                   {DETECTED, 0.05}, {SECONDS, 0.5},   {SECONDS, 0.05}};
    struct survival steps[256];
    unsigned found = 0, n = gather(c, r, f->name, arm_at(0)->name, DETECTED, page_events, 256);
    for (unsigned i = 0; i < n; i++)
        found += page_events[i].happened;
    put_text(out, found < n ? "<tr class=\"missed\"><td>" : "<tr><td>", f->name, "</td>");
    fprintf(out, "<td>%u/%u</td><td>%u</td>", found, n,
            count_flaky(c, r, f->name, arm_at(0)->name));
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++) {
        n = gather(c, r, f->name, arm_at(0)->name, columns[i].measure, page_events, 256);
        double value =
            survival_quantile(steps, kaplan_meier(page_events, n, steps), columns[i].left);
        if (n && isfinite(value))
            fprintf(out, "<td>%.*f</td>", columns[i].measure == SECONDS ? 2 : 0, value);
        else
            fputs(n ? "<td>not</td>" : "<td></td>", out);
    }
    put_text(out, "<td class=\"text\">", f->violation, "</td><td class=\"wrong\">");
    put_text(out, "", f->wrong, "</td></tr>\n");
}

static void put_faults(FILE *out, const struct catalogue *c, const struct results *r) {
    fputs("<table><tr><th>fault</th><th>found</th><th>flaky</th><th>reached</th><th>triggered</"
          "th><th>detected"
          "</th><th>95&nbsp;%</th><th>seconds</th><th>95&nbsp;%</th><th class=\"text\">class</th>"
          "<th class=\"text\">what goes wrong</th></tr>\n",
          out);
    for (unsigned f = 0; f < c->n; f++)
        put_fault(out, c, r, &c->faults[f]);
    fputs("</table>\n", out);
}

static void put_small_curves(FILE *out, const struct catalogue *c, const struct results *r) {
    fputs("<div class=\"small\">\n", out);
    for (unsigned f = 0; f < c->n; f++)
        put_detection(out, c, r, c->faults[f].name);
    fputs("</div>\n", out);
}

static void put_tables(FILE *out, const struct catalogue *c, const struct results *r) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return;
    print_tables(memory, c, r);
    fclose(memory);
    put_text(out, "<pre>", text, "</pre>\n");
    free(text);
}

/* Stale results: of other binaries than the newest ones of their fault and arm. */
static void put_page(FILE *out, const struct catalogue *c, const struct results *r) {
    fprintf(
        out,
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>isoheap: seeded faults"
        "</title><style>%s%s</style>\n<h1>Seeded faults</h1>\n<p>%u faults, %u runs. A curve falls "
        "when runs reach the event; what a budget ended stays above.</p>\n",
        style, curve_style, c->n, r->n);
    put_stages(out, c, r);
    put_detection(out, c, r, NULL);
    put_arms(out, r);
    fputs("<h2>Faults, default arm</h2>\n<p>Medians and 95th percentiles of executions and of "
          "seconds of processor time. Flaky: what was found did not fail in the same way when it "
          "ran alone in a process of its own; that does not count as found.</p>\n",
          out);
    put_faults(out, c, r);
    fputs("<h2>Arms and oracles</h2>\n", out);
    put_tables(out, c, r);
    fputs("<h2>Each fault: part of the runs still undetected, by executions</h2>\n", out);
    put_small_curves(out, c, r);
    fputs("</html>\n", out);
}

/* The two large charts alone, one above the other. */
static void put_picture(FILE *out, const struct catalogue *c, const struct results *r) {
    fprintf(out,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
            "height=\"%d\"><style>%s</style><rect width=\"100%%\" height=\"100%%\" "
            "fill=\"#fff\"/>\n",
            WIDE, 2 * HIGH, WIDE, 2 * HIGH, curve_style);
    put_stages(out, c, r);
    fprintf(out, "<g transform=\"translate(0 %d)\">\n", HIGH);
    put_detection(out, c, r, NULL);
    fputs("</g>\n</svg>\n", out);
}

bool write_page(const char *path, const struct catalogue *c, const struct results *r) {
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return false;
    if (ends_in(path, ".svg"))
        put_picture(memory, c, r);
    else
        put_page(memory, c, r);
    bool good = fclose(memory) == 0 && write_file(path, text, size);
    free(text);
    return good;
}
