/* SPDX-License-Identifier: MIT
 *
 * Which steps a process of the on-the-fly model can take: the guards (model.h).
 */
#include "models/onthefly/model.h"

struct list {
    struct action *out;
    unsigned n, process;
};

static void add(struct list *l, enum step_kind op, unsigned a, unsigned b, unsigned c) {
    l->out[l->n++] =
        (struct action){(uint8_t)l->process, (uint8_t)op, (uint8_t)a, (uint8_t)b, (uint8_t)c};
}

static void add_each(struct list *l, enum step_kind op, unsigned set) {
    for (unsigned i = 0; set >> i; i++)
        if (set >> i & 1)
            add(l, op, i, 0, 0);
}

static void add_if(struct list *l, bool guard) {
    if (guard)
        add(l, DO_STEP, 0, 0, 0);
}

static bool can_store(const struct model *m, const struct state *s, unsigned p) {
    if (m->sequential)
        return tso_free(&s->tso, p);
    return tso_can_store(&s->tso, p, p == GC ? m->gc_buffer : m->buffer);
}

/* The pending bits as a process reads them: its own stores of tso_handshake come first. */
static unsigned pending_for(const struct state *s, unsigned p) {
    unsigned set = s->pending;
    for (unsigned i = 0; i < s->tso.count[p]; i++) {
        struct tso_entry e = s->tso.buffer[p][i];
        if (cell_is_pending(e.cell))
            set = (set & ~(1U << (e.cell - CELL_PENDING))) | (unsigned)e.value
                                                                 << (e.cell - CELL_PENDING);
    }
    return set;
}

/* A load, or a locked instruction, of handshakes in memory. */
static bool hs_load(const struct model *m, const struct state *s, unsigned p) {
    return !model_tso_handshake(m) || tso_free(&s->tso, p);
}
static bool hs_locked(const struct model *m, const struct state *s, unsigned p) {
    return !model_tso_handshake(m) || (tso_can_lock(&s->tso) && tso_drained(&s->tso, p));
}
static bool hs_store(const struct model *m, const struct state *s, unsigned p) {
    return !model_tso_handshake(m) || can_store(m, s, p);
}
/* give_answer (step.c): hands work over first, or stores the answer. */
static bool hs_answer(const struct model *m, const struct state *s, unsigned p, bool work) {
    bool early = m->variant & VARIANT(early_answer);
    return work && !early ? hs_locked(m, s, p) : hs_store(m, s, p);
}

static bool sees_request(const struct model *m, const struct state *s, unsigned p) {
    return pending_for(s, p) >> p & 1 && hs_load(m, s, p) && !(m->variant & VARIANT(deaf));
}

static bool mark_guard(const struct model *m, const struct state *s, unsigned p) {
    switch (s->agent[p].mark_pc) {
    case mo_mark:
    case mo_fM:
    case mo_phase:
    case mo_co_cmark:
        return tso_free(&s->tso, p);
    case mo_co_lock:
        return tso_can_lock(&s->tso);
    case mo_co_mark:
        return can_store(m, s, p);
    case mo_co_unlock:
        return m->variant & VARIANT(early_unlock) ? s->tso.lock == p : tso_can_unlock(&s->tso, p);
    default:
        return true; /* local */
    }
}

/* ---- operations one by one: what a program of isoheap can make of the collector ----------------
 */

/* A mutator that answers a handshake may do so beside the operation of another. */
static bool operates(const struct agent *a) {
    switch (a->pc) {
    case mut_top:
    case mut_hs_fence:
    case mut_hs_type:
    case mut_hs_done:
    case mut_hs_roots:
    case mut_hs_roots_mark:
    case mut_blocked:
    case mut_answered:
    case mut_gone:
        return false;
    default:
        return true;
    }
}

static bool may_begin(const struct model *m, const struct state *s, unsigned p) {
    bool alone = true;
    for (unsigned other = 0; other < m->mutators; other++)
        alone &= other == p || !operates(&s->agent[other]);
    return alone || !(m->variant & VARIANT(one_by_one));
}

/* What another mutator has stored into the field is in memory. */
static bool field_is_settled(const struct model *m, const struct state *s, unsigned p) {
    const struct agent *a = &s->agent[p];
    unsigned cell = cell_field(a->src - 1u, a->field);
    bool settled = true;
    for (unsigned other = 0; other < m->mutators; other++)
        for (unsigned i = 0; other != p && i < s->tso.count[other]; i++)
            settled &= s->tso.buffer[other][i].cell != cell;
    return settled || !(m->variant & VARIANT(one_by_one));
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* To go, and to make others, with a root of one's own each. */
static void add_lives(struct list *l, const struct model *m, const struct state *s) {
    if (m->variant & VARIANT(go_unfenced) || tso_drained(&s->tso, l->process))
        add(l, DO_GO, 0, 0, 0);
    for (unsigned p = 0; p < m->mutators; p++)
        for (unsigned r = 0; r < m->refs && s->agent[p].pc == mut_gone; r++)
            if (s->agent[l->process].roots >> r & 1)
                add(l, DO_COME, p, r, 0);
}

/* References that no object and no mutator has. */
static unsigned nobodys(const struct model *m, const struct state *s) {
    unsigned taken = s->alloc;
    for (unsigned p = 0; p < m->mutators; p++)
        taken |= s->agent[p].pool | s->agent[p].unborn;
    return ((1U << m->refs) - 1) & ~taken;
}

static void add_allocations(struct list *l, const struct model *m, const struct state *s) {
    const struct agent *a = &s->agent[l->process];
    if (!model_pools(m)) {
        add_each(l, DO_ALLOC, nobodys(m, s));
        return;
    }
    add_each(l, DO_ALLOC, a->pool);
    if (!(m->variant & VARIANT(pools_early_flag)) || !a->pool)
        add_each(l, DO_GATHER, nobodys(m, s));
}

/* Pools, broken: what is not all stored yet may be stored into another object, or else must be
 * completed. */
static void add_fresh(struct list *l, const struct model *m, const struct agent *a) {
    add(l, DO_STEP, 0, 0, 0);
    for (unsigned r = 0; r < m->refs; r++)
        for (unsigned f = 0; f < m->fields && a->roots >> r & 1 && r != a->fresh - 1U; f++)
            add(l, DO_STORE, r, f, a->fresh);
}

static void add_operations(struct list *l, const struct model *m, const struct state *s) {
    const struct agent *a = &s->agent[l->process];
    if (a->fresh) {
        add_fresh(l, m, a);
        return;
    }
    if (!may_begin(m, s, l->process)) {
        if (sees_request(m, s, l->process))
            add(l, DO_HANDSHAKE, 0, 0, 0);
        return;
    }
    add_allocations(l, m, s);
    add_each(l, DO_DISCARD, a->roots);
    if (tso_drained(&s->tso, l->process))
        add(l, DO_FENCE, 0, 0, 0);
    if (model_blocks(m) &&
        (m->variant & VARIANT(blocks_unfenced) || tso_drained(&s->tso, l->process)))
        add(l, DO_BLOCK, 0, 0, 0);
    if (model_comes_and_goes(m))
        add_lives(l, m, s);
    if (sees_request(m, s, l->process))
        add(l, DO_HANDSHAKE, 0, 0, 0);
    for (unsigned r = 0; r < m->refs; r++)
        for (unsigned f = 0; f < m->fields && a->roots >> r & 1; f++) {
            add(l, DO_LOAD, r, f, 0);
            for (unsigned v = 0; v <= m->refs; v++)
                if (v == 0 || a->roots >> (v - 1) & 1)
                    add(l, DO_STORE, r, f, v);
        }
}

static void add_mutator(struct list *l, const struct model *m, const struct state *s) {
    const struct agent *a = &s->agent[l->process];
    switch (a->pc) {
    case mut_top:
        add_operations(l, m, s);
        return;
    case mut_load:
        add_if(l, tso_free(&s->tso, l->process) && field_is_settled(m, s, l->process));
        return;
    case mut_deref_del:
        add_if(l, tso_free(&s->tso, l->process));
        if (m->variant & VARIANT(free_barriers) && a->dst && tso_free(&s->tso, l->process))
            add(l, DO_PICK, a->dst - 1U, 0, 0);
        return;
    case mut_late_deref:
        add_if(l, tso_free(&s->tso, l->process));
        return;
    case mut_store:
        if (model_polls_in_store(m) && sees_request(m, s, l->process))
            add(l, DO_HANDSHAKE, 0, 0, 0);
        add_if(l, can_store(m, s, l->process) && field_is_settled(m, s, l->process));
        return;
    case mut_blocked:
        add(l, DO_WAKE, 0, 0, 0);
        return;
    case mut_answered:
    case mut_gone:
        return;
    case mut_init_field:
        add_if(l, can_store(m, s, l->process));
        return;
    case mut_init_flag: /* a load, and a store */
        add_if(l, can_store(m, s, l->process) && tso_free(&s->tso, l->process));
        return;
    case mut_hs_fence:
        add_if(l, m->variant & VARIANT(no_mutator_fence) || tso_drained(&s->tso, l->process));
        return;
    case mut_hs_roots:
        add_each(l, DO_PICK, a->refs);
        add_if(l, !a->refs && hs_answer(m, s, l->process, true) &&
                      (!(m->variant & VARIANT(mutator_sets_phase)) || can_store(m, s, l->process)));
        return;
    case mut_hs_type:
        add_if(l, hs_load(m, s, l->process));
        return;
    case mut_hs_done:
        add_if(l, hs_answer(m, s, l->process, s->type == HS_WORK));
        return;
    case mut_hs_answer:
        add_if(l, hs_store(m, s, l->process));
        return;
    case mut_hs_hand:
        add_if(l, hs_locked(m, s, l->process));
        return;
    default:
        add_if(l, true);
        return;
    }
}

/* Of those that are awaited, who is blocked and has not answered. */
static void add_answers(struct list *l, const struct model *m, const struct state *s) {
    unsigned asked = s->agent[GC].refs & s->pending;
    for (unsigned p = 0; p < m->mutators && !(m->variant & VARIANT(blocks_unanswered)); p++)
        if (asked >> p & 1 && s->agent[p].pc == mut_blocked)
            add(l, DO_ANSWER, p, 0, 0);
}

static void add_handshake(struct list *l, const struct model *m, const struct state *s) {
    const struct agent *a = &s->agent[GC];
    switch (gc_part(a->pc)) {
    case PART_FENCE:
        add_if(l, tso_drained(&s->tso, GC));
        return;
    case PART_TYPE:
        add_if(l, hs_store(m, s, GC));
        return;
    case PART_ASK:
        if (hs_store(m, s, GC))
            add_each(l, DO_MUTATOR, a->refs);
        return;
    case PART_LOAD_W:
        add_if(l, hs_locked(m, s, GC));
        return;
    case PART_WAIT:
        if (hs_load(m, s, GC))
            add_each(l, DO_MUTATOR, a->refs & ~pending_for(s, GC));
        add_answers(l, m, s);
        add_if(l, m->variant & VARIANT(no_wait) && (a->refs & (a->refs - 1)) == 0);
        return;
    default:
        add_if(l, true);
        return;
    }
}

static void add_collector(struct list *l, const struct model *m, const struct state *s) {
    const struct agent *a = &s->agent[GC];
    if (is_gc_store(a->pc)) {
        add_if(l, can_store(m, s, GC));
        return;
    }
    switch (a->pc) {
    case gc_load_fM:
    case gc_mark_load_fM:
    case gc_sweep_load_fM:
        add_if(l, tso_free(&s->tso, GC));
        return;
    case gc_deref:
        add_if(l, tso_free(&s->tso, GC) &&
                      (!(m->variant & VARIANT(gc_writes)) || can_store(m, s, GC)));
        return;
    case gc_pick:
        add_each(l, DO_PICK, a->W);
        return;
    case gc_field:
        add_each(l, DO_FIELD, a->refs);
        add_if(l, !a->refs);
        return;
    case gc_sweep: /* a load */
        if (tso_free(&s->tso, GC))
            add_each(l, DO_PICK, a->refs);
        add_if(l, !a->refs);
        return;
    case gc_answer:
        add_each(l, DO_PICK, s->agent[state_answered(s)].refs);
        add_if(l, !s->agent[state_answered(s)].refs);
        return;
    case gc_steal_pick:
        add_each(l, DO_PICK, a->refs);
        add_if(l, !a->refs);
        return;
    default:
        add_if(l, true);
        return;
    }
}

unsigned model_actions(const struct model *m, const struct state *s, unsigned process,
                       struct action *out) {
    struct list l = {out, 0, process};
    const struct agent *a = &s->agent[process];
    if (a->mark_pc != mo_out)
        add_if(&l, mark_guard(m, s, process));
    else if (process != GC)
        add_mutator(&l, m, s);
    else if (gc_handshake(a->pc) < HANDSHAKES)
        add_handshake(&l, m, s);
    else
        add_collector(&l, m, s);
    return l.n;
}

bool model_can_commit(const struct state *s, unsigned process) {
    return tso_can_commit(&s->tso, process);
}

bool model_enabled(const struct model *m, const struct state *s, const struct action *x) {
    struct action actions[ACTIONS_MAX];
    if (x->process != GC && x->process >= m->mutators)
        return false;
    if (x->op == DO_COMMIT)
        return model_can_commit(s, x->process) && !x->a && !x->b && !x->c;
    unsigned n = model_actions(m, s, x->process, actions);
    for (unsigned i = 0; i < n; i++)
        if (actions[i].op == x->op && actions[i].a == x->a && actions[i].b == x->b &&
            actions[i].c == x->c)
            return true;
    return false;
}
