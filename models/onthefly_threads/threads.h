/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly collector of TSO as real threads: C11 atomics, one thread that collects, mutators
 * that are never stopped together.  The same algorithm, step by step, as the model in
 * models/onthefly/, over OCaml blocks with closures and infix blocks.
 *
 * Every access to memory that another thread may look at is one call of an access function
 * (state.h), with the label of the model's step that it implements in front of it; a hook sees
 * these labels.  So a test can hold every thread at its label, let them go one at a time as a
 * schedule of the model says, and compare (tests/models/onthefly_gate.c), and a stress test can let
 * threads fall behind there.
 *
 * Loads are acquire and stores are release, which x86-TSO gives for plain instructions; the fences
 * and the CAS are the only expensive ones.  The proof of the paper is for x86-TSO: on a weaker
 * machine this is not known to be correct.
 */
#ifndef ISOHEAP_ONTHEFLY_THREADS_H
#define ISOHEAP_ONTHEFLY_THREADS_H

#include "collectors/layout.h"

#include <stdatomic.h>

enum {
    OTF_MUTATORS = 4,
    OTF_ROOTS = 36,       /* slots of a mutator */
    OTF_WOSIZE = 7,       /* the largest block */
    OTF_NONE = 0x7fffffff /* no choice is left */
};

/* A hook's label is one of mark, of a mutator or of the collector (models/onthefly/labels.h),
 * counted from here. */
enum { OTF_MARK = 0, OTF_MUTATOR = 64, OTF_COLLECTOR = 128 };

/* Linkage of all functions: who includes the files in one of his own has them to himself. */
#ifndef OTF_API
#define OTF_API
#endif

typedef _Atomic word otf_cell;

/* How a test, or who has plugged it in, takes part; each may be NULL. */
struct otf_hooks {
    void *context;
    /* Before the step at a label.  The CAS is one step here, at OTF_MARK + mo_co_lock. */
    void (*step)(void *context, unsigned process, unsigned label);
    /* At a label where the algorithm may choose: a root slot, a block, a field, a mutator; OTF_NONE
     * when nothing is left.  fallback is what it would choose. */
    unsigned (*choose)(void *context, unsigned process, unsigned fallback);
    /* In place of the instruction. */
    word (*load)(void *context, unsigned process, const otf_cell *);
    void (*store)(void *context, unsigned process, otf_cell *, word);
    void (*fence)(void *context, unsigned process);
    otf_cell *heap; /* the caller's memory for it: OTF_WOSIZE + 1 words a block */
    /* Fields that nobody may touch, and fields that are about to be used; else AddressSanitizer is
     * told. */
    void (*dead)(void *context, otf_cell *first, size_t words);
    void (*used)(void *context, otf_cell *first, size_t words);
    /* An invariant does not hold; does not return.  Else abort. */
    void (*broken)(void *context, const char *sentence);
};

struct otf;

/* A heap of so many blocks (1 to 2^20), all free, and mutators 0..mutators-1 with empty roots.  No
 * thread runs yet.  hooks (NULL: none) must live as long as the heap.  NULL: no memory. */
OTF_API struct otf *otf_open(unsigned mutators, size_t blocks, const struct otf_hooks *hooks);
OTF_API void otf_close(struct otf *);
/* The same where its threads are gone, wherever they stood. */
OTF_API void otf_abandon(struct otf *);

/* The collector's thread begins its first cycle; false: the system has no thread left. */
OTF_API bool otf_start(struct otf *);
/* Asks it to end after the cycle that it is in, which needs the mutators' answers. */
OTF_API void otf_stop(struct otf *);
/* It has ended: no handshake will be asked for any more. */
OTF_API bool otf_stopped(const struct otf *);
/* Waits for that; call it when the mutators are gone or answer elsewhere. */
OTF_API void otf_join(struct otf *);
/* Cycles that have ended. */
OTF_API uint64_t otf_cycles(const struct otf *);

/* ---- a mutator, m, each in a thread of its own ------------------------------------------------
 *
 * Operations name slots of the mutator.  Between two of them it must call otf_poll now and then, or
 * no cycle ends.  The number of mutators is fixed; one that has nothing to do polls.
 */

/* Its slots; an empty one holds WORD_UNIT.  Infix pointers may stand there.  Copying and clearing
 * slots (Discard) is the caller's business, and so is adding an offset to an infix block. */
OTF_API word *otf_roots(struct otf *, unsigned m);
/* From now on they are these, OTF_ROOTS of them; before its first operation. */
OTF_API void otf_take_roots(struct otf *, unsigned m, word *slots);

/* Figure 6, Alloc: slot dst points at a new block with this content (as in collector.h: no
 * pointers into the heap).  False: no block is free; poll, and try again. */
OTF_API bool otf_alloc(struct otf *, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                       const word *raw);
/* Load: slot dst := field i of slot obj, which holds no infix pointer. */
OTF_API void otf_load(struct otf *, unsigned m, unsigned dst, unsigned obj, size_t i);
/* Store with its two barriers: field i of slot obj := slot value. */
OTF_API void otf_store(struct otf *, unsigned m, unsigned obj, size_t i, unsigned value);
OTF_API void otf_fence(struct otf *, unsigned m);
/* Answers a handshake if one is pending; returns whether one was. */
OTF_API bool otf_poll(struct otf *, unsigned m);

/* ---- inspection, while no thread runs ---------------------------------------------------------
 */

/* blocks * (OTF_WOSIZE + 1) words; each block has its place, free ones are blue. */
OTF_API const word *otf_heap(const struct otf *, size_t *blocks);

#endif
