/* SPDX-License-Identifier: MIT
 *
 * What the tests of program/ share: random bytes, random programs, and the round trips that every
 * valid program must survive.
 */
#ifndef ISOHEAP_TESTS_PROGRAM_SUPPORT_H
#define ISOHEAP_TESTS_PROGRAM_SUPPORT_H

#include "program/program.h"

/* A small generator of pseudo-random numbers (splitmix64): the same sequence everywhere. */
struct rng {
    uint64_t state;
};
uint64_t rng_next(struct rng *);
/* 0 .. bound - 1 */
unsigned rng_below(struct rng *, unsigned bound);
bool rng_chance(struct rng *, unsigned one_in);

/* Fills bytes at random: uniformly, or with many repeated, small or WIDE bytes. */
void random_bytes(struct rng *, uint8_t *bytes, size_t size);

/* A valid program, made without the decoder: any value, wide or not, anywhere it is legal. */
void random_program(struct rng *, struct program *, unsigned max_items, unsigned max_ops);
struct op random_op(struct rng *);

/* Valid, and equal after encode + decode. Fails the test otherwise. */
void check_bytes_round_trip(const struct program *);
/* Read into the program, the text is a valid one and printed as it stands. */
void check_is_printed_as_read(struct program *, const char *text);
/* Equal after print + parse. */
void check_text_round_trip(const struct program *);

#endif
