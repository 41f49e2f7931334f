/* SPDX-License-Identifier: MIT
 *
 * Completion for bash (completion.h): subcommands, options, the values of options, targets, files.
 */
#define _GNU_SOURCE
#include "cli/commands/completion.h"

#include <stdlib.h>
#include <string.h>

/* What may follow, as an assignment of the script. */
static void put_values(FILE *out, const struct completion *c) {
    static const char *const kinds[] = {[COMPLETE_NOTHING] = "none",
                                        [COMPLETE_FILES] = "file",
                                        [COMPLETE_FOLDERS] = "folder",
                                        [COMPLETE_TARGETS] = "target"};
    if (c->kind != COMPLETE_WORDS) {
        fprintf(out, "kind='%s'", kinds[c->kind]);
        return;
    }
    fputs("values=\"", out);
    if (c->variable)
        fprintf(out, "$%s%s", c->variable, c->length ? " " : "");
    put_choices(out, c);
    fputc('"', out);
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
        const struct completion c = complete_option(&o);
        put_values(v->out, &c);
        fputs(" ;;\n", v->out);
    }
}

/* Words that are no options. */
static void put_words(FILE *out, const char *command, const char *text) {
    const struct completion first = complete_word(text, true), other = complete_word(text, false);
    if (first.kind != other.kind || first.words != other.words) {
        fprintf(out, "        %s:2) ", command);
        put_values(out, &first);
        fputs(" ;;\n", out);
    }
    if (other.kind == COMPLETE_FILES)
        return;
    fprintf(out, "        %s:*) ", command);
    put_values(out, &other);
    fputs(" ;;\n", out);
}

/* ---- the script -------------------------------------------------------------------------------
 */

static void put_names(FILE *out) {
    for (const struct completion_list *l = completion_lists; l->variable; l++) {
        fprintf(out, "    local %s=\"", l->variable);
        put_list(out, l->names);
        fputs("\"\n", out);
    }
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

void put_bash(FILE *out, char **texts) {
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
