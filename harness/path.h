/* SPDX-License-Identifier: MIT
 *
 * The differing path of a verdict, as numbers.
 */
#ifndef ISOHEAP_HARNESS_PATH_H
#define ISOHEAP_HARNESS_PATH_H

#include "harness/harness.h"

enum { PATH_STEPS = 64 };

/* The path as numbers: a slot, then fields. */
struct path {
    unsigned slot; /* mutator * GC_SLOTS + slot */
    unsigned steps[PATH_STEPS];
    unsigned n;
    bool given;
};

/* What is marked of one block: the field that the path goes through, and the end of the path. */
struct mark {
    long field; /* -1: none */
    bool end;
};

/* Reads "r0.1.0" or "mutator 2: r0.1.0".  Of a path that was cut in its middle ("...") the steps
 * before the cut. */
struct path path_read(const char *text);
/* The mark of the snapshot's block `index`. */
struct mark path_mark(const struct snapshot *, const struct path *, size_t index);

#endif
