/* SPDX-License-Identifier: MIT
 *
 * What the reductions assume (assume.h).
 */
#include "models/onthefly/exploration/assume.h"

/* ---- variants ---------------------------------------------------------------------------------
 */

/* How far a variant leaves alone what the reductions are built on. */
enum {
    EVERY_STEP,  /* or nobody knows: no reduction */
    LOCAL_STEPS, /* local steps commute; roots are looked at where they do not in the paper */
    KEPT_ROOTS,  /* besides, a mutator may discard late and load early */
    ALL          /* besides, what a mutator has not answered for does not change */
};

static const uint8_t known[VARIANT_COUNT] = {
#define X(name, level) [VARIANT_BIT_##name] = level
    X(no_deletion_barrier, ALL),
    X(no_insertion_barrier, ALL),
    X(plain_mark, ALL),
    X(early_fA, ALL),
    X(alloc_white, ALL),
    X(store_first, ALL),
    X(insertion_off, ALL),
    X(figure_5_order, ALL),
    X(one_by_one, ALL),
    X(insertion_until_mark, ALL),
    X(deletion_after_roots, ALL),
    X(free_barriers, ALL),
    X(fA_before_init, ALL),
    X(fA_after_init, ALL),
    X(fA_before_mark, ALL),
    X(fA_after_mark, ALL),
    X(fA_after_roots, ALL),
    X(lost_grey, ALL),
    X(no_phase_test, ALL),
    X(no_second_look, ALL),
    X(skip_field, ALL),
    X(stale_roots, ALL),
    X(no_gc_fence, KEPT_ROOTS),
    X(no_mutator_fence, KEPT_ROOTS),
    X(no_last_round, KEPT_ROOTS),
    X(old_sense, KEPT_ROOTS),
    X(skip_idle, KEPT_ROOTS),
    X(skip_idle_flip, KEPT_ROOTS),
    X(skip_init, KEPT_ROOTS),
    X(skip_mark, KEPT_ROOTS),
    X(no_fence_idle, KEPT_ROOTS),
    X(no_fence_idle_flip, KEPT_ROOTS),
    X(no_fence_init, KEPT_ROOTS),
    X(no_fence_mark, KEPT_ROOTS),
    X(fence_only_idle, KEPT_ROOTS),
    X(fence_only_idle_flip, KEPT_ROOTS),
    X(fence_only_init, KEPT_ROOTS),
    X(fence_only_mark, KEPT_ROOTS),
    X(early_answer, KEPT_ROOTS),
    X(sweep_blind, KEPT_ROOTS),
    X(gc_writes, KEPT_ROOTS),
    X(early_unlock, KEPT_ROOTS),
    X(rescan_roots, KEPT_ROOTS),
    X(no_roots_handshake, LOCAL_STEPS),
    X(read_barrier, LOCAL_STEPS), /* a load has a mark in it, so it is no early one */
    X(stale_src, EVERY_STEP),
    X(mutator_sets_phase, EVERY_STEP),
    X(no_wait, EVERY_STEP),
    X(come_and_go, EVERY_STEP),
    X(go_unfenced, EVERY_STEP),
    X(go_with_work, EVERY_STEP),
    X(come_answered, EVERY_STEP),
    X(pools, EVERY_STEP),
    X(pools_late_fields, EVERY_STEP),
    X(pools_late_flag, EVERY_STEP),
    X(pools_early_flag, EVERY_STEP),
    X(deaf, EVERY_STEP),
    X(endless_rounds, EVERY_STEP),
    X(tso_handshake, EVERY_STEP),
    X(blocks, EVERY_STEP),
    X(blocks_unfenced, EVERY_STEP),
    X(blocks_rootless, EVERY_STEP),
    X(blocks_unanswered, EVERY_STEP),
#undef X
};

static unsigned least_known(const struct model *m) {
    unsigned least = ALL;
    for (unsigned i = 0; i < VARIANT_COUNT; i++)
        if (m->variant >> i & 1 && known[i] < least)
            least = known[i];
    return least;
}

enum reduction assume_reduction(const struct model *m, enum reduction wanted) {
    unsigned least = least_known(m);
    enum reduction most = least == EVERY_STEP    ? REDUCE_NONE
                          : least == LOCAL_STEPS ? REDUCE_LOCAL
                                                 : REDUCE_FULL;
    return wanted < most ? wanted : most;
}

bool assume_stable_loads(const struct model *m) {
    return least_known(m) == ALL;
}

/* ---- what nobody else can disturb --------------------------------------------------------------
 */

bool assume_collector_stores(const struct state *s, unsigned cell) {
    for (unsigned i = 0; i < s->tso.count[GC]; i++)
        if (s->tso.buffer[GC][i].cell == cell)
            return true;
    return false;
}

bool assume_fM_stable(const struct state *s, unsigned p) {
    unsigned pc = s->agent[GC].pc;
    bool flipping = pc == gc_idle_ask || pc == gc_idle_wait || pc == gc_load_fM ||
                    pc == gc_invert_fM || pc == gc_store_fM;
    return !assume_collector_stores(s, CELL_FM) && (!flipping || s->pending >> p & 1);
}

bool assume_phase_stable(const struct state *s, unsigned p) {
    unsigned pc = s->agent[GC].pc;
    bool marking = pc == gc_pick || pc == gc_field || pc == gc_deref || pc == gc_mark_field ||
                   pc == gc_mark_inner;
    return !assume_collector_stores(s, CELL_PHASE) && (marking || s->pending >> p & 1);
}

/* On its way to ask p. */
static bool will_ask(const struct state *s, unsigned p, unsigned h) {
    unsigned pc = s->agent[GC].pc;
    return pc == h * PARTS + PART_TYPE ||
           (pc == h * PARTS + PART_ASK && s->agent[GC].refs >> p & 1);
}

/* What is stable stays so, in this wider sense, until p takes a step. */
static bool fM_held(const struct state *s, unsigned p) {
    return assume_fM_stable(s, p) ||
           (will_ask(s, p, H_IDLE) && !assume_collector_stores(s, CELL_FM));
}

static bool phase_held(const struct state *s, unsigned p) {
    return assume_phase_stable(s, p) ||
           (will_ask(s, p, H_WORK) && !assume_collector_stores(s, CELL_PHASE));
}

static uint8_t held(const struct model *m, const struct state *s,
                    bool (*is_held)(const struct state *, unsigned)) {
    unsigned set = 0;
    for (unsigned p = 0; p < m->mutators; p++)
        set |= (unsigned)is_held(s, p) << p;
    return (uint8_t)set;
}

/* ---- a step -----------------------------------------------------------------------------------
 */

void assume_before(struct assumed *a, const struct model *m, const struct state *s, bool loads) {
    a->fM_held = loads ? held(m, s, fM_held) : 0;
    a->phase_held = loads ? held(m, s, phase_held) : 0;
    a->type = s->type;
    a->pending = s->pending;
    a->pc = s->agent[GC].pc;
    a->fM = state_fM(s);
    a->phase = s->tso.memory[CELL_PHASE];
    a->alloc = s->alloc;
    a->marked = state_marked(m, s);
}

/* A step of the collector in a handshake. */
static const char *handshake_broken(const struct assumed *a, const struct state *s,
                                    const struct action *x) {
    unsigned part = gc_handshake(a->pc) < HANDSHAKES ? gc_part(a->pc) : PARTS;
    if (a->pending && s->type != a->type)
        return "a handshake begins before the last one was answered";
    if (part == PART_ASK && x->op == DO_MUTATOR && a->pending >> x->a & 1)
        return "a mutator is asked that has not answered yet";
    if (part == PART_LOAD_W && a->pending)
        return "work is taken over before all have answered";
    if (part == PART_WAIT && s->agent[GC].pc != a->pc && a->pending)
        return "the collector goes on before all have answered";
    return NULL;
}

const char *assume_broken(const struct assumed *a, const struct model *m, const struct state *s,
                          const struct action *x) {
    unsigned others = x->process == GC ? ~0U : ~(1U << x->process);
    bool sweeps = a->pc == gc_sweep || a->pc == gc_free;
    if (x->process != GC && (s->tso.memory[CELL_PHASE] != a->phase || state_fM(s) != a->fM))
        return "a mutator stores a control variable";
    if (a->fM_held & others &&
        (state_fM(s) != a->fM || a->fM_held & others & ~(unsigned)held(m, s, fM_held)))
        return "f_M may change under a mutator that has not answered";
    if (a->phase_held & others && (s->tso.memory[CELL_PHASE] != a->phase ||
                                   a->phase_held & others & ~(unsigned)held(m, s, phase_held)))
        return "phase may change under a mutator that has not answered";
    if (sweeps && a->marked & s->alloc & ~(unsigned)state_marked(m, s))
        return "an object loses its mark while the collector sweeps";
    return x->process == GC && x->op != DO_COMMIT ? handshake_broken(a, s, x) : NULL;
}
