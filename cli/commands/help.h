/* SPDX-License-Identifier: MIT
 *
 * What the manual page and the completion are made of: the texts that --help prints.
 */
#ifndef ISOHEAP_HELP_H
#define ISOHEAP_HELP_H

#include "cli/cli.h"

/* What `isoheap SUBCOMMAND --help` prints, in long lines; malloc'ed, NULL if it cannot be had. */
char *help_text(const struct command *);

/* A line of such a text that describes an option. */
struct option_line {
    char short_name; /* 0: none */
    char name[64];
    char argument[64];   /* as --help has it: DIR, bytes|text; empty: none */
    bool optional;       /* the argument may be left out */
    const char *meaning; /* the rest of the line; empty: the next line has the meaning */
};
bool parse_option_line(const char *line, size_t length, struct option_line *);

/* Calls visit with every line of text, without its end. */
void for_each_line(const char *text, void (*visit)(const char *line, size_t length, void *),
                   void *context);

/* man(7), for all subcommands.  False if a help text cannot be had. */
bool print_manual(FILE *);
/* bash, zsh or fish; NULL: there is no completion for it. */
const struct shell *completion_shell(const char *name);
/* The completion script of a shell.  False if a help text cannot be had. */
bool print_completion(FILE *, const struct shell *);

#endif
