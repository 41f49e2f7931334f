/* SPDX-License-Identifier: MIT
 *
 * What the tests of mutation share: inputs, and what every result must be.
 */
#ifndef ISOHEAP_TESTS_MUTATE_SUPPORT_H
#define ISOHEAP_TESTS_MUTATE_SUPPORT_H

#include "program/mutation/mutate.h"
#include "tests/support/program_support.h"

/* A program with tags of its own, 11 to 13. */
extern const char small_program[];

/* data[0 .. size) is the valid program of the last round, no longer than the limit. */
void check_mutation(const struct mutation *, const uint8_t *data, size_t size, size_t limit);
/* An input of up to `most` bytes: random bytes, or a random program. */
size_t random_bytes_or_program(struct rng *, uint8_t *data, size_t most);
/* A digest of what was seen before and these bytes: the same with every compiler. */
uint64_t seen_too(uint64_t digest, const uint8_t *data, size_t size);

#endif
