/* SPDX-License-Identifier: MIT
 *
 * isoheap show: a program as text, heap map or picture.
 *
 * Maps and pictures show the state before and after one operation: the one that fails, or --at, or
 * the whole script.  The program runs twice in a child: to learn what fails and along which path,
 * then to take the two pictures into memory that parent and child share.
 */
#define _GNU_SOURCE
#include "cli/cli.h"
#include "pictures/graphviz.h"

#include "cli/commands/page.h"
#include "cli/job_options.h"
#include "cli/schedule_file.h"
#include "pictures/draw.h"
#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum form { FORM_TEXT, FORM_MAP, FORM_DOT, FORM_SVG, FORM_HTML };
enum { HTML = 1000 };
enum { PICTURE_SIZE = 4 << 20, TITLE_SIZE = 2 * VERDICT_TEXT };

/* What the child saw before and after. */
struct moments {
    size_t length[2];
    char text[2][PICTURE_SIZE];
};

struct show {
    enum form form;
    const char *out, *file;
    enum party party;
    long at; /* operation; -1: the one that fails */
    struct job_options job_options;
    struct job job;
    struct verdict verdict;
    struct program program;
    bool whole;           /* the whole script, not one operation */
    unsigned first, last; /* the pictures are before `first` and after `last` */
    struct moments *moments;
};

static const struct argp_option options[] = {
    {"map", 'm', NULL, 0, "heap maps of all parties, one character a word", 0},
    {"dot", 'd', NULL, 0, "a Graphviz graph", 0},
    {"svg", 's', NULL, 0, "a picture (needs Graphviz)", 0},
    {"html", HTML, NULL, 0, "a page of its own: all states of all parties (needs Graphviz)", 0},
    {"at", 'a', "OP", 0, "before and after this operation, not the one that fails", 0},
    {"party", 'p', "NAME", 0, "subject (default), reference or model, for --dot and --svg", 0},
    {"output", 'o', "FILE", 0, "where to write; - is standard output, the default", 0},
    {0}};

static enum party parse_party(const char *name, struct argp_state *state) {
    for (unsigned p = 0; p < PARTIES; p++)
        if (strcmp(party_name((enum party)p), name) == 0)
            return (enum party)p;
    argp_error(state, "--party takes subject, reference or model, not %s", name);
    return PARTY_SUBJECT;
}

static void parse_file(struct show *s, char *argument, struct argp_state *state) {
    if (s->file)
        argp_error(state, "one FILE at a time");
    s->file = argument;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct show *s = state->input;
    switch (key) {
    case 'm':
        s->form = FORM_MAP;
        return 0;
    case 'd':
        s->form = FORM_DOT;
        return 0;
    case 's':
        s->form = FORM_SVG;
        return 0;
    case HTML:
        s->form = FORM_HTML;
        return 0;
    case 'a':
        s->at = choose_number("--at", argument, 0, PROGRAM_OPS);
        return 0;
    case 'p':
        s->party = parse_party(argument, state);
        return 0;
    case ARGP_KEY_INIT:
        take_job_options(state, job_children, &s->job_options);
        return 0;
    case 'o':
        s->out = argument;
        return 0;
    case ARGP_KEY_ARG:
        parse_file(s, argument, state);
        return 0;
    case ARGP_KEY_END:
        if (!s->file)
            argp_error(state, "no FILE; - is standard input");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- which moments ----------------------------------------------------------------------------
 */

/* "before operation 3: full"; moment 0 is before, 1 after. */
static void moment_title(const struct show *s, unsigned moment, char *out) {
    unsigned op = moment ? s->last : s->first;
    int n = snprintf(out, TITLE_SIZE, "%s ", moment ? "after" : "before");
    if (s->whole)
        snprintf(out, TITLE_SIZE, "%s the script", moment ? "after" : "before");
    else if (op == OP_INITIAL)
        snprintf(out + n, TITLE_SIZE - (size_t)n, "the initial heap is taken over");
    else if (op >= s->program.n_ops)
        snprintf(out + n, TITLE_SIZE - (size_t)n, "the checks after the script");
    else {
        n += snprintf(out + n, TITLE_SIZE - (size_t)n, "operation %u: ", op);
        op_print(&s->program.ops[op], out + n, TITLE_SIZE - (size_t)n);
    }
}

/* Which operation: --at, the one that fails, or the whole script. */
static int choose_moments(struct show *s) {
    char *report;
    if (s->at >= s->program.n_ops) {
        fprintf(stderr, "isoheap: --at %ld: the script has %u operations, counted from 0\n", s->at,
                s->program.n_ops);
        return EXIT_USAGE;
    }
    s->verdict = run_job(&s->job, &s->program, &report);
    free(report);
    if (s->verdict.harness_error) {
        fprintf(stderr, "isoheap: harness error: %s; `isoheap run` has the report\n",
                s->verdict.detail);
        return EXIT_HARNESS;
    }
    s->whole = s->at < 0 && !s->verdict.violation;
    s->first = s->whole ? 0 : s->at >= 0 ? (unsigned)s->at : s->verdict.op;
    s->last = s->whole ? s->program.n_ops : s->first;
    return EXIT_OK;
}

/* ---- pictures, taken in the child -------------------------------------------------------------
 */

static void take_graph(FILE *out, const struct show *s, struct runner *runner, unsigned moment) {
    struct snapshot snapshot;
    char moment_text[TITLE_SIZE], title[TITLE_SIZE + 64];
    if (!runner_snapshot(runner, s->party, &snapshot))
        return;
    moment_title(s, moment, moment_text);
    snprintf(title, sizeof title, "%s %s", party_name(s->party), moment_text);
    draw_cluster(out, &snapshot, moment ? "after_" : "before_", title, s->verdict.path);
}

static void observe(void *context, struct runner *runner, unsigned op, bool before) {
    const struct show *s = context;
    struct snapshot unused;
    if (op != (before ? s->first : s->last) || (before && op == OP_INITIAL)) {
        if (!before)
            runner_snapshot(runner, s->party, &unused); /* so that garbage has names */
        return;
    }
    FILE *out = fmemopen(s->moments->text[!before], PICTURE_SIZE, "w");
    if (!out)
        return;
    if (s->form == FORM_MAP)
        write_maps(out, runner, &s->job);
    else
        take_graph(out, s, runner, !before);
    long length = ftell(out);
    fclose(out);
    s->moments->length[!before] = length > 0 ? (size_t)length : 0;
}

static int take_pictures(struct show *s) {
    char *report;
    s->moments =
        mmap(NULL, sizeof *s->moments, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->moments == MAP_FAILED)
        return EXIT_HARNESS;
    int status = choose_moments(s);
    if (status != EXIT_OK)
        return status;
    s->job.observe = observe;
    s->job.context = s;
    run_job(&s->job, &s->program, &report);
    free(report);
    return EXIT_OK;
}

/* ---- output -----------------------------------------------------------------------------------
 */

/* Why there is no picture of a moment. */
static void absence(const struct show *s, unsigned moment, char *out, size_t capacity) {
    if (moment == 0 && s->first == OP_INITIAL)
        snprintf(out, capacity, "nothing has been built yet");
    else if (s->verdict.not_run)
        snprintf(out, capacity, "the program is not run");
    else if (s->verdict.op == OP_INITIAL)
        snprintf(out, capacity, "the run ended at the initial heap");
    else if (s->verdict.violation)
        snprintf(out, capacity, "the run ended in operation %u", s->verdict.op);
    else
        snprintf(out, capacity, "the heap cannot be walked");
}

static void write_heading(FILE *out, const struct show *s) {
    fprintf(out, "%s: ", s->job.subject->name);
    if (s->verdict.violation)
        fprintf(out, "violation %s", violation_name(s->verdict.violation));
    else if (s->verdict.not_run)
        fprintf(out, "not run: %s", s->verdict.detail);
    else
        fprintf(out, "no violation");
    if (s->verdict.path[0])
        fprintf(out, " at %s", s->verdict.path);
}

static void write_maps_of(FILE *out, const struct show *s, unsigned moment) {
    char text[TITLE_SIZE];
    moment_title(s, moment, text);
    fprintf(out, "\n%s\n", text);
    if (s->moments->length[moment]) {
        fwrite(s->moments->text[moment], 1, s->moments->length[moment], out);
        return;
    }
    absence(s, moment, text, sizeof text);
    fprintf(out, "  (no state: %s)\n", text);
}

static void write_map_page(FILE *out, const struct show *s) {
    write_heading(out, s);
    fprintf(out, "\n(" MAP_LEGEND ")\n");
    write_maps_of(out, s, 0);
    write_maps_of(out, s, 1);
}

static void write_cluster(FILE *out, const struct show *s, unsigned moment) {
    char title[TITLE_SIZE], why[TITLE_SIZE];
    if (s->moments->length[moment]) {
        fwrite(s->moments->text[moment], 1, s->moments->length[moment], out);
        return;
    }
    moment_title(s, moment, title);
    absence(s, moment, why, sizeof why);
    draw_absence(out, moment ? "after_" : "before_", title, why);
}

static void write_dot(FILE *out, const struct show *s) {
    char *title = NULL;
    size_t size;
    FILE *heading = open_memstream(&title, &size);
    if (!heading)
        return;
    write_heading(heading, s);
    fclose(heading);
    draw_begin(out, title);
    free(title);
    write_cluster(out, s, 1); /* Graphviz stacks upwards: before comes to stand on top */
    write_cluster(out, s, 0);
    draw_end(out);
}

/* The program, which stays one with the summary behind it. */
static void write_text(FILE *out, const struct show *s) {
    const struct program *p = &s->program;
    unsigned roots = 0, blocks = 0, gaps = 0;
    size_t length = program_print(p, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return;
    for (unsigned i = 0; i < PROGRAM_MUTATORS * PROGRAM_SLOTS; i++) {
        const struct value *v = &p->roots[i / PROGRAM_SLOTS][i % PROGRAM_SLOTS];
        roots += v->kind != VALUE_IMMEDIATE || v->bits != 0;
    }
    program_print(p, text, length + 1);
    fputs(text, out);
    for (unsigned i = 0; i < p->n_items; i++)
        *(item_is_named(&p->items[i]) ? &blocks : &gaps) += item_count(&p->items[i]);
    fprintf(out, "# %u blocks and %u gaps in %u of %u heap words, %u roots, %u operations\n",
            blocks, gaps, program_heap_words(p), p->config[CONFIG_HEAP], roots, p->n_ops);
    if (program_is_large(p))
        fprintf(out, "# no bytes; %zu bytes as text; digest %016llx\n", length,
                (unsigned long long)program_digest(p));
    else
        fprintf(out, "# %zu bytes as bytes, %zu as text; digest %016llx\n",
                program_encode(p, NULL, 0), length, (unsigned long long)program_digest(p));
    free(text);
}

static int write_out(const struct show *s) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        return EXIT_HARNESS;
    if (s->form == FORM_TEXT)
        write_text(out, s);
    else if (s->form == FORM_MAP)
        write_map_page(out, s);
    else
        write_dot(out, s);
    fclose(out);
    if (s->form == FORM_SVG) {
        size_t svg_size = 0;
        char *svg = lay_out(text, size, "-Tsvg", &svg_size);
        free(text);
        text = svg;
        size = svg_size;
    }
    int status = text && write_file(s->out, text, size) ? EXIT_OK : EXIT_USAGE;
    free(text);
    return status;
}

static int write_page_out(const struct show *s) {
    size_t size;
    int status;
    char *page = make_page(s->job, &s->program, s->file, &size, &status);
    if (page && !write_file(s->out, page, size))
        status = EXIT_USAGE;
    free(page);
    return status;
}

static const char about[] =
    "Show a program as text, or the heaps before and after the operation that fails: as maps, as a "
    "graph, or as a page with all states; the differing path in red."
    "\v"
    "Exit status: 0 shown, 2 usage (or Graphviz is missing), 3 unreadable input, 4 harness fault.";

/* A schedule of the on-the-fly model brings its collector with it. */
static int show_schedule_file(const struct show *s) {
    if (s->form == FORM_TEXT || s->form == FORM_MAP)
        return show_schedule(s->file, s->form == FORM_MAP, s->out);
    fprintf(stderr, "isoheap: %s is a schedule, which has text and --map (its columns) alone\n",
            s->file);
    return EXIT_USAGE;
}

int command_show(int argc, char **argv) {
    static const struct argp argp = {options, parse, "FILE", about, job_children, NULL, NULL};
    static struct show s = {.job_options = JOB_OPTIONS, .out = "-", .at = -1};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &s))
        return EXIT_USAGE;
    if (is_schedule_file(s.file))
        return show_schedule_file(&s);
    if (!complete_job(&s.job_options))
        return EXIT_USAGE;
    s.job = s.job_options.job;
    if (s.party == PARTY_REFERENCE && !s.job.reference) {
        fprintf(stderr, "isoheap: --party reference without a reference\n");
        return EXIT_USAGE;
    }
    if (!read_program(s.file, &s.program, NULL))
        return EXIT_UNREADABLE;
    if (s.form != FORM_TEXT && program_is_large(&s.program)) {
        fprintf(stderr, "isoheap: %s: " NO_PICTURE "; as text it can be shown\n", s.file);
        return EXIT_USAGE;
    }
    choose_target_for(&s.job, s.file);
    if (s.form == FORM_HTML)
        return write_page_out(&s);
    int status = s.form == FORM_TEXT ? EXIT_OK : take_pictures(&s);
    return status == EXIT_OK ? write_out(&s) : status;
}
