/* SPDX-License-Identifier: MIT
 *
 * Oracle refinement: the tower's states as they come, judged by the statements of tower.h.
 */
#include "oracles/judge.h"
#include "oracles/statements/tower.h"

#include <stdio.h>

struct refinement {
    struct tower_oracle tower;
    bool seen;       /* a state, since the initial heap stood */
    uint64_t before; /* collections then */
};

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

static bool shown(struct judge *j, void *view) {
    struct refinement *r = j->state;
    struct tower_oracle *o = &r->tower;
    r->seen = true;
    struct tower_view *v = view;
    if (tower_holds(o, v))
        return v->stage == TOWER_DONE;
    describe(j->found, v, o->level, o->where);
    judge_fail(
        j, v->stage == TOWER_REFUSED ? VIOLATION_false_out_of_memory : VIOLATION_refinement_broken,
        o->broken);
}

static bool built(struct judge *j) {
    struct refinement *r = j->state;
    r->seen = false;
    r->before = j->side->hooks->collections;
    return false;
}

static bool ended(struct judge *j) {
    const struct refinement *r = j->state;
    return judge_shown(j, r->before, r->seen);
}

const struct oracle_module oracle_refinement = {
    .meaning = "each level of the tower refines the one above, at every step",
    .source = "Myreen's copying collector, Figures 1 to 5 and section 4",
    .classes = {VIOLATION_refinement_broken, VIOLATION_false_out_of_memory,
                VIOLATION_promise_broken},
    .needs = 1u << NEED_refines,
    .state = sizeof(struct refinement),
    .fine = true,
    .built = built,
    .shown = shown,
    .ended = ended,
};
