/* SPDX-License-Identifier: MIT
 *
 * The steps of the collector (model.h).  Line numbers are those of the paper's figure 2.
 */
#include "models/onthefly/steps.h"

static const struct {
    uint8_t type, hp, next; /* next: where the collector goes on when all have answered */
    unsigned skip;          /* the variant without it */
} handshakes[HANDSHAKES] = {
    [H_IDLE] = {HS_NOOP, HP_IDLE, gc_load_fM, VARIANT(skip_idle)},
    [H_IDLE_FLIP] = {HS_NOOP, HP_IDLE_INIT, gc_phase_init, VARIANT(skip_idle_flip)},
    [H_INIT] = {HS_NOOP, HP_INIT_MARK, gc_phase_mark, VARIANT(skip_init)},
    [H_MARK] = {HS_NOOP, HP_MARK, gc_roots_type, VARIANT(skip_mark)},
    [H_ROOTS] = {HS_ROOTS, HP_IDLE_MARK_SWEEP, gc_mark_loop, VARIANT(no_roots_handshake)},
    [H_WORK] = {HS_WORK, HP_IDLE_MARK_SWEEP, gc_mark_loop, VARIANT(no_last_round)},
};

/* Goes to a handshake, or past it in the variant that has none. */
static void enter(const struct model *m, struct agent *gc, unsigned h) {
    if (!has(m, handshakes[h].skip))
        gc->pc =
            (uint8_t)(h * PARTS + (handshakes[h].type != HS_NOOP || has(m, VARIANT(no_gc_fence))
                                       ? PART_TYPE
                                       : PART_FENCE));
    else if (h == H_ROOTS)
        gc->pc = gc_steal;
    else if (h == H_MARK)
        enter(m, gc, H_ROOTS);
    else
        gc->pc = h == H_WORK ? gc_phase_sweep : handshakes[h].next;
}

/* Past a handshake that is over. */
static void leave(const struct model *m, struct agent *gc, unsigned h) {
    if (h == H_MARK)
        enter(m, gc, H_ROOTS);
    else
        gc->pc = handshakes[h].next;
}

/* What nothing holds when a cycle begins must be gone when it ends. */
static refset garbage_of(const struct model *m, const struct state *s) {
    unsigned held = s->W;
    for (unsigned p = 0; p < m->mutators; p++)
        held |= state_roots(s, p) | s->agent[p].W | s->agent[p].grey;
    return (refset)(s->alloc & ~(unsigned)state_closure(m, s, (refset)held));
}

static void handshake_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    unsigned h = gc_handshake(gc->pc);
    switch (gc_part(gc->pc)) {
    case PART_FENCE:
        gc->pc++;
        return;
    case PART_TYPE:
        s->type = handshakes[h].type;
        s->hp = handshakes[h].hp;
        s->sync = 0;
        if (h == H_IDLE && m->track_garbage)
            s->doomed = garbage_of(m, s);
        gc->refs = model_all_mutators(m);
        gc->pc++;
        return;
    case PART_ASK:
        s->pending |= (uint8_t)(1U << x->a);
        gc->refs &= (uint8_t) ~(1U << x->a);
        if (!gc->refs) {
            gc->refs = model_all_mutators(m);
            gc->pc++;
        }
        return;
    case PART_WAIT:
        gc->refs &= (uint8_t) ~(1U << x->a);
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

static void mark_loop_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    switch (gc->pc) {
    case gc_mark_loop: /* line 25 */
        gc->pc = gc->W ? gc_pick : gc_phase_sweep;
        return;
    case gc_pick: /* line 27 */
        gc->src = (oref)(x->a + 1U);
        gc->refs = (uint8_t)((1U << m->fields) - 1);
        gc->pc = gc_field;
        return;
    case gc_field: /* lines 28 and 30 */
        if (x->op == DO_FIELD) {
            gc->field = x->a;
            gc->pc = gc_deref;
            return;
        }
        gc->W &= (refset)~set_of(gc->src);
        gc->src = 0;
        gc->pc = gc_mark_inner;
        return;
    case gc_deref: /* line 29 */
        begin_mark(gc, gc_mark_field, load_field(s, GC, gc));
        return;
    default: /* gc_mark_inner, line 26 */
        if (gc->W)
            gc->pc = gc_pick;
        else
            enter(m, gc, H_WORK);
        return;
    }
}

static void sweep_step(const struct model *m, struct state *s, const struct action *x) {
    struct agent *gc = &s->agent[GC];
    if (gc->pc == gc_sweep && x->op == DO_PICK) { /* lines 40 and 41 */
        gc->src = (oref)(x->a + 1U);
        gc->mark = load_mark(s, GC, gc->src);
        gc->pc = gc_free;
    } else if (gc->pc == gc_sweep) {
        gc->pc = has(m, VARIANT(alloc_white)) ? gc_late_fA : gc_phase_idle;
    } else { /* lines 41 to 45 */
        unsigned r = gc->src - 1U;
        bool unmarked = (gc->mark != gc->fM) != has(m, VARIANT(old_sense));
        if (gc->mark != NO_OBJECT && unmarked) {
            free_object(s, r);
        }
        gc->refs &= (refset) ~(1U << r);
        gc->src = gc->mark = 0;
        gc->pc = gc_sweep;
    }
}

/* Line 14: f_A is set late, so that little floating garbage is made. */
static void before_fA(const struct model *m, struct agent *gc) {
    if (has(m, VARIANT(alloc_white) | VARIANT(early_fA)))
        enter(m, gc, H_MARK);
    else
        gc->pc = gc_mark_load_fM;
}

static void after_flip(const struct model *m, struct agent *gc) {
    if (has(m, VARIANT(early_fA)))
        gc->pc = gc_store_fA;
    else
        enter(m, gc, H_IDLE_FLIP);
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
        after_flip(m, gc);
        break;
    case gc_phase_init: /* line 8 */
        events = store(m, s, GC, CELL_PHASE, gc->phase = PHASE_INIT);
        enter(m, gc, H_INIT);
        break;
    case gc_phase_mark: /* line 11 */
        events = store(m, s, GC, CELL_PHASE, gc->phase = PHASE_MARK);
        before_fA(m, gc);
        break;
    case gc_store_fA: /* line 12 */
        events = store(m, s, GC, CELL_FA, gc->fM);
        enter(m, gc, has(m, VARIANT(early_fA)) ? H_IDLE_FLIP : H_MARK);
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
        enter(m, gc, H_IDLE);
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
        mark_loop_step(m, s, x);
        return EVENT_NONE;
    case gc_sweep:
    case gc_free:
        sweep_step(m, s, x);
        return EVENT_NONE;
    case gc_steal:
        steal_roots(m, s);
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
