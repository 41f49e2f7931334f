/* SPDX-License-Identifier: MIT
 *
 * What the subcommands of isoheap share.
 */
#ifndef ISOHEAP_CLI_H
#define ISOHEAP_CLI_H

#include "harness/harness.h"

enum exit_status {
    EXIT_OK = 0,
    EXIT_VIOLATION = 1,
    EXIT_USAGE = 2,
    EXIT_UNREADABLE = 3,
    EXIT_HARNESS = 4
};

int command_list(int argc, char **argv);
int command_run(int argc, char **argv);
int command_show(int argc, char **argv);
int command_convert(int argc, char **argv);

/* ---- input.c ----------------------------------------------------------------------------------
 */

/* Reads a program, text or bytes; "-" is standard input.  On failure says why on stderr. */
bool read_program(const char *path, struct program *, bool *was_text);
/* Calls visit for a file, or for every file below a directory, sorted. */
void for_each_file(const char *path, void (*visit)(const char *path, void *), void *context);
/* Writes atomically (temporary file, rename); "-" is standard output. */
bool write_file(const char *path, const void *data, size_t size);

/* ---- choose.c ---------------------------------------------------------------------------------
 */

/* A collector by name, registered or known-bad; prints the names and returns NULL if there is none.
 */
const struct collector *choose_collector(const char *name);
/* "a,b" only these, "-a" all but; 0 and a message for an unknown name. */
unsigned choose_oracles(const char *list);

/* VIOLATION_classes if there is none of that name; "none" is VIOLATION_none. */
enum violation choose_violation(const char *name);

/* ---- child.c ----------------------------------------------------------------------------------
 */

struct job {
    const struct collector *subject, *reference; /* reference NULL: the model alone */
    unsigned oracles;
    unsigned seconds; /* 0: run in this process */
    runner_observer *observe;
    void *context;
};
/* Runs a program in a child process.  Returns the verdict; a crash is class sanitizer, the end of
 * the time no_progress, with the operation that was running.  *report is malloc'ed: the runner's
 * report, or for a crash what the child wrote to stderr and the program. */
struct verdict run_job(const struct job *, const struct program *, char **report);

#endif
