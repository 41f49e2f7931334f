/* SPDX-License-Identifier: MIT
 *
 * The steps of mark and of the mutators (model.h).  Line numbers are those of the paper's figures 5
 * and 6.
 */
#include "models/onthefly/steps.h"

/* ---- mark(ref), figure 5 ----------------------------------------------------------------------
 */

static void finish_store(struct agent *a) {
    a->pc = mut_top;
    a->src = a->dst = a->field = 0;
    a->root = 0;
}

static bool inserts(const struct model *m, const struct agent *a) {
    return !has(m, VARIANT(no_insertion_barrier)) &&
           !(has(m, VARIANT(insertion_off)) && a->hp == HP_IDLE_MARK_SWEEP) &&
           !(has(m, VARIANT(insertion_until_mark)) && a->hp >= HP_MARK);
}

static bool deletes(const struct model *m, const struct agent *a) {
    return !has(m, VARIANT(no_deletion_barrier) | VARIANT(rescan_roots) | VARIANT(read_barrier)) &&
           !(has(m, VARIANT(deletion_after_roots)) && a->hp != HP_IDLE_MARK_SWEEP);
}

/* Where Store goes on after the deletion barrier, and after the insertion barrier. */
static void after_deletion(const struct model *m, struct agent *a) {
    if (inserts(m, a))
        a->pc = mut_lop_store_ins;
    else if (has(m, VARIANT(store_first)))
        finish_store(a);
    else
        a->pc = mut_store;
}

static void end_mark(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    refset done = set_of(a->ref);
    a->mark_pc = mo_out;
    a->ref = a->mark = a->cas = 0;
    if (p == GC && a->pc == gc_answer_mark) {
        s->agent[state_answered(s)].refs &= (refset)~done;
        a->pc = gc_answer;
        return;
    }
    if (p == GC) {
        a->refs &= a->pc == gc_mark_field ? (refset) ~(1U << a->field) : (refset)~done;
        a->field = 0;
        a->pc = a->pc == gc_mark_field ? gc_field : gc_steal_pick;
        return;
    }
    a->fM = a->phase = 0;
    if (a->pc == mut_store_del) {
        after_deletion(m, a);
    } else if (a->pc == mut_first_ins) {
        a->pc = mut_late_deref;
    } else if (a->pc == mut_load_mark) {
        finish_store(a);
    } else if (a->pc == mut_hs_roots_mark) {
        a->refs &= (refset)~done;
        a->pc = mut_hs_roots;
    } else if (has(m, VARIANT(store_first))) {
        finish_store(a);
    } else {
        a->pc = mut_store;
    }
}

/* Lines 2 to 4: is there anything to do?  Returns the next label. */
static unsigned look_step(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    bool fM_first = has(m, VARIANT(figure_5_order));
    switch (a->mark_pc) {
    case mo_null:
        return !a->ref ? mo_out : fM_first ? mo_fM : mo_mark;
    case mo_mark: /* line 3 */
        a->mark = load_mark(s, p, a->ref);
        return fM_first ? mo_mtest : mo_fM;
    case mo_fM: /* line 2 */
        a->fM = tso_load(&s->tso, p, CELL_FM);
        return fM_first ? mo_mark : mo_mtest;
    case mo_mtest:
        return a->mark == a->fM ? mo_out : mo_phase;
    case mo_phase: /* line 4 */
        a->phase = tso_load(&s->tso, p, CELL_PHASE);
        return mo_ptest;
    default: /* mo_ptest */
        if (a->phase == PHASE_IDLE && !has(m, VARIANT(no_phase_test)))
            return mo_out;
        return has(m, VARIANT(plain_mark)) ? mo_co_mark : mo_co_lock;
    }
}

/* What a process marks for another belongs to that one. */
static refset *work_list(struct state *s, unsigned p) {
    bool for_other = p == GC && s->agent[GC].pc == gc_answer_mark;
    return &s->agent[for_other ? state_answered(s) : p].W;
}

/* Lines 5 to 14: the CAS. */
static unsigned cas_step(const struct model *m, struct state *s, unsigned p, unsigned *events) {
    struct agent *a = &s->agent[p];
    switch (a->mark_pc) {
    case mo_co_lock: /* line 5 */
        tso_lock(&s->tso, p);
        return mo_co_cmark;
    case mo_co_cmark: /* line 6 */
        a->cas = load_mark(s, p, a->ref);
        return mo_co_ctest;
    case mo_co_ctest:
        if (has(m, VARIANT(no_second_look)))
            a->cas = a->mark;
        return a->cas == a->mark ? mo_co_mark : mo_co_unlock;
    case mo_co_mark: /* lines 7 to 9 */
        *events = store(m, s, p, cell_mark(a->ref - 1U), a->fM);
        a->grey = set_of(a->ref);
        return has(m, VARIANT(plain_mark)) ? mo_co_W : mo_co_unlock;
    case mo_co_unlock:
        if (has(m, VARIANT(early_unlock)))
            s->tso.lock = TSO_NOBODY;
        else
            tso_unlock(&s->tso, p);
        return mo_co_won;
    case mo_co_won: /* line 12 */
        return a->cas == a->mark ? mo_co_W : mo_out;
    default: /* mo_co_W, lines 13 and 14 */
        if (!has(m, VARIANT(lost_grey)))
            *work_list(s, p) |= set_of(a->ref);
        a->grey = 0;
        return mo_out;
    }
}

static unsigned mark_step(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    unsigned events = EVENT_NONE;
    bool looking = a->mark_pc < mo_co_lock;
    a->mark_pc = (uint8_t)(looking ? look_step(m, s, p) : cas_step(m, s, p, &events));
    if (a->mark_pc == mo_out)
        end_mark(m, s, p);
    return events;
}

/* ---- mutators, figure 6 -----------------------------------------------------------------------
 */

static void begin_store(const struct model *m, struct agent *a, const struct action *x) {
    a->src = (oref)(x->a + 1U);
    a->field = x->b;
    a->dst = x->c;
    if (model_polls_in_store(m))
        a->roots &= (refset)~set_of(a->src);
    if (deletes(m, a))
        a->pc = mut_deref_del;
    else if (has(m, VARIANT(store_first)))
        a->pc = mut_store;
    else
        after_deletion(m, a);
}

/* Who goes answers what it is asked, has no roots, and leaves its work-list. */
static void go_away(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    a->roots = a->pool = a->sense = 0;
    if (has(m, VARIANT(go_with_work)))
        a->W = 0;
    answer(s, p, true);
    a->pc = mut_gone;
}

static unsigned bit_of(unsigned set, unsigned from, unsigned to) {
    return (set >> from & 1U) << to;
}

/* Whoever is new is in the handshake phase of its maker, and asked if that one is. */
static void make_mutator(const struct model *m, struct state *s, const struct action *x) {
    struct agent *a = &s->agent[x->a], *gc = &s->agent[GC];
    unsigned maker = x->process, part = gc_part(gc->pc);
    a->pc = mut_top;
    a->roots = (refset)(1U << x->b);
    a->hp = s->hp;
    if (has(m, VARIANT(come_answered)))
        return;
    a->hp = s->agent[maker].hp;
    s->pending |= (uint8_t)bit_of(s->pending, maker, x->a);
    s->sync &= (uint8_t) ~(1U << x->a);
    s->sync |= (uint8_t)bit_of(s->sync, maker, x->a);
    if (gc_handshake(gc->pc) < HANDSHAKES && (part == PART_ASK || part == PART_WAIT))
        gc->refs |= (refset)bit_of(gc->refs, maker, x->a);
}

static void operate(const struct model *m, struct state *s, const struct action *x) {
    struct agent *a = &s->agent[x->process];
    switch (x->op) {
    case DO_GATHER:
        pool_gather(m, s, x->process, x->a);
        return;
    case DO_STEP: /* pools, broken */
        pool_end(m, a);
        return;
    case DO_ALLOC: /* lines 13 to 17: flag := f_A as it is in memory */
        if (model_pools(m)) {
            pool_alloc(m, s, x->process, x->a);
            return;
        }
        s->alloc |= (refset)(1U << x->a);
        s->tso.memory[cell_mark(x->a)] = s->tso.memory[CELL_FA];
        a->roots |= (refset)(1U << x->a);
        return;
    case DO_DISCARD: /* line 20 */
        a->roots &= (refset) ~(1U << x->a);
        return;
    case DO_LOAD:
        a->src = (oref)(x->a + 1U);
        a->field = x->b;
        a->pc = mut_load;
        return;
    case DO_STORE:
        begin_store(m, a, x);
        return;
    case DO_HANDSHAKE:
        a->pc = mut_hs_fence;
        return;
    case DO_BLOCK:
        a->pc = mut_blocked;
        return;
    case DO_GO:
        go_away(m, s, x->process);
        return;
    case DO_COME:
        make_mutator(m, s, x);
        return;
    default: /* DO_FENCE */
        return;
    }
}

/* Back from a handshake: to the next operation, or in stale_src to the Store that it interrupted.
 */
static void go_on(struct agent *a) {
    a->pc = a->src ? mut_store : mut_top;
}

void answer(struct state *s, unsigned p, bool work) {
    struct agent *a = &s->agent[p];
    if (work) {
        s->W |= a->W;
        a->W = 0;
    }
    note_answer(s, p);
    go_on(a);
}

/* In tso_handshake work is handed over by a locked instruction, and the answer is a store behind
 * it; with early_answer it is the other way round. */
static unsigned give_answer(const struct model *m, struct state *s, unsigned p, bool work) {
    struct agent *a = &s->agent[p];
    if (!model_tso_handshake(m)) {
        answer(s, p, work);
        return EVENT_NONE;
    }
    bool early = has(m, VARIANT(early_answer));
    if (a->pc == mut_hs_hand || (work && !early)) {
        s->W |= a->W;
        a->W = 0;
        a->pc = mut_hs_answer;
        if (early)
            go_on(a);
        return EVENT_NONE;
    }
    a->pc = mut_hs_hand;
    if (!work)
        go_on(a);
    return store(m, s, p, CELL_PENDING + p, 0);
}

static void read_type(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    bool roots = type_asks_for_roots(s->type);
    if (roots && has(m, VARIANT(early_answer)) && !model_tso_handshake(m))
        answer(s, p, false);
    if (roots)
        a->refs = has(m, VARIANT(stale_roots)) ? s->alloc : a->roots;
    a->pc = roots ? mut_hs_roots : mut_hs_done;
}

/* Figure 2 lines 17 to 19, when no root is left. */
static unsigned end_roots(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    unsigned events = EVENT_NONE;
    if (has(m, VARIANT(mutator_sets_phase)))
        events = store(m, s, p, CELL_PHASE, PHASE_MARK);
    if (has(m, VARIANT(early_answer)) && !model_tso_handshake(m))
        go_on(a);
    else
        events |= give_answer(m, s, p, true);
    return events;
}

/* Line 6. */
static void load_step(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    oref loaded = load_field(s, p, a);
    a->roots |= set_of(loaded);
    if (has(m, VARIANT(read_barrier)))
        begin_mark(a, mut_load_mark, loaded);
    else
        finish_store(a);
}

/* Line 9, the argument; store_first has the barrier after the store. */
static void load_old(const struct model *m, struct state *s, unsigned p) {
    struct agent *a = &s->agent[p];
    oref old = load_field(s, p, a);
    a->root = set_of(old);
    begin_mark(a, mut_store_del, old);
    if (has(m, VARIANT(store_first))) {
        a->mark_pc = mo_out;
        a->pc = mut_store;
    }
}

/* Line 11. */
static unsigned store_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *a = &s->agent[x->process];
    if (x->op == DO_HANDSHAKE) {
        a->pc = mut_hs_fence;
        return EVENT_NONE;
    }
    unsigned events = store(m, s, x->process, cell_field(a->src - 1U, a->field), a->dst);
    bool publishes = a->fresh && a->dst == a->fresh;
    if (!has(m, VARIANT(store_first)))
        finish_store(a);
    else if (!deletes(m, a))
        after_deletion(m, a);
    else
        begin_mark(a, mut_store_del, a->ref);
    if (publishes && a->pc == mut_top)
        pool_end(m, a);
    return events;
}

static unsigned mutator_step(const struct model *m, struct state *s, const struct action *x) {
    unsigned p = x->process, events = EVENT_NONE;
    struct agent *a = &s->agent[p];
    switch (a->pc) {
    case mut_top:
        operate(m, s, x);
        break;
    case mut_load:
        load_step(m, s, p);
        break;
    case mut_deref_del:
        if (x->op == DO_PICK)
            begin_mark(a, mut_first_ins, a->dst);
        else
            load_old(m, s, p);
        break;
    case mut_late_deref:
        load_old(m, s, p);
        a->pc = mut_late_del;
        break;
    case mut_lop_store_ins:
        begin_mark(a, mut_store_ins, a->dst);
        break;
    case mut_store:
        events = store_step(m, s, x);
        break;
    case mut_blocked:
        a->pc = mut_top;
        break;
    case mut_init_field:
    case mut_init_flag:
        events = pool_step(m, s, p);
        break;
    case mut_hs_fence:
        a->pc = mut_hs_type;
        break;
    case mut_hs_type:
        read_type(m, s, p);
        break;
    case mut_hs_done:
        events = give_answer(m, s, p, s->type == HS_WORK);
        break;
    case mut_hs_answer:
    case mut_hs_hand:
        events = give_answer(m, s, p, false);
        break;
    default: /* mut_hs_roots, figure 2 lines 17 to 19 */
        if (x->op == DO_PICK)
            begin_mark(a, mut_hs_roots_mark, (oref)(x->a + 1U));
        else
            events = end_roots(m, s, p);
        break;
    }
    return events;
}

unsigned model_apply(const struct model *m, struct state *s, const struct action *x) {
    unsigned p = x->process;
    if (x->op == DO_COMMIT)
        return arrive(s, p, tso_take(&s->tso, p));
    if (s->agent[p].mark_pc != mo_out)
        return mark_step(m, s, p);
    return p == GC ? collector_step(m, s, x) : mutator_step(m, s, x);
}
