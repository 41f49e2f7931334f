/* SPDX-License-Identifier: MIT
 *
 * One collection of CakeML's: the roots, both levels in lockstep, the generations and the GC
 * trigger pointer afterwards.
 */
#include "collectors/cakeml/internal.h"

#include <string.h>

void collection_judge(struct gc *g, enum cakeml_stage stage) {
    bool whole = stage == CAKEML_START || stage == CAKEML_DONE;
    if (!g->config.hooks->refinement || !(g->view.lists || whole) || FAULTY(ck_untold))
        return;
    g->view.stage = stage;
    g->judged = true;
    g->config.hooks->refinement(g->config.hooks, &g->view);
    g->judged = false;
}

/* ---- roots ------------------------------------------------------------------------------------
 */

/* The slots as a list of heap addresses; unit in a slot is no root. */
static void read_roots(struct gc *g) {
    uint32_t n = 0;
    for (unsigned m = 0; m < g->config.mutators; m++) {
        const word *row = g->config.slots[m];
        for (unsigned s = 0; s < GC_SLOTS; s++) {
            if (row[s] == WORD_UNIT)
                continue;
            cakeml_value v = shadow_encode(g, row[s]);
            g->slot_of[n] = (uint16_t)(m * GC_SLOTS + s);
            g->roots[n] = v;
            g->word_roots[n++] = cakeml_word_addr(&g->view.rep, v);
        }
    }
    g->state.n_roots = g->words.n_roots = g->view.n_roots = n;
}

static void write_roots(struct gc *g) {
    for (uint32_t k = 0; k < g->view.n_roots; k++) {
        cakeml_value v =
            g->view.words ? cakeml_value_of(&g->view.rep, g->word_roots[k]) : g->roots[k];
        if (cakeml_is_pointer(v))
            g->config.slots[g->slot_of[k] / GC_SLOTS][g->slot_of[k] % GC_SLOTS] =
                shadow_decode(g, v);
    }
}

/* ---- lockstep ---------------------------------------------------------------------------------
 */

/* The algorithm level's next move; false if there is none. */
static bool step_algorithm(struct gc *g) {
    struct cakeml_state *s = &g->state;
    struct cakeml_view *v = &g->view;
    uint32_t a = s->a, n = s->n;
    cakeml_value *x = algorithm_next(s);
    v->x = v->x1 = 0;
    v->from = v->to = CAKEML_NONE;
    gc_tick(g->config.hooks);
    if (!x)
        return false;
    v->x = *x;
    v->x1 = *x = algorithm_move(s, *x);
    if (s->n != n) {
        v->from = cakeml_address(v->x);
        v->to = s->a != a ? a : s->a + s->n;
    }
    return true;
}

/* Two words of 0: the word level is done. */
void collection_step(struct gc *g, uint64_t before, uint64_t after) {
    if (!g->view.lists)
        return;
    g->view.word = before;
    g->view.word1 = after;
    step_algorithm(g);
    collection_judge(g, CAKEML_STEP);
}

/* The full collection of the pretend-heap, if it is not too much work for this run. */
static void simulate(struct gc *g) {
    uint32_t cost = g->view.limit - g->state.gen_start;
    if (!g->config.hooks->refinement || !g->state.partial || g->view.budget < cost)
        return;
    g->view.budget -= cost;
    g->view.sim = &g->sim;
    simulation_begin(g);
    for (cakeml_value *x; (x = algorithm_next(&g->sim));)
        *x = algorithm_move(&g->sim, *x);
}

/* ---- the whole --------------------------------------------------------------------------------
 */

static void set_states(struct gc *g, int gen) {
    struct cakeml_view *v = &g->view;
    struct cakeml_words *w = &g->words;
    v->partial = w->partial = gen >= 0;
    w->apart = !v->partial && v->next == CAKEML_GENERATIONAL;
    w->gs = v->partial ? v->starts[gen] : 0;
    w->rs = refs_start(g);
    g->state = (struct cakeml_state){.heap = &g->heaps[g->heap],
                                     .to = &g->heaps[!g->heap],
                                     .partial = v->partial,
                                     .apart = w->apart,
                                     .limit = v->limit,
                                     .gen_start = w->gs,
                                     .refs_start = w->rs,
                                     .unused = v->a,
                                     .roots = g->roots,
                                     .f = g->f};
    read_roots(g);
    if (!g->view.lists)
        return;
    memset(g->f, 0, (v->a + 1) * sizeof *g->f);
    memset(g->f + w->rs, 0, (v->limit - w->rs) * sizeof *g->f);
    algorithm_begin(&g->state);
}

static void run_levels(struct gc *g) {
    if (g->view.words)
        words_collect(g);
    else
        while (step_algorithm(g)) {
        }
    if (!g->view.lists)
        return;
    if (g->view.sim)
        collection_judge(g, CAKEML_SIMULATED);
    g->view.heap = algorithm_finish(&g->state);
    g->heap = g->view.heap == &g->heaps[1];
}

/* By default the trigger is the youngest generation's size away; a larger request moves it further
 * (section 3.2).  A non-generational collector has it at the end. */
void place_trigger(struct gc *g, uint32_t unused) {
    struct cakeml_view *v = &g->view;
    uint32_t near = v->request > v->sizes[0] ? v->request : v->sizes[0];
    if (FAULTY(ck_trigger_too_near))
        near = v->sizes[0];
    v->sp = v->kind == CAKEML_GENERATIONAL && near < unused ? near : unused;
    v->sp1 = unused - v->sp;
    if (FAULTY(ck_trigger_beyond) && v->partial)
        v->sp1++;
}

/* What has survived belongs to the next older generation now. */
static void age(struct gc *g, int gen) {
    struct cakeml_view *v = &g->view;
    unsigned n = gen >= 0 ? (unsigned)gen + 1 : v->n_gens;
    for (unsigned k = 0; k < n && !(FAULTY(ck_youngest_stays) && k == 0 && gen > 0); k++)
        v->starts[k] = v->a;
    if (FAULTY(ck_ages_the_unborn) && gen >= 0 && v->sp > 0)
        v->starts[0] = v->a + 1;
}

void collect_now(struct gc *g, int gen, uint32_t request) {
    struct cakeml_view *v = &g->view;
    uint32_t rs;
    v->request = request;
    v->unused = v->sp + v->sp1;
    v->collects = true;
    v->sim = NULL;
    set_states(g, gen);
    gc_note_fill(g->config.hooks, GC_FILL_NURSERY, v->a - v->starts[0]);
    collection_judge(g, CAKEML_START);
    v->kind = v->next;
    simulate(g);
    run_levels(g);
    rs = v->partial ? g->words.rs : v->limit;
    if (g->words.apart)
        rs = g->view.lists ? g->state.a + g->state.n : g->words.ib;
    v->a = g->view.words ? g->words.i : g->state.a;
    place_trigger(g, rs - v->a);
    age(g, gen);
    collection_judge(g, CAKEML_DONE);
    v->collects = false;
    write_roots(g);
    shadow_used(g);
    g->config.hooks->collections++;
}
