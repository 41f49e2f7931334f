/* SPDX-License-Identifier: MIT
 *
 * What is taken down of a run that is looked at closely (r->close): who wrote what, and when all
 * was well.  Not for other folders.
 */
#ifndef ISOHEAP_HARNESS_HISTORY_H
#define ISOHEAP_HARNESS_HISTORY_H

#include "harness/call.h"

/* The mutator has written fields `field` .. `field + n - 1` of a block. */
struct written {
    int32_t origin; /* of the block, as in struct model_object */
    uint32_t serial;
    unsigned op;
    size_t field, n;
};

struct history {
    struct written *writes; /* the last one is right */
    size_t n, capacity;
    gc_slots slots[GC_MUTATORS];                 /* the model's, after the last operation */
    unsigned set_by[GC_MUTATORS][PROGRAM_SLOTS]; /* the operation; OP_INITIAL: none */
    bool has_agreed;
    unsigned agreed; /* after this operation all heaps were as they must be */
};

struct history *history_open(void); /* NULL: no memory */
void history_close(struct history *);
/* A run begins: the slots are those of an empty heap. */
void history_begin(struct runner *);
void history_write(struct runner *, uint32_t object, size_t field, size_t n);
/* An operation has ended. */
void history_operation(struct runner *);
/* All heaps have been compared with the model, and nothing was wrong. */
void history_agreement(struct runner *);
/* The last write to that field, or NULL. */
const struct written *history_of(const struct history *, const struct model_object *, size_t field);

/* The mutator writes n fields. */
static inline void note_write(struct runner *r, uint32_t object, size_t field, size_t n) {
    if (r->close)
        history_write(r, object, field, n);
}

#endif
