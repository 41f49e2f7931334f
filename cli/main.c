/* SPDX-License-Identifier: MIT
 *
 * The isoheap command: finds the subcommand and hands over.
 */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

static const struct command {
    const char *name, *summary;
    int (*run)(int argc, char **argv);
} commands[] = {
    {"list", "collectors, oracles, violation classes, targets, limits", command_list},
    {"run", "replay programs and judge them", command_run},
    {"show", "a program as text, heap map or picture", command_show},
    {"convert", "programs from bytes to text and back", command_convert},
};
enum { COMMANDS = sizeof commands / sizeof *commands };

static void help(FILE *out) {
    fprintf(
        out,
        "Usage: isoheap SUBCOMMAND [OPTION...] [FILE...]\n\n"
        "Differential fuzzing of OCaml-style garbage collectors.  A FILE is a program as text or\n"
        "bytes, told apart by the version line; - is standard input.\n\n");
    for (unsigned i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-8s  %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`isoheap SUBCOMMAND --help` tells the options.\n\n"
                 "Exit status: 0 no violation, 1 violation, 2 usage, 3 unreadable input, 4 harness "
                 "fault.\n");
}

/* The subcommand that a mistyped word may have meant: the same first letter. */
static const char *suggestion(const char *typed) {
    for (unsigned i = 0; i < COMMANDS; i++)
        if (commands[i].name[0] == typed[0])
            return commands[i].name;
    return NULL;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        help(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("isoheap, program format %d\n", PROGRAM_VERSION);
        return EXIT_OK;
    }
    for (unsigned i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 1, argv + 1);
    const char *meant = suggestion(argv[1]);
    fprintf(stderr, "isoheap: no subcommand is called %s%s%s; see `isoheap --help`\n", argv[1],
            meant ? "; did you mean " : "", meant ? meant : "");
    return EXIT_USAGE;
}
