/* SPDX-License-Identifier: MIT
 *
 * How the steps of the on-the-fly model access memory (steps.h).
 */
#include "models/onthefly/steps.h"

#include <string.h>

void note_answer(struct state *s, unsigned p) {
    unsigned bit = 1U << p;
    s->pending &= (uint8_t)~bit;
    s->sync |= (uint8_t)bit;
    if (s->type != HS_WORK)
        s->agent[p].hp = s->hp;
}

/* tso_handshake. */
static void arrive_handshake(struct state *s, struct tso_entry e) {
    unsigned p = e.cell - (unsigned)CELL_PENDING;
    if (e.cell == CELL_TYPE)
        s->type = e.value;
    else if (e.value)
        s->pending |= (uint8_t)(1U << p);
    else
        note_answer(s, p);
}

unsigned arrive(struct state *s, unsigned p, struct tso_entry e) {
    unsigned events = p == GC && e.cell >= CELL_FIELD ? EVENT_GC_FIELD : EVENT_NONE;
    if (e.cell == CELL_TYPE || cell_is_pending(e.cell)) {
        arrive_handshake(s, e);
        return events;
    }
    if (e.cell >= CELL_MARK && !(s->alloc >> cell_ref(e.cell) & 1)) {
        unsigned bit = 1U << cell_ref(e.cell);
        if (!(s->agent[p].unborn & bit))
            return events | EVENT_LOST_STORE;
        if (cell_is_mark(e.cell)) { /* pools: here it is */
            s->alloc |= (refset)bit;
            s->agent[p].unborn &= (refset)~bit;
        }
    }
    s->tso.memory[e.cell] = e.value;
    return events;
}

unsigned store(const struct model *m, struct state *s, unsigned p, unsigned cell, unsigned value) {
    if (m->sequential)
        return arrive(s, p, (struct tso_entry){(uint8_t)cell, (uint8_t)value});
    tso_store(&s->tso, p, cell, value);
    return EVENT_NONE;
}

uint8_t load_mark(const struct state *s, unsigned p, oref ref) {
    unsigned r = ref - 1U, cell = cell_mark(r);
    for (unsigned i = s->tso.count[p]; i-- > 0;)
        if (s->tso.buffer[p][i].cell == cell)
            return s->tso.buffer[p][i].value;
    return s->alloc >> r & 1 ? s->tso.memory[cell] : NO_OBJECT;
}

/* Pools: who makes the next object of it has to see to its fields. */
void free_object(const struct model *m, struct state *s, unsigned r) {
    s->alloc &= (refset) ~(1U << r);
    s->doomed &= (refset) ~(1U << r);
    s->tso.memory[cell_mark(r)] = 0;
    if (!model_pools(m))
        memset(&s->tso.memory[cell_field(r, 0)], 0, FIELDS_MAX);
}
