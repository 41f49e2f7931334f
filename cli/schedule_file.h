/* SPDX-License-Identifier: MIT
 *
 * Files that are schedules of the on-the-fly model, for the commands that take programs too.
 */
#ifndef ISOHEAP_CLI_SCHEDULE_FILE_H
#define ISOHEAP_CLI_SCHEDULE_FILE_H

#include <stdbool.h>

/* Whether a file begins with the version line of a schedule; never true of standard input. */
bool is_schedule_file(const char *path);
/* Prints a schedule with the labels of its steps, or its interleaving in columns; "-" is standard
 * output.  Returns an exit status, as the next one does. */
int show_schedule(const char *path, bool columns, const char *out);
/* Writes the schedule with as few steps as still break one of the invariants that it breaks. */
int reduce_schedule(const char *path, const char *out);

#endif
