/* SPDX-License-Identifier: MIT
 *
 * Completion for bash (help.h), made from what --help prints: subcommands, options, the values of
 * options, targets, files.
 */
#define _GNU_SOURCE
#include "cli/commands/help.h"

#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"

#include <stdlib.h>
#include <string.h>

enum { COMMANDS_MAX = 64 };

/* What can stand after an option: by its name, else by what --help calls its argument. */
static const struct {
    const char *name, *words;
} by_name[] = {
    {"collector", "$collectors"}, {"reference", "$collectors none"},    {"oracles", "$oracles"},
    {"expect", "$classes none"},  {"party", "subject reference model"},
};

static const char *const file_kinds[][2] = {
    {"FILE", "kind='file'"}, {"DIR", "kind='folder'"}, {"TARGET", "kind='target'"}};

/* Words of a|b, blanks between them. */
static void put_choices(FILE *out, const char *choices, size_t length) {
    fputs("values=\"", out);
    for (size_t i = 0; i < length; i++)
        fputc(choices[i] == '|' ? ' ' : choices[i], out);
    fputc('"', out);
}

/* What may follow the option, as an assignment of the script. */
static void put_values(FILE *out, const struct option_line *o) {
    for (unsigned i = 0; i < sizeof by_name / sizeof *by_name; i++)
        if (strcmp(by_name[i].name, o->name) == 0) {
            fprintf(out, "values=\"%s\"", by_name[i].words);
            return;
        }
    for (unsigned i = 0; i < sizeof file_kinds / sizeof *file_kinds; i++)
        if (strcmp(file_kinds[i][0], o->argument) == 0) {
            fputs(file_kinds[i][1], out);
            return;
        }
    if (o->argument[0] >= 'a' && o->argument[0] <= 'z')
        put_choices(out, o->argument, strlen(o->argument));
    else
        fputs("kind='none'", out); /* a number or a name of the user's own */
}

struct visit {
    FILE *out;
    const char *command;
    enum { NAMES, VALUES } what;
};

static void visit_option(const char *line, size_t length, void *context) {
    struct visit *v = context;
    struct option_line o;
    if (!parse_option_line(line, length, &o))
        return;
    if (v->what == NAMES) {
        fprintf(v->out, " --%s", o.name);
    } else if (o.argument[0] && !o.optional) {
        fprintf(v->out, "    %s:--%s", v->command, o.name);
        if (o.short_name)
            fprintf(v->out, " | %s:-%c", v->command, o.short_name);
        fputs(") ", v->out);
        put_values(v->out, &o);
        fputs(" ;;\n", v->out);
    }
}

/* Words that are no options, from "Usage: isoheap corpus [OPTION...] merge|minimise TARGET". */
static void put_words(FILE *out, const char *command, const char *text) {
    size_t usage = strcspn(text, "\n");
    const char *end = text + usage, *bar = memchr(text, '|', usage);
    if (bar) {
        const char *first = bar;
        while (first[-1] != ' ')
            first--;
        fprintf(out, "        %s:2) ", command);
        put_choices(out, first, strcspn(first, " \n"));
        fputs(" ;;\n", out);
    }
    const char *target = strstr(text, "TARGET"), *subcommand = strstr(text, "[SUBCOMMAND]");
    const char *collector = strstr(text, " COLLECTOR");
    if (target && target < end)
        fprintf(out, "        %s:*) kind='target' ;;\n", command);
    else if (subcommand && subcommand < end)
        fprintf(out, "        %s:*) values=$commands ;;\n", command);
    else if (collector && collector < end)
        fprintf(out, "        %s:*) values=\"$collectors all\" ;;\n", command);
}

/* ---- the script -------------------------------------------------------------------------------
 */

static void put_names(FILE *out) {
    fputs("    local collectors=\"", out);
    for (unsigned i = 0; registered_collectors[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", registered_collectors[i]->name);
    for (const struct known_bad *bad = known_bad(); bad->collector; bad++)
        fprintf(out, " %s", bad->collector->name);
    fputs("\"\n    local oracles=\"", out);
    for (unsigned o = 0; o < ORACLE_COUNT; o++)
        fprintf(out, "%s%s", o ? " " : "", oracle_name((enum oracle)o));
    fputs("\"\n    local classes=\"", out);
    for (unsigned v = 1; v < VIOLATION_classes; v++)
        fprintf(out, "%s%s", v > 1 ? " " : "", violation_name((enum violation)v));
    fputs("\"\n    local commands=\"", out);
    for (const struct command *c = commands; c->name; c++)
        fprintf(out, "%s%s", c == commands ? "" : " ", c->name);
    fputs("\"\n", out);
}

static const char head[] =
    "# Completion of isoheap for bash, made by `isoheap help --completion=bash`.\n"
    "_isoheap_targets() {\n"
    "    local folders='build/fuzz/bin build/afl/bin' i\n"
    "    for ((i = 2; i < COMP_CWORD; i++)); do\n"
    "        [ \"${COMP_WORDS[i]}\" != --bin-dir ] || folders=${COMP_WORDS[i + 1]}\n"
    "        [ \"$folders\" != = ] || folders=${COMP_WORDS[i + 2]}\n"
    "    done\n"
    "    # shellcheck disable=SC2086 # a folder a word\n"
    "    find -L $folders -maxdepth 1 -type f -name 'fuzz_*' ! -name '*.*' ! -name '*_standalone' "
    "2>/dev/null |\n"
    "        sed 's|.*/||'\n"
    "}\n"
    "\n"
    "_isoheap() {\n"
    "    local command=${COMP_WORDS[1]} current=${COMP_WORDS[COMP_CWORD]}\n"
    "    local previous=${COMP_WORDS[COMP_CWORD - 1]} values='' kind='' options='--help'\n";

static const char middle[] =
    "    # bash makes three words of --name=value\n"
    "    if [ \"$current\" = = ]; then\n"
    "        current=''\n"
    "    elif [ \"$previous\" = = ]; then\n"
    "        previous=${COMP_WORDS[COMP_CWORD - 2]}\n"
    "    fi\n"
    "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -W \"$commands --help --version\" -- \"$current\")\n"
    "        return\n"
    "    fi\n";

static const char tail[] =
    "    [ \"$kind\" != target ] || values=$(_isoheap_targets)\n"
    "    case $kind in\n"
    "    file) mapfile -t COMPREPLY < <(compgen -f -- \"$current\") ;;\n"
    "    folder) mapfile -t COMPREPLY < <(compgen -d -- \"$current\") ;;\n"
    "    none) COMPREPLY=() ;;\n"
    "    *) mapfile -t COMPREPLY < <(compgen -W \"$values\" -- \"$current\") ;;\n"
    "    esac\n"
    "    if [ \"$kind\" = target ] && [ ${#COMPREPLY[@]} -eq 0 ]; then\n"
    "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
    "    fi\n"
    "}\n"
    "complete -o filenames -F _isoheap isoheap\n";

/* The texts of all subcommands, malloc'ed; false if one cannot be had. */
static bool read_texts(char **texts) {
    for (unsigned i = 0; commands[i].name; i++)
        if (i == COMMANDS_MAX || !(texts[i] = help_text(&commands[i])))
            return false;
    return true;
}

static void put_script(FILE *out, char **texts) {
    fputs(head, out);
    put_names(out);
    fputs(middle, out);
    fputs("    case $command in\n", out);
    for (unsigned i = 0; commands[i].name; i++) {
        struct visit v = {out, commands[i].name, NAMES};
        fprintf(out, "    %s) options='", commands[i].name);
        for_each_line(texts[i], visit_option, &v);
        fputs("' ;;\n", out);
    }
    fputs("    esac\n    case $command:$previous in\n", out);
    for (unsigned i = 0; commands[i].name; i++) {
        struct visit v = {out, commands[i].name, VALUES};
        for_each_line(texts[i], visit_option, &v);
    }
    fputs("    esac\n"
          "    if [ -z \"$values$kind\" ] && [[ $current == -* ]]; then\n"
          "        values=$options\n"
          "    elif [ -z \"$values$kind\" ]; then\n"
          "        case $command:$COMP_CWORD in\n",
          out);
    for (unsigned i = 0; commands[i].name; i++)
        put_words(out, commands[i].name, texts[i]);
    fputs("        *) kind='file' ;;\n        esac\n    fi\n", out);
    fputs(tail, out);
}

bool print_completion(FILE *out) {
    char *texts[COMMANDS_MAX] = {NULL};
    bool good = read_texts(texts);
    if (good)
        put_script(out, texts);
    for (unsigned i = 0; i < COMMANDS_MAX; i++)
        free(texts[i]);
    return good;
}
