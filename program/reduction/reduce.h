/* SPDX-License-Identifier: MIT
 *
 * Reduction: the smallest program that still has a property.
 *
 * Delta debugging (Zeller and Hildebrandt, 2002) over operations, items, roots and fields, big
 * chunks first, then simplifications of one part at a time, again and again until no single step
 * keeps the property.  Nothing here knows of collectors: the property is the caller's.
 */
#ifndef ISOHEAP_PROGRAM_REDUCE_H
#define ISOHEAP_PROGRAM_REDUCE_H

#include "program/program.h"

enum { REDUCTION_REMEMBERS = 1 << 15 }; /* programs known to be without the property */

struct reduction {
    /* Does a (valid) program have the property?  Must answer the same whenever it is asked. */
    bool (*keeps)(const struct program *, void *context);
    /* Called with every better program; may be NULL. */
    void (*improved)(const struct program *, void *context);
    /* Asked before every run: end with the best so far?  May be NULL. */
    bool (*stop)(void *context);
    void *context;
    unsigned max_runs; /* calls of keeps */

    /* Results. */
    unsigned runs, improvements;
    bool complete;        /* no single step is left; false: the budget or `stop` ended it */
    const char *possible; /* program_is_minimal: the step that keeps the property */

    /* Private. */
    struct program candidate, from, to;
    uint64_t refused[REDUCTION_REMEMBERS];
};

/* Reduces p, which has the property, in place.  Deterministic; a program that it returned complete
 * comes back unchanged.  *r is large (1 MB): static or on the heap; the fields before `Results`
 * are the caller's. */
void program_reduce(struct reduction *r, struct program *p);

/* Tries every single step of reduction on p.  True if none keeps the property; false with
 * r->possible naming one that does, or with r->complete false if the budget or `stop` ended it. */
bool program_is_minimal(struct reduction *r, const struct program *p);

#endif
