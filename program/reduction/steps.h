/* SPDX-License-Identifier: MIT
 *
 * Private to program/: the steps of reduction, each a removal or a simplification of one part.
 *
 * Every step makes a program smaller in one order: operations, those that stand for others, items,
 * words, kinds, pointers in fields, slots in use, values, numbers, config, neighbours that are not
 * in order; what it makes larger comes later in that order.  So no sequence of steps is endless,
 * and a program that no step can change for the better is the end.
 */
#ifndef ISOHEAP_PROGRAM_STEPS_H
#define ISOHEAP_PROGRAM_STEPS_H

#include "program/program.h"

struct step_family {
    const char *name;                          /* what a step does: "remove an operation" */
    bool chunks;                               /* many steps at once make sense */
    unsigned (*count)(const struct program *); /* steps are numbered 0 .. count - 1 */
    /* Steps at .. at + n - 1 (n is 1 without chunks), in place.  False, and nothing changed, if
     * they mean nothing here.  The result may be too large for its heap: see program_valid. */
    bool (*apply)(struct program *, unsigned at, unsigned n);
};

enum { STEP_FAMILIES = 32 }; /* in a table, its end included */

/* Those of heap, roots and config; of the schedule; of the script; those that put something simpler
 * in the place of operations, or into the initial heap; then, in small programs, those that say in
 * several operations what one does, those that bring programs to one form, and those for exact
 * limits. name is NULL at the end. */
extern const struct step_family heap_steps[], script_steps[], replace_steps[], beforehand_steps[],
    schedule_steps[], expand_steps[], form_steps[], balance_steps[];

/* Sizes, indexes and integers become smaller by half of what is above their minimum, a quarter, ...
 * and at last by one: a search that needs few runs. */
enum { LADDER = 28 }; /* rungs; numbers are below 2^28 */
static inline unsigned step_down(unsigned number, unsigned minimum, unsigned rung) {
    return number < minimum ? number : number - ((number - minimum) >> rung);
}

/* Takes words from a config value, if there are any; false, and nothing changed, if it would leave
 * its range. */
bool take_words(struct program *, enum config_key, unsigned words);
/* Does the config count allocations, to collect or to refuse one?  Back to the defaults; true. */
bool has_counts(const struct program *p);
bool forget_counts(struct program *p);
/* The fields of the largest block that fits before the script, but for the words that `exhaust`
 * leaves; 0: none. */
unsigned room_to_exhaust(const struct program *, const struct op *exhaust);
/* An operation reads another slot where it read `from`. */
void op_rename_read(struct op *, unsigned from, unsigned to);

/* Takes from each number of p, `times` over, what it lost on the way of a program of the same
 * operations and items between two states of it.  False, and p is of no use, if anything but
 * numbers differs there, if a number has grown, or if none has lost.  p may be without meaning: see
 * program_valid. */
bool stride(struct program *p, const struct program *from, const struct program *to,
            unsigned times);

/* Rungs of simplify_value. */
enum { VALUE_RUNGS = 5 };
/* Brings a value one rung nearer to 0.  False if it is no simpler then. */
bool simplify_value(struct value *, bool raw, unsigned rung);

#endif
