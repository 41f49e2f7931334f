/* SPDX-License-Identifier: MIT
 *
 * Programs that must pass: what the tests of the collectors share.
 */
#ifndef ISOHEAP_TESTS_PASSING_H
#define ISOHEAP_TESTS_PASSING_H

#include "harness/harness.h"
#include "program/program.h"

enum { RANDOM_BYTES = 200 };

/* A runner that makes digests; reference NULL: the model alone. */
struct runner *open_pair(const struct collector *subject, const struct collector *reference);

/* Runs; a violation or harness error fails the test with the report under `what`.  The verdict is
 * there until the next call; its counts are added to *sum, if there is one. */
const struct verdict *must_pass(struct runner *, const struct program *, const char *what,
                                struct run_counts *sum);

/* The program passes on every registered collector. */
void all_must_pass(const char *source);

/* Reads the program, which is a violation of that class by the subject, beside cheney.  The verdict
 * is there until the next call. */
const struct verdict *must_break(const struct collector *subject, struct program *,
                                 const char *source, enum violation);

/* The oracle finds that the subject, beside cheney, raises the class with this sentence. */
struct verdict must_be_found(const struct collector *subject, const struct program *, enum oracle,
                             enum violation, const char *detail);

/* The program passes on every registered collector in each variant, and does the same on another
 * one beside it, whose heap and all else lie elsewhere. */
void places_do_not_matter(struct program *);

/* Fills bytes from an LCG, the same everywhere; returns its state. */
uint64_t next_bytes(uint64_t state, uint8_t *bytes, size_t size);

/* One run leaves nothing behind: `runs` programs pass on one runner, and every so often one has the
 * same digest on a fresh one.  make: program `number` of RANDOM_BYTES random bytes, which it may
 * change first; random: as many bits again. */
void runs_are_alike(const struct collector *subject, const struct collector *reference,
                    unsigned runs, unsigned every,
                    void (*make)(struct program *, unsigned number, uint8_t *bytes,
                                 uint64_t random));

#endif
