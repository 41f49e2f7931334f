/* SPDX-License-Identifier: MIT
 *
 * The page of isoheap show --html (page.h).
 *
 * The program runs once in a child that records the states (states.c); Graphviz lays their union
 * out (layout.c); then pictures/html/page.html is written with its {{gaps}} filled: style and
 * script, the verdict and the program as text, and everything else as JSON, from which the script
 * draws.
 */
#define _GNU_SOURCE
#include "cli/commands/page.h"

#include "pictures/escape.h"
#include "pictures/layout.h"
#include "program/text/text.h"

#include <stdlib.h>
#include <string.h>

enum { AROUND = 8 }; /* operations shown of a run that is too long */

struct page {
    const struct job *job;
    const struct program *program;
    const char *file;
    struct verdict verdict;
    char *report;
    struct recorder *recorder;
    unsigned first; /* operation whose state is the first one */
    char start[STATES_KEY];
    bool graphviz;
};

static const char *collector_of(const struct page *p, enum party party) {
    const struct collector *c = party == PARTY_REFERENCE ? p->job->reference : p->job->subject;
    return c ? c->name : "none";
}

static const char *class_of(const struct page *p) {
    return p->verdict.violation ? violation_name(p->verdict.violation)
           : p->verdict.not_run ? "not run"
                                : "no violation";
}

/* ---- the run ----------------------------------------------------------------------------------
 */

/* The verdict; without recording, which takes time and must not decide. */
static bool judge(struct page *p) {
    p->verdict = run_job(p->job, p->program, &p->report);
    if (p->verdict.harness_error)
        fprintf(stderr, "isoheap: harness error: %s; `isoheap run` has the report\n",
                p->verdict.detail);
    return !p->verdict.harness_error;
}

static bool record(struct page *p, unsigned first) {
    struct job job = *p->job;
    char *report;
    recorder_close(p->recorder);
    p->first = first;
    p->recorder = recorder_open(p->job->reference, first);
    if (!p->recorder) {
        fprintf(stderr, "isoheap: no shared memory for the states\n");
        return false;
    }
    job.observe = record_state;
    job.switches = record_switch;
    job.context = p->recorder;
    run_job(&job, p->program, &report);
    free(report);
    return true;
}

/* All states; if room or time do not suffice those around the end. */
static bool record_run(struct page *p) {
    if (!judge(p) || !record(p, 0))
        return false;
    unsigned end = p->verdict.violation ? p->verdict.op : p->program->n_ops;
    if (end == OP_INITIAL || end <= AROUND ||
        recorder_states(p->recorder)->reached + 1 >= (long)end)
        return true;
    return record(p, end - AROUND);
}

/* The root at which the differing path starts. */
static void find_start(struct page *p) {
    unsigned m = 0, slot;
    const char *path = p->verdict.path;
    if (sscanf(path, "mutator %u: r%u", &m, &slot) == 2 || sscanf(path, "r%u", &slot) == 1)
        states_root_key(m, slot, p->start);
}

/* ---- the data ---------------------------------------------------------------------------------
 */

static void put_pair(FILE *out, const char *key, const char *value) {
    fprintf(out, ",\n");
    put_json(out, key);
    fprintf(out, ":");
    put_json(out, value);
}

static void put_verdict(FILE *out, const struct page *p) {
    const struct verdict *v = &p->verdict;
    fprintf(out, "{\"op\":%ld,\"failed\":%s", v->op == OP_INITIAL ? -1L : (long)v->op,
            v->violation ? "true" : "false");
    put_pair(out, "class", class_of(p));
    put_pair(out, "guilty", v->violation ? party_name(v->guilty) : "");
    put_pair(out, "operation", v->operation);
    put_pair(out, "path", v->path);
    put_pair(out, "detail", v->detail);
    fprintf(out, "}");
}

/* What the child wrote is ours unless the collector has overwritten it: then it is left out. */
static void put_recorded(FILE *out, const char *key, const struct states_text *t) {
    size_t length = t->length <= STATES_TEXT ? t->length : 0;
    for (size_t i = 0; i < length; i++)
        if ((t->text[i] < ' ' && t->text[i] != '\n') || t->text[i] > '~' || t->text[i] == '<')
            length = 0;
    fprintf(out, ",\n\"%s\":[\n", key);
    fwrite(t->text, 1, length, out);
    fprintf(out, "]");
}

/* Words of the young generation, behind those of the heap. */
static size_t young_words(const struct page *p, enum party party) {
    const struct collector *c = party == PARTY_REFERENCE ? p->job->reference : p->job->subject;
    struct gc_config config = program_gc_config(p->program);
    return party == PARTY_MODEL || !c ? 0 : promised_traits(c, &config).nursery_words;
}

static void put_data(FILE *out, struct page *p) {
    const struct states *s = recorder_states(p->recorder);
    const struct program *program = p->program;
    char operation[VERDICT_TEXT];
    fprintf(out, "{\"heap\":%u,\"first\":%u,\"full\":%s,\n\"parties\":[",
            program->config[CONFIG_HEAP], p->first, s->full ? "true" : "false");
    for (unsigned i = 0; i < PARTIES; i++) {
        fprintf(out, "%s[", i ? "," : "");
        put_json(out, party_name((enum party)i));
        fprintf(out, ",");
        put_json(out, i == PARTY_MODEL ? "" : collector_of(p, (enum party)i));
        fprintf(out, ",%zu]", young_words(p, (enum party)i));
    }
    fprintf(out, "],\n\"verdict\":");
    put_verdict(out, p);
    fprintf(out, ",\n\"ops\":[");
    for (unsigned i = 0; i < program->n_ops; i++) {
        op_print(&program->ops[i], operation, sizeof operation);
        fprintf(out, i ? ",\n" : "");
        put_json(out, operation);
    }
    fprintf(out, "]");
    put_recorded(out, "records", &s->records);
    put_recorded(out, "states", &s->states);
    fprintf(out, ",\n\"graph\":");
    p->graphviz = write_layout(out, s, p->start, false);
    if (p->graphviz && p->start[0] && layout_is_large(s)) {
        fprintf(out, ",\n\"near\":");
        p->graphviz = write_layout(out, s, p->start, true);
    }
    fprintf(out, "}");
}

/* ---- the text ---------------------------------------------------------------------------------
 */

static void put_fact(FILE *out, const char *name, const char *value) {
    if (!value[0])
        return;
    fprintf(out, "<div><dt>%s</dt><dd>", name);
    put_html(out, value, strlen(value));
    fprintf(out, "</dd></div>\n");
}

static void put_facts(FILE *out, struct page *p) {
    const struct verdict *v = &p->verdict;
    char text[2 * VERDICT_TEXT];
    if (!v->violation)
        return;
    snprintf(text, sizeof text, "%s (%s)", party_name(v->guilty), collector_of(p, v->guilty));
    put_fact(out, "Guilty", text);
    if (v->op < p->program->n_ops)
        snprintf(text, sizeof text, "%u: %s", v->op, v->operation);
    else
        snprintf(text, sizeof text, "%s", v->operation);
    put_fact(out, "Operation", text);
    put_fact(out, "Path", v->path);
    put_fact(out, "Expected", v->expected);
    put_fact(out, "Found", v->found);
    put_fact(out, "What", v->detail);
}

/* A word of the program that starts at text: the length of a name like b3, else 0. */
static size_t name_length(const char *text, char before) {
    size_t n = text[0] == 'b' ? strspn(text + 1, "0123456789") : 0;
    bool inside = (before >= 'a' && before <= 'z') || before == '_';
    return n && !inside ? n + 1 : 0;
}

/* One line, its names marked up. */
static void put_line(FILE *out, const char *line, size_t length) {
    for (size_t i = 0, n; i < length; i += n) {
        n = name_length(line + i, i ? line[i - 1] : ' ');
        if (n) {
            fprintf(out, "<span class=\"name\" data-name=\"%.*s\">%.*s</span>", (int)n, line + i,
                    (int)n, line + i);
            continue;
        }
        n = 1;
        put_html(out, line + i, 1);
    }
}

/* How often another thread went on meanwhile, with the first of them as a title. */
static void put_switches(FILE *out, const struct states_switches *s) {
    if (!s->n)
        return;
    fprintf(out, "<small class=\"switches\" title=\"");
    states_print_switches(s, out);
    fprintf(out, "\">&#8646;&#160;%u</small>", s->n);
}

static void put_program(FILE *out, struct page *p) {
    size_t length = program_print(p->program, NULL, 0);
    char *text = malloc(length + 1);
    long op = -1; /* of the script's next line */
    if (!text)
        return;
    program_print(p->program, text, length + 1);
    for (char *line = text, *end; *line && (end = strchr(line, '\n')); line = end + 1) {
        size_t n = (size_t)(end - line);
        if (op >= 0)
            fprintf(out,
                    "<li class=\"op\" data-op=\"%ld\"><button type=\"button\"><b>%ld</b><code>", op,
                    op);
        else
            fprintf(out, "<li><code>");
        put_line(out, line, n);
        fprintf(out, "</code>");
        if (op >= 0)
            put_switches(out, &recorder_states(p->recorder)->switches[op]);
        fprintf(out, op >= 0 ? "</button></li>\n" : "</li>\n");
        if (op >= 0 || (n == 6 && strncmp(line, "script", n) == 0))
            op++;
    }
    free(text);
}

static void put_replay(FILE *out, struct page *p) {
    char *command = replay_command(p->job, p->file);
    if (command)
        put_html(out, command, strlen(command));
    free(command);
}

/* Keeps the ends of lines. */
static void put_html_lines(FILE *out, const char *text) {
    for (size_t n; *text; text += n + (text[n] == '\n')) {
        n = strcspn(text, "\n");
        put_html(out, text, n);
        putc('\n', out);
    }
}

static void put_report(FILE *out, struct page *p) {
    if (!p->report || !p->report[0])
        return;
    fprintf(out,
            "<details class=\"report\"><summary>The whole report</summary><pre tabindex=\"0\">");
    put_html_lines(out, p->report);
    fprintf(out, "</pre></details>\n");
}

static void put_meaning(FILE *out, struct page *p) {
    const char *text = p->verdict.violation ? violation_meaning(p->verdict.violation)
                       : p->verdict.not_run ? p->verdict.detail
                                            : "every oracle was content with this run";
    put_html(out, text, strlen(text));
}

static void put_class(FILE *out, struct page *p) {
    put_html(out, class_of(p), strlen(class_of(p)));
}
static void put_file(FILE *out, struct page *p) {
    put_html(out, p->file, strlen(p->file));
}
static void put_outcome(FILE *out, struct page *p) {
    fputs(p->verdict.violation || p->verdict.not_run ? "failed" : "passed", out);
}
static void put_style(FILE *out, struct page *p) {
    (void)p;
    fputs(page_css, out);
}
static void put_script(FILE *out, struct page *p) {
    (void)p;
    fputs(data_js, out);
    fputs(draw_js, out);
    fputs(page_js, out);
}

/* ---- the page ---------------------------------------------------------------------------------
 */

static const struct {
    const char *name;
    void (*fill)(FILE *, struct page *);
} gaps[] = {{"style", put_style},     {"script", put_script},   {"class", put_class},
            {"meaning", put_meaning}, {"outcome", put_outcome}, {"file", put_file},
            {"facts", put_facts},     {"replay", put_replay},   {"program", put_program},
            {"report", put_report},   {"data", put_data}};

static void fill_gap(FILE *out, struct page *p, const char *name, size_t length) {
    for (unsigned i = 0; i < sizeof gaps / sizeof *gaps; i++)
        if (strlen(gaps[i].name) == length && strncmp(gaps[i].name, name, length) == 0)
            gaps[i].fill(out, p);
}

static void write_page(FILE *out, struct page *p) {
    const char *at = page_html, *open;
    while ((open = strstr(at, "{{"))) {
        const char *close = strstr(open, "}}");
        if (!close)
            break;
        fwrite(at, 1, (size_t)(open - at), out);
        fill_gap(out, p, open + 2, (size_t)(close - open - 2));
        at = close + 2;
    }
    fputs(at, out);
}

char *make_page(struct job job, const struct program *program, const char *file, size_t *size,
                int *status) {
    struct page p = {.job = &job, .program = program, .file = file};
    char *text = NULL;
    FILE *out = NULL;
    *status = EXIT_HARNESS;
    if (record_run(&p) && (out = open_memstream(&text, size))) {
        find_start(&p);
        write_page(out, &p);
        if (fclose(out) == 0)
            *status = p.graphviz ? EXIT_OK : EXIT_USAGE;
    }
    recorder_close(p.recorder);
    free(p.report);
    if (*status == EXIT_OK)
        return text;
    free(text);
    return NULL;
}
