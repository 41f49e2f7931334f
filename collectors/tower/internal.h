/* SPDX-License-Identifier: MIT
 *
 * What the files of the tower share.  Not for other folders.
 */
#ifndef ISOHEAP_TOWER_INTERNAL_H
#define ISOHEAP_TOWER_INTERNAL_H

#include "collectors/arena.h"
#include "collectors/faults.h"
#include "collectors/literals.h"
#include "collectors/tower/levels.h"

/* A process may hold several builds of these files (the known-bad collectors): the functions that
 * they share get names after the collector that they belong to. */
#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR tower
#endif
#define TOWER_JOIN_(a, b) a##_##b
#define TOWER_JOIN(a, b)  TOWER_JOIN_(a, b)
#define OWN(name)         TOWER_JOIN(ISOHEAP_COLLECTOR, name)
#define l1_collect        OWN(l1_collect)
#define l2_add            OWN(l2_add)
#define l2_begin          OWN(l2_begin)
#define l2_collect        OWN(l2_collect)
#define l2_drop           OWN(l2_drop)
#define l2_end            OWN(l2_end)
#define l2_finish         OWN(l2_finish)
#define l2_move           OWN(l2_move)
#define l3_add            OWN(l3_add)
#define l3_begin          OWN(l3_begin)
#define l3_collect        OWN(l3_collect)
#define l3_step           OWN(l3_step)
#define l4_add            OWN(l4_add)
#define l4_collect        OWN(l4_collect)
#define shadow_address    OWN(shadow_address)
#define shadow_own        OWN(shadow_own)
#define shadow_free       OWN(shadow_free)
#define shadow_compact    OWN(shadow_compact)
#define shadow_place      OWN(shadow_place)
#define shadow_encode     OWN(shadow_encode)
#define shadow_decode     OWN(shadow_decode)
#define shadow_walk       OWN(shadow_walk)
#define shadow_visit_gray OWN(shadow_visit_gray)
#define tower_judge       OWN(tower_judge)
#define tower_phase_ended OWN(tower_phase_ended)
#define tower_tick        OWN(tower_tick)

/* What the shadow shows: where somebody may look into a collection the heap as it was before, with
 * the colours that blocks have by L2's sets; in the end without those that have not moved. */
enum tower_under_way { TOWER_NOTHING, TOWER_COPYING, TOWER_COPIED };

struct gc {
    struct gc_config config;
    struct tower_view view; /* .level: which level holds the heap */
    struct tower_l2 l2;
    struct tower_l3 l3;
    struct tower_l4 l4;
    struct literals literals;
    uint64_t choices;              /* the generator that picks rules and addresses */
    uint32_t used;                 /* words of the heap in use: i - b */
    uint16_t slot_of[TOWER_ROOTS]; /* root k is in this slot, counted over all rows */
    enum tower_under_way under_way;
    uint32_t cursor; /* L1, L2: where to look for an address for a new block */
    /* The shadow: the heap as OCaml blocks, for slots and oracles.  L1 and L2 have addresses
     * without a place in memory: which place in the shadow is whose, + 1. */
    struct arena shadow;
    uint16_t place[TOWER_ADDRESSES], owner[TOWER_HALF + 1];
};

static inline bool has_level(const struct gc *g, enum tower_level level) {
    return g->view.level <= level;
}

/* A number below n, from the generator. */
static inline uint32_t choose(struct gc *g, uint32_t n) {
    g->choices = g->choices * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
    return (uint32_t)((g->choices >> 33) % n);
}

/* ---- tower.c ----------------------------------------------------------------------------------
 */

/* Shows the state to the harness; does not return if it is a violation. */
void tower_judge(struct gc *, enum tower_stage);

/* A copying collection goes through the phases of one that marks and sweeps: a block is white as
 * long as it has not moved, gray in y, black in x; what has not moved in the end is swept. */
void tower_phase_ended(struct gc *, enum gc_stage);
/* gc_tick, between two steps of a collection. */
void tower_tick(struct gc *);

/* ---- shadow.c ---------------------------------------------------------------------------------
 */

/* A word of the shadow, or any other, as a value; and back. */
tower_value shadow_encode(struct gc *, word v);
word shadow_decode(const struct gc *, tower_value v);
static inline tower_value shadow_value(struct gc *g, word v) {
    return v == WORD_UNIT ? TOWER_UNIT : shadow_encode(g, v); /* most words are unit */
}
static inline word shadow_word(const struct gc *g, tower_value v) {
    return v == TOWER_UNIT ? WORD_UNIT : shadow_decode(g, v);
}
/* The address of the block that v points at; TOWER_NONE: v points at no block of the heap. */
uint32_t shadow_address(const struct gc *, word v);
/* The word that leads to an address on the level that holds the heap: a word of data may look so.
 */
word shadow_own(const struct gc *, uint32_t a);
/* That of the first address of which no block begins, or the next one will; 0: there is none. */
word shadow_free(const struct gc *);
/* An address for a new block at this place of the shadow, counted from its header. */
uint32_t shadow_place(struct gc *, uint32_t place);
/* After a collection: places for the blocks of L1 and L2, in the order of the list x. */
void shadow_compact(struct gc *);
/* Writes the shadow anew from the level that holds the heap, and visits it. */
void shadow_walk(struct gc *, gc_visit *, void *context);
/* In a collection: the blocks of y, where they were before. */
void shadow_visit_gray(struct gc *, gc_visit_gray *, void *context);

/* ---- l1.c, l2.c -------------------------------------------------------------------------------
 */

/* A new block with these words at address a. */
void l2_add(struct tower_l2 *, uint32_t a, uint32_t length, unsigned tag, const tower_value *words);
/* filter, then rename by a function f of the generator's choice. */
void l1_collect(struct gc *);
/* The three rules of the step relation; the state before and after each is judged. */
void l2_move(struct gc *, uint32_t a, uint32_t b);
void l2_drop(struct gc *, uint32_t a);
void l2_finish(struct gc *, uint32_t a);
/* (h, {}, {}, set roots, id), and the restriction of the final heap to x. */
void l2_begin(struct tower_l2 *);
void l2_end(struct tower_l2 *);
/* Steps of the generator's choice until y and z are empty. */
void l2_collect(struct gc *);

/* ---- l3.c, l4.c -------------------------------------------------------------------------------
 */

/* The words are in their place already. */
void l3_add(struct tower_l3 *, uint32_t length, unsigned tag);
/* Figure 2 in steps; every move and every block that is done is a step of L2. */
void l3_begin(struct gc *);
enum tower_stride l3_step(struct gc *); /* behind the end: nothing happens */
void l3_collect(struct gc *);
void l4_add(struct tower_l4 *, uint32_t length, unsigned tag, const tower_value *words);
/* L3 runs along: it takes a step after each of L4's, and the judge sees both. */
void l4_collect(struct gc *);

#endif
