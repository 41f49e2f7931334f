/* SPDX-License-Identifier: MIT
 *
 * A program on the OCaml 5 runtime whose domains are threads of the system, at full speed: what the
 * files of ocaml5_threads_test.c share.
 *
 * Nobody knows the interleaving, so that only what each of them must fulfil is asked for.  Each
 * domain plays its part of the program twice.  With slots of row OWN it has blocks that no other
 * domain has: their graph is that of a model, which is kept beside it.  With those of row SHARED it
 * works on blocks that all domains have: each of them that is no closure, ephemeron or lazy block
 * has a stamp in its first field, which is written before anybody else can see it and never again.
 */
#ifndef ISOHEAP_TESTS_FREE_RUNNING_H
#define ISOHEAP_TESTS_FREE_RUNNING_H

#include "collectors/ocaml5/threads/threads.h"
#include "program/program.h"
#include "tests/collectors/free_running/counted.h"
#include "views/model.h"

enum { OWN, SHARED };
/* Slots of a domain beside the program's. */
enum { SLOT_NEW = PROGRAM_SLOTS, SLOT_VALUE, SLOT_ALL, SLOT_SHARED };

struct player {
    const struct parallel_runtime *runtime;
    const struct program *program;
    unsigned m;
    struct model model;
    uint64_t operations;
    unsigned collections;
    /* compare.c: the runtime's word for each object of the model, and back */
    word *words;
    uint32_t *objects;
};

/* Says what is wrong and ends the process. */
_Noreturn void player_fail(const struct player *, const char *sentence);

/* ---- own.c, weak.c ------------------------------------------------------------------------------
 */

/* The initial heap of the program, in row OWN. */
void own_begin(struct player *);
void own_operate(struct player *, const struct op *);
/* The model's object in a slot; MODEL_NONE: it has none, or an infix pointer. */
unsigned own_held(const struct player *, unsigned slot);
/* dst := the value of an operand. */
void own_value(struct player *, unsigned dst, const struct value *);
void own_copy(struct player *, unsigned dst, unsigned src);
void own_clear(struct player *, unsigned dst);
bool own_weak(struct player *, const struct op *); /* false: it is another operation */
/* dst has that new block of the runtime, which is like the n fields of `like`. */
void own_made(struct player *, unsigned dst, size_t wosize, unsigned tag, size_t first_scanned,
              const word *like);

/* ---- shared.c ---------------------------------------------------------------------------------
 */

/* The initial heap of the program for all, by domain 0: it is published. */
void shared_begin(struct player *);
void shared_join(struct player *); /* the slots of the program's roots */
void shared_operate(struct player *, const struct op *);
/* What a domain puts into an ephemeron that others have, they read.  Set before there are several.
 */
extern bool shared_ephemerons_change;
/* Every block that the slots of row SHARED reach is whole. */
void shared_check(struct player *);
/* A block with a stamp, the one that a domain hands over at its end. */
word shared_result(struct player *);

/* ---- compare.c ----------------------------------------------------------------------------------
 */

/* Row OWN and what it reaches is what the model has. */
void own_compare(struct player *);

/* ---- layout -------------------------------------------------------------------------------------
 */

/* A header that marking may be changing. */
word header_now(word v);

/* The tag that an ordinary block has here: none that the runtime means something by. */
static inline unsigned plain_tag(unsigned tag) {
    return tag < 244 || tag == TAG_OBJECT ? tag : 0;
}
static inline size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}
static inline void units(word *fields, size_t n) {
    for (size_t i = 0; i < n; i++)
        fields[i] = WORD_UNIT;
}
/* An operand that is no slot. */
static inline word plain_word(const struct value *v) {
    return immediate((int64_t)(v->bits & UINT16_MAX));
}
/* Where a search for a block begins in a table of 2^bits places. */
static inline size_t place_of(word block, unsigned bits) {
    return (block >> 3) * 0x9e3779b97f4a7c15 >> (64 - bits);
}
enum { PLAYER_TABLE_BITS = 16, PLAYER_TABLE = 1 << PLAYER_TABLE_BITS };
enum { LONGEST = 300 }; /* fields of a block that an operation makes: some are large */
static inline size_t size_of(const struct op *op) {
    return op->size ? least(op->size, LONGEST) : 1;
}

#endif
