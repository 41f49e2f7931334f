/* SPDX-License-Identifier: MIT
 *
 * Semantic coverage: what a run did that the edges of the code cannot show.
 *
 * A runner with a table (runner_options.coverage) sets a byte of it to 1 for every feature that a
 * run has.  Which feature is where is fixed by the functions below; nobody but tests needs them, a
 * fuzzing engine takes the bytes as they are.  The owner clears the table between runs.
 *
 *   pairs     an operation and the one before it, by the phase that the collector was in
 *   blocks    tag, size and sharing of every block that is reachable at a comparison of the heaps
 *   fill      how far heap, mark stack and nursery were from being full
 *   deaths    how many collections a block had lived through when it was found dead, by tag
 */
#ifndef ISOHEAP_COVERAGE_H
#define ISOHEAP_COVERAGE_H

#include "harness/harness.h"

/* The parts, each of which can be left out.  All pairs and all blocks are many features, most of
 * which say nothing of a collector: a corpus twice as large finds defects later.  So the default is
 * what helps in measurements (docs/mutation.md). */
enum {
    COVER_CYCLES = 1u << 0, /* pairs while a cycle is under way */
    COVER_PAIRS = 1u << 1,  /* all pairs */
    COVER_BLOCKS = 1u << 2,
    COVER_FILL = 1u << 3,
    COVER_DEATHS = 1u << 4,
    COVER_ALL = (1u << 5) - 1,
    COVER_DEFAULT = COVER_CYCLES | COVER_FILL | COVER_DEATHS
};
/* "default", "all", or names separated by commas: cycles, pairs, blocks, fill, deaths.  0 if one of
 * them is unknown. */
unsigned coverage_parts(const char *names);

/* As the harness sees it from outside, for the subject. */
enum coverage_phase {
    PHASE_FRESH,     /* nothing has been collected yet */
    PHASE_REST,      /* between collections */
    PHASE_CYCLE,     /* slices of a cycle have been done, more are to come */
    PHASE_COLLECTED, /* the operation itself ended a collection */
    PHASES
};

enum {
    COVERAGE_TAGS = 12,      /* coverage_tag */
    COVERAGE_SIZES = 8,      /* 0, 1, 2, 3, 4.., 8.., 16.., large */
    COVERAGE_DISTANCES = 12, /* coverage_distance */
    COVERAGE_AGES = 8        /* 0, 1, 2, 3, 4.., 8.., 16.., 32.. */
};

enum coverage_sharing {
    SHARING_ONE, /* one reference from a root or field */
    SHARING_TWO,
    SHARING_MANY,
    SHARING_INFIX, /* one of its references is an infix pointer */
    SHARINGS
};

enum coverage_fill {
    FILL_ALLOCATED, /* heap: after an allocation that succeeded */
    FILL_REFUSED,   /* heap: after one that did not */
    FILL_COLLECTED, /* heap: after a collection */
    FILL_MARK_STACK,
    FILL_NURSERY,
    FILLS
};

enum {
    COVERAGE_RARE = OP_RESOURCE, /* from here on operations are one as the first of a pair */
    COVERAGE_PAIR = 0,
    COVERAGE_PREVIOUS = COVERAGE_RARE + 2, /* coverage_previous */
    COVERAGE_BLOCK = COVERAGE_PAIR + COVERAGE_PREVIOUS * OP_CODES * PHASES,
    COVERAGE_FILL = COVERAGE_BLOCK + COVERAGE_TAGS * COVERAGE_SIZES * SHARINGS,
    COVERAGE_DEATH = COVERAGE_FILL + FILLS * COVERAGE_DISTANCES,
    COVERAGE_USED = COVERAGE_DEATH + COVERAGE_TAGS * COVERAGE_AGES
};
_Static_assert(
    (int)COVERAGE_USED <= (int)COVERAGE_BYTES,
    "the table is full: an operation takes COVERAGE_PREVIOUS * PHASES features of it; give "
    "COVERAGE_BYTES (harness.h) another page, or let fewer operations be first of a pair");

/* 0, 1..245, lazy, closure, closure with infix blocks, object, forward, abstract, string, double,
 * double array, custom. */
unsigned coverage_tag(unsigned tag, bool has_infix);
/* 0, 1, 2, 3, then one class for each power of 2; COVERAGE_DISTANCES - 1: beyond full. */
unsigned coverage_distance(size_t used, size_t capacity);

/* Which operation came first says little where both are rare, and would take most of the table. */
static inline unsigned coverage_previous(unsigned op) {
    return op == OP_CODES ? COVERAGE_PREVIOUS - 1 : op > COVERAGE_RARE ? COVERAGE_RARE : op;
}
/* previous OP_CODES: there was none. */
static inline unsigned coverage_pair(unsigned previous, unsigned op, enum coverage_phase phase) {
    return COVERAGE_PAIR + (coverage_previous(previous) * OP_CODES + op) * PHASES + phase;
}
static inline unsigned coverage_block(unsigned tag, unsigned size, enum coverage_sharing sharing) {
    return COVERAGE_BLOCK + (tag * COVERAGE_SIZES + size) * SHARINGS + sharing;
}
static inline unsigned coverage_fill(enum coverage_fill what, unsigned distance) {
    return COVERAGE_FILL + what * COVERAGE_DISTANCES + distance;
}
static inline unsigned coverage_death(unsigned tag, unsigned age) {
    return COVERAGE_DEATH + tag * COVERAGE_AGES + age;
}

#endif
