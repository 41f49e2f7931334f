/* SPDX-License-Identifier: MIT
 *
 * What a collector of CakeML shows and what it chooses (cakeml.h): the states of a collection in
 * their order, with all its moves; whether it is partial or full, and of which generation
 * (section 3.2, and docs/cakeml.md for what the paper leaves open).
 */
#include "oracles/statements/cakeml.h"

#include <string.h>

static bool untold(struct cakeml_oracle *o, const char *statement) {
    return cakeml_broken(o, VIOLATION_promise_broken, CAKEML_NONE, statement);
}

void cakeml_begin(struct cakeml_oracle *o) {
    o->shown = 0;
}

/* ---- states -----------------------------------------------------------------------------------
 */

static bool is_within(enum cakeml_stage stage) {
    return stage == CAKEML_STEP || stage == CAKEML_SIMULATED || stage == CAKEML_DONE;
}

/* What the simulation of a collection that has this state costs. */
static uint32_t cost(const struct cakeml_view *v) {
    return v->limit - v->s->gen_start;
}

static void begin_collection(struct cakeml_oracle *o, const struct cakeml_view *v) {
    o->request = v->request;
    o->budget = v->budget;
    o->space = v->s->n;
    o->copied = 0;
    o->over = o->simulated = false;
    memcpy(o->starts, v->starts, sizeof o->starts);
}

bool cakeml_order(struct cakeml_oracle *o, const struct cakeml_view *v) {
    bool collecting = o->shown == CAKEML_START + 1 || o->shown == CAKEML_STEP + 1 ||
                      o->shown == CAKEML_SIMULATED + 1;
    o->shown = v->stage + 1;
    if (is_within(v->stage) != collecting)
        return untold(o, collecting ? "a collection has begun, and its end is not shown"
                                    : "the beginning of a collection is not shown");
    if (!v->lists && v->stage != CAKEML_START && v->stage != CAKEML_DONE)
        return untold(o, "words alone show what only lists can");
    if (v->stage == CAKEML_START)
        begin_collection(o, v);
    return true;
}

/* Those of a collection that has lists, at its end. */
static bool all_shown(struct cakeml_oracle *o, const struct cakeml_view *v) {
    bool due = v->partial && o->budget >= cost(v);
    if (v->words && (!o->over || o->copied != o->space - v->s->n))
        return untold(o, "not all moves of a collection are shown");
    if (o->simulated != due)
        return untold(o, due ? "a simulation that can be paid for is not shown"
                             : "a simulation is shown that was not to be paid for");
    if (v->budget != o->budget - (due ? cost(v) : 0))
        return untold(o, "the budget of simulations is not what they have left of it");
    return true;
}

bool cakeml_whole(struct cakeml_oracle *o, const struct cakeml_view *v) {
    if (v->stage == CAKEML_STEP) {
        o->over = v->word == 0; /* a pointer is odd */
        if (v->to != CAKEML_NONE)
            o->copied += cakeml_el_length(&v->s->to->el[v->to]);
    }
    o->simulated |= v->stage == CAKEML_SIMULATED;
    return v->stage != CAKEML_DONE || all_shown(o, v);
}

/* ---- choices ----------------------------------------------------------------------------------
 */

static bool chosen_wrongly(struct cakeml_oracle *o, const char *statement) {
    return cakeml_broken(o, VIOLATION_refinement_broken, CAKEML_NONE, statement);
}

/* Start of the oldest generation that has as many new words as its size, or of the youngest. */
static uint32_t ripe_start(const struct cakeml_view *v) {
    uint32_t start = v->starts[0];
    for (unsigned k = 1; k < v->n_gens; k++)
        if (v->a - v->starts[k] >= v->sizes[k])
            start = v->starts[k];
    return start;
}

/* For an allocation, since who asks for a collection chooses it. */
bool cakeml_choice(struct cakeml_oracle *o, const struct cakeml_view *v) {
    bool partial = v->kind == CAKEML_GENERATIONAL && v->unused >= v->request;
    if (v->s->apart != (!v->partial && v->next == CAKEML_GENERATIONAL))
        return chosen_wrongly(o, "conf.isRef is for the generational kind's full collection");
    if (v->request == 0)
        return true;
    if (v->request <= v->sp)
        return chosen_wrongly(o, "3.2: a collection before the GC trigger pointer is reached");
    if (v->partial != partial)
        return chosen_wrongly(o, partial ? "3.2: a full collection where a partial one will do"
                                         : "3.2: a partial collection that may not free enough");
    if (partial && v->s->gen_start != ripe_start(v))
        return chosen_wrongly(o, "another generation than the oldest that is ripe is collected");
    return true;
}

/* What has survived belongs to the next older generation: those that were collected start behind
 * it, and the others where they did.  Of several that started where the collection did, the
 * youngest was collected at least. */
bool cakeml_aged(struct cakeml_oracle *o, const struct cakeml_view *v) {
    bool all = !v->partial;
    uint32_t from = v->s->gen_start;
    for (unsigned k = 0; k < v->n_gens; k++) {
        uint32_t before = o->starts[k];
        bool collected =
            all || before > from || (before == from && (k == 0 || o->starts[k - 1] > from));
        bool may = collected || before == from;
        if ((may && v->starts[k] == v->a) || (!collected && v->starts[k] == before))
            continue;
        return cakeml_broken(o, VIOLATION_generation_order_broken, v->starts[k],
                             may ? "a generation that was collected starts before the data's end"
                                 : "a generation that was not collected starts elsewhere");
    }
    return true;
}
