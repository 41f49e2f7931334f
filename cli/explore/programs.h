/* SPDX-License-Identifier: MIT
 *
 * The parts of `isoheap explore` on programs: programs.c is the command and its result,
 * programs_options.c the scope, programs_pool.c the processes, programs_state.c the file from which
 * a later call goes on, programs_progress.c what a person sees meanwhile.
 *
 * The units of the enumeration (program/enumeration/enumerate.h) are dealt out in *chunks* of
 * consecutive ones, whose size depends on the scope alone.  A collector is explored up to chunk n
 * if all chunks below n are done; figures are sums over them, so that neither the number of
 * processes nor interrupts can be seen in a result.
 */
#ifndef ISOHEAP_EXPLORE_PROGRAMS_H
#define ISOHEAP_EXPLORE_PROGRAMS_H

#include "cli/explore/explore.h"
#include "cli/job_options.h"
#include "program/enumeration/enumerate.h"

#include <argp.h>

/* Sums over programs. */
struct explore_figures {
    uint64_t programs;
    uint64_t not_run;    /* programs that the collector cannot be given */
    uint64_t operations; /* that had an effect */
    uint64_t skipped;    /* that had none */
    uint64_t checks;     /* comparisons of all heaps */
    uint64_t refusals;   /* allocations that the subject refused */
    uint64_t digest;     /* of all programs, in any order */
};

/* Why the first program that was not run was not. */
struct explore_reason {
    uint64_t chunk; /* that it is of */
    char text[VERDICT_TEXT];
};

struct exploration {
    /* the options */
    struct job_options job_options;
    struct job job; /* subject: the collector that is explored now */
    struct scope scope, asked;
    /* given by the user, not by the collector */
    bool own_menu, whole_menu, own_variants, own_kinds;
    const char *names[64], *state, *crashes;
    unsigned n_names, jobs;
    bool count_only, quiet;

    /* one collector */
    struct scope_count total;
    uint64_t chunk, chunks; /* units of a chunk; chunks of the scope */
    uint64_t done;          /* all chunks below are done */
    struct explore_figures figures;
    struct explore_reason not_run; /* of those figures, if they have any */

    /* the first violation in the order of the enumeration, if found */
    bool found, late;
    uint64_t found_chunk;
    struct verdict verdict;  /* class none: the process died */
    struct program *program; /* that raised it */

    /* progress */
    bool terminal;
    double started, shown;
    uint64_t programs_before; /* of figures, when this call began */
};

/* ---- programs_options.c -----------------------------------------------------------------------
 */

extern const struct argp explore_scope_argp; /* a child parser; input: struct exploration */
/* Completes the scope for a collector: what the user has not chosen follows from the collector. */
void explore_scope_for(struct exploration *, const struct collector *);

/* ---- programs_pool.c -----------------------------------------------------------------------
 */

/* Explores the subject from chunk `done` on, until all is done, a violation is found, or a signal
 * came.  False after a message: no processes. */
bool explore_pool(struct exploration *);

/* ---- programs_state.c -----------------------------------------------------------------------
 */

/* Takes figures and `done` from the state file of the subject, if there is one.  An exit status:
 * EXIT_OK; after a message EXIT_UNREADABLE, or EXIT_USAGE for a state of something else. */
int explore_load(struct exploration *);
/* False after a message. */
bool explore_save(const struct exploration *);

/* ---- programs_progress.c -----------------------------------------------------------------------
 */

void explore_begin(struct exploration *);
/* running: programs of chunks that are not done. */
void explore_show(struct exploration *, uint64_t running);
void explore_end(struct exploration *);

#endif
