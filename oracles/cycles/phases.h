/* SPDX-License-Identifier: MIT
 *
 * What the files of oracle phases share.  Not for others.
 */
#ifndef ISOHEAP_ORACLES_PHASES_H
#define ISOHEAP_ORACLES_PHASES_H

#include "oracles/judge.h"

/* The first that was found in this run.  Texts as in a verdict. */
struct phase_finding {
    enum violation violation; /* VIOLATION_none: nothing yet */
    const char *detail;
    char expected[VERDICT_TEXT], found[VERDICT_TEXT];
};

/* A set of blocks, a bit for each word of a heap: that of field 0.  Three of them have a byte for
 * each word. */
typedef uint64_t *phase_set;

struct phases {
    enum gc_stage last; /* the last end of a phase that was told */
    bool watched;       /* the collection under way is one that is looked at */
    bool inside_minor;
    bool of_cycle; /* its marking is that of a cycle, and about the old generation alone */
    uint64_t darkened, marked; /* side->calls: if there is another since, the mutator has written */
    uint64_t collections;      /* whose roots have been darkened in this run */
    uint64_t swept, before;    /* ends of sweeps: now, and at the last comparison */
    uint64_t interval;         /* steps from one look to the next while marking */
    size_t budget;             /* words of heaps that may still be looked at in this run */
    struct phase_finding finding;
    /* Of the heap when roots had been darkened: the blocks, those that no root reached, words. */
    phase_set allocated, unreached;
    phase_set black; /* when marking had ended */
    word words[];    /* the sets lie behind them */
};

/* Each looks at the heap as it is now, after it has walked it, and notes in state->finding what is
 * wrong, if nothing is noted yet. */
void phases_look_darkened(struct judge *);
void phases_look_marking(struct judge *);
void phases_look_marked(struct judge *);
void phases_look_swept(struct judge *);

#endif
