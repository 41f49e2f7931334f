/* SPDX-License-Identifier: MIT
 *
 * The isoheap command: finds the subcommand and hands over.
 */
#include "cli/cli.h"
#include "cli/environment.h"
#include "cli/nearest.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

const struct command commands[] = {
    {"list", "collectors, oracles, violation classes, targets, limits", command_list},
    {"run", "replay programs and judge them", command_run},
    {"show", "a program as text, heap map or picture", command_show},
    {"convert", "programs from bytes to text and back", command_convert},
    {"reduce", "the smallest program with the same violation", command_reduce},
    {"export", "a violation as a C file of its own", command_export},
    {"fuzz", "a campaign over fuzz targets; files what it finds", command_fuzz},
    {"corpus", "keep corpora small and share them across targets", command_corpus},
    {"faults", "the benchmark of seeded faults", command_faults},
    {"mutants", "which lines of a collector could be wrong unnoticed", command_mutants},
    {"explore", "all programs of a small scope, all states of onthefly", command_explore},
    {"init", "a skeleton for a collector of your own", command_init},
    {"conformance", "hold a collector to the promises of the interface", command_conformance},
    {"help", "this help, the manual page, completion for bash, zsh, fish", command_help},
    {NULL, NULL, NULL},
};
enum { COMMANDS = sizeof commands / sizeof *commands - 1, WORD_LENGTH = 32 };

void print_overview(FILE *out) {
    fprintf(out,
            "Usage: isoheap SUBCOMMAND [OPTION...] [FILE...]\n\n"
            "Differential fuzzing of OCaml-style garbage collectors.  A FILE is a program as text\n"
            "or bytes, told apart by the version line; - is standard input.\n\n");
    for (unsigned i = 0; i < COMMANDS; i++)
        fprintf(out, "  %-11s  %s\n", commands[i].name, commands[i].summary);
    fprintf(out, "\n`isoheap SUBCOMMAND --help` tells the options, `isoheap --version` the "
                 "version.\n\n"
                 "Exit status: 0 no violation, 1 violation, 2 usage, 3 unreadable input, 4 harness "
                 "fault,\n5 no violation to reduce or export.\n\n"
                 "Environment:\n");
#define X(name, who, meaning) fprintf(out, "  %s\n      %s: %s\n", #name, who, meaning);
    ENVIRONMENT(X)
#undef X
}

/* argp takes the name for messages and help from argv[0]. */
static int run_command(const struct command *command, int argc, char **argv) {
    char name[WORD_LENGTH];
    snprintf(name, sizeof name, "isoheap %s", command->name);
    argv[0] = name;
    int status = command->run(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    fprintf(stderr, "isoheap: standard output: %s\n", strerror(errno));
    return status > EXIT_USAGE ? status : EXIT_USAGE;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        print_overview(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_overview(stdout);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("isoheap %s, program format %d\n", ISOHEAP_VERSION, PROGRAM_VERSION);
        return EXIT_OK;
    }
    for (unsigned i = 0; i < COMMANDS; i++)
        if (strcmp(argv[1], commands[i].name) == 0)
            return run_command(&commands[i], argc - 1, argv + 1);
    fprintf(stderr, "isoheap: no subcommand is called %s%s (`isoheap --help` names them)\n",
            argv[1], did_you_mean(argv[1], command_names));
    return EXIT_USAGE;
}
