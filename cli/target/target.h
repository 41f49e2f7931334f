/* SPDX-License-Identifier: MIT
 *
 * Runs in the binary of a fuzz target, sanitizers and all, instead of a child of this process:
 * session.c keeps such a binary and sends it programs, choose.c finds it (--target).
 */
#ifndef ISOHEAP_CLI_TARGET_H
#define ISOHEAP_CLI_TARGET_H

#include "cli/job_options.h"
#include "harness/judged.h"

/* ---- session.c --------------------------------------------------------------------------------
 */

/* Sees to it that the job's target waits for programs.  What it shares with us stays its own, and
 * is overwritten by the next run.  False: it does not serve, and `why` (VERDICT_TEXT bytes) says
 * why not. */
bool target_begin(const struct job *, struct judged_place **, struct judged_result **, char *why);
/* Runs a program there, after target_begin: death and result are as after a run in a child.  What
 * the target says goes into `said`, up to death->said_length bytes. */
void target_run(const struct job *, const struct program *, struct death *, char *said);

/* ---- choose.c ---------------------------------------------------------------------------------
 */

/* The collector that the target of that path fuzzes by its name; NULL: none that we know. */
const char *target_collector(const char *path);
/* The job's target: the one that was asked for, a binary or the folder that has it; "none"; NULL:
 * the one beside the subject's plug-in, if there is one.  False after a message. */
bool choose_target(struct job *, const char *asked);
/* A finding whose header names a sanitizer needs one: the job gets the fuzz build's target of its
 * subject if nobody has said otherwise and there is one. */
void choose_target_for(struct job *, const char *file);

/* Would the job have the same verdict without its target?  Else what it has. */
bool same_without_target(const struct job *, const struct program *, const struct verdict *,
                         struct verdict *plain);
/* "only in the target x/fuzz_y: without it there is no violation", or "" if it is the same without
 * it. */
void describe_without_target(const struct job *, const struct program *, const struct verdict *,
                             char *out, size_t capacity);

#endif
