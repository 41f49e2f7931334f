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

static inline bool has(const struct model *m, uint64_t variant) {
    return (m->variant & variant) != 0;
}

/* A field of a reference without an object reads as NULL, since the memory of free references is
 * kept 0. */
static inline uint8_t load_field(const struct state *s, unsigned p, const struct agent *a) {
    return tso_load(&s->tso, p, cell_field(a->src - 1U, a->field));
}

/* memory.c: a flag, or NO_OBJECT. */
uint8_t load_mark(const struct state *, unsigned p, oref ref);
/* A store into the buffer, or under sequential consistency into memory; returns events. */
unsigned store(const struct model *, struct state *, unsigned p, unsigned cell, unsigned value);
/* A pending store arrives in memory; returns a sum of events.  A store into an object that has been
 * freed is dropped, and is such an event. */
unsigned arrive(struct state *, unsigned p, struct tso_entry);
void free_object(const struct model *, struct state *, unsigned r);

/* Enters mark(ref) at its first label; the caller of mark is at pc. */
static inline void begin_mark(struct agent *a, unsigned pc, oref ref) {
    a->pc = (uint8_t)pc;
    a->mark_pc = mo_null;
    a->ref = ref;
}

/* memory.c: ghost: the answer of a mutator is there. */
void note_answer(struct state *, unsigned p);
/* step.c: a mutator answers, or the collector for it; work: the work-list goes to the collector,
 * figure 2 lines 19 and 33. */
void answer(struct state *, unsigned p, bool work);

/* pools.c: a mutator gathers a reference; begins to make an object of one; stores what it has not
 * stored of a->fresh; stores a field or the flag, and returns events. */
void pool_gather(const struct model *, struct state *, unsigned p, unsigned r);
void pool_alloc(const struct model *, struct state *, unsigned p, unsigned r);
void pool_end(const struct model *, struct agent *);
unsigned pool_step(const struct model *, struct state *, unsigned p);

/* collector.c: goes to a handshake, or past it in the variant that has none. */
void collector_enter(const struct model *, struct agent *gc, unsigned h);
/* collector.c: a step of the collector outside mark. */
unsigned collector_step(const struct model *, struct state *, const struct action *);

#endif
