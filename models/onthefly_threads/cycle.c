/* SPDX-License-Identifier: MIT
 *
 * The thread of the threaded on-the-fly collector: figure 2 of TSO.
 */
#include "models/onthefly_threads/state.h"

#include <sched.h>

/* ---- handshakes, figure 4 ---------------------------------------------------------------------
 */

static void take_work(struct otf_process *c) {
    struct otf *g = c->gc;
    pthread_mutex_lock(&g->mutex);
    for (size_t i = 0; i < g->W.n; i++)
        otf_push(&c->W, g->W.block[i]);
    g->W.n = 0;
    pthread_mutex_unlock(&g->mutex);
}

/* The mutators of a set in any order; the lowest, if nobody chooses. */
static unsigned take_mutator(struct otf_process *c, unsigned *left) {
    unsigned m = otf_choose(c, (unsigned)__builtin_ctz(*left));
    *left &= ~(1U << m);
    return m;
}

/* h: gc_..._fence, the first of the five labels of this handshake. */
static void handshake(struct otf_process *c, unsigned h, enum handshake_type type) {
    struct otf *g = c->gc;
    const unsigned all = (1U << g->mutators) - 1;
    otf_collector_at(c, h + PART_TYPE);
    atomic_store(&g->type, type);
    for (unsigned left = all; left;) {
        otf_collector_at(c, h + PART_ASK);
        atomic_store(&g->pending[take_mutator(c, &left)], true);
    }
    for (unsigned left = all; left;) {
        otf_collector_at(c, h + PART_WAIT);
        unsigned m = take_mutator(c, &left);
        while (atomic_load(&g->pending[m]))
            sched_yield();
    }
    if (type != HS_NOOP) {
        otf_collector_at(c, h + PART_LOAD_W);
        take_work(c); /* lines 19 and 33 */
    }
}

/* ---- marking ----------------------------------------------------------------------------------
 */

/* Lines 28 to 30.  The object stays first on the work-list until it is black.  Fields are taken in
 * any order; by themselves they come in theirs, and whatever was chosen before, none is left out.
 */
static void scan(struct otf_process *c, word v) {
    word header = otf_get(c, otf_header(v));
    size_t wosize = header_wosize(header);
    for (size_t next = otf_first_scanned(header, v);;) {
        otf_collector_at(c, gc_field);
        unsigned field = otf_choose(c, next < wosize ? (unsigned)next : OTF_NONE);
        if (field == OTF_NONE)
            break;
        next += field == next;
        otf_collector_at(c, gc_deref);
        otf_mark(c, otf_get(c, otf_field(v, field))); /* gc_mark_field */
    }
    c->W.block[0] = c->W.block[--c->W.n];
}

/* Line 27: which one.  It goes to the front, for the others come and go behind it. */
static uint32_t pick(struct otf_process *c) {
    otf_collector_at(c, gc_pick);
    uint32_t number = otf_choose(c, c->W.block[c->W.n - 1]);
    size_t at = c->W.n - 1;
    while (c->W.block[at] != number)
        at--;
    c->W.block[at] = c->W.block[0];
    c->W.block[0] = number;
    return number;
}

static void mark_loop(struct otf_process *c) {
    for (;;) {
        otf_collector_at(c, gc_mark_loop); /* line 25 */
        if (!c->W.n)
            return;
        do {
            scan(c, otf_block(c->gc, pick(c)));
            otf_collector_at(c, gc_mark_inner); /* line 26 */
        } while (c->W.n);
        if (otf_varies(VARIANT(no_last_round)))
            return;
        handshake(c, gc_work_fence, HS_WORK); /* lines 31 to 34 */
    }
}

/* ---- sweeping ---------------------------------------------------------------------------------
 */

static void sweep(struct otf_process *c) {
    struct otf *g = c->gc;
    otf_collector_at(c, gc_sweep_load_fM); /* line 38 */
    word fM = otf_get(c, &g->fM);
    for (uint32_t next = 0;;) {
        otf_collector_at(c, gc_sweep); /* lines 39 to 41 */
        unsigned number = otf_choose(c, next < g->blocks ? next : OTF_NONE);
        if (number == OTF_NONE)
            return;
        next += number == next;
        unsigned colour = header_colour(otf_get(c, otf_header(otf_block(g, number))));
        otf_collector_at(c, gc_free); /* lines 41 to 45 */
        bool unmarked = (colour != otf_colour(fM)) != otf_varies(VARIANT(old_sense));
        if (colour != BLUE && unmarked)
            otf_free_block(g, number);
    }
}

/* ---- cycles -----------------------------------------------------------------------------------
 */

static void noop_fence(struct otf_process *c, unsigned h) {
    otf_collector_at(c, h + PART_FENCE);
    otf_mfence(c);
}

/* A noop handshake with its mfence; skip, no_fence, alone: the variants without both, without the
 * one, and with nothing but the one. */
static void noop(struct otf_process *c, unsigned h, uint64_t skip, uint64_t no_fence,
                 uint64_t alone) {
    bool answers = !otf_varies(skip | alone);
    if (otf_varies(alone) || (answers && !otf_varies(VARIANT(no_gc_fence) | no_fence)))
        noop_fence(c, h);
    if (answers)
        handshake(c, h, HS_NOOP);
}

#define NOOP(c, name)                                                                              \
    noop(c, gc_##name##_fence, VARIANT(skip_##name), VARIANT(no_fence_##name),                     \
         VARIANT(fence_only_##name))

static void set_fA(struct otf_process *c, unsigned label, word fM) {
    otf_collector_at(c, label);
    otf_put(c, &c->gc->fA, fM);
}

static bool is_of_block(const struct otf *g, word v, uint32_t number) {
    return !is_immediate(v) && otf_number(g, v) == number;
}

/* Lines 15 to 20, without asking anybody: as variant no_roots_handshake has it. */
static void steal_roots(struct otf_process *c) {
    struct otf *g = c->gc;
    word stolen[OTF_MUTATORS][OTF_ROOTS];
    otf_collector_at(c, gc_steal);
    atomic_store(&g->type, HS_ROOTS);
    for (unsigned m = 0; m < g->mutators; m++)
        for (unsigned k = 0; k < OTF_ROOTS; k++)
            stolen[m][k] = g->process[m].roots[k];
    for (;;) {
        otf_collector_at(c, gc_steal_pick);
        word v = WORD_UNIT;
        for (unsigned k = 0; k < g->mutators * OTF_ROOTS && is_immediate(v); k++)
            v = stolen[k / OTF_ROOTS][k % OTF_ROOTS];
        unsigned number = otf_choose(c, is_immediate(v) ? OTF_NONE : otf_number(g, v));
        if (number == OTF_NONE)
            return;
        for (unsigned k = 0; k < g->mutators * OTF_ROOTS; k++)
            if (is_of_block(g, stolen[k / OTF_ROOTS][k % OTF_ROOTS], number))
                stolen[k / OTF_ROOTS][k % OTF_ROOTS] = WORD_UNIT;
        otf_mark(c, otf_block(g, number)); /* gc_steal_mark */
    }
}

static void take_roots(struct otf_process *c) {
    if (otf_varies(VARIANT(no_roots_handshake)))
        steal_roots(c);
    else
        handshake(c, gc_roots_fence, HS_ROOTS); /* lines 15 to 20 */
}

static void cycle(struct otf_process *c) {
    struct otf *g = c->gc;
    bool early = otf_varies(VARIANT(early_fA)), late = otf_varies(VARIANT(alloc_white));
    NOOP(c, idle);                   /* lines 3 and 4 */
    otf_collector_at(c, gc_load_fM); /* line 5 */
    word fM = otf_get(c, &g->fM);
    otf_collector_at(c, gc_invert_fM);
    fM = !fM;
    otf_collector_at(c, gc_store_fM);
    otf_put(c, &g->fM, fM);
    if (early)
        set_fA(c, gc_store_fA, fM);
    NOOP(c, idle_flip);                 /* lines 6 and 7 */
    otf_collector_at(c, gc_phase_init); /* line 8 */
    otf_put(c, &g->phase, PHASE_INIT);
    NOOP(c, init);                      /* lines 9 and 10 */
    otf_collector_at(c, gc_phase_mark); /* line 11 */
    otf_put(c, &g->phase, PHASE_MARK);
    if (!early && !late) {
        otf_collector_at(c, gc_mark_load_fM); /* line 12 */
        set_fA(c, gc_store_fA, otf_get(c, &g->fM));
    }
    NOOP(c, mark); /* lines 13 and 14 */
    take_roots(c);
    mark_loop(c);
    otf_collector_at(c, gc_phase_sweep); /* line 37 */
    otf_put(c, &g->phase, PHASE_SWEEP);
    sweep(c);
    if (late)
        set_fA(c, gc_late_fA, fM);
    otf_collector_at(c, gc_phase_idle); /* line 46 */
    otf_put(c, &g->phase, PHASE_IDLE);
}

void *otf_collect(void *otf) {
    struct otf *g = otf;
    while (!atomic_load(&g->quit)) {
        cycle(&g->process[GC]);
        atomic_fetch_add(&g->cycles, 1);
    }
    atomic_store(&g->stopped, true);
    return NULL;
}
