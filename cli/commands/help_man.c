/* SPDX-License-Identifier: MIT
 *
 * The manual page (help.h): man(7) made from what --help prints.
 */
#define _GNU_SOURCE
#include "cli/commands/help.h"

#include "cli/environment.h"

#include <stdlib.h>
#include <string.h>

/* What stands on the page: paragraphs, a list of options, or lines as they are. */
struct page {
    FILE *out;
    enum { TEXT, LIST, LINES } mode;
    bool usage; /* the first line is still to come */
};

/* Text for roff: a backslash, a hyphen, and a dot or quote at the start of a line have a meaning
 * there. */
static void put(FILE *out, const char *text, size_t length) {
    if (length && (text[0] == '.' || text[0] == '\''))
        fputs("\\&", out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\\')
            fputs("\\e", out);
        else if (text[i] == '-')
            fputs("\\-", out);
        else if (text[i] == '`')
            fputs("\\(ga", out);
        else if (text[i] == '\'')
            fputs("\\(aq", out);
        else
            fputc(text[i], out);
    }
}

static void put_line(FILE *out, const char *text, size_t length) {
    put(out, text, length);
    fputc('\n', out);
}

static void set_mode(struct page *p, int mode) {
    if (p->mode == LINES && mode != LINES)
        fputs(".fi\n", p->out);
    if (p->mode != LINES && mode == LINES)
        fputs(".PP\n.nf\n", p->out);
    if (mode == TEXT)
        fputs(".PP\n", p->out);
    p->mode = mode;
}

static void put_option(struct page *p, const struct option_line *o) {
    FILE *out = p->out;
    set_mode(p, LIST);
    fputs(".TP\n", out);
    if (o->short_name)
        fprintf(out, "\\fB\\-%c\\fR, ", o->short_name);
    fputs("\\fB\\-\\-", out);
    put(out, o->name, strlen(o->name));
    fputs("\\fR", out);
    if (o->argument[0]) {
        fputs("=\\fI", out);
        put(out, o->argument, strlen(o->argument));
        fputs("\\fR", out);
    }
    fputc('\n', out);
}

static void visit_line(const char *line, size_t length, void *context) {
    struct page *p = context;
    struct option_line o;
    size_t indent = strspn(line, " ");
    if (p->usage) { /* "Usage: isoheap run ..." */
        fputs(".B ", p->out);
        put_line(p->out, line + 7, length - 7);
        p->usage = false;
    } else if (indent >= length) {
        return;
    } else if (parse_option_line(line, length, &o)) {
        put_option(p, &o);
        size_t rest = strcspn(o.meaning, "\n");
        if (rest)
            put_line(p->out, o.meaning, rest);
    } else if (indent >= 10) { /* the meaning of an option that is too long for its column */
        put_line(p->out, line + indent, length - indent);
    } else if (strncmp(line, "Mandatory or optional arguments", 31) != 0) {
        set_mode(p, indent ? LINES : TEXT);
        put_line(p->out, line, length);
    }
}

static bool print_subcommand(FILE *out, const struct command *command) {
    struct page page = {.out = out, .mode = TEXT, .usage = true};
    char *text = help_text(command);
    if (!text)
        return false;
    fprintf(out, ".SS %s\n", command->name);
    for_each_line(text, visit_line, &page);
    if (page.mode == LINES)
        fputs(".fi\n", out);
    free(text);
    return true;
}

bool print_manual(FILE *out) {
    fputs(".TH ISOHEAP 1 \"\" \"isoheap\" \"User Commands\"\n"
          ".SH NAME\n"
          "isoheap \\- differential fuzzing of OCaml\\-style garbage collectors\n"
          ".SH SYNOPSIS\n"
          ".B isoheap\n"
          ".I SUBCOMMAND\n"
          "[\\fIOPTION\\fR...] [\\fIFILE\\fR...]\n"
          ".SH DESCRIPTION\n"
          "A FILE is a program as text or bytes, told apart by the version line; \\- is standard "
          "input.\n"
          ".SH SUBCOMMANDS\n",
          out);
    for (const struct command *c = commands; c->name; c++)
        if (!print_subcommand(out, c))
            return false;
    fputs(".SH EXIT STATUS\n"
          "0 no violation, 1 violation, 2 usage, 3 unreadable input, 4 harness fault.\n"
          ".SH ENVIRONMENT\n",
          out);
#define X(name, who, meaning)                                                                      \
    fprintf(out, ".TP\n\\fB%s\\fR\n", #name);                                                      \
    put_line(out, who ": " meaning, strlen(who ": " meaning));
    ENVIRONMENT(X)
#undef X
    return true;
}
