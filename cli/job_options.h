/* SPDX-License-Identifier: MIT
 *
 * The options of all subcommands that judge programs: on which collector, against which reference,
 * with which oracles and masks, for how long (job_options.c).
 */
#ifndef ISOHEAP_CLI_JOB_OPTIONS_H
#define ISOHEAP_CLI_JOB_OPTIONS_H

#include "cli/cli.h"

#include <argp.h>

struct job_options {
    struct job job;                    /* complete after complete_job */
    const char *collector, *reference; /* names; collector NULL: the default */
    const char *target;                /* as --target has it, or NULL */
};
#define JOB_OPTIONS                                                                                \
    { .job = {.seconds = RUN_SECONDS}, .reference = DEFAULT_REFERENCE }

/* --reference, --oracles, --unmask, --target and --timeout, as a child for argp. */
extern const struct argp judge_argp;
/* With --collector and --plugin: children, NULL at the end. */
extern const struct argp_child job_children[];
/* The parent hands them their input with this at ARGP_KEY_INIT; children: its own. */
void take_job_options(struct argp_state *, const struct argp_child *children, struct job_options *);

/* Finds the collectors.  False after a message: EXIT_USAGE. */
bool complete_job(struct job_options *);
/* The same for a collector that has been found otherwise. */
bool complete_judge(struct job_options *);
/* Whether the masks of --unmask are masks of this collector or of the reference.  False after a
 * message that names those that there are. */
bool knows_masks(const struct job *);

#endif
