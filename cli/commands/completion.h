/* SPDX-License-Identifier: MIT
 *
 * What may stand where on a command line, as the completion scripts of all shells have it: made
 * from what --help prints (help.h).
 */
#ifndef ISOHEAP_COMPLETION_H
#define ISOHEAP_COMPLETION_H

#include "cli/commands/help.h"
#include "cli/nearest.h"

struct completion {
    enum {
        COMPLETE_NOTHING,
        COMPLETE_FILES,
        COMPLETE_FOLDERS,
        COMPLETE_TARGETS,
        COMPLETE_WORDS
    } kind;
    /* COMPLETE_WORDS: the names of a list, which the scripts keep in a variable; NULL: none */
    const char *variable;
    /* and words with bars between them */
    const char *words;
    size_t length;
};

/* The lists that scripts keep in variables; variable NULL behind the last. */
struct completion_list {
    const char *variable;
    name_list *names;
};
extern const struct completion_list completion_lists[];

/* What the argument of an option may be. */
struct completion complete_option(const struct option_line *);
/* What a word that is no option may be, from the usage of a subcommand; first: the word behind its
 * name. */
struct completion complete_word(const char *help, bool first);

/* Prints its words, blanks between them. */
void put_choices(FILE *, const struct completion *);
/* Prints the names of a list, blanks between them. */
void put_list(FILE *, name_list *);

/* The scripts; texts has the help of each of `commands`. */
void put_bash(FILE *, char **texts);
void put_zsh(FILE *, char **texts);
void put_fish(FILE *, char **texts);

#endif
