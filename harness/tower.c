/* SPDX-License-Identifier: MIT
 *
 * The refinement oracle: the tower's states as they come, judged by oracles/tower.h.
 */
#include "harness/internal.h"

#include <stdio.h>

_Static_assert((int)TOWER_HALF >= (int)PROGRAM_HEAP_WORDS,
               "the tower takes every heap of a program");

/* The state of a level at an address, for the report. */
static void describe(char *out, const struct tower_view *v, enum tower_level level, uint32_t a) {
    static const char *const kinds[] = {"Emp", "Ref", "Block"};
    if (a == TOWER_NONE)
        return;
    if (a >= TOWER_ADDRESSES) {
        snprintf(out, VERDICT_TEXT, "address %u, which is in no memory", (unsigned)a);
        return;
    }
    if (level == TOWER_L4) {
        snprintf(out, VERDICT_TEXT, "address %u of L4: the word 0x%x", (unsigned)a,
                 (unsigned)v->l4->g[a]);
        return;
    }
    if (level == TOWER_L3) {
        const struct tower_cell *cell = &v->l3->m[a];
        snprintf(out, VERDICT_TEXT, "address %u of L3: %s %u", (unsigned)a, kinds[cell->kind],
                 (unsigned)cell->n);
        return;
    }
    snprintf(out, VERDICT_TEXT, "address %u of L2: %sin domain h, f(%u) = %u%s%s%s", (unsigned)a,
             v->l2->h[a] ? "" : "not ", (unsigned)a, (unsigned)tower_f(v->l2, a),
             v->l2->sets[a] & TOWER_X ? ", in x" : "", v->l2->sets[a] & TOWER_Y ? ", in y" : "",
             v->l2->sets[a] & TOWER_Z ? ", in z" : "");
}

void judge_refinement(struct gc_hooks *hooks, void *view) {
    struct side *s = side_of(hooks);
    struct runner *r = runner_of(s);
    enum party party = s->party;
    const struct tower_view *v = view;
    if (v->stage == TOWER_DONE)
        r->verdict.counts.oracles[ORACLE_refinement]++;
    if (tower_holds(&s->tower, view))
        return;
    describe(r->verdict.found, v, s->tower.level, s->tower.where);
    fail(r, v->stage == TOWER_REFUSED ? VIOLATION_false_out_of_memory : VIOLATION_refinement_broken,
         ORACLE_refinement, party, s->tower.broken);
}
