/* SPDX-License-Identifier: MIT
 *
 * A simulated x86-TSO machine: memory cells, one store buffer (a FIFO) for each process, a lock.
 *
 * TSO section 2.4 and figure 9.  Every function is one rule of the figure and one atomic step; the
 * guard of a rule is a function of its own (tso_can_...), and the step must only be taken when its
 * guard holds.  Cells and values are numbers; what they mean is the business of model.h (and of the
 * litmus tests, which use the machine alone).
 *
 * Sequential consistency, for comparison: tso_write in place of tso_store, which needs the memory
 * to be free; then no buffer ever holds anything.
 */
#ifndef ISOHEAP_ONTHEFLY_TSO_H
#define ISOHEAP_ONTHEFLY_TSO_H

#include <stdbool.h>
#include <stdint.h>

enum { TSO_PROCESSES = 5, TSO_CELLS = 48, TSO_DEPTH = 8, TSO_NOBODY = 255 };

struct tso_entry {
    uint8_t cell, value;
};

/* All bytes count: two machines are in the same state if and only if memcmp says so. */
struct tso {
    uint8_t memory[TSO_CELLS];
    uint8_t lock;                                      /* who holds it, or TSO_NOBODY */
    uint8_t count[TSO_PROCESSES];                      /* pending stores */
    struct tso_entry buffer[TSO_PROCESSES][TSO_DEPTH]; /* oldest first; zero beyond count */
};

/* All cells 0, all buffers empty, nobody has the lock. */
void tso_reset(struct tso *);

/* Figure 9, not_blocked: nobody else holds the lock. */
static inline bool tso_free(const struct tso *t, unsigned p) {
    return t->lock == TSO_NOBODY || t->lock == p;
}

/* sys-read; guard tso_free.  The newest pending store of the process itself, else memory. */
static inline uint8_t tso_load(const struct tso *t, unsigned p, unsigned cell) {
    for (unsigned i = t->count[p]; i-- > 0;)
        if (t->buffer[p][i].cell == cell)
            return t->buffer[p][i].value;
    return t->memory[cell];
}

/* sys-write; guard tso_can_store.  The lock of another does not block it. */
void tso_store(struct tso *, unsigned p, unsigned cell, unsigned value);
static inline bool tso_can_store(const struct tso *t, unsigned p, unsigned bound) {
    return t->count[p] < bound;
}

/* A store under sequential consistency; guard tso_free. */
void tso_write(struct tso *, unsigned p, unsigned cell, unsigned value);

/* sys-mfence has no effect but to wait for this. */
static inline bool tso_drained(const struct tso *t, unsigned p) {
    return t->count[p] == 0;
}

/* sys-lock; the store buffer may be in use. */
static inline bool tso_can_lock(const struct tso *t) {
    return t->lock == TSO_NOBODY;
}
void tso_lock(struct tso *, unsigned p);

/* sys-unlock: what was stored under the lock is in memory before anybody else can look. */
static inline bool tso_can_unlock(const struct tso *t, unsigned p) {
    return t->lock == p && tso_drained(t, p);
}
void tso_unlock(struct tso *, unsigned p);

/* sys-dequeue-write-buffer: takes the oldest store out of the buffer of p and returns it.  The
 * caller writes it to memory (t->memory[cell] = value) or drops it. */
static inline bool tso_can_commit(const struct tso *t, unsigned p) {
    return t->count[p] > 0 && tso_free(t, p);
}
struct tso_entry tso_take(struct tso *, unsigned p);

#endif
