/* SPDX-License-Identifier: MIT
 *
 * What the commands share about schedules of the on-the-fly model.
 */
#ifndef ISOHEAP_CLI_SCHEDULE_H
#define ISOHEAP_CLI_SCHEDULE_H

#include "cli/cli.h"
#include "cli/schedule_file.h"
#include "models/onthefly/schedules/schedule.h"

/* Reads the text of a schedule; "-" is standard input.  On failure says why on stderr. */
bool read_schedule(const char *path, struct schedule *);

/* Runs a schedule without checks; false, and a message, if a step cannot be taken. */
bool schedule_leads_to(const char *path, const struct schedule *, struct state *);

/* The violation class of what a run or a search broke. */
enum violation broken_class(unsigned broken);
/* "all", "safety", names "a,b", or safety and names "safety,a"; 0 and a message for an unknown one.
 */
unsigned choose_invariants(const char *list);
/* The variants in "a,b", as a sum of VARIANT(name).  False after a message if one is unknown. */
bool choose_variants(const char *list, uint64_t *variants);

/* Runs a schedule, with these invariants or, if they are 0, those that it names, and prints its
 * verdict, with a report if there is a violation and it was not expected, or columns are asked for.
 * expected: VIOLATION_none, or the class that must come. Returns an exit status. */
int replay_schedule(const char *path, unsigned invariants, enum violation expected, bool columns,
                    bool quiet);

/* Writes a schedule as text, as a whole or not at all; "-" is standard output.  False after a
 * message if it cannot be written. */
bool write_schedule(const struct schedule *, const char *path);

#endif
