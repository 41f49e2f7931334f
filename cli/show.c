/* SPDX-License-Identifier: MIT
 *
 * isoheap show: a program as text, heap map or picture.
 *
 * Maps and pictures show the state before and after one operation: the one that fails, or --at, or
 * the whole script.  The program runs twice in a child: to learn what fails and along which path,
 * then to take the two pictures into a page that parent and child share.
 */
#define _GNU_SOURCE
#include "cli/cli.h"

#include "cli/draw.h"
#include "program/text.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum form { FORM_TEXT, FORM_MAP, FORM_DOT, FORM_SVG };
enum { PICTURE_SIZE = 4 << 20 };

struct moments {
    size_t length[2]; /* of before and after */
    char text[2][PICTURE_SIZE];
};

struct show {
    enum form form;
    const char *collector, *reference, *out, *file;
    enum party party;
    long at; /* operation; -1: the one that fails */
    struct job job;
    struct verdict verdict;
    struct program program;
    unsigned first, last; /* the picture is before `first` and after `last` */
    struct moments *moments;
};

static const struct argp_option options[] = {
    {"map", 'm', NULL, 0, "heap maps of all parties, one character a word", 0},
    {"dot", 'd', NULL, 0, "a Graphviz graph", 0},
    {"svg", 's', NULL, 0, "a picture (needs Graphviz)", 0},
    {"at", 'a', "OP", 0, "before and after this operation, not the one that fails", 0},
    {"party", 'p', "NAME", 0, "subject (default), reference or model, for --dot and --svg", 0},
    {"collector", 'c', "NAME", 0, "the collector under test (default: mark_sweep)", 0},
    {"reference", 'r', "NAME", 0, "the reference (default: cheney); none: the model alone", 0},
    {"output", 'o', "FILE", 0, "where to write; - is standard output, the default", 0},
    {0}};

static enum party parse_party(const char *name, struct argp_state *state) {
    for (unsigned p = 0; p < PARTIES; p++)
        if (strcmp(party_name((enum party)p), name) == 0)
            return (enum party)p;
    argp_error(state, "--party takes subject, reference or model, not %s", name);
    return PARTY_SUBJECT;
}

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct show *s = state->input;
    char *end;
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
    case 'a':
        s->at = strtol(argument, &end, 10);
        if (*end || end == argument || s->at < 0)
            argp_error(state, "--at takes the number of an operation, from 0, not %s", argument);
        return 0;
    case 'p':
        s->party = parse_party(argument, state);
        return 0;
    case 'c':
        s->collector = argument;
        return 0;
    case 'r':
        s->reference = argument;
        return 0;
    case 'o':
        s->out = argument;
        return 0;
    case ARGP_KEY_ARG:
        if (s->file)
            argp_error(state, "one FILE at a time");
        s->file = argument;
        return 0;
    case ARGP_KEY_END:
        if (!s->file)
            argp_error(state, "no FILE; - is standard input");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- pictures, taken in the child -------------------------------------------------------------
 */

static void take_maps(FILE *out, const struct show *s, struct runner *runner) {
    static char map[PROGRAM_HEAP_WORDS * 4];
    for (unsigned p = 0; p < PARTIES; p++) {
        struct snapshot snapshot;
        if ((p == PARTY_REFERENCE && !s->job.reference) ||
            !runner_snapshot(runner, (enum party)p, &snapshot))
            continue;
        snapshot_map(&snapshot, map, sizeof map);
        fprintf(out, "  %s\n%s", party_name((enum party)p), map);
    }
}

static void take_graph(FILE *out, const struct show *s, struct runner *runner, bool before) {
    struct snapshot snapshot;
    char title[VERDICT_TEXT * 2], name[VERDICT_TEXT];
    if (!runner_snapshot(runner, s->party, &snapshot))
        return;
    runner_operation(runner, before ? s->first : s->last, name, sizeof name);
    snprintf(title, sizeof title, "%s %s: %s", party_name(s->party), before ? "before" : "after",
             name);
    draw_cluster(out, &snapshot, before ? "before_" : "after_", title, s->verdict.path);
}

static void observe(void *context, struct runner *runner, unsigned op, bool before) {
    const struct show *s = context;
    if (op != (before ? s->first : s->last) || (before && op == OP_INITIAL))
        return;
    FILE *out = fmemopen(s->moments->text[!before], PICTURE_SIZE, "w");
    if (!out)
        return;
    if (s->form == FORM_MAP)
        take_maps(out, s, runner);
    else
        take_graph(out, s, runner, before);
    long length = ftell(out);
    fclose(out);
    s->moments->length[!before] = length > 0 ? (size_t)length : 0;
}

/* Which operation: --at, the one that fails, or the whole script. */
static bool choose_moments(struct show *s) {
    char *report;
    s->verdict = run_job(&s->job, &s->program, &report);
    free(report);
    bool fails = s->verdict.violation != VIOLATION_none;
    if (s->at >= 0 && s->at >= s->program.n_ops) {
        fprintf(stderr, "isoheap: the script has %u operations, from 0 on\n", s->program.n_ops);
        return false;
    }
    s->first = s->at >= 0 ? (unsigned)s->at : fails ? s->verdict.op : 0;
    s->last = s->at >= 0 ? (unsigned)s->at : fails ? s->verdict.op : s->program.n_ops;
    return true;
}

static void take_pictures(struct show *s) {
    char *report;
    s->job.observe = observe;
    s->job.context = s;
    struct verdict again = run_job(&s->job, &s->program, &report);
    (void)again;
    free(report);
}

/* ---- output -----------------------------------------------------------------------------------
 */

static void write_moment(FILE *out, const struct show *s, unsigned moment) {
    if (s->moments->length[moment])
        fwrite(s->moments->text[moment], 1, s->moments->length[moment], out);
    else if (s->form == FORM_MAP)
        fprintf(out, "  (no state: %s)\n",
                moment ? "the run ended before" : "nothing has been built yet");
}

static void write_heading(FILE *out, const struct show *s) {
    if (s->verdict.violation)
        fprintf(out, "%s: violation %s", s->collector, violation_name(s->verdict.violation));
    else
        fprintf(out, "%s: no violation", s->collector);
    if (s->verdict.path[0])
        fprintf(out, ", at %s", s->verdict.path);
}

static void write_maps(FILE *out, const struct show *s) {
    write_heading(out, s);
    fprintf(out,
            "\n(Aa live block and its fields, x unreachable, . free, `,' fragment, - unused)\n");
    fprintf(out, "\nbefore operation %u\n", s->first == OP_INITIAL ? 0 : s->first);
    write_moment(out, s, 0);
    if (s->last < s->program.n_ops)
        fprintf(out, "\nafter operation %u\n", s->last);
    else
        fprintf(out, "\nafter the script\n");
    write_moment(out, s, 1);
}

static void write_dot(FILE *out, const struct show *s) {
    char *title = NULL;
    size_t size;
    FILE *heading = open_memstream(&title, &size);
    write_heading(heading, s);
    fclose(heading);
    draw_begin(out, title);
    free(title);
    write_moment(out, s, 0);
    write_moment(out, s, 1);
    if (s->moments->length[0] && s->moments->length[1]) /* before is left of after */
        fprintf(out, "  before_none -> after_none [style=invis];\n");
    draw_end(out);
}

static void write_text(FILE *out, const struct show *s) {
    size_t length = program_print(&s->program, NULL, 0);
    char *text = malloc(length + 1);
    if (!text)
        return;
    program_print(&s->program, text, length + 1);
    fprintf(out, "%s# %u blocks and gaps in %u words of heap, %u operations\n", text,
            s->program.n_items, program_heap_words(&s->program), s->program.n_ops);
    free(text);
}

/* Lets Graphviz lay the graph out; malloc'ed, NULL after a message. */
static char *lay_out(const char *dot, size_t dot_size, size_t *size) {
    int in[2], out[2], status;
    char *svg = NULL;
    if (pipe(in) != 0 || pipe(out) != 0)
        return NULL;
    pid_t writer = fork(); /* a child of its own feeds dot, so that no pipe can fill up */
    if (writer == 0) {
        close(in[0]);
        for (size_t done = 0; done < dot_size;) {
            ssize_t n = write(in[1], dot + done, dot_size - done);
            if (n <= 0)
                _exit(1);
            done += (size_t)n;
        }
        _exit(0);
    }
    close(in[1]);
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(out[0]);
        execlp("dot", "dot", "-Tsvg", (char *)NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    FILE *collected = open_memstream(&svg, size);
    char buffer[1 << 16];
    for (ssize_t n; (n = read(out[0], buffer, sizeof buffer)) > 0;)
        fwrite(buffer, 1, (size_t)n, collected);
    close(out[0]);
    fclose(collected);
    waitpid(writer, NULL, 0);
    if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return svg;
    fprintf(stderr, WIFEXITED(status) && WEXITSTATUS(status) == 127
                        ? "isoheap: Graphviz is not installed: apt-get install graphviz\n"
                        : "isoheap: Graphviz could not lay the graph out\n");
    free(svg);
    return NULL;
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
        write_maps(out, s);
    else
        write_dot(out, s);
    fclose(out);
    if (s->form == FORM_SVG) {
        size_t svg_size = 0;
        char *svg = lay_out(text, size, &svg_size);
        free(text);
        text = svg;
        size = svg_size;
    }
    int status = !text ? EXIT_USAGE : write_file(s->out, text, size) ? EXIT_OK : EXIT_HARNESS;
    free(text);
    return status;
}

int command_show(int argc, char **argv) {
    static const struct argp argp = {
        options, parse,
        "FILE",  "Show a program as text, or the heaps before and after the operation that fails.",
        NULL,    NULL,
        NULL};
    static struct show s = {.collector = "mark_sweep",
                            .reference = "cheney",
                            .out = "-",
                            .at = -1,
                            .job = {.seconds = 10}};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &s))
        return EXIT_USAGE;
    s.job.subject = choose_collector(s.collector);
    bool alone = strcmp(s.reference, "none") == 0;
    s.job.reference = alone ? NULL : choose_collector(s.reference);
    if (!s.job.subject || (!alone && !s.job.reference))
        return EXIT_USAGE;
    if (!read_program(s.file, &s.program, NULL))
        return EXIT_UNREADABLE;
    if (s.form != FORM_TEXT) {
        s.moments = mmap(NULL, sizeof *s.moments, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (s.moments == MAP_FAILED)
            return EXIT_HARNESS;
        if (!choose_moments(&s))
            return EXIT_USAGE;
        take_pictures(&s);
    }
    return write_out(&s);
}
