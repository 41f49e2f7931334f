/* SPDX-License-Identifier: MIT
 *
 * What the files of oracle told share.  Not for others.
 */
#ifndef ISOHEAP_ORACLES_TOLD_H
#define ISOHEAP_ORACLES_TOLD_H

#include "oracles/judge.h"

/* Places of blocks in one run: more, and it is no longer judged. */
enum { TOLD_PLACES = 1536, TOLD_TABLE = 2048 };

/* Where a block is, or was. */
struct told_place {
    word value;                     /* of the block */
    word header;                    /* as the last walk had it; of a copy that of the block */
    word to;                        /* where it has moved, in that collection: */
    uint64_t left;                  /* hooks->collections then, and one more; 0: it has not */
    uint64_t arrived;               /* the same of a block that has moved here */
    uint64_t found, scanned, swept; /* side->calls of the last call in which that was told; 0 */
    uint64_t met;                   /* the walk that has last shown the block */
    bool here;                      /* it is there, as far as has been told since the last walk */
    bool young;
    bool waits; /* found, and not scanned since */
    bool aside; /* set aside, and not scanned since */
};

/* Steps that a row of blocks takes: of those that are scanned, of those that are swept, of those
 * that move by themselves. */
enum told_row { ROW_NONE, ROW_SCANNED, ROW_SWEPT, ROW_SLID };

struct told {
    bool listens;
    uint64_t compared; /* hooks->collections at the last comparison */
    struct gc_cycle cycle;
    uint64_t walk; /* number of the last one */
    unsigned n;    /* places in use */
    size_t budget; /* words of heaps that may still be walked in this run */
    bool aside;    /* a block has been set aside in this run */
    size_t young;  /* words of young blocks, dead ones too */
    size_t filled; /* noted of the nursery up to the last call */
    /* the collection under way, or the last one, by hooks->collections: */
    uint64_t collection;
    size_t found; /* words through which a block has been found in it */
    /* the row under way: */
    enum told_row row;
    uint64_t row_began, row_steps; /* steps of the run when it began; those that it must take */
    /* The first that was found in this run. */
    enum violation violation; /* VIOLATION_none: nothing yet */
    const char *detail;
    char expected[VERDICT_TEXT], found_text[VERDICT_TEXT];
    uint16_t row_of[TOLD_TABLE];           /* by value: which of them, from 1 on; 0: none */
    struct told_place places[TOLD_PLACES]; /* the first n */
};

/* ---- told_places.c ----------------------------------------------------------------------------
 */

/* The place with that value, or NULL. */
struct told_place *told_find(struct told *, word value);
/* The same, made if there is none; NULL: there are too many. */
struct told_place *told_place(struct told *, word value);
/* After a walk: what has been told is compared with it, and the places are those of the walk.
 * request: what the call has allocated, or NULL; full: it was a full collection. */
void told_compare(struct judge *, const struct request *, bool full);

/* ---- told.c -----------------------------------------------------------------------------------
 */

static inline bool told_without_exception(const struct judge *j, unsigned what) {
    return j->side->traits.tells >> what & 1;
}
/* Notes what is wrong of the block at value, if nothing is noted yet; expected: a format for it. */
void told_note(struct judge *, enum violation, const char *detail, const char *expected,
               const char *found, word value);

#endif
