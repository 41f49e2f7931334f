/* SPDX-License-Identifier: MIT
 *
 * Private to program/: cuts that take something out of a program and leave a program.
 *
 * Each mends what pointed at the part that is gone, so that references stay valid.  Room is not
 * looked at: cuts make none scarcer, and what turns one kind of item into another is followed by
 * program_valid (reduce.c).
 */
#ifndef ISOHEAP_PROGRAM_CUT_H
#define ISOHEAP_PROGRAM_CUT_H

#include "program/program.h"

/* Copies the meaningful content alone: an assignment would move 295 KB. */
void program_copy(struct program *to, const struct program *from);

/* Takes operations at .. at + n - 1 out. */
void cut_ops(struct program *p, unsigned at, unsigned n);

/* What becomes of a pointer at a block that is gone. */
enum mend {
    MEND_UNIT,  /* the immediate 0 */
    MEND_FOLLOW /* the first pointer of that block, as when a list element is unlinked */
};

/* What takes the place of an item: nothing, or a gap of the same words. */
enum rest { REST_NOTHING, REST_FREE, REST_DEAD };

/* Takes items at .. at + n - 1 out. */
void cut_items(struct program *p, unsigned at, unsigned n, enum mend, enum rest);

/* Makes one gap of neighbouring gaps among items at .. at + n - 1: free, or dead if all are.  The
 * blocks stay where they are.  False if no two gaps are neighbours. */
bool merge_gaps(struct program *p, unsigned at, unsigned n);

/* Takes fields at .. at + n - 1 (indexes into p->fields) out of their blocks, which get smaller;
 * a block that is no closure keeps one.  False if nothing was left to take. */
bool cut_fields(struct program *p, unsigned at, unsigned n);

/* Gives the closure in item `index` other functions; infix pointers follow their function, or
 * become pointers at the closure if it is gone. */
void cut_functions(struct program *p, unsigned index, unsigned functions, const int8_t *arity);

/* Turns a closure or a raw block into an ordinary one with tag 0: a closure's environment stays,
 * raw words become 0.  False for a closure without an environment. */
bool cut_kind(struct program *p, unsigned index);

#endif
