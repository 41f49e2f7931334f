/* SPDX-License-Identifier: MIT
 *
 * What the reductions (reduce.h) assume of a collector, and how far they are known to hold for
 * which variant.
 *
 * A variant that nobody has put into the table is searched step by step.  For the others each step
 * of a reduced search is held to what the reduction needs: that the collector awaits every answer
 * before it begins another handshake or takes work over, that it alone stores control variables,
 * and that what a mutator is said to be able to load undisturbed does not change until that mutator
 * has taken a step.  The first step that does otherwise can be reached in the reduced search, since
 * up to there everything holds; so a search that has met none was a sound one.
 */
#ifndef ISOHEAP_ONTHEFLY_ASSUME_H
#define ISOHEAP_ONTHEFLY_ASSUME_H

#include "models/onthefly/exploration/reduce.h"

/* The strongest reduction, not beyond the wanted one, that is known to hold for a collector. */
enum reduction assume_reduction(const struct model *, enum reduction wanted);
/* Whether loads that nobody can disturb are local for this collector. */
bool assume_stable_loads(const struct model *);

/* f_M, or phase, does not change before mutator p has answered another handshake. */
bool assume_fM_stable(const struct state *, unsigned p);
bool assume_phase_stable(const struct state *, unsigned p);
bool assume_collector_stores(const struct state *, unsigned cell);

/* A step is about to be taken. */
struct assumed {
    uint8_t fM_held, phase_held; /* mutators for which they do not change */
    uint8_t type, pending, pc, fM, phase;
    refset alloc, marked;
};
void assume_before(struct assumed *, const struct model *, const struct state *, bool loads);
/* It has been taken: NULL, or what was assumed in vain. */
const char *assume_broken(const struct assumed *, const struct model *, const struct state *,
                          const struct action *);

#endif
