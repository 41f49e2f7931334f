/* SPDX-License-Identifier: MIT
 *
 * The invariants of TSO section 3.2 (invariants.h): colours, and the predicates on them.
 * relations.c has those on control variables, buffers and handshakes.
 */
#include "models/onthefly/view.h"

static const struct {
    const char *name, *class, *statement;
} table[] = {
#define X(name, class, statement) {#name, #class, statement},
    INVARIANTS(X)
#undef X
};

const char *invariant_name(unsigned bit) {
    return table[bit].name;
}

const char *invariant_class(unsigned bit) {
    return table[bit].class;
}

const char *invariant_statement(unsigned bit) {
    return table[bit].statement;
}

unsigned invariant_first(unsigned broken) {
    unsigned bit = 0;
    while (!(broken >> bit & 1))
        bit++;
    return bit;
}

/* ---- colours ----------------------------------------------------------------------------------
 */

/* All that is reached from a set by targets in within; the set belongs to it. */
static unsigned closure(const struct view *v, unsigned from, unsigned within) {
    unsigned reached = from, before;
    do {
        before = reached;
        for (unsigned r = 0; r < v->m->refs; r++)
            if (reached >> r & 1)
                reached |= v->targets[r] & within;
    } while (reached != before);
    return reached;
}

/* 3.2: white is not marked, grey is on a work-list or honorary, black is marked and not grey. */
static void look(struct view *v, const struct model *m, const struct state *s) {
    v->m = m;
    v->s = s;
    v->marked = v->grey = v->roots = v->snapshot_roots = 0;
    for (unsigned r = 0; r < m->refs; r++) {
        unsigned targets = 0;
        for (unsigned f = 0; f < m->fields && s->alloc >> r & 1; f++)
            targets |= 1U << state_field(s, r, f);
        v->targets[r] = (refset)(targets >> 1);
        v->marked |= (unsigned)(s->tso.memory[cell_mark(r)] == state_fM(s)) << r;
    }
    v->marked &= s->alloc;
    v->white = s->alloc & ~v->marked;
    for (unsigned p = 0; p < m->mutators; p++) {
        unsigned roots = state_roots(s, p) & ~(unsigned)s->agent[p].unborn;
        v->roots |= roots;
        if (s->agent[p].hp == HP_IDLE_MARK_SWEEP)
            v->snapshot_roots |= roots;
        v->grey |= s->agent[p].W | (s->agent[p].grey & ~(unsigned)s->agent[p].unborn);
    }
    v->grey |= s->agent[GC].W | s->agent[GC].grey | s->W;
    v->black = v->marked & ~v->grey;
    v->grey_protected = closure(v, v->grey, v->white);
}

/* ---- predicates -------------------------------------------------------------------------------
 */

static bool valid_refs(const struct view *v) {
    return !(closure(v, v->roots | v->grey, ~0U) & ~(unsigned)v->s->alloc);
}

static unsigned black_targets(const struct view *v) {
    unsigned targets = 0;
    for (unsigned r = 0; r < v->m->refs; r++)
        if (v->black >> r & 1)
            targets |= v->targets[r];
    return targets;
}

static bool strong_tricolour(const struct view *v) {
    return !(black_targets(v) & v->white);
}

static bool weak_tricolour(const struct view *v) {
    return !(black_targets(v) & v->white & ~v->grey_protected);
}

static bool sys_phase(const struct view *v) {
    const struct state *s = v->s;
    bool same = s->tso.memory[CELL_FA] == state_fM(s);
    switch (s->hp) {
    case HP_IDLE:
        return !v->grey && !(same ? v->s->alloc & ~v->black : v->s->alloc & ~v->white);
    case HP_IDLE_INIT:
        return !v->black;
    case HP_INIT_MARK:
        return same || !v->black;
    case HP_IDLE_MARK_SWEEP:
        return !v->grey || (s->tso.memory[CELL_PHASE] != PHASE_IDLE && !view_pending_idle(s));
    default:
        return true;
    }
}

static bool mutator_phase(const struct view *v) {
    for (unsigned p = 0; p < v->m->mutators; p++)
        if (v->s->agent[p].hp == HP_IDLE_INIT && v->black)
            return false;
    return true;
}

/* The pending field stores of mutators from some phase on. */
static bool marked_insertions(const struct view *v) {
    for (unsigned p = 0; p < v->m->mutators; p++)
        for (unsigned i = 0; i < v->s->tso.count[p] && v->s->agent[p].hp >= HP_INIT_MARK; i++) {
            struct tso_entry e = v->s->tso.buffer[p][i];
            if (e.cell >= CELL_FIELD && !view_marked_before(v, p, i, e.value))
                return false;
        }
    return true;
}

static bool marked_deletions(const struct view *v) {
    for (unsigned p = 0; p < v->m->mutators; p++)
        for (unsigned i = 0; i < v->s->tso.count[p] && v->s->agent[p].hp >= HP_MARK; i++) {
            struct tso_entry e = v->s->tso.buffer[p][i];
            if (e.cell >= CELL_FIELD && !(v->s->agent[p].unborn >> cell_ref(e.cell) & 1) &&
                (!(v->s->alloc >> cell_ref(e.cell) & 1) ||
                 !view_null_or_marked(v, v->s->tso.memory[e.cell])))
                return false;
        }
    return true;
}

static bool reachable_snapshot(const struct view *v) {
    return !v->snapshot_roots ||
           !(closure(v, v->snapshot_roots, ~0U) & ~(v->black | v->grey_protected));
}

static bool sweeping(unsigned pc) {
    return pc == gc_sweep || pc == gc_free;
}

/* From the end of the sweep to the first handshake, everything is marked. */
static bool sweep(const struct view *v) {
    const struct agent *gc = &v->s->agent[GC];
    unsigned pc = gc->pc;
    unsigned done = sweeping(pc) ? ~(unsigned)gc->refs
                    : pc == gc_phase_idle || pc == gc_idle_fence || pc == gc_idle_type ? ~0U
                                                                                       : 0;
    return !(v->white & done);
}

static bool garbage(const struct view *v) {
    unsigned pc = v->s->agent[GC].pc;
    return (pc != gc_phase_idle && pc != gc_idle_fence && pc != gc_idle_type) || !v->s->doomed;
}

static bool obj_fields_marked(const struct view *v) {
    const struct agent *gc = &v->s->agent[GC];
    if (gc->pc != gc_field && gc->pc != gc_deref && gc->pc != gc_mark_field)
        return true;
    unsigned src = gc->src - 1U;
    if (!(gc->W >> src & 1))
        return false;
    for (unsigned f = 0; f < v->m->fields; f++) {
        bool current = gc->pc == gc_mark_field && gc->field == f;
        oref target = state_field(v->s, src, f);
        if ((current || !(gc->refs >> f & 1)) && !view_null_or_marked(v, target) &&
            !(current && target == gc->ref))
            return false;
    }
    return true;
}

unsigned invariants_broken(const struct model *m, const struct state *s, unsigned events,
                           unsigned set) {
    struct view v;
    unsigned broken = 0;
    look(&v, m, s);
    if (events & EVENT_LOST_STORE)
        broken |= INVARIANT(valid_stores);
    if (events & EVENT_GC_FIELD)
        broken |= INVARIANT(gc_fields);
#define CHECK(name)                                                                                \
    if (!name(&v))                                                                                 \
    broken |= INVARIANT(name)
    CHECK(valid_refs);
    if (!(set & ~INVARIANTS_SAFETY))
        return broken & set;
    CHECK(strong_tricolour);
    CHECK(weak_tricolour);
    CHECK(sys_phase);
    CHECK(mutator_phase);
    CHECK(marked_insertions);
    CHECK(marked_deletions);
    CHECK(reachable_snapshot);
    CHECK(sweep);
    CHECK(garbage);
    CHECK(obj_fields_marked);
#undef CHECK
    return (broken | relations_broken(&v)) & set;
}
