/* SPDX-License-Identifier: MIT
 *
 * What may stand where on a command line (completion.h).
 */
#define _GNU_SOURCE
#include "cli/commands/completion.h"

#include <stdlib.h>
#include <string.h>

enum { COMMANDS_MAX = 64 };

const struct completion_list completion_lists[] = {
    {"collectors", collector_names}, {"oracles", oracle_names},        {"classes", class_names},
    {"commands", command_names},     {"sections", list_section_names}, {NULL, NULL}};

/* By its name, else by what --help calls its argument. */
static const struct {
    const char *name, *variable, *words;
} by_name[] = {
    {"collector", "collectors", ""}, {"reference", "collectors", "none"},
    {"oracles", "oracles", ""},      {"expect", "classes", "none"},
    {"class", "classes", ""},        {"party", NULL, "subject|reference|model"},
};

struct completion complete_option(const struct option_line *o) {
    for (unsigned i = 0; i < sizeof by_name / sizeof *by_name; i++)
        if (strcmp(by_name[i].name, o->name) == 0)
            return (struct completion){COMPLETE_WORDS, by_name[i].variable, by_name[i].words,
                                       strlen(by_name[i].words)};
    if (strcmp(o->argument, "FILE") == 0)
        return (struct completion){.kind = COMPLETE_FILES};
    if (strcmp(o->argument, "DIR") == 0)
        return (struct completion){.kind = COMPLETE_FOLDERS};
    if (strcmp(o->argument, "TARGET") == 0)
        return (struct completion){.kind = COMPLETE_TARGETS};
    if (o->argument[0] >= 'a' && o->argument[0] <= 'z')
        return (struct completion){COMPLETE_WORDS, NULL, o->argument, strlen(o->argument)};
    return (struct completion){.kind =
                                   COMPLETE_NOTHING}; /* a number, or a name of the user's own */
}

struct completion complete_word(const char *help, bool first) {
    static const struct {
        const char *usage;
        struct completion completion;
    } rows[] = {{"TARGET", {.kind = COMPLETE_TARGETS}},
                {"[SUBCOMMAND]", {COMPLETE_WORDS, "commands", "", 0}},
                {"[SECTION...]", {COMPLETE_WORDS, "sections", "", 0}},
                {" COLLECTOR", {COMPLETE_WORDS, "collectors", "all", 3}}};
    size_t usage = strcspn(help, "\n");
    const char *bar = memchr(help, '|', usage);
    if (bar && first) { /* "Usage: isoheap corpus [OPTION...] merge|minimise TARGET" */
        while (bar[-1] != ' ')
            bar--;
        return (struct completion){COMPLETE_WORDS, NULL, bar, strcspn(bar, " \n")};
    }
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++)
        if (memmem(help, usage, rows[i].usage, strlen(rows[i].usage)))
            return rows[i].completion;
    return (struct completion){.kind = COMPLETE_FILES};
}

void put_choices(FILE *out, const struct completion *c) {
    for (size_t i = 0; i < c->length; i++)
        fputc(c->words[i] == '|' ? ' ' : c->words[i], out);
}

void put_list(FILE *out, name_list *names) {
    const char *name;
    for (unsigned n = 0; (name = names(n)); n++)
        fprintf(out, "%s%s", n ? " " : "", name);
}

static const struct shell {
    const char *name;
    void (*put)(FILE *, char **);
} shells[] = {{"bash", put_bash}, {"zsh", put_zsh}, {"fish", put_fish}};

const struct shell *completion_shell(const char *name) {
    for (unsigned i = 0; i < sizeof shells / sizeof *shells; i++)
        if (strcmp(shells[i].name, name) == 0)
            return &shells[i];
    return NULL;
}

bool print_completion(FILE *out, const struct shell *shell) {
    char *texts[COMMANDS_MAX] = {NULL};
    bool good = true;
    for (unsigned i = 0; commands[i].name && good; i++)
        good = i < COMMANDS_MAX && (texts[i] = help_text(&commands[i]));
    if (good)
        shell->put(out, texts);
    for (unsigned i = 0; i < COMMANDS_MAX; i++)
        free(texts[i]);
    return good;
}
