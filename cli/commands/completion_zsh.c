/* SPDX-License-Identifier: MIT
 *
 * Completion for zsh (completion.h): the arguments of its function _arguments.
 */
#include "cli/commands/completion.h"

#include <string.h>

/* Text between double quotes, where _arguments takes `special` for its own unless a \ stands before
 * it. */
static void put_escaped(FILE *out, const char *text, size_t length, const char *special) {
    for (size_t i = 0; i < length; i++) {
        if (strchr(special, text[i]))
            fputs("\\\\", out);
        else if (strchr("\"$`\\", text[i]))
            fputc('\\', out);
        fputc(text[i], out);
    }
}

/* ":NAME:ACTION" */
static void put_values(FILE *out, const struct completion *c, const char *name) {
    static const char *const others[] = {[COMPLETE_NOTHING] = " ",
                                         [COMPLETE_FILES] = "_files",
                                         [COMPLETE_FOLDERS] = "_files -/",
                                         [COMPLETE_TARGETS] = "_isoheap_targets"};
    fprintf(out, ":%s:", name);
    if (c->kind != COMPLETE_WORDS) {
        fputs(others[c->kind], out);
        return;
    }
    fputc('(', out);
    if (c->variable)
        fprintf(out, "$%s%s", c->variable, c->length ? " " : "");
    put_choices(out, c);
    fputc(')', out);
}

static void put_option(const char *line, size_t length, void *context) {
    FILE *out = context;
    struct option_line o;
    if (!parse_option_line(line, length, &o))
        return;
    bool takes = o.argument[0] && !o.optional;
    for (unsigned brief = 0; brief < (o.short_name ? 2 : 1); brief++) {
        fputs("            \"", out);
        if (o.short_name)
            fprintf(out, "(-%c --%s)", o.short_name, o.name);
        if (brief)
            fprintf(out, "-%c%s", o.short_name, takes ? "+" : "");
        else
            fprintf(out, "--%s%s", o.name, takes ? "=" : "");
        fputc('[', out);
        put_escaped(out, o.meaning, strcspn(o.meaning, "\n"), "[]");
        fputc(']', out);
        if (takes) {
            const struct completion c = complete_option(&o);
            put_values(out, &c, o.argument[0] >= 'A' && o.argument[0] <= 'Z' ? o.argument : o.name);
        }
        fputs("\" \\\n", out);
    }
}

static const char targets[] = "_isoheap_targets() {\n"
                              "    local -a folders found\n"
                              "    folders=(build/fuzz/bin build/afl/bin)\n"
                              "    local at=${words[(I)--bin-dir=*]}\n"
                              "    (( at )) && folders=(${words[at]#--bin-dir=})\n"
                              "    found=(${^folders}/fuzz_*(N.:t))\n"
                              "    found=(${found:#*.*})\n"
                              "    compadd -a found\n"
                              "}\n";

static void put_command(FILE *out, const struct command *command, const char *text) {
    const struct completion first = complete_word(text, true), other = complete_word(text, false);
    fprintf(out, "    %s)\n        _arguments -s \\\n", command->name);
    for_each_line(text, put_option, out);
    if (first.words != other.words) {
        fputs("            \"1", out);
        put_values(out, &first, "word");
        fputs("\" \\\n", out);
    }
    fputs("            \"*", out);
    put_values(out, &other, "word");
    fputs("\"\n        ;;\n", out);
}

void put_zsh(FILE *out, char **texts) {
    fputs("#compdef isoheap\n"
          "# Completion of isoheap for zsh, made by `isoheap help --completion=zsh`.\n",
          out);
    fputs(targets, out);
    fputs("_isoheap() {\n", out);
    for (const struct completion_list *l = completion_lists; l->variable; l++) {
        fprintf(out, "    local %s=\"", l->variable);
        put_list(out, l->names);
        fputs("\"\n", out);
    }
    fputs("    local -a subcommands\n    subcommands=(\n", out);
    for (unsigned i = 0; commands[i].name; i++) {
        fprintf(out, "        \"%s:", commands[i].name);
        put_escaped(out, commands[i].summary, strlen(commands[i].summary), ":");
        fputs("\"\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe subcommand subcommands\n"
          "        compadd -- --help --version\n"
          "        return\n"
          "    fi\n"
          "    local command=$words[2]\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $command in\n",
          out);
    for (unsigned i = 0; commands[i].name; i++)
        put_command(out, &commands[i], texts[i]);
    fputs("    esac\n"
          "}\n"
          "if [ \"$funcstack[1]\" = _isoheap ]; then\n"
          "    _isoheap \"$@\"\n"
          "else\n"
          "    compdef _isoheap isoheap\n"
          "fi\n",
          out);
}
