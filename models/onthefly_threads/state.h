/* SPDX-License-Identifier: MIT
 *
 * What the files of the threaded on-the-fly collector share: the state, and the access functions
 * that stand for the instructions of x86-TSO.  Private to them, and to the tests that compare it
 * with the model.
 */
#ifndef ISOHEAP_ONTHEFLY_THREADS_STATE_H
#define ISOHEAP_ONTHEFLY_THREADS_STATE_H

#include "models/onthefly/model.h"
#include "models/onthefly_threads/threads.h"

#include <assert.h>
#include <pthread.h>

enum { OTF_STRIDE = OTF_WOSIZE + 1 /* words of a block's place */ };

/* The model's known-bad variants (VARIANT in models/onthefly/model.h), for a compilation with
 * OTF_VARIANTS: a sum of those that this code has now.  Who includes the files says it by a macro.
 */
#ifdef OTF_VARIANTS
extern uint64_t otf_variants;
#elif !defined otf_variants
enum { otf_variants = 0 };
#endif
static inline bool otf_varies(uint64_t variant) {
    return (otf_variants & variant) != 0;
}

/* Numbers of blocks.  A block is on one list at most (valid_W_inv), so none overflows. */
struct otf_list {
    uint32_t *block;
    size_t n;
};

/* A process: mutator 0..3 or the collector, GC. */
struct otf_process {
    struct otf *gc;
    unsigned number;
    struct otf_list W;   /* its own until it hands it over */
    word *roots;         /* OTF_ROOTS of them: */
    word own[OTF_ROOTS]; /* unless the caller has others */
};

struct otf {
    unsigned mutators;
    size_t blocks;
    const struct otf_hooks *hooks;
    otf_cell *heap;

    otf_cell fA, fM, phase; /* figure 2; subject to TSO, as are headers and fields */

    /* Not subject to TSO (3.1): accessed by locked instructions, or under the mutex. */
    atomic_uint type;
    atomic_bool pending[OTF_MUTATORS];
    pthread_mutex_t mutex; /* of the two lists */
    struct otf_list free, W;

    struct otf_process process[TSO_PROCESSES];
    pthread_t thread;
    atomic_bool quit, stopped;
    _Atomic uint64_t cycles;
};

/* ---- instructions -----------------------------------------------------------------------------
 */

/* The step at this label comes next. */
static inline void otf_at(struct otf_process *p, unsigned label) {
    const struct otf_hooks *hooks = p->gc->hooks;
    if (hooks && hooks->step)
        hooks->step(hooks->context, p->number, label);
}
static inline void otf_mark_at(struct otf_process *p, enum mark_label label) {
    otf_at(p, OTF_MARK + label);
}
static inline void otf_mutator_at(struct otf_process *p, enum mutator_label label) {
    otf_at(p, OTF_MUTATOR + label);
}
static inline void otf_collector_at(struct otf_process *p, unsigned label) {
    otf_at(p, OTF_COLLECTOR + label);
}

static inline unsigned otf_choose(struct otf_process *p, unsigned fallback) {
    const struct otf_hooks *hooks = p->gc->hooks;
    if (hooks && hooks->choose)
        return hooks->choose(hooks->context, p->number, fallback);
    return fallback;
}

/* sys-read */
static inline word otf_get(struct otf_process *p, const otf_cell *cell) {
    const struct otf_hooks *hooks = p->gc->hooks;
    if (hooks && hooks->load)
        return hooks->load(hooks->context, p->number, cell);
    return atomic_load_explicit(cell, memory_order_acquire);
}

/* sys-write */
static inline void otf_put(struct otf_process *p, otf_cell *cell, word value) {
    const struct otf_hooks *hooks = p->gc->hooks;
    if (hooks && hooks->store)
        hooks->store(hooks->context, p->number, cell, value);
    else
        atomic_store_explicit(cell, value, memory_order_release);
}

/* sys-mfence.  ThreadSanitizer knows no fences (gcc says so), but the exchange of a word that
 * nobody else has drains the store buffer too. */
static inline void otf_mfence(struct otf_process *p) {
    const struct otf_hooks *hooks = p->gc->hooks;
    if (hooks && hooks->fence) {
        hooks->fence(hooks->context, p->number);
        return;
    }
    atomic_uint own;
    atomic_init(&own, 0);
    atomic_exchange_explicit(&own, 1, memory_order_seq_cst);
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

static inline otf_cell *otf_field(word v, size_t i) {
    return (otf_cell *)(uintptr_t)v + i;
}
static inline otf_cell *otf_header(word v) {
    return (otf_cell *)(uintptr_t)v - 1;
}
static inline word otf_block(const struct otf *g, uint32_t number) {
    return (word)(uintptr_t)(g->heap + (size_t)number * OTF_STRIDE + 1);
}
static inline uint32_t otf_number(const struct otf *g, word v) {
    return (uint32_t)((size_t)(otf_header(v) - g->heap) / OTF_STRIDE);
}

/* A sense of the mark is a colour: f_M false means that white is marked. */
static inline unsigned otf_colour(word sense) {
    return sense ? BLACK : WHITE;
}

/* An invariant of this collector's own. */
static inline void otf_expect(struct otf_process *p, bool holds, const char *sentence) {
    const struct otf_hooks *hooks = p->gc->hooks;
    if (!holds && hooks && hooks->broken)
        hooks->broken(hooks->context, sentence);
    assert(holds);
}

/* heap.c: the block of a pointer: itself, or the closure of an infix block. */
OTF_API word otf_resolve(word v);
/* First field that holds values; wosize, if none does. */
OTF_API size_t otf_first_scanned(word header, word v);
OTF_API void otf_free_block(struct otf *, uint32_t number);
static inline void otf_push(struct otf_list *list, uint32_t number) {
    list->block[list->n++] = number;
}

/* mark.c: figure 5. */
OTF_API void otf_mark(struct otf_process *, word v);

/* cycle.c: the collector's thread. */
OTF_API void *otf_collect(void *otf);

#endif
