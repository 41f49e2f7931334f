/* SPDX-License-Identifier: MIT
 *
 * What the files of CakeML's collectors share.  Not for other folders.
 */
#ifndef ISOHEAP_CAKEML_INTERNAL_H
#define ISOHEAP_CAKEML_INTERNAL_H

#include "collectors/arena.h"
#include "collectors/cakeml/levels.h"
#include "collectors/faults.h"
#include "collectors/literals.h"

/* A process may hold several builds of these files (the known-bad collectors): the functions that
 * they share get names after the collector that they belong to. */
#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR cakeml
#endif
#define CAKEML_JOIN_(a, b)  a##_##b
#define CAKEML_JOIN(a, b)   CAKEML_JOIN_(a, b)
#define OWN(name)           CAKEML_JOIN(ISOHEAP_COLLECTOR, name)
#define algorithm_begin     OWN(algorithm_begin)
#define algorithm_next      OWN(algorithm_next)
#define algorithm_move      OWN(algorithm_move)
#define algorithm_finish    OWN(algorithm_finish)
#define heap_clear          OWN(heap_clear)
#define heap_set_unused     OWN(heap_set_unused)
#define simulation_begin    OWN(simulation_begin)
#define place_trigger       OWN(place_trigger)
#define words_collect       OWN(words_collect)
#define collect_now         OWN(collect_now)
#define collection_judge    OWN(collection_judge)
#define collection_step     OWN(collection_step)
#define shadow_encode       OWN(shadow_encode)
#define shadow_decode       OWN(shadow_decode)
#define shadow_element      OWN(shadow_element)
#define shadow_read         OWN(shadow_read)
#define shadow_element_here OWN(shadow_element_here)
#define shadow_walk         OWN(shadow_walk)
#define shadow_used         OWN(shadow_used)

/* Words of the largest heap, for benchmarks: beyond CAKEML_LIMIT there is no algorithm level. */
enum { CAKEML_LARGEST = 1 << 21 };

struct gc {
    struct gc_config config;
    struct cakeml_view view; /* .a, .sp, .sp1, .kind, .starts: the state between collections */
    bool judged;             /* somebody looks at the view, and may not come back */
    struct literals literals;
    uint16_t slot_of[CAKEML_ROOTS]; /* root k is in this slot, counted over all rows */
    cakeml_value roots[CAKEML_ROOTS];
    uint64_t word_roots[CAKEML_ROOTS];
    struct cakeml_words words;
    struct cakeml_state state, sim;
    struct cakeml_heap heaps[2]; /* view.heap and the one that a collection fills */
    unsigned heap;               /* which of them is view.heap */
    uint16_t f[CAKEML_LIMIT + 1];
    struct cakeml_heap sim_heaps[2];
    cakeml_value sim_roots[CAKEML_ROOTS + CAKEML_LIMIT];
    uint32_t place[CAKEML_LIMIT + 1]; /* adopt: where a block of the image goes */
    struct arena shadow, memory;
};

static inline uint32_t refs_start(const struct gc *g) {
    return g->view.a + g->view.sp + g->view.sp1;
}

/* ---- algorithm.c ------------------------------------------------------------------------------
 */

void heap_clear(struct cakeml_heap *, uint32_t from, uint32_t to);
/* Unused space of so many words; none if 0. */
void heap_set_unused(struct cakeml_heap *, uint32_t a, uint32_t words);
/* The state that a collection starts from; heap, to, partial, apart, limit, gen_start, refs_start
 * and roots are set. */
void algorithm_begin(struct cakeml_state *);
/* The next heap address that is to be moved, a pointer; NULL: the collection is done. */
cakeml_value *algorithm_next(struct cakeml_state *);
cakeml_value algorithm_move(struct cakeml_state *, cakeml_value);
/* Returns the heap after the collection: the old one with the new segments in their place, or the
 * new one. */
struct cakeml_heap *algorithm_finish(struct cakeml_state *);
/* Encodes the state of a partial collection by to_gen, as one of a full collection. */
void simulation_begin(struct gc *);

/* ---- words.c ----------------------------------------------------------------------------------
 */

/* The whole collection on machine words; every move is one of the algorithm level too, if there is
 * one. */
void words_collect(struct gc *);

/* ---- collection.c -----------------------------------------------------------------------------
 */

/* gen >= 0: a partial collection of that generation; the trigger is set for a request of so many
 * words. */
void collect_now(struct gc *, int gen, uint32_t request);
/* Divides the unused words at the GC trigger pointer. */
void place_trigger(struct gc *, uint32_t unused);
void collection_judge(struct gc *, enum cakeml_stage);
/* The word level has moved `word`, which is now `word1`: the algorithm level does the same. */
void collection_step(struct gc *, uint64_t word, uint64_t word1);

/* ---- shadow.c ---------------------------------------------------------------------------------
 */

/* A word of a slot or of the shadow as a heap address; and back. */
cakeml_value shadow_encode(struct gc *, word v);
word shadow_decode(const struct gc *, cakeml_value v);
/* The address of the element that v points at, or CAKEML_NONE. */
uint32_t shadow_element(const struct gc *, word v);
/* The heap address of an immediate that is its own literal: most words are. */
static inline bool shadow_is_small(const struct gc *g, word v) {
    return is_immediate(v) && v >> (g->view.rep.width - 1) == 0;
}
static inline cakeml_value shadow_small(word v) {
    return v & ~(word)1;
}
/* The element at an address, a data element, on the level that holds the heap. */
struct cakeml_element shadow_element_here(const struct gc *, uint32_t a);
/* Word i of the element at a, as a word of OCaml. */
word shadow_read(const struct gc *, const struct cakeml_element *, uint32_t a, uint32_t i);
/* Poisons the shadow's unused words and nothing else. */
void shadow_used(struct gc *);
void shadow_walk(struct gc *, gc_visit *, void *context);

#endif
