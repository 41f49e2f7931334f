/* SPDX-License-Identifier: MIT
 *
 * The states of CakeML's collectors on both levels, for the collector that changes them and the
 * oracles that judge them.
 */
#ifndef ISOHEAP_CAKEML_LEVELS_H
#define ISOHEAP_CAKEML_LEVELS_H

#include "collectors/cakeml/representation.h"
#include "collectors/collector.h"

enum {
    CAKEML_LIMIT = 8192, /* words of a heap on the algorithm level, at most */
    CAKEML_ROOTS = GC_SLOTS * GC_MUTATORS,
    CAKEML_GENERATIONS = 4
};
#define CAKEML_NONE UINT32_MAX /* no address */

enum cakeml_kind { CAKEML_GENERATIONAL, CAKEML_SIMPLE, CAKEML_NO_GC, CAKEML_KINDS };

/* ---- algorithm level (section 3.3) -------------------------------------------------------------
 */

/* A list of heap elements.  Element e starts at the address that is the sum of the lengths before
 * it; el[] and words[] are indexed by address: heap_lookup a is el[a]. */
struct cakeml_heap {
    struct cakeml_element el[CAKEML_LIMIT + 1];
    cakeml_value words[CAKEML_LIMIT + 1]; /* of the element at a: words[a + 1 ...] */
};

/* What a collection has yet to move, in this order; data and references in turns. */
enum cakeml_work { CAKEML_MOVE_ROOTS, CAKEML_MOVE_REFS, CAKEML_MOVE_DATA, CAKEML_MOVE_R4 };

/* gc_state.  The segments of the new heap are ranges of addresses: h1 = [start, h2), h2 = [h2, a),
 * then n words unused, then r2 = [a + n, r4), r4 = [r4, r3), the part of r3 that is done, r1.  (The
 * paper's footnote: r1 and r2 are two segments each.) */
struct cakeml_state {
    struct cakeml_heap *heap, *to; /* old and new */
    bool partial;                  /* gen_gc_partial, else a full collection */
    bool apart;                    /* conf.isRef is looked at: references go to the end */
    uint32_t limit, gen_start, refs_start;
    uint32_t unused; /* end of the old heap's data */
    uint32_t h2, a, n, r2_end;
    cakeml_value *roots;
    uint32_t n_roots;
    bool ok;
    /* where the work is */
    enum cakeml_work work;
    uint32_t at, k, end;
    uint16_t *f; /* of the data and references there are: f[i] = new address of i, + 1, or 0; NULL:
                    nobody wants it */
};

/* ---- word level (section 4.3) ------------------------------------------------------------------
 */

/* Memory is two heaps of `limit` words: addresses count words. */
struct cakeml_words {
    uint64_t *m;
    uint32_t limit;
    uint32_t curr, other; /* where they start: old and new heap */
    uint64_t *roots;
    uint32_t n_roots;
    bool ok; /* every access was in the domain dm of memory */
    /* during a collection */
    bool partial, apart;
    uint32_t gs, rs;
    uint32_t i, pa;  /* end of the new data: counted in the new heap, and in memory */
    uint32_t ib, pb; /* start of the new references, in the same way */
};

/* ---- what the judge sees -----------------------------------------------------------------------
 */

enum cakeml_stage {
    CAKEML_START,     /* before a collection */
    CAKEML_STEP,      /* both levels have moved one heap address */
    CAKEML_SIMULATED, /* a partial collection is about to clean up; `sim` has done the full one */
    CAKEML_DONE,      /* after a collection */
    CAKEML_CHANGED,   /* an allocation, or another kind: no collection */
    CAKEML_REFUSED    /* NotEnoughSpace */
};

/* Handed to hooks->refinement.  Without lists (there are none in a heap of more than CAKEML_LIMIT
 * words) CAKEML_START and CAKEML_DONE alone are shown. */
struct cakeml_view {
    enum cakeml_stage stage;
    bool words, lists;           /* the levels that there are */
    enum cakeml_kind kind, next; /* next: which the collection under way leaves behind */
    struct cakeml_rep rep;
    uint32_t limit;
    struct cakeml_heap *heap; /* between collections */
    struct cakeml_words *w;
    struct cakeml_state *s, *sim;
    cakeml_value *roots;
    uint32_t n_roots;
    uint32_t a, sp, sp1; /* Figures 4 and 5 */
    unsigned n_gens;
    uint32_t sizes[CAKEML_GENERATIONS], starts[CAKEML_GENERATIONS]; /* the youngest first */
    uint32_t request; /* words that an allocation wants; 0: the collection was asked for */
    uint32_t unused;  /* CAKEML_START: words unused */
    bool collects, partial;
    /* CAKEML_STEP: x becomes x1, and w becomes w1 */
    cakeml_value x, x1;
    uint64_t word, word1;
    uint32_t from, to; /* the element that was copied, or CAKEML_NONE */
    uint64_t budget;   /* words that the simulation may still cost in this run */
};

#endif
