/* SPDX-License-Identifier: MIT
 *
 * The set of states that a search has seen: packed states in the order of their arrival, and a hash
 * table of their numbers.  Grows in pieces up to a bound in bytes.
 */
#ifndef ISOHEAP_ONTHEFLY_STORE_H
#define ISOHEAP_ONTHEFLY_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct store {
    unsigned width;       /* bytes of a state */
    uint64_t n;           /* states */
    uint64_t bytes, most; /* memory used, and allowed */
    uint8_t **pieces;
    uint32_t *table; /* number + 1, or 0 */
    uint64_t slots;  /* a power of two */
};

enum store_result { STORE_NEW, STORE_KNOWN, STORE_FULL };

/* False: not even a beginning fits. */
bool store_open(struct store *, unsigned width, uint64_t most_bytes);
void store_close(struct store *);
uint64_t store_hash(const struct store *, const uint8_t *state);
/* STORE_FULL: the bound is reached, or the system has no more memory; the set is unchanged. */
enum store_result store_add(struct store *, const uint8_t *state, uint64_t hash);
/* Whether the state is in the set.  Several threads may ask at a time, while nobody adds. */
bool store_has(const struct store *, const uint8_t *state, uint64_t hash);
/* The number of a state of the set. */
uint64_t store_find(const struct store *, const uint8_t *state, uint64_t hash);
const uint8_t *store_get(const struct store *, uint64_t number);

#endif
