/* SPDX-License-Identifier: MIT
 *
 * The random numbers of mutation: splitmix64, the same sequence for a seed on every machine.
 * Source: Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
 */
#ifndef ISOHEAP_PROGRAM_RANDOM_H
#define ISOHEAP_PROGRAM_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

struct random {
    uint64_t state; /* any state is a good one: a seed as it is */
};

static inline uint64_t random_next(struct random *r) {
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* 0 .. bound - 1; bound > 0.  A multiplication instead of a division; the bias is below 2^-16 for
 * the bounds of a program. */
static inline unsigned random_below(struct random *r, unsigned bound) {
    return (unsigned)((random_next(r) >> 32) * bound >> 32);
}

static inline bool random_chance(struct random *r, unsigned one_in) {
    return random_below(r, one_in) == 0;
}

/* from .. to, both included. */
static inline unsigned random_between(struct random *r, unsigned from, unsigned to) {
    return from + random_below(r, to - from + 1);
}

/* 1, 2, 3, ... at most `most`, each half as often as the one before. */
static inline unsigned random_few(struct random *r, unsigned most) {
    unsigned n = 1;
    while (n < most && random_chance(r, 2))
        n++;
    return n;
}

#endif
