/* SPDX-License-Identifier: MIT
 *
 * Structured mutation and crossover: new programs from programs, for fuzzing engines.
 *
 * A round decodes its input, changes the program (program.h) as a programmer would (operations come
 * and go as a whole, edges are led elsewhere, limits are moved to where they bite) and encodes it
 * again.  What comes out decodes to a valid program and is no longer than the engine allows: a
 * program that has grown too large loses operations, items, roots and settings until it fits.
 *
 * All randomness comes from the seed of the round.  Each round first throws dice on which kinds of
 * mutation, operations and tags it uses at all (swarm testing: Groce et al., ISSTA 2012), since a
 * few features used often reach other states than all features used a little.
 *
 * Nothing here knows a fuzzing engine: fuzz/ has the glue.
 */
#ifndef ISOHEAP_PROGRAM_MUTATE_H
#define ISOHEAP_PROGRAM_MUTATE_H

#include "program/program.h"

/* X(name, what it does) */
#define MUTATION_KINDS(X)                                                                          \
    X(insert, "new operations, in runs")                                                           \
    X(idiom, "operations that mean something together")                                            \
    X(delete, "a run of operations goes")                                                          \
    X(duplicate, "a run of operations a second time")                                              \
    X(move, "a run of operations to another place")                                                \
    X(swap, "two operations change places")                                                        \
    X(splice, "a run of operations replaces another")                                              \
    X(operand, "one operand of one operation")                                                     \
    X(rewire, "a field leads to another block")                                                    \
    X(root, "a root slot gets another value, or none")                                             \
    X(tag, "another tag for a block, or other functions for a closure")                            \
    X(size, "more or fewer fields for a block")                                                    \
    X(gap, "a free block, dead block or fragment comes, goes or changes")                          \
    X(grow, "new blocks, and something that points at them")                                       \
    X(shrink, "a run of blocks and gaps goes")                                                     \
    X(config, "one setting at random")                                                             \
    X(decision, "decisions of the schedule come, go, change, move and repeat")                     \
    X(aim_heap, "the heap exactly full, or a word beside it")                                      \
    X(aim_stack, "the mark stack exactly full, or an entry beside it")                             \
    X(aim_nursery, "the nursery exactly full, or a word beside it")                                \
    X(aim_count, "stress and failure at an allocation that there is, large at a size that there "  \
                 "is")

enum mutation_kind {
#define X(name, meaning) MUTATION_##name,
    MUTATION_KINDS(X)
#undef X
        MUTATION_KIND_COUNT
};
const char *mutation_kind_name(enum mutation_kind);
const char *mutation_kind_meaning(enum mutation_kind);

/* Weights for one field of defects. */
struct mutation_profile;
/* "default", "infix", "fragmentation", and so on (profiles.c); NULL if there is none of
 * that name. */
const struct mutation_profile *mutation_profile_find(const char *name);
/* Profile number n, for lists; NULL after the last one. */
const struct mutation_profile *mutation_profile_at(unsigned n);
const char *mutation_profile_name(const struct mutation_profile *);
const char *mutation_profile_meaning(const struct mutation_profile *);

/* The engine's own mutator: changes data in place and returns its new size, at most max_size. */
typedef size_t mutate_bytes(uint8_t *data, size_t size, size_t max_size);

struct mutation; /* the state of rounds: buffers, and what the last one did */

/* profile NULL: the default.  bytes NULL: no round falls through to the engine's own mutator, else
 * one in eight.  NULL if there is no memory. */
struct mutation *mutation_open(const struct mutation_profile *, mutate_bytes *bytes);
/* From now on no block or gap of an initial heap that comes out has more fields, but for static
 * ones: as many as the collector can represent (trait max_wosize), at least 2; 0: any number. */
void mutation_limit(struct mutation *, size_t max_wosize);
void mutation_close(struct mutation *);

/* One round: changes data[0 .. size) in place, size <= max_size, and returns the new size, at most
 * max_size.  The same input, limits, profile and seed give the same result. */
size_t mutation_mutate(struct mutation *, uint8_t *data, size_t size, size_t max_size,
                       uint64_t seed);

/* Makes a program from nothing, in data[0 .. result): the empty program after 1 to 32 rounds.  A
 * chain of small changes is kept by the engine only as long as each of them reaches something new;
 * this reaches programs that no such chain leads to. */
size_t mutation_generate(struct mutation *, uint8_t *data, size_t max_size, uint64_t seed);

/* A child of two programs in out[0 .. result), result <= max_size: the first one with operations,
 * blocks, decisions or settings of the second.  out may overlap neither. */
size_t mutation_cross(struct mutation *, const uint8_t *first, size_t first_size,
                      const uint8_t *second, size_t second_size, uint8_t *out, size_t max_size,
                      uint64_t seed);

/* The program that the last round made, byte rounds not counted; valid until the next one. */
const struct program *mutation_program(const struct mutation *);
/* How often each kind has changed something since mutation_open; MUTATION_KIND_COUNT of them. */
const uint64_t *mutation_counts(const struct mutation *);
/* Writes what the last round did, "insert,aim_heap", or "bytes" for one of the engine's, into out;
 * cuts it and returns its length as snprintf does. */
size_t mutation_describe(const struct mutation *, char *out, size_t capacity);

/* ---- trimming ----------------------------------------------------------------------------------
 */

/* How many parts (operations, then items, then roots that hold something, then decisions of the
 * schedule) a program has. */
unsigned mutation_parts(struct mutation *, const uint8_t *data, size_t size);
/* Writes the program without its parts from .. from + count - 1 to out and returns its size; 0 if
 * nothing is left, or if it does not fit into max_size. */
size_t mutation_trim(struct mutation *, const uint8_t *data, size_t size, unsigned from,
                     unsigned count, uint8_t *out, size_t max_size);

#endif
