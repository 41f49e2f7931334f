/* SPDX-License-Identifier: MIT
 *
 * isoheap export: a finding as a C file of its own.
 *
 * The file has the program as tables and calls, already lowered to what the collectors take, and
 * behind them those parts of the files in export/ that its operations and its class need.  It
 * includes collectors/collector.h and is linked with the sources of one collector, and nothing
 * else.
 */
#define _GNU_SOURCE
#include "cli/export/export.h"

#include "cli/job_options.h"
#include "cli/nearest.h"
#include "cli/plugin.h"
#include "program/text/text.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct options {
    struct job_options job_options;
    const char *symbol, *class, *file, *output, *sources;
    bool ocaml, unchecked;
};

enum { NO_CHECK = 1000, SOURCES };
static const struct argp_option options[] = {
    {"symbol", 's', "SYMBOL", 0, "C name of the collector's struct (default: its name)", 0},
    {"class", 'C', "CLASS", 0, "what to assert (default: the class that the program raises)", 0},
    {"output", 'o', "FILE", 0, "where to write (default: standard output)", 0},
    {"no-check", NO_CHECK, NULL, 0, "do not compile and run what is written", 0},
    {"sources", SOURCES, "FILES", 0,
     "C files of a plug-in's collector, words for a shell: compile them, do not link the plug-in",
     0},
    {"ocaml", 'm', NULL, 0, "an OCaml program, for a finding in the OCaml runtime", 0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        take_job_options(state, job_children, &o->job_options);
        return 0;
    case 's':
        o->symbol = argument;
        return 0;
    case 'C':
        o->class = argument;
        return 0;
    case 'o':
        o->output = argument;
        return 0;
    case NO_CHECK:
        o->unchecked = true;
        return 0;
    case SOURCES:
        o->sources = argument;
        return 0;
    case 'm':
        o->ocaml = true;
        return 0;
    case ARGP_KEY_ARG:
        if (o->file)
            argp_error(state, "one FILE at a time");
        o->file = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

/* ---- the header -------------------------------------------------------------------------------
 */

static void write_header(FILE *f, const struct exported *e, const char *name) {
    fprintf(f, "/* A violation of the garbage collector %s: %s\n *   (%s)\n", e->subject->name,
            violation_name(e->violation), violation_meaning(e->violation));
    if (e->detail[0])
        fprintf(f, " * %s\n", e->detail);
    bool of_plugin = plugin_path(e->subject) != NULL;
    char *command = export_command(e, "cc", name, "finding");
    fprintf(f, " *\n * Compile it%s, with gcc or clang:\n",
            of_plugin ? "" : " at the top of isoheap's sources");
    if (of_plugin && e->violation == VIOLATION_sanitizer && !e->sources)
        fprintf(f, " * (SOURCES are the files of the collector)\n");
    fprintf(f, " *   %s\n", command);
    free(command);
    fprintf(f,
            " * Run it:\n *   ./finding\n *\n"
            " * %s\n"
            " * -DCOLLECTOR=NAME takes another collector, whose sources are then to be linked.\n"
            " * Written by `isoheap export`.\n */\n",
            e->violation == VIOLATION_sanitizer
                ? "It crashes, or a sanitizer ends it, while the defect is there; then it passes."
                : "An assertion fails while the defect is there; without it the program passes.");
    fprintf(f,
            "#undef NDEBUG\n"
            "#include \"collectors/collector.h\"\n\n"
            "#include <assert.h>\n%s#include <stdio.h>\n#include <stdlib.h>\n"
            "#include <string.h>\n\n"
            "#ifdef PLUGIN /* the collector of the plug-in that is linked, collectors/plugin.h */\n"
            "extern const struct {\n"
            "    uint64_t interface;\n    size_t sizes[3];\n"
            "    const struct collector *collector;\n"
            "} isoheap_plugin;\n"
            "#define COLLECTOR (*isoheap_plugin.collector)\n#else\n"
            "#ifndef COLLECTOR\n#define COLLECTOR %s\n#endif\n"
            "extern const struct collector COLLECTOR;\n#endif\n\n",
            e->stack_kib ? "#include <pthread.h>\n" : "", e->symbol);
}

/* ---- life -------------------------------------------------------------------------------------
 */

static const char *base_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return strcmp(path, "-") == 0 ? "finding.c" : slash ? slash + 1 : path;
}

static char *write_all(const struct exported *e, const char *name, size_t *size) {
    char *text = NULL;
    FILE *f = open_memstream(&text, size);
    if (!f)
        return NULL;
    write_header(f, e, name);
    export_oracle(f, e);
    export_tables(f, e);
    export_mirror(f, e);
    export_script(f, e);
    if (fclose(f) == 0)
        return text;
    free(text);
    return NULL;
}

/* The violation to assert: what the program raises now, or the class that was asked for. */
static int find_class(const struct options *o, struct exported *e, struct job *job) {
    if (o->class) {
        e->violation = violation_named(o->class);
        if (e->violation != VIOLATION_classes && e->violation != VIOLATION_none)
            return EXIT_OK;
        fprintf(stderr,
                "isoheap: no violation class is called %s%s (`isoheap list classes` names them)\n",
                o->class, did_you_mean(o->class, class_names));
        return EXIT_USAGE;
    }
    char *report, only[2 * VERDICT_TEXT];
    choose_target_for(job, o->file);
    struct verdict v = run_job(job, e->program, &report);
    free(report);
    if (v.harness_error) {
        fprintf(stderr, "isoheap: %s: harness error: %s\n", o->file, v.detail);
        return EXIT_HARNESS;
    }
    if (!v.violation || v.guilty != PARTY_SUBJECT) {
        fprintf(stderr, "isoheap: %s raises no violation of %s: nothing to export%s%s\n", o->file,
                job->subject->name,
                v.violation ? " (the reference is guilty: give it as --collector)"
                : v.not_run ? "; it was not run: "
                            : "",
                v.not_run ? v.detail : "");
        return EXIT_NOTHING;
    }
    describe_without_target(job, e->program, &v, only, sizeof only);
    if (only[0])
        fprintf(stderr, "isoheap: %s: %s\n", o->file, only);
    e->violation = v.violation;
    e->undefined = job->target && !v.found[0];
    e->of_levels = v.oracle == ORACLE_refinement || v.oracle == ORACLE_refinement_words ||
                   v.oracle == ORACLE_layout;
    snprintf(e->detail, sizeof e->detail, "%s", v.detail);
    if (sscanf(v.detail, "the stack of %zu KiB is used up", &e->stack_kib) != 1)
        e->stack_kib = 0;
    return EXIT_OK;
}

static bool is_c_name(const char *s) {
    bool good = *s && !(*s >= '0' && *s <= '9');
    for (; *s; s++)
        good &= (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') ||
                *s == '_';
    return good;
}

/* Operations of a runtime become what a collector without one does for them; false, after a
 * message, if it has one. */
static bool lower_script(const char *file, struct program *p, const struct collector *subject) {
    for (unsigned i = 0; i < p->n_ops; i++) {
        struct op *op = &p->ops[i];
        if (!op_has(op->code, RUNTIME))
            continue;
        if (subject->extras) {
            fprintf(stderr,
                    "isoheap: %s: %s is an operation of a runtime, which a C file does not have; "
                    "see --ocaml, or replay it with isoheap run\n",
                    file, op_shapes[op->code].name);
            return false;
        }
        op_without_runtime(op, op);
    }
    return true;
}

static int prove(const struct options *o, const struct exported *e, const char *text, size_t size) {
    if (!o->class)
        return export_prove(e, text, size);
    fprintf(stderr, "isoheap: not checked: whether it fails nobody knows, since --class says what "
                    "to assert\n");
    return EXIT_OK;
}

static int export_file(const struct options *o, struct job *job) {
    static struct program program, plain;
    struct exported e = {.program = &program,
                         .original = &program,
                         .subject = job->subject,
                         .reference = job->reference,
                         .seeded = job->subject_name != NULL,
                         .sources = o->sources,
                         .symbol = o->symbol ? o->symbol : job->subject->name};
    if (!is_c_name(e.symbol)) {
        fprintf(stderr, "isoheap: %s is no C name; --symbol gives that of the collector's struct\n",
                e.symbol);
        return EXIT_USAGE;
    }
    if (!read_program(o->file, &program, NULL))
        return EXIT_UNREADABLE;
    int status = find_class(o, &e, job);
    if (status)
        return status;
    size_t size;
    char *text = NULL;
    if (o->ocaml) {
        status = export_ocaml(&e, o->file, &text, &size);
        if (status)
            return status;
    } else {
        plain = program;
        e.program = &plain;
        if (!lower_script(o->file, &plain, e.subject))
            return EXIT_NOTHING;
        text = write_all(&e, base_name(o->output), &size);
    }
    bool good = text && write_file(o->output, text, size);
    if (!text)
        fprintf(stderr, "isoheap: no memory for the exported file\n");
    if (good && !o->ocaml && !o->unchecked)
        status = prove(o, &e, text, size);
    free(text);
    return good ? status : EXIT_USAGE;
}

static const char about[] =
    "Write a C file that plays a program on a collector and asserts what is violated; it needs the "
    "collector's sources and collectors/collector.h alone.  FILE is standard input by default.  "
    "Where a "
    "C compiler and the sources are, the file is compiled and run: it must fail, and without the "
    "defect pass."
    "\v"
    "Exit status: 0 written, 1 written, but compiled and run it does not show the violation, 2 "
    "usage, 3 unreadable input, 4 harness fault, 5 the program raises no "
    "violation.";

int command_export(int argc, char **argv) {
    static const struct argp argp = {options, parse, "[FILE]", about, job_children, NULL, NULL};
    struct options o = {.job_options = JOB_OPTIONS, .output = "-"};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &o))
        return EXIT_USAGE;
    struct job *job = &o.job_options.job;
    if (!complete_job(&o.job_options))
        return EXIT_USAGE;
    job->trial_ms = 1000 * job->seconds;
    o.file = o.file ? o.file : "-";
    return export_file(&o, job);
}
