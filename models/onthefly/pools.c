/* SPDX-License-Identifier: MIT
 *
 * Allocation from pools of a thread (steps.h), which section 4 of TSO has devised and not verified:
 * mutators gather references that nobody has, and allocate from these by themselves.  Fields and
 * flag are stored like anything else, and there is no fence: whoever finds the reference in memory
 * finds them there too, since they left the buffer before it.
 *
 * An object is there when its flag has arrived in memory.  Until then only its maker has it
 * (unborn); the sweep takes no notice, and its fields hold what the last object has left in them.
 */
#include "models/onthefly/steps.h"

/* Under a lock in the world; here, and there, one step. */
void pool_gather(const struct model *m, struct state *s, unsigned p, unsigned r) {
    struct agent *a = &s->agent[p];
    a->pool |= (refset)(1U << r);
    if (has(m, VARIANT(pools_early_flag)))
        a->sense = tso_load(&s->tso, p, CELL_FA);
}

void pool_alloc(const struct model *m, struct state *s, unsigned p, unsigned r) {
    struct agent *a = &s->agent[p];
    a->pool &= (refset) ~(1U << r);
    a->unborn |= (refset)(1U << r);
    a->src = (oref)(r + 1U);
    a->pc = has(m, VARIANT(pools_late_fields)) ? mut_init_flag : mut_init_field;
}

void pool_end(const struct model *m, struct agent *a) {
    a->src = a->fresh;
    a->pc = has(m, VARIANT(pools_late_flag)) ? mut_init_flag : mut_init_field;
}

/* All is stored; or half of it, and the mutator goes on as if it were all. */
static void stored(struct agent *a, bool half) {
    a->roots |= set_of(a->src);
    a->fresh = half ? a->src : 0;
    a->src = a->field = 0;
    a->pc = mut_top;
    if (!half && !a->pool)
        a->sense = 0;
}

static unsigned flag_of(const struct model *m, const struct state *s, unsigned p) {
    return has(m, VARIANT(pools_early_flag)) ? s->agent[p].sense : tso_load(&s->tso, p, CELL_FA);
}

unsigned pool_step(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    bool halves = has(m, VARIANT(pools_late_fields) | VARIANT(pools_late_flag));
    unsigned r = a->src - 1U;
    if (a->pc == mut_init_flag) {
        unsigned events = store(m, s, p, cell_mark(r), flag_of(m, s, p));
        stored(a, halves && !a->fresh);
        return events;
    }
    unsigned events = store(m, s, p, cell_field(r, a->field), 0);
    if (++a->field == m->fields) {
        a->field = 0;
        if (halves)
            stored(a, !a->fresh);
        else
            a->pc = mut_init_flag;
    }
    return events;
}
