/* SPDX-License-Identifier: MIT
 *
 * The steps of the collector (model.h).  Line numbers are those of the paper's figure 2.
 */
#include "models/onthefly/steps.h"

static const struct {
    uint8_t type, hp, next; /* next: where the collector goes on when all have answered */
    uint64_t skip;          /* the variants without it, */
    uint64_t no_fence;      /* without its mfence, */
    uint64_t fence_only;    /* and with nothing but its mfence */
} handshakes[HANDSHAKES] = {
#define NOOP(name)                                                                                 \
    VARIANT(skip_##name), VARIANT(no_gc_fence) | VARIANT(no_fence_##name),                         \
        VARIANT(fence_only_##name)
    [H_IDLE] = {HS_NOOP, HP_IDLE, gc_load_fM, NOOP(idle)},
    [H_IDLE_FLIP] = {HS_NOOP, HP_IDLE_INIT, gc_phase_init, NOOP(idle_flip)},
    [H_INIT] = {HS_NOOP, HP_INIT_MARK, gc_phase_mark, NOOP(init)},
    [H_MARK] = {HS_NOOP, HP_MARK, gc_roots_type, NOOP(mark)},
    [H_ROOTS] = {HS_ROOTS, HP_IDLE_MARK_SWEEP, gc_mark_loop, VARIANT(no_roots_handshake), 0, 0},
    [H_WORK] = {HS_WORK, HP_IDLE_MARK_SWEEP, gc_mark_loop, VARIANT(no_last_round), 0, 0},
#undef NOOP
};

/* ---- the place of f_A -------------------------------------------------------------------------
 */

/* The variants that set f_A somewhere else; of several the first in the cycle counts. */
static const struct {
    uint64_t variant;
    uint8_t next; /* the label before which it is set */
} fA_places[] = {
    {VARIANT(early_fA), gc_idle_flip_fence},  {VARIANT(fA_before_init), gc_phase_init},
    {VARIANT(fA_after_init), gc_init_fence},  {VARIANT(fA_before_mark), gc_phase_mark},
    {VARIANT(fA_after_mark), gc_roots_fence}, {VARIANT(fA_after_roots), gc_mark_loop},
    {VARIANT(alloc_white), gc_phase_idle},
};

/* Line 14: f_A is set late, so that little floating garbage is made. */
static unsigned fA_place(const struct model *m) {
    for (unsigned i = 0; i < sizeof fA_places / sizeof *fA_places; i++)
        if (has(m, fA_places[i].variant))
            return fA_places[i].next;
    return gc_mark_fence;
}

static bool sets_fA_before(const struct model *m, unsigned label) {
    return fA_place(m) == label;
}

/* ---- handshakes -------------------------------------------------------------------------------
 */

/* Goes to a label, but to the store of f_A first if that has its place there. */
static void go_to(const struct model *m, struct agent *gc, unsigned label) {
    gc->pc = (uint8_t)(sets_fA_before(m, label) ? gc_store_fA : label);
}

/* Past a handshake that is over. */
static void leave(const struct model *m, struct agent *gc, unsigned h) {
    if (h == H_MARK && sets_fA_before(m, gc_roots_fence))
        gc->pc = gc_store_fA;
    else if (h == H_MARK)
        collector_enter(m, gc, H_ROOTS);
    else if (h == H_WORK)
        gc->pc = gc_mark_loop;
    else
        go_to(m, gc, handshakes[h].next);
}

void collector_enter(const struct model *m, struct agent *gc, unsigned h) {
    bool skipped = has(m, handshakes[h].skip), fenced = handshakes[h].type == HS_NOOP;
    if (has(m, handshakes[h].fence_only))
        gc->pc = (uint8_t)(h * PARTS + PART_FENCE);
    else if (skipped && h == H_ROOTS)
        gc->pc = gc_steal;
    else if (skipped && h == H_WORK)
        gc->pc = gc_phase_sweep;
    else if (skipped)
        leave(m, gc, h);
    else
        gc->pc = (uint8_t)(h * PARTS +
                           (fenced && !has(m, handshakes[h].no_fence) ? PART_FENCE : PART_TYPE));
}

static void after_fA(const struct model *m, struct agent *gc) {
    unsigned next = fA_place(m);
    if (gc_handshake(next) < HANDSHAKES)
        collector_enter(m, gc, gc_handshake(next));
    else
        gc->pc = (uint8_t)next;
}

/* What nothing holds when a cycle begins must be gone when it ends. */
static refset garbage_of(const struct model *m, const struct state *s) {
    unsigned held = s->W;
    for (unsigned p = 0; p < m->mutators; p++)
        held |= state_roots(s, p) | s->agent[p].W | s->agent[p].grey;
    return (refset)(s->alloc & ~(unsigned)state_closure(m, s, (refset)held));
}

/* A mutator that is blocked keeps out of the way until its roots are marked. */
static void answer_for(const struct model *m, struct state *s, unsigned p) {
    struct agent *blocked = &s->agent[p];
    if (type_asks_for_roots(s->type) && !has(m, VARIANT(blocks_rootless))) {
        blocked->pc = mut_answered;
        blocked->refs = blocked->roots;
        s->agent[GC].pc = gc_answer;
        return;
    }
    answer(s, p, s->type != HS_NOOP);
    blocked->pc = mut_blocked;
}

static void answer_step(struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    unsigned p = state_answered(s);
    if (x->op == DO_PICK) {
        begin_mark(gc, gc_answer_mark, (oref)(x->a + 1U));
        return;
    }
    answer(s, p, true);
    s->agent[p].pc = mut_blocked;
    gc->pc = s->type == HS_ROOTS ? gc_roots_wait : gc_work_wait;
}

/* Who is not there need not be asked. */
static void answer_for_gone(const struct model *m, struct state *s) {
    for (unsigned p = 0; p < m->mutators; p++)
        if (s->agent[p].pc == mut_gone) {
            answer(s, p, false);
            s->agent[p].pc = mut_gone;
        }
}

static void set_type(const struct model *m, struct state *s, unsigned type) {
    if (model_tso_handshake(m))
        store(m, s, GC, CELL_TYPE, type);
    else
        s->type = (uint8_t)type;
}

static void handshake_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    unsigned h = gc_handshake(gc->pc);
    switch (gc_part(gc->pc)) {
    case PART_FENCE:
        gc->pc++;
        if (has(m, handshakes[h].fence_only))
            leave(m, gc, h);
        return;
    case PART_TYPE:
        set_type(m, s,
                 h == H_WORK && has(m, VARIANT(rescan_roots)) ? HS_RESCAN : handshakes[h].type);
        s->hp = handshakes[h].hp;
        s->sync = 0;
        if (h == H_IDLE && m->track_garbage)
            s->doomed = garbage_of(m, s);
        gc->refs = model_all_mutators(m);
        gc->pc++;
        answer_for_gone(m, s);
        return;
    case PART_ASK:
        if (model_tso_handshake(m))
            store(m, s, GC, CELL_PENDING + x->a, 1);
        else if (!model_comes_and_goes(m) || !(s->sync >> x->a & 1))
            s->pending |= (uint8_t)(1U << x->a);
        gc->refs &= (uint8_t) ~(1U << x->a);
        if (!gc->refs) {
            gc->refs = model_all_mutators(m);
            gc->pc++;
        }
        return;
    case PART_WAIT: /* no_wait goes on without the last one */
        if (x->op == DO_ANSWER) {
            answer_for(m, s, x->a);
            return;
        }
        gc->refs &= (uint8_t)(x->op == DO_MUTATOR ? ~(1U << x->a) : 0);
        if (!gc->refs && handshakes[h].type == HS_NOOP)
            leave(m, gc, h);
        else if (!gc->refs)
            gc->pc++;
        return;
    default: /* lines 19 and 33 */
        gc->W = s->W;
        s->W = 0;
        leave(m, gc, h);
        return;
    }
}

/* Lines 15 to 20 without asking anybody. */
static void steal_roots(const struct model *m, struct state *s) {
    struct agent *gc = &s->agent[GC];
    s->hp = HP_IDLE_MARK_SWEEP;
    s->type = HS_ROOTS;
    for (unsigned p = 0; p < m->mutators; p++) {
        gc->refs |= s->agent[p].roots;
        s->agent[p].hp = HP_IDLE_MARK_SWEEP;
    }
    gc->pc = gc_steal_pick;
}

static unsigned mark_loop_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    switch (gc->pc) {
    case gc_mark_loop: /* line 25 */
        gc->pc = gc->W ? gc_pick : gc_phase_sweep;
        if (!gc->W && has(m, VARIANT(endless_rounds)))
            collector_enter(m, gc, H_WORK);
        return EVENT_NONE;
    case gc_pick: /* line 27 */
        gc->src = (oref)(x->a + 1U);
        gc->refs = (uint8_t)(((1U << m->fields) - 1) >> has(m, VARIANT(skip_field)));
        gc->pc = gc_field;
        return EVENT_NONE;
    case gc_field: /* lines 28 and 30 */
        if (x->op == DO_FIELD) {
            gc->field = x->a;
            gc->pc = gc_deref;
            return EVENT_NONE;
        }
        gc->W &= (refset)~set_of(gc->src);
        gc->src = 0;
        gc->pc = gc_mark_inner;
        return EVENT_NONE;
    case gc_deref: /* line 29 */
        begin_mark(gc, gc_mark_field, load_field(s, GC, gc));
        return has(m, VARIANT(gc_writes))
                   ? store(m, s, GC, cell_field(gc->src - 1U, gc->field), gc->ref)
                   : EVENT_NONE;
    default: /* gc_mark_inner, line 26 */
        if (gc->W)
            gc->pc = gc_pick;
        else
            collector_enter(m, gc, H_WORK);
        return EVENT_NONE;
    }
}

bool model_frees(const struct model *m, unsigned mark, unsigned fM) {
    return mark != NO_OBJECT &&
           (has(m, VARIANT(sweep_blind)) || (mark != fM) != has(m, VARIANT(old_sense)));
}

static void sweep_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    if (gc->pc == gc_sweep && x->op == DO_PICK) { /* lines 40 and 41 */
        gc->src = (oref)(x->a + 1U);
        gc->mark = load_mark(s, GC, gc->src);
        gc->pc = gc_free;
    } else if (gc->pc == gc_sweep) {
        gc->pc = sets_fA_before(m, gc_phase_idle) ? gc_late_fA : gc_phase_idle;
    } else { /* lines 41 to 45 */
        unsigned r = gc->src - 1U;
        if (model_frees(m, gc->mark, gc->fM))
            free_object(m, s, r);
        gc->refs &= (refset) ~(1U << r);
        gc->src = gc->mark = 0;
        gc->pc = gc_sweep;
    }
}

/* Goes to a handshake, but to the store of f_A first if that has its place there. */
static void enter_after(const struct model *m, struct agent *gc, unsigned h, unsigned first) {
    if (sets_fA_before(m, h * PARTS + PART_FENCE))
        gc->pc = (uint8_t)first;
    else
        collector_enter(m, gc, h);
}

static unsigned control_step(const struct model *m, struct state *s) {
    struct agent *gc = &s->agent[GC];
    unsigned pc = gc->pc, events = EVENT_NONE;
    switch (pc) {
    case gc_load_fM: /* line 5 */
    case gc_mark_load_fM:
        gc->fM = tso_load(&s->tso, GC, CELL_FM);
        gc->pc++;
        break;
    case gc_invert_fM:
        gc->fM = !gc->fM;
        gc->pc++;
        break;
    case gc_store_fM:
        events = store(m, s, GC, CELL_FM, gc->fM);
        enter_after(m, gc, H_IDLE_FLIP, gc_store_fA);
        break;
    case gc_phase_init: /* line 8 */
        events = store(m, s, GC, CELL_PHASE, gc->phase = PHASE_INIT);
        enter_after(m, gc, H_INIT, gc_store_fA);
        break;
    case gc_phase_mark: /* line 11 */
        events = store(m, s, GC, CELL_PHASE, gc->phase = PHASE_MARK);
        enter_after(m, gc, H_MARK, gc_mark_load_fM);
        break;
    case gc_store_fA: /* line 12 */
        events = store(m, s, GC, CELL_FA, gc->fM);
        after_fA(m, gc);
        break;
    case gc_phase_sweep: /* line 37 */
        events = store(m, s, GC, CELL_PHASE, gc->phase = PHASE_SWEEP);
        gc->pc = gc_sweep_load_fM;
        break;
    case gc_sweep_load_fM: /* line 38 */
        gc->fM = tso_load(&s->tso, GC, CELL_FM);
        gc->refs = (refset)((1U << m->refs) - 1);
        gc->pc = gc_sweep;
        break;
    case gc_late_fA:
        events = store(m, s, GC, CELL_FA, gc->fM);
        gc->pc = gc_phase_idle;
        break;
    default: /* gc_phase_idle, line 46 */
        events = store(m, s, GC, CELL_PHASE, gc->phase = PHASE_IDLE);
        collector_enter(m, gc, H_IDLE);
        break;
    }
    return events;
}

unsigned collector_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    switch (gc->pc) {
    case gc_mark_loop:
    case gc_pick:
    case gc_field:
    case gc_deref:
    case gc_mark_inner:
        return mark_loop_step(m, s, x);
    case gc_sweep:
    case gc_free:
        sweep_step(m, s, x);
        return EVENT_NONE;
    case gc_steal:
        steal_roots(m, s);
        return EVENT_NONE;
    case gc_answer:
        answer_step(s, x);
        return EVENT_NONE;
    case gc_steal_pick:
        if (x->op == DO_PICK)
            begin_mark(gc, gc_steal_mark, (oref)(x->a + 1U));
        else
            gc->pc = gc_mark_loop;
        return EVENT_NONE;
    default:
        if (gc_handshake(gc->pc) == HANDSHAKES)
            return control_step(m, s);
        handshake_step(m, s, x);
        return EVENT_NONE;
    }
}
