/* SPDX-License-Identifier: MIT
 *
 * The heap as a minor collection found it: h0, for the oracles remembered, minor and snapshot.
 *
 * It is filled in before every minor collection; after it the heap is walked again.
 */
#ifndef ISOHEAP_ORACLE_MINOR_RECORD_H
#define ISOHEAP_ORACLE_MINOR_RECORD_H

#include "oracles/judge.h"
#include "views/bits.h"

struct minor_record {
    bool known;      /* the heap was as it should be, and could be walked: the rest is filled in */
    bool unrecorded; /* some old block, reachable or not, has an edge to a young one that is not in
                        the remembered set; the witness has been compared */
    word twice;      /* a field that the remembered set has twice is one of this block's, */
    size_t twice_field; /* and its number; or twice is 0 */
    size_t old, young;  /* blocks: old ones; young ones that must be kept (minor.c) */
    gc_slots slots[GC_MUTATORS];
    /* For each word of the side: */
    uint64_t *starts;       /* an old block starts here (field 0) */
    uint64_t *young_starts; /* a young one that must be kept */
    uint64_t *recorded;     /* this word is a remembered field */
    word words[];           /* of all those blocks; the maps lie behind them */
};

/* Young blocks too: those that slots and remembered fields reach. */
void minor_record_young(struct judge *);

/* Does v point at a young block? */
static inline bool is_young(const struct side *s, word v) {
    return is_pointer(v) && s->collector->young(s->gc, v);
}

#endif
