/* SPDX-License-Identifier: MIT
 *
 * Trials: programs run in a child process, since a subject may crash; for reductions in tests and
 * benchmarks.
 *
 * The child serves one program after the other and is replaced when it dies, so that only crashes
 * cost a fork.  A conservative collector gets a new one for every program: what it takes for a
 * pointer may be left from the program before.
 */
#ifndef ISOHEAP_TRIAL_H
#define ISOHEAP_TRIAL_H

#include "harness/harness.h"
#include "program/program.h"
#include "program/reduction/reduce.h"

#include <sys/types.h>

struct trial {
    struct runner_options options;
    struct runner *runner;
    struct trial_shared *shared;
    struct verdict wanted;
    unsigned invalid; /* candidates that program_valid refuses */
    bool one_each;    /* a child for every program */
    pid_t server;     /* 0: none */
    int ask, answer;
};

/* Ends the process with a message if there is no memory, or later no child. */
void trial_open(struct trial *, const struct collector *subject, const struct collector *reference);
void trial_close(struct trial *);

/* VIOLATION_sanitizer with the detail "a crash" if the child died, "a hang" if it used up its time.
 */
struct verdict trial_judge(struct trial *, const struct program *);
bool trial_hangs(const struct verdict *);

/* The property of a reduction, context a struct trial: class, party and detail are those wanted. */
bool trial_keeps(const struct program *, void *trial);
/* Reduces as the command does: keeps and context are filled in, max_runs is the caller's; runs and
 * what else tells of the way are of all of it, or of a second attempt if the first led nowhere. */
void trial_reduce(struct trial *, struct reduction *, struct program *);

/* The first program of that many operations, decoded from random bytes, that raises the class; the
 * verdict is wanted from then on.  False: none of a thousand, or ten that hang before it. */
bool trial_find(struct trial *, enum violation, unsigned operations, struct program *);

#endif
