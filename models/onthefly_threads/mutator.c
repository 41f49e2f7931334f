/* SPDX-License-Identifier: MIT
 *
 * Mutators of the threaded on-the-fly collector: figure 6 of TSO, and the answers to handshakes.
 */
#include "models/onthefly_threads/state.h"

#include <assert.h>

word *otf_roots(struct otf *g, unsigned m) {
    return g->process[m].roots;
}

void otf_take_roots(struct otf *g, unsigned m, word *slots) {
    g->process[m].roots = slots;
}

void otf_load(struct otf *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    struct otf_process *p = &g->process[m];
    otf_mutator_at(p, mut_load); /* line 6 */
    p->roots[dst] = otf_get(p, otf_field(p->roots[obj], i));
}

static void write_field(struct otf_process *p, otf_cell *field, word new) {
    otf_mutator_at(p, mut_store); /* line 11 */
    otf_put(p, field, new);
}

void otf_store(struct otf *g, unsigned m, unsigned obj, size_t i, unsigned value) {
    struct otf_process *p = &g->process[m];
    otf_cell *field = otf_field(p->roots[obj], i);
    word old = WORD_UNIT, new = p->roots[value];
    bool deletes = !otf_varies(VARIANT(no_deletion_barrier));
    if (deletes) {
        otf_mutator_at(p, mut_deref_del); /* line 9 */
        old = otf_get(p, field);
    }
    if (otf_varies(VARIANT(store_first)))
        write_field(p, field, new);
    if (deletes)
        otf_mark(p, old); /* mut_store_del */
    if (!otf_varies(VARIANT(no_insertion_barrier))) {
        otf_mutator_at(p, mut_lop_store_ins);
        otf_mark(p, new); /* line 10, mut_store_ins */
    }
    if (!otf_varies(VARIANT(store_first)))
        write_field(p, field, new);
}

void otf_fence(struct otf *g, unsigned m) {
    otf_mfence(&g->process[m]);
}

/* Figure 2, lines 19 and 33; the list and the answer together. */
static void answer(struct otf_process *p) {
    struct otf *g = p->gc;
    pthread_mutex_lock(&g->mutex);
    for (size_t i = 0; i < p->W.n; i++)
        otf_push(&g->W, p->W.block[i]);
    p->W.n = 0;
    atomic_store(&g->pending[p->number], false);
    pthread_mutex_unlock(&g->mutex);
}

/* In any order; none is left out, whatever was chosen before. */
static void mark_roots(struct otf_process *p) {
    for (unsigned next = 0;;) {
        while (next < OTF_ROOTS && is_immediate(p->roots[next]))
            next++;
        otf_mutator_at(p, mut_hs_roots); /* line 17 */
        unsigned slot = otf_choose(p, next < OTF_ROOTS ? next : OTF_NONE);
        if (slot == OTF_NONE)
            break;
        otf_mark(p, p->roots[slot]); /* line 18, mut_hs_roots_mark */
        next += slot == next;
    }
    answer(p);
}

bool otf_poll(struct otf *g, unsigned m) {
    struct otf_process *p = &g->process[m];
    if (!atomic_load(&g->pending[m])) /* mut_top */
        return false;
    otf_mutator_at(p, mut_hs_fence);
    if (!otf_varies(VARIANT(no_mutator_fence)))
        otf_mfence(p);
    otf_mutator_at(p, mut_hs_type);
    unsigned type = atomic_load(&g->type);
    if (type == HS_ROOTS) {
        mark_roots(p);
        return true;
    }
    otf_mutator_at(p, mut_hs_done);
    /* A noop handshake hands nothing over: what this mutator has marked waits. */
    if (type == HS_WORK)
        answer(p);
    else
        atomic_store(&g->pending[m], false);
    return true;
}
