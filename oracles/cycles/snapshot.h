/* SPDX-License-Identifier: MIT
 *
 * What the two files of oracle snapshot share.  Not for others.
 */
#ifndef ISOHEAP_ORACLES_SNAPSHOT_H
#define ISOHEAP_ORACLES_SNAPSHOT_H

#include "oracles/judge.h"
#include "oracles/statements/definition6.h"

struct snapshot {
    struct definition6 summary;
    struct gc_cycle cycle; /* at the last look */
    bool watched;          /* one is under way, and was watched from its beginning */
    bool due;              /* the mutator has written since the last look */
    word memory[];         /* of the summary */
};

/* A cycle of an old generation has begun in the last call: its snapshot.  False: it has ended too,
 * or a block reaches beyond the old generation. */
bool snapshot_of_old(struct judge *);
/* A minor collection has ended within a cycle that is watched. */
void snapshot_note_minor(struct judge *);
/* Live blocks that the cycle is about, after a walk. */
size_t snapshot_live(const struct side *);

#endif
