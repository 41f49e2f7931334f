/* SPDX-License-Identifier: MIT
 *
 * isoheap help: the overview, a subcommand's options, the manual page, completion for shells.
 *
 * Manual page and completion are made from what --help prints, so they follow the options by
 * themselves (help.h).
 */
#define _GNU_SOURCE
#include "cli/commands/help.h"

#include "cli/nearest.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the texts --------------------------------------------------------------------------------
 */

static _Noreturn void print_help(const struct command *command, int out) {
    char name[64], option[] = "--help";
    char *argv[] = {name, option, NULL};
    snprintf(name, sizeof name, "isoheap %s", command->name);
    dup2(out, STDOUT_FILENO);
    setenv("ARGP_HELP_FMT", "rmargin=2000", 1); /* a paragraph a line */
    exit(command->run(2, argv));
}

char *help_text(const struct command *command) {
    char *text = NULL, buffer[4096];
    size_t size;
    int out[2], status = -1;
    ssize_t n;
    fflush(NULL);
    if (pipe(out) != 0)
        return NULL;
    pid_t child = fork();
    if (child == 0)
        print_help(command, out[1]);
    close(out[1]);
    FILE *collected = open_memstream(&text, &size);
    while (collected &&
           ((n = read(out[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR)))
        if (n > 0)
            fwrite(buffer, 1, (size_t)n, collected);
    close(out[0]);
    if (collected)
        fclose(collected);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (status == 0)
        return text;
    free(text);
    return NULL;
}

void for_each_line(const char *text, void (*visit)(const char *line, size_t length, void *),
                   void *context) {
    while (*text) {
        size_t length = strcspn(text, "\n");
        visit(text, length, context);
        text += length + (text[length] == '\n');
    }
}

/* "  -c, --collector=NAME       meaning", "      --keep=N   meaning", "  -t, --trace[=BLOCK]  ..."
 */
bool parse_option_line(const char *line, size_t length, struct option_line *o) {
    const char *dashes = strstr(line, "--");
    *o = (struct option_line){.meaning = ""};
    if (!dashes || dashes != line + 6 || length < 8)
        return false;
    if (line[2] == '-')
        o->short_name = line[3];
    size_t n = strcspn(dashes + 2, " [=\n");
    const char *end = dashes + 2 + n;
    snprintf(o->name, sizeof o->name, "%.*s", (int)n, dashes + 2);
    o->optional = *end == '[';
    if (*end == '[' || *end == '=') {
        end += strspn(end, "[=");
        n = strcspn(end, " ]\n");
        snprintf(o->argument, sizeof o->argument, "%.*s", (int)n, end);
        end += n + (end[n] == ']');
    }
    o->meaning = end + strspn(end, " ");
    return true;
}

/* ---- the command ------------------------------------------------------------------------------
 */

struct help {
    bool manual;
    const struct shell *completion;
    const char *subcommand;
};

static const struct argp_option options[] = {
    {"man", 'm', NULL, 0, "write the manual page of all subcommands, for man -l", 0},
    {"completion", 'b', "bash|zsh|fish", 0, "write a completion script; `source` it, or install it",
     0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state) {
    struct help *h = state->input;
    switch (key) {
    case 'm':
        h->manual = true;
        return 0;
    case 'b':
        h->completion = completion_shell(argument);
        if (!h->completion)
            argp_error(state, "--completion knows bash, zsh and fish, not %s", argument);
        return 0;
    case ARGP_KEY_ARG:
        if (h->subcommand)
            return ARGP_ERR_UNKNOWN;
        h->subcommand = argument;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int help_on(const char *name) {
    char full[64], option[] = "--help";
    char *argv[] = {full, option, NULL};
    for (const struct command *c = commands; c->name; c++)
        if (strcmp(c->name, name) == 0) {
            snprintf(full, sizeof full, "isoheap %s", name);
            return c->run(2, argv);
        }
    fprintf(stderr, "isoheap: no subcommand is called %s%s (`isoheap --help` names them)\n", name,
            did_you_mean(name, command_names));
    return EXIT_USAGE;
}

static const char about[] = "Tell what isoheap can do, or the options of a SUBCOMMAND.";

int command_help(int argc, char **argv) {
    static const struct argp argp = {options, parse, "[SUBCOMMAND]", about, NULL, NULL, NULL};
    struct help h = {.subcommand = NULL};
    argp_err_exit_status = EXIT_USAGE;
    if (argp_parse(&argp, argc, argv, 0, NULL, &h))
        return EXIT_USAGE;
    if (h.manual)
        return print_manual(stdout) ? EXIT_OK : EXIT_HARNESS;
    if (h.completion)
        return print_completion(stdout, h.completion) ? EXIT_OK : EXIT_HARNESS;
    if (h.subcommand)
        return help_on(h.subcommand);
    print_overview(stdout);
    return EXIT_OK;
}
