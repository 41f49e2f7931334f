/* SPDX-License-Identifier: MIT
 *
 * The x86-TSO machine (tso.h).
 */
#include "models/onthefly/tso.h"

#include <assert.h>
#include <string.h>

void tso_reset(struct tso *t) {
    memset(t, 0, sizeof *t);
    t->lock = TSO_NOBODY;
}

void tso_store(struct tso *t, unsigned p, unsigned cell, unsigned value) {
    assert(p < TSO_PROCESSES && cell < TSO_CELLS && t->count[p] < TSO_DEPTH);
    t->buffer[p][t->count[p]++] = (struct tso_entry){(uint8_t)cell, (uint8_t)value};
}

void tso_write(struct tso *t, unsigned p, unsigned cell, unsigned value) {
    assert(tso_free(t, p) && cell < TSO_CELLS);
    t->memory[cell] = (uint8_t)value;
}

void tso_lock(struct tso *t, unsigned p) {
    assert(tso_can_lock(t));
    t->lock = (uint8_t)p;
}

void tso_unlock(struct tso *t, unsigned p) {
    assert(tso_can_unlock(t, p));
    t->lock = TSO_NOBODY;
}

struct tso_entry tso_take(struct tso *t, unsigned p) {
    assert(p < TSO_PROCESSES && tso_can_commit(t, p));
    struct tso_entry oldest = t->buffer[p][0];
    unsigned left = --t->count[p];
    memmove(t->buffer[p], t->buffer[p] + 1, left * sizeof oldest);
    t->buffer[p][left] = (struct tso_entry){0, 0};
    return oldest;
}
