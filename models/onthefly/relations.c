/* SPDX-License-Identifier: MIT
 *
 * The invariants of TSO section 3.2 on control variables, store buffers, the lock, handshakes and
 * local states (invariants.h).
 */
#include "models/onthefly/view.h"

/* ---- marks, buffers, lock ---------------------------------------------------------------------
 */

static bool in_lock(const struct agent *a) {
    return a->mark_pc >= mo_co_cmark && a->mark_pc <= mo_co_unlock;
}

/* A pending mark is the only one of its process, which holds the lock, of a white object that the
 * process holds for grey, with the right value. */
static bool pending_marks(const struct view *v, unsigned p) {
    const struct state *s = v->s;
    unsigned marks = 0;
    for (unsigned i = 0; i < s->tso.count[p]; i++) {
        struct tso_entry e = s->tso.buffer[p][i];
        if (!cell_is_mark(e.cell))
            continue;
        unsigned bit = 1U << cell_ref(e.cell);
        if (s->agent[p].unborn & bit)
            continue;
        if (marks++ || e.value != state_fM(s) || !(s->agent[p].grey & bit) || s->tso.lock != p ||
            !(v->white & bit))
            return false;
    }
    return true;
}

static bool valid_W(const struct view *v) {
    const struct state *s = v->s;
    unsigned lists = s->W, greys = 0;
    if (s->W & ~v->marked)
        return false;
    for (unsigned p = 0; p < TSO_PROCESSES; p++) {
        const struct agent *a = &s->agent[p];
        if ((a->W & ~v->marked) || (s->tso.lock != p && (a->grey & ~v->marked)))
            return false;
        if ((a->W & lists) || (a->grey & greys))
            return false;
        lists |= a->W;
        greys |= a->grey;
        if (s->tso.count[p] && !pending_marks(v, p))
            return false;
    }
    return !(lists & greys);
}

static bool tso_store_rel(const struct view *v) {
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        for (unsigned i = 0; i < v->s->tso.count[p]; i++) {
            unsigned cell = v->s->tso.buffer[p][i].cell;
            if (cell == CELL_PENDING + p)
                continue; /* an answer: tso_handshake */
            if (p == GC ? cell >= CELL_FIELD : cell < CELL_MARK)
                return false;
        }
    return true;
}

static bool tso_lock_rel(const struct view *v) {
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        if ((v->s->tso.lock == p) != in_lock(&v->s->agent[p]))
            return false;
    return true;
}

/* ---- handshakes, figure 3 ---------------------------------------------------------------------
 */

/* The phase that a mutator was in before it answered. */
static unsigned previous(unsigned hp) {
    return hp == HP_IDLE ? HP_IDLE_MARK_SWEEP : hp - 1U;
}

/* Whoever is answering is still asked, and for what it has read. */
static bool still_asked(const struct state *s, unsigned p) {
    unsigned pc = s->agent[p].pc;
    if (pc == mut_answered)
        return (s->pending >> p & 1) && type_asks_for_roots(s->type);
    if (pc < mut_hs_fence || pc > mut_hs_roots_mark)
        return true;
    bool roots = pc == mut_hs_roots || pc == mut_hs_roots_mark;
    return (s->pending >> p & 1) && (pc < mut_hs_done || roots == type_asks_for_roots(s->type));
}

/* As the collector has it: tso_handshake, its newest store. */
static unsigned type_of(const struct state *s) {
    for (unsigned i = s->tso.count[GC]; i-- > 0;)
        if (s->tso.buffer[GC][i].cell == CELL_TYPE)
            return s->tso.buffer[GC][i].value;
    return s->type;
}

static bool handshake(const struct view *v) {
    const struct state *s = v->s;
    unsigned type = type_of(s);
    bool last = s->hp == HP_IDLE_MARK_SWEEP;
    if (last != (type != HS_NOOP))
        return false;
    for (unsigned p = 0; p < v->m->mutators; p++) {
        bool synced = s->sync >> p & 1;
        unsigned hp = synced || type >= HS_WORK ? s->hp : previous(s->hp);
        if (s->agent[p].hp != hp || (synced && (s->pending >> p & 1)) || !still_asked(s, p))
            return false;
    }
    return true;
}

/* The pending stores to a control variable, oldest first; more than two are as bad as any. */
struct pending {
    unsigned n;
    uint8_t value[3];
};

static struct pending pending(const struct state *s, unsigned cell) {
    struct pending found = {0, {0, 0, 0}};
    for (unsigned i = 0; i < s->tso.count[GC]; i++)
        if (s->tso.buffer[GC][i].cell == cell && found.n < 3)
            found.value[found.n++] = s->tso.buffer[GC][i].value;
    return found;
}

static bool all_synced(const struct view *v) {
    return v->s->sync == model_all_mutators(v->m);
}

/* With nothing pending. */
static bool phase_settled(const struct view *v, unsigned phase) {
    bool synced = all_synced(v);
    switch (v->s->hp) {
    case HP_IDLE:
        return phase == PHASE_IDLE;
    case HP_IDLE_INIT:
        return phase == PHASE_IDLE || (synced && phase == PHASE_INIT);
    case HP_INIT_MARK:
        return phase == PHASE_INIT || (synced && phase == PHASE_MARK);
    case HP_MARK:
        return phase == PHASE_MARK;
    default:
        return phase == PHASE_MARK || (synced && (phase == PHASE_SWEEP || phase == PHASE_IDLE));
    }
}

static bool phase_rel(const struct view *v) {
    const struct state *s = v->s;
    struct pending w = pending(s, CELL_PHASE);
    unsigned mine = s->agent[GC].phase, memory = s->tso.memory[CELL_PHASE];
    if (w.n == 0)
        return mine == memory && phase_settled(v, memory);
    if (!all_synced(v) || mine != w.value[w.n - 1])
        return false;
    if (w.n == 2)
        return s->hp == HP_IDLE_MARK_SWEEP && memory == PHASE_MARK && w.value[0] == PHASE_SWEEP &&
               mine == PHASE_IDLE;
    if (w.n > 2)
        return false;
    switch (s->hp) {
    case HP_IDLE_INIT:
        return mine == PHASE_INIT && memory == PHASE_IDLE;
    case HP_INIT_MARK:
        return mine == PHASE_MARK && memory == PHASE_INIT;
    case HP_IDLE_MARK_SWEEP:
        return (mine == PHASE_SWEEP && memory == PHASE_MARK) ||
               (mine == PHASE_IDLE && memory == PHASE_SWEEP);
    default:
        return false;
    }
}

static bool fM_rel(const struct view *v) {
    const struct state *s = v->s;
    struct pending w = pending(s, CELL_FM);
    unsigned mine = s->agent[GC].fM;
    bool flipping = s->hp == HP_IDLE && all_synced(v);
    if (w.n == 0)
        return mine == state_fM(s) || flipping;
    return w.n == 1 && flipping && w.value[0] == mine && mine != state_fM(s) && s->tso.lock != GC;
}

static bool fA_rel(const struct view *v) {
    const struct state *s = v->s;
    struct pending w = pending(s, CELL_FA);
    bool same = s->tso.memory[CELL_FA] == s->agent[GC].fM, synced = all_synced(v);
    if (w.n)
        return w.n == 1 && s->hp == HP_INIT_MARK && synced && w.value[0] == s->agent[GC].fM &&
               !same;
    switch (s->hp) {
    case HP_IDLE:
        return synced || same;
    case HP_IDLE_INIT:
        return !same;
    case HP_INIT_MARK:
        return synced || !same;
    default:
        return same;
    }
}

/* ---- the end of marking -----------------------------------------------------------------------
 */

static bool no_work_hides(const struct view *v) {
    const struct state *s = v->s;
    bool hidden = false, reported = false;
    for (unsigned p = 0; p < v->m->mutators; p++)
        if (s->agent[p].W | s->agent[p].grey) {
            if (s->sync >> p & 1)
                hidden = true;
            else
                reported = true;
        }
    return s->W || !hidden || reported;
}

static bool gc_W_empty(const struct view *v) {
    const struct state *s = v->s;
    unsigned pc = s->agent[GC].pc, h = gc_handshake(pc), W = s->agent[GC].W;
    if (h == H_ROOTS || h == H_WORK) {
        unsigned part = gc_part(pc);
        if (W || (part >= PART_ASK && !no_work_hides(v)))
            return false;
        return part != PART_LOAD_W || s->W || !v->grey;
    }
    switch (pc) {
    case gc_answer:
    case gc_answer_mark:
        return !W && no_work_hides(v);
    case gc_mark_loop:
        return W || !v->grey;
    case gc_pick:
    case gc_field:
    case gc_deref:
    case gc_mark_field:
    case gc_mark_inner:
    case gc_steal:
    case gc_steal_pick:
    case gc_steal_mark:
        return true;
    case gc_phase_sweep:
    case gc_sweep_load_fM:
    case gc_sweep:
    case gc_free:
    case gc_phase_idle:
    case gc_idle_fence:
    case gc_idle_type:
        return !v->grey;
    default:
        return !W;
    }
}

/* ---- local states -----------------------------------------------------------------------------
 */

static bool mark_local(const struct view *v) {
    const struct state *s = v->s;
    for (unsigned p = 0; p < TSO_PROCESSES; p++) {
        const struct agent *a = &s->agent[p];
        if (a->mark_pc < mo_co_lock)
            continue;
        unsigned bit = 1U << a->ref >> 1;
        if (a->unborn & bit)
            continue; /* what is in the buffer is all that there is */
        if (!(s->alloc & bit) || a->fM != state_fM(s))
            return false;
        if (a->mark_pc != mo_co_mark)
            continue;
        if (!(v->white & bit))
            return false;
        for (unsigned i = 0; i < s->tso.count[p]; i++) {
            unsigned cell = s->tso.buffer[p][i].cell;
            if (cell_is_mark(cell) && !(a->unborn >> cell_ref(cell) & 1))
                return false;
        }
    }
    return true;
}

static bool stores_itself(const struct state *s, unsigned p, unsigned cell) {
    for (unsigned i = 0; i < s->tso.count[p]; i++)
        if (s->tso.buffer[p][i].cell == cell)
            return true;
    return false;
}

static bool store_local(const struct view *v) {
    const struct state *s = v->s;
    for (unsigned p = 0; p < v->m->mutators; p++) {
        const struct agent *a = &s->agent[p];
        if (a->pc != mut_store)
            continue;
        bool black = a->hp == HP_IDLE_MARK_SWEEP && s->tso.memory[CELL_PHASE] != PHASE_IDLE;
        bool deletes = a->hp == HP_MARK || black, inserts = a->hp == HP_INIT_MARK || deletes;
        unsigned cell = cell_field(a->src - 1U, a->field);
        if (inserts && !view_marked_before(v, p, s->tso.count[p], a->dst))
            return false;
        if (a->unborn & 1U << a->src >> 1)
            continue;
        if (deletes && !stores_itself(s, p, cell) && !view_null_or_marked(v, s->tso.memory[cell]))
            return false;
    }
    return true;
}

static bool roots_local(const struct view *v) {
    const struct state *s = v->s;
    for (unsigned p = 0; p < v->m->mutators; p++) {
        const struct agent *a = &s->agent[p];
        if (a->pc != mut_hs_roots && a->pc != mut_hs_roots_mark && a->pc != mut_answered)
            continue;
        if (!type_asks_for_roots(s->type) || !(s->pending >> p & 1) ||
            (a->roots & ~a->refs & ~v->marked))
            return false;
        for (unsigned i = 0; i < s->tso.count[p]; i++)
            if (s->tso.buffer[p][i].cell >= CELL_FIELD)
                return false;
    }
    return true;
}

unsigned relations_broken(const struct view *v) {
    unsigned broken = 0;
#define CHECK(name, predicate)                                                                     \
    if (!predicate(v))                                                                             \
    broken |= INVARIANT(name)
    CHECK(valid_W, valid_W);
    CHECK(tso_store, tso_store_rel);
    CHECK(tso_lock, tso_lock_rel);
    CHECK(handshake, handshake);
    CHECK(phase_rel, phase_rel);
    CHECK(fM_rel, fM_rel);
    CHECK(fA_rel, fA_rel);
    CHECK(gc_W_empty, gc_W_empty);
    CHECK(mark_local, mark_local);
    CHECK(store_local, store_local);
    CHECK(roots_local, roots_local);
#undef CHECK
    return broken;
}
