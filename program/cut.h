/* SPDX-License-Identifier: MIT
 *
 * Private to program/: cuts that take something out of a program and leave a program.
 *
 * Each mends the references to the part that is gone, so that all references stay valid.  None
 * checks that the program still fits its heap: a cut only makes room, and after a step that turns
 * one kind of item into another the caller asks program_valid (reduce.c).
 */
#ifndef ISOHEAP_PROGRAM_CUT_H
#define ISOHEAP_PROGRAM_CUT_H

#include "program/program.h"

/* Removes the operations at .. at + n - 1. */
void cut_ops(struct program *p, unsigned at, unsigned n);
/* Decisions of the schedule. */
void cut_switches(struct program *p, unsigned at, unsigned n);

/* What becomes of a pointer at a block that is gone. */
enum mend {
    MEND_UNIT,  /* the immediate 0 */
    MEND_FOLLOW /* the first pointer of that block, as when a list element is unlinked */
};

/* What takes the place of an item: nothing, or a gap of the same words. */
enum rest { REST_NOTHING, REST_FREE, REST_DEAD };

/* Removes the items at .. at + n - 1. */
void cut_items(struct program *p, unsigned at, unsigned n, enum mend, enum rest);

/* Joins neighbouring gaps among the items at .. at + n - 1: the new gap is dead if all of them are,
 * else free.  Blocks keep their places.  False if no two gaps are neighbours. */
bool merge_gaps(struct program *p, unsigned at, unsigned n);

/* Removes the fields at .. at + n - 1 (indexes into p->fields) from their blocks, which become
 * smaller; a block that is no closure keeps at least one field.  False if there was nothing to
 * remove. */
bool cut_fields(struct program *p, unsigned at, unsigned n);

/* Gives the closure in item `index` other functions; infix pointers follow their function, or
 * become pointers at the closure if it is gone. */
void cut_functions(struct program *p, unsigned index, unsigned functions, const int8_t *arity);

/* Turns a closure or a raw block into an ordinary one with tag 0: a closure's environment stays,
 * raw words become 0.  False for a closure without an environment. */
bool cut_kind(struct program *p, unsigned index);

#endif
