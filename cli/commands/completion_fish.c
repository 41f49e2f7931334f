/* SPDX-License-Identifier: MIT
 *
 * Completion for fish (completion.h).
 */
#include "cli/commands/completion.h"

#include <string.h>

/* 'text', as fish quotes it. */
static void put_quoted(FILE *out, const char *text, size_t length) {
    fputc('\'', out);
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\')
            fputc('\\', out);
        fputc(text[i], out);
    }
    fputc('\'', out);
}

static void put_values(FILE *out, const struct completion *c) {
    static const char *const others[] = {[COMPLETE_NOTHING] = " -x",
                                         [COMPLETE_FILES] = " -r -F",
                                         [COMPLETE_FOLDERS] =
                                             " -x -a '(__fish_complete_directories)'",
                                         [COMPLETE_TARGETS] = " -x -a '(__isoheap_targets)'"};
    if (c->kind != COMPLETE_WORDS) {
        fputs(others[c->kind], out);
        return;
    }
    fputs(" -x -a '", out);
    if (c->variable)
        fprintf(out, "(__isoheap_%s)%s", c->variable, c->length ? " " : "");
    put_choices(out, c);
    fputc('\'', out);
}

struct visit {
    FILE *out;
    const char *command;
};

static void put_option(const char *line, size_t length, void *context) {
    const struct visit *v = context;
    struct option_line o;
    if (!parse_option_line(line, length, &o))
        return;
    fprintf(v->out, "complete -c isoheap -n '__fish_seen_subcommand_from %s' -l %s", v->command,
            o.name);
    if (o.short_name)
        fprintf(v->out, " -s '%c'", o.short_name);
    if (o.argument[0] && !o.optional) {
        const struct completion c = complete_option(&o);
        put_values(v->out, &c);
    }
    fputs(" -d ", v->out);
    put_quoted(v->out, o.meaning, strcspn(o.meaning, "\n"));
    fputc('\n', v->out);
}

static const char targets[] =
    "function __isoheap_targets\n"
    "    set -l folders build/fuzz/bin build/afl/bin\n"
    "    set -l words (commandline -opc | string replace -- '--bin-dir=' '--bin-dir\\n' | string "
    "split '\\n')\n"
    "    set -l at (contains -i -- --bin-dir $words)\n"
    "    and set folders $words[(math $at + 1)]\n"
    "    find -L $folders -maxdepth 1 -type f -name 'fuzz_*' ! -name '*.*' ! -name '*_standalone' "
    "2>/dev/null | string replace -r '.*/' ''\n"
    "end\n";

void put_fish(FILE *out, char **texts) {
    fputs("# Completion of isoheap for fish, made by `isoheap help --completion=fish`.\n", out);
    for (const struct completion_list *l = completion_lists; l->variable; l++) {
        fprintf(out, "function __isoheap_%s\n    string split ' ' '", l->variable);
        put_list(out, l->names);
        fputs("'\nend\n", out);
    }
    fputs(targets, out);
    fputs("complete -c isoheap -n __fish_use_subcommand -f -l help\n"
          "complete -c isoheap -n __fish_use_subcommand -f -l version\n",
          out);
    for (unsigned i = 0; commands[i].name; i++) {
        const struct completion first = complete_word(texts[i], true);
        struct visit v = {out, commands[i].name};
        fprintf(out, "complete -c isoheap -n __fish_use_subcommand -f -a %s -d ", v.command);
        put_quoted(out, commands[i].summary, strlen(commands[i].summary));
        fprintf(out, "\ncomplete -c isoheap -n '__fish_seen_subcommand_from %s'", v.command);
        put_values(out, &first);
        fputc('\n', out);
        for_each_line(texts[i], put_option, &v);
    }
}
