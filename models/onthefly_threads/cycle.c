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
    if (type == HS_NOOP) {
        otf_collector_at(c, h + PART_FENCE);
        otf_mfence(c);
    }
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
        if (colour != BLUE && colour != otf_colour(fM))
            otf_free_block(g, number);
    }
}

/* ---- cycles -----------------------------------------------------------------------------------
 */

static void cycle(struct otf_process *c) {
    struct otf *g = c->gc;
    handshake(c, gc_idle_fence, HS_NOOP); /* lines 3 and 4 */
    otf_collector_at(c, gc_load_fM);      /* line 5 */
    word fM = otf_get(c, &g->fM);
    otf_collector_at(c, gc_invert_fM);
    fM = !fM;
    otf_collector_at(c, gc_store_fM);
    otf_put(c, &g->fM, fM);
    handshake(c, gc_idle_flip_fence, HS_NOOP); /* lines 6 and 7 */
    otf_collector_at(c, gc_phase_init);        /* line 8 */
    otf_put(c, &g->phase, PHASE_INIT);
    handshake(c, gc_init_fence, HS_NOOP); /* lines 9 and 10 */
    otf_collector_at(c, gc_phase_mark);   /* line 11 */
    otf_put(c, &g->phase, PHASE_MARK);
    otf_collector_at(c, gc_mark_load_fM); /* line 12 */
    fM = otf_get(c, &g->fM);
    otf_collector_at(c, gc_store_fA);
    otf_put(c, &g->fA, fM);
    handshake(c, gc_mark_fence, HS_NOOP);   /* lines 13 and 14 */
    handshake(c, gc_roots_fence, HS_ROOTS); /* lines 15 to 20 */
    mark_loop(c);
    otf_collector_at(c, gc_phase_sweep); /* line 37 */
    otf_put(c, &g->phase, PHASE_SWEEP);
    sweep(c);
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
