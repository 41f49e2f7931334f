/* SPDX-License-Identifier: MIT
 *
 * Private to harness/operations/: what marshalling makes of a graph of the model.
 */
#ifndef ISOHEAP_HARNESS_COPY_H
#define ISOHEAP_HARNESS_COPY_H

#include "harness/internal.h"

enum { COPIED_WORDS = 1024 };

/* What a copy has made so far: original and copy, and the fields that are to be filled. */
struct copy {
    bool unshared, closures; /* as it is asked for */
    bool whole;              /* custom blocks and objects may be in it */
    bool raises;             /* something in it cannot be written, and an exception says so */
    bool numbered;           /* it has objects that get a number when they are read */
    bool named;              /* it has closures or custom blocks */
    unsigned n;
    size_t words;
    struct {
        uint32_t from, to;
    } pair[COPIED_WORDS];
};

/* An empty one; there is one at a time. */
struct copy *copy_begin(bool unshared, bool closures, bool whole);
/* Plans the copy of all that the object reaches: false if it is not known what comes of it, or it
 * is endless. */
bool copy_plan(struct runner *, struct copy *, uint32_t object);
/* The model's copy of what has been planned, for which there is room. */
uint32_t copy_make(struct runner *, struct copy *, unsigned m);

#endif
