/* SPDX-License-Identifier: MIT
 *
 * The set of seen states (store.h).
 */
#include "models/onthefly/exploration/store.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE_BITS = 16, PIECE = 1 << PIECE_BITS, PIECES_MAX = 1 << 16, FIRST_SLOTS = 1 << 12 };

static bool allow(struct store *s, uint64_t bytes) {
    if (bytes > s->most || s->bytes > s->most - bytes)
        return false;
    s->bytes += bytes;
    return true;
}

bool store_open(struct store *s, unsigned width, uint64_t most_bytes) {
    memset(s, 0, sizeof *s);
    s->width = width;
    s->most = most_bytes;
    s->slots = FIRST_SLOTS;
    if (!allow(s, FIRST_SLOTS * sizeof *s->table + PIECES_MAX * sizeof *s->pieces))
        return false;
    s->table = calloc(FIRST_SLOTS, sizeof *s->table);
    s->pieces = calloc(PIECES_MAX, sizeof *s->pieces);
    if (s->table && s->pieces)
        return true;
    store_close(s);
    return false;
}

void store_close(struct store *s) {
    for (unsigned i = 0; s->pieces && i < PIECES_MAX; i++)
        free(s->pieces[i]);
    free(s->pieces);
    free(s->table);
    s->pieces = NULL;
    s->table = NULL;
}

const uint8_t *store_get(const struct store *s, uint64_t number) {
    return s->pieces[number >> PIECE_BITS] + (number & (PIECE - 1)) * s->width;
}

/* Multiply and fold, eight bytes at a time. */
uint64_t store_hash(const struct store *s, const uint8_t *state) {
    uint64_t hash = 0x9e3779b97f4a7c15, word;
    for (unsigned i = 0; i < s->width; i += 8) {
        unsigned left = s->width - i;
        word = 0;
        memcpy(&word, state + i, left < 8 ? left : 8);
        hash = (hash ^ word) * 0xd6e8feb86659fd93;
        hash ^= hash >> 32;
    }
    hash *= 0xd6e8feb86659fd93;
    return hash ^ hash >> 29;
}

/* Twice the slots.  Both tables are there for a while, and both count. */
static bool grow(struct store *s) {
    uint64_t slots = s->slots * 2;
    if (!allow(s, slots * sizeof *s->table))
        return false;
    uint32_t *table = calloc(slots, sizeof *table);
    if (!table) {
        s->bytes -= slots * sizeof *s->table;
        return false;
    }
    for (uint64_t i = 0; i < s->n; i++) {
        uint64_t at = store_hash(s, store_get(s, i)) & (slots - 1);
        while (table[at])
            at = (at + 1) & (slots - 1);
        table[at] = (uint32_t)(i + 1);
    }
    free(s->table);
    s->bytes -= s->slots * sizeof *s->table;
    s->table = table;
    s->slots = slots;
    return true;
}

/* Up to nine tenths full; a little more if there is no memory to grow. */
static bool has_room(struct store *s) {
    if (s->n == UINT32_MAX - 1)
        return false;
    if (s->n < s->slots / 10 * 9)
        return true;
    return grow(s) || s->n < s->slots / 100 * 97;
}

static bool has_piece(struct store *s) {
    uint64_t piece = s->n >> PIECE_BITS;
    if (s->pieces[piece])
        return true;
    if (piece >= PIECES_MAX || !allow(s, (uint64_t)PIECE * s->width))
        return false;
    s->pieces[piece] = malloc((size_t)PIECE * s->width);
    if (!s->pieces[piece])
        s->bytes -= (uint64_t)PIECE * s->width;
    return s->pieces[piece] != NULL;
}

bool store_has(const struct store *s, const uint8_t *state, uint64_t hash) {
    for (uint64_t at = hash & (s->slots - 1); s->table[at]; at = (at + 1) & (s->slots - 1))
        if (memcmp(store_get(s, s->table[at] - 1U), state, s->width) == 0)
            return true;
    return false;
}

uint64_t store_find(const struct store *s, const uint8_t *state, uint64_t hash) {
    uint64_t at = hash & (s->slots - 1);
    while (memcmp(store_get(s, s->table[at] - 1U), state, s->width) != 0)
        at = (at + 1) & (s->slots - 1);
    return s->table[at] - 1U;
}

enum store_result store_add(struct store *s, const uint8_t *state, uint64_t hash) {
    uint64_t at = hash & (s->slots - 1);
    for (; s->table[at]; at = (at + 1) & (s->slots - 1))
        if (memcmp(store_get(s, s->table[at] - 1U), state, s->width) == 0)
            return STORE_KNOWN;
    uint64_t slots = s->slots;
    if (!has_room(s) || !has_piece(s))
        return STORE_FULL;
    if (slots != s->slots)
        for (at = hash & (s->slots - 1); s->table[at];)
            at = (at + 1) & (s->slots - 1);
    memcpy(s->pieces[s->n >> PIECE_BITS] + (s->n & (PIECE - 1)) * s->width, state, s->width);
    s->table[at] = (uint32_t)(++s->n);
    return STORE_NEW;
}
