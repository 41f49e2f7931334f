/* SPDX-License-Identifier: MIT
 *
 * Macro steps of the on-the-fly model (reduce.h).
 */
#include "models/onthefly/exploration/assume.h"

#include <assert.h>

static void take(struct walk *w, struct state *s, const struct action *x) {
    assert(w->n < PATH_MAX_STEPS);
    struct assumed before;
    bool held = w->reduction != REDUCE_NONE && (x->process == GC || x->op == DO_COMMIT);
    w->path[w->n++] = *x;
    if (held)
        assume_before(&before, w->model, s, w->reduction == REDUCE_FULL && w->stable_loads);
    w->events |= model_apply(w->model, s, x);
    if (held && !w->unsound)
        w->unsound = assume_broken(&before, w->model, s, x);
    if (w->step)
        w->step(w, s);
}

static bool has(const struct walk *w, uint64_t variants) {
    return (w->model->variant & variants) != 0;
}

/* ---- local steps ------------------------------------------------------------------------------
 */

static bool stable_load(const struct walk *w, const struct state *s, unsigned p) {
    const struct agent *a = &s->agent[p];
    if (w->reduction != REDUCE_FULL || !w->stable_loads)
        return false;
    if (a->mark_pc == mo_fM)
        return assume_fM_stable(s, p);
    if (a->mark_pc == mo_phase)
        return assume_phase_stable(s, p);
    return a->mark_pc == mo_mark && assume_fM_stable(s, p) &&
           (state_marked(w->model, s) >> (a->ref - 1) & 1);
}

static bool mark_local(const struct walk *w, const struct state *s, unsigned p) {
    switch (s->agent[p].mark_pc) {
    case mo_fM:
    case mo_phase:
        return p == GC || stable_load(w, s, p);
    case mo_mark:
        return p != GC && stable_load(w, s, p);
    case mo_co_lock:
    case mo_co_cmark:
    case mo_co_unlock:
        return false;
    case mo_co_mark:
        return !w->model->sequential;
    default:
        return true;
    }
}

static bool mutator_local(const struct walk *w, const struct state *s, unsigned p) {
    switch (s->agent[p].pc) {
    case mut_lop_store_ins:
    case mut_hs_fence:
        return true;
    case mut_hs_type:
        return !type_asks_for_roots(s->type);
    case mut_hs_roots:
        return s->agent[p].refs != 0;
    case mut_store:
        return !w->model->sequential;
    default:
        return false;
    }
}

static bool collector_local(const struct walk *w, const struct state *s) {
    const struct agent *gc = &s->agent[GC];
    if (is_gc_store(gc->pc))
        return !w->model->sequential;
    switch (gc->pc) {
    case gc_load_fM:
    case gc_invert_fM:
    case gc_mark_load_fM:
    case gc_mark_loop:
    case gc_pick:
    case gc_field:
    case gc_mark_inner:
    case gc_sweep_load_fM:
    case gc_sweep:
    case gc_steal_pick:
        return true;
    case gc_free:
        return (gc->mark != gc->fM) == has(w, VARIANT(old_sense)) || gc->mark == NO_OBJECT;
    default:
        return false;
    }
}

/* That all have answered is seen at once; the rest follows from it. */
static bool handshake_local(const struct walk *w, const struct state *s) {
    const struct agent *gc = &s->agent[GC];
    switch (gc_part(gc->pc)) {
    case PART_FENCE:
    case PART_ASK:
    case PART_LOAD_W:
        return true;
    case PART_WAIT:
        return gc->refs != model_all_mutators(w->model);
    default:
        return false;
    }
}

static bool local(const struct walk *w, const struct state *s, unsigned p) {
    const struct agent *a = &s->agent[p];
    if (a->mark_pc != mo_out)
        return mark_local(w, s, p);
    if (p != GC)
        return mutator_local(w, s, p);
    return gc_handshake(a->pc) < HANDSHAKES ? handshake_local(w, s) : collector_local(w, s);
}

/* ---- choices ----------------------------------------------------------------------------------
 */

/* Sweeping past an object that is marked (and stays so), or past no object while new ones are
 * marked, changes nothing for anybody: it needs no interleaving. */
static bool sweeps_past(const struct walk *w, const struct state *s, unsigned r) {
    if (model_frees(w->model, state_fM(s), state_fM(s)))
        return false;
    if (!(s->alloc >> r & 1))
        return s->tso.memory[CELL_FA] == state_fM(s) && !assume_collector_stores(s, CELL_FA);
    return state_marked(w->model, s) >> r & 1;
}

/* Whether the answers that there are let the collector go on. */
static bool wait_ends(const struct walk *w, const struct state *s) {
    struct action actions[ACTIONS_MAX];
    struct state next = *s;
    while (next.agent[GC].pc == s->agent[GC].pc) {
        if (!model_actions(w->model, &next, GC, actions))
            return false;
        model_apply(w->model, &next, &actions[0]);
    }
    return true;
}

static unsigned first_only(struct action *actions, unsigned chosen) {
    actions[0] = actions[chosen];
    return 1;
}

static unsigned mutator_choices(const struct walk *w, struct action *actions, unsigned n) {
    unsigned kept = 0;
    for (unsigned i = 0; i < n; i++) {
        bool roots = actions[i].op == DO_LOAD || actions[i].op == DO_DISCARD;
        if (actions[i].op != DO_FENCE && !(roots && w->reduction == REDUCE_FULL))
            actions[kept++] = actions[i];
    }
    return kept;
}

/* The steps of a process that a search must try here. */
static unsigned choices(const struct walk *w, const struct state *s, unsigned p,
                        struct action *actions) {
    const struct agent *a = &s->agent[p];
    unsigned n = model_actions(w->model, s, p, actions);
    if (p != GC)
        return a->pc == mut_top ? mutator_choices(w, actions, n) : n;
    if (gc_handshake(a->pc) < HANDSHAKES && n) {
        bool waits = gc_part(a->pc) == PART_WAIT && s->pending;
        return waits && !wait_ends(w, s) ? 0 : first_only(actions, 0);
    }
    for (unsigned i = 0; i < n && a->pc == gc_sweep; i++)
        if (actions[i].op == DO_PICK && sweeps_past(w, s, actions[i].a))
            return first_only(actions, i);
    return n;
}

/* ---- macro steps ------------------------------------------------------------------------------
 */

/* A macro step may end before this local step, although it leaves no choice: the fence waits, and
 * the load of a flag that will free an object belongs to the freeing. */
static bool rests(const struct walk *w, const struct state *s, const struct action *x) {
    const struct agent *gc = &s->agent[GC];
    if (x->process != GC || gc->mark_pc != mo_out)
        return false;
    if (gc_handshake(gc->pc) < HANDSHAKES)
        return gc_part(gc->pc) == PART_FENCE;
    return gc->pc == gc_sweep && x->op == DO_PICK && !sweeps_past(w, s, x->a);
}

/* Local steps that leave no choice, and the rest of a CAS. */
static void settle(struct walk *w, struct state *s, unsigned p) {
    struct action actions[ACTIONS_MAX];
    for (;;) {
        bool locked = s->tso.lock == p;
        if (!locked && !local(w, s, p))
            return;
        unsigned n = choices(w, s, p, actions);
        if (locked && n == 0)
            take(w, s, &(struct action){(uint8_t)p, DO_COMMIT, 0, 0, 0});
        else if (n == 1 && !rests(w, s, &actions[0]))
            take(w, s, &actions[0]);
        else
            return;
    }
}

/* Only operations one by one ever wait for another mutator. */
static bool may_load(const struct walk *w, const struct state *s, unsigned p, unsigned r,
                     unsigned f) {
    const struct action load = {(uint8_t)p, DO_LOAD, (uint8_t)r, (uint8_t)f, 0};
    const struct action look = {(uint8_t)p, DO_STEP, 0, 0, 0};
    struct state next = *s;
    if (!has(w, VARIANT(one_by_one)))
        return true;
    if (!model_enabled(w->model, &next, &load))
        return false;
    model_apply(w->model, &next, &load);
    return model_enabled(w->model, &next, &look);
}

/* A mutator takes every reference into its roots that it can. */
static void load_all(struct walk *w, struct state *s, unsigned p) {
    const struct agent *a = &s->agent[p];
    for (unsigned r = 0; r < w->model->refs; r++)
        for (unsigned f = 0; f < w->model->fields && a->roots >> r & 1; f++) {
            unsigned target = tso_load(&s->tso, p, cell_field(r, f));
            if (!target || (a->roots >> (target - 1) & 1) || !may_load(w, s, p, r, f))
                continue;
            take(w, s, &(struct action){(uint8_t)p, DO_LOAD, (uint8_t)r, (uint8_t)f, 0});
            take(w, s, &(struct action){(uint8_t)p, DO_STEP, 0, 0, 0});
            r = UINT32_MAX; /* from the first root again */
            break;
        }
}

/* Ends a macro step that process p took. */
static void arrive(struct walk *w, struct state *s, unsigned p) {
    settle(w, s, p);
    for (unsigned i = 0; w->reduction == REDUCE_FULL && i < w->model->mutators; i++)
        if (s->agent[i].pc == mut_top)
            load_all(w, s, i);
    w->visit(w, s);
}

static void walk_on(struct walk *w, const struct state *s, unsigned p);

static void try_action(struct walk *w, const struct state *s, const struct action *x) {
    struct state next = *s;
    unsigned n = w->n, events = w->events, p = x->process;
    bool seen = x->op != DO_COMMIT && !local(w, s, p);
    if (p != GC && s->agent[p].pc == mut_top) /* choosing; only these two change anything */
        seen = x->op == DO_ALLOC || x->op == DO_DISCARD;
    take(w, &next, x);
    bool ended = p != GC && next.agent[p].pc == mut_top;
    if (seen || ended || x->op == DO_COMMIT)
        arrive(w, &next, p);
    else
        walk_on(w, &next, p);
    w->n = n;
    w->events = events;
}

/* About to mark its roots, a mutator may have discarded any of them. */
static void try_discards(struct walk *w, const struct state *s, const struct action *x) {
    unsigned p = x->process, roots = s->agent[p].roots;
    for (unsigned drop = roots;; drop = (drop - 1) & roots) {
        struct state next = *s;
        unsigned n = w->n, events = w->events;
        for (unsigned r = 0; r < w->model->refs; r++)
            if (drop >> r & 1)
                take(w, &next, &(struct action){(uint8_t)p, DO_DISCARD, (uint8_t)r, 0, 0});
        try_action(w, &next, x);
        w->n = n;
        w->events = events;
        if (!drop)
            return;
    }
}

static void walk_on(struct walk *w, const struct state *s, unsigned p) {
    struct action actions[ACTIONS_MAX];
    unsigned n = choices(w, s, p, actions);
    /* Blocked on the way: a store buffer is full of what the macro step has stored itself, or this
     * is an initial state that is not at rest. */
    if (n == 0 && w->n && (p == GC || s->tso.count[p] > w->pending)) {
        w->visit(w, s);
        return;
    }
    for (unsigned i = 0; i < n; i++)
        if (actions[i].op == DO_HANDSHAKE && w->reduction == REDUCE_FULL &&
            type_asks_for_roots(s->type))
            try_discards(w, s, &actions[i]);
        else
            try_action(w, s, &actions[i]);
}

static void all_steps(struct walk *w, const struct state *s, unsigned p) {
    struct action actions[ACTIONS_MAX];
    unsigned n = model_actions(w->model, s, p, actions);
    if (model_can_commit(s, p))
        actions[n++] = (struct action){(uint8_t)p, DO_COMMIT, 0, 0, 0};
    for (unsigned i = 0; i < n; i++) {
        struct state next = *s;
        take(w, &next, &actions[i]);
        w->visit(w, &next);
        w->n = 0;
        w->events = EVENT_NONE;
    }
}

void walk_begin(struct walk *w, const struct model *m, enum reduction reduction) {
    w->model = m;
    w->reduction = assume_reduction(m, reduction);
    w->stable_loads = assume_stable_loads(m);
    w->unsound = NULL;
}

void walk_successors(struct walk *w, const struct state *s) {
    w->n = 0;
    w->events = EVENT_NONE;
    for (unsigned p = 0; p < TSO_PROCESSES; p++) {
        if (p >= w->model->mutators && p != GC)
            continue;
        if (w->reduction == REDUCE_NONE) {
            all_steps(w, s, p);
            continue;
        }
        if (model_can_commit(s, p))
            try_action(w, s, &(struct action){(uint8_t)p, DO_COMMIT, 0, 0, 0});
        w->pending = s->tso.count[p];
        walk_on(w, s, p);
    }
}
