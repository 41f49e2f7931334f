/* SPDX-License-Identifier: MIT
 *
 * What the files of the steps share: step.c (mark, mutators) and collector.c.  Private to them.
 */
#ifndef ISOHEAP_ONTHEFLY_STEPS_H
#define ISOHEAP_ONTHEFLY_STEPS_H

#include "models/onthefly/model.h"

static inline refset set_of(oref r) {
    return (refset)(1U << r >> 1);
}

static inline bool has(const struct model *m, unsigned variant) {
    return (m->variant & variant) != 0;
}

/* The fields of what is not there read as NULL: memory of free references is kept 0. */
static inline uint8_t load_field(const struct state *s, unsigned p, const struct agent *a) {
    return tso_load(&s->tso, p, cell_field(a->src - 1U, a->field));
}

/* memory.c: a flag, or NO_OBJECT. */
uint8_t load_mark(const struct state *, unsigned p, oref ref);
/* A store into the buffer, or under sequential consistency into memory; returns events. */
unsigned store(const struct model *, struct state *, unsigned p, unsigned cell, unsigned value);
/* A pending store arrives in memory.  What was meant for an object that is gone is dropped, and
 * told: the sum of events. */
unsigned arrive(struct state *, unsigned p, struct tso_entry);
void free_object(struct state *, unsigned r);

/* To the first label of mark(ref), whose caller is at pc. */
static inline void begin_mark(struct agent *a, unsigned pc, oref ref) {
    a->pc = (uint8_t)pc;
    a->mark_pc = mo_null;
    a->ref = ref;
}

/* collector.c: a step of the collector outside mark. */
unsigned collector_step(const struct model *, struct state *, const struct action *);

#endif
