/* SPDX-License-Identifier: MIT
 *
 * The states of the tower's levels, as the paper defines them, for the collector that changes them
 * and the oracles that judge them.
 *
 * Addresses are the naturals 0 .. addresses - 1, one a word of either half of the heap, and one
 * between the halves.  A value is an address (LHS a) or a null address, which carries data (RHS n).
 * In all arrays that are indexed by address, number 0 means "none", so that zeroed is empty.
 */
#ifndef ISOHEAP_TOWER_LEVELS_H
#define ISOHEAP_TOWER_LEVELS_H

#include "collectors/collector.h"

#include <assert.h>
#include <string.h>

enum {
    TOWER_HALF = 8192, /* words of one half, at most */
    TOWER_ADDRESSES = 2 * TOWER_HALF + 1,
    TOWER_ROOTS = GC_SLOTS * GC_MUTATORS,
    TOWER_BLOCKS = TOWER_HALF / 2 + 1 /* a block has a header and a field at least */
};
#define TOWER_NONE UINT32_MAX /* no address */

/* LHS a = 2a, RHS n = 2n + 1, with 31 bits for n. */
typedef uint32_t tower_value;
static inline bool tower_is_address(tower_value v) {
    return !(v & 1);
}
static inline uint32_t tower_address(tower_value v) {
    return v >> 1;
}
#define TOWER_UNIT ((tower_value)1) /* RHS 0 */
static inline tower_value tower_lhs(uint32_t a) {
    return a << 1;
}

/* Two values of a list at once. */
static inline uint64_t tower_pair(const tower_value *list) {
    uint64_t pair;
    memcpy(&pair, list, sizeof pair);
    return pair;
}

/* The first address of a list from place k on, n if there is none.  The words of L4 are odd where
 * values are.  Most fields of most blocks are null addresses: eight are passed over at a time. */
static inline uint32_t tower_next(const tower_value *list, uint32_t k, uint32_t n) {
    const uint64_t odd = UINT64_C(0x100000001);
    for (; k + 8 <= n; k += 8) {
        const tower_value *v = list + k;
        if ((tower_pair(v) & tower_pair(v + 2) & tower_pair(v + 4) & tower_pair(v + 6) & odd) !=
            odd)
            break;
    }
    while (k + 2 <= n && (tower_pair(list + k) & odd) == odd)
        k += 2;
    while (k < n && !tower_is_address(list[k]))
        k++;
    return k;
}
/* for every place k of an address in list[0 .. n) */
#define TOWER_FOR_ADDRESSES(k, list, n)                                                            \
    for (uint32_t k = tower_next(list, 0, n); k < (n); k = tower_next(list, k + 1, n))

/* Figure 2: (as, l, d) with d = (tag, b, ys).  length words: as if b ("addresses"), else ys. */
struct tower_block {
    uint32_t first, length;
    uint8_t tag;
    bool addresses;
};

/* Blocks of finite maps.  Two halves: a collection reads one and writes the other. */
struct tower_store {
    uint32_t n_blocks, n_words;
    struct tower_block blocks[TOWER_BLOCKS + 1]; /* from 1 */
    tower_value words[TOWER_HALF + 1];
};

/* ---- L1 and L2: finite maps (sections 3.1, 3.2) ------------------------------------------------
 */

/* A block of either half: 2 * number + half. */
typedef uint16_t tower_ref;
static_assert(2 * TOWER_BLOCKS + 1 <= UINT16_MAX && TOWER_ADDRESSES < UINT16_MAX,
              "blocks, and addresses + 1, in 16 bits: checks look at all of them again and again");

enum { TOWER_X = 1, TOWER_Y = 2, TOWER_Z = 4 }; /* bits of sets[a] */

struct tower_l2 {
    uint32_t addresses;
    unsigned half; /* the store that new blocks go to between collections */
    struct tower_store stores[2];
    tower_ref h[TOWER_ADDRESSES];    /* the heap */
    tower_ref h0[TOWER_ADDRESSES];   /* as it was when the collection started */
    uint16_t moved[TOWER_ADDRESSES]; /* f(a) + 1, or 0 where f(a) = a */
    uint8_t sets[TOWER_ADDRESSES];
    uint16_t x[TOWER_ADDRESSES], y[TOWER_ADDRESSES], z[TOWER_ADDRESSES]; /* the sets as lists */
    uint32_t n_x, n_y, n_z;
    uint16_t at[TOWER_ADDRESSES];    /* place in y or z */
    tower_ref kept[TOWER_ADDRESSES]; /* h(x[k]), while the rest of h is dropped */
    tower_value roots0[TOWER_ROOTS], roots[TOWER_ROOTS];
    unsigned n_roots;
};

static inline const struct tower_block *tower_block(const struct tower_l2 *s, tower_ref ref) {
    return &s->stores[ref & 1].blocks[ref >> 1];
}
static inline const tower_value *tower_words(const struct tower_l2 *s, tower_ref ref) {
    return s->stores[ref & 1].words + tower_block(s, ref)->first;
}
static inline uint32_t tower_f(const struct tower_l2 *s, uint32_t a) {
    return s->moved[a] ? s->moved[a] - UINT32_C(1) : a;
}

/* ---- L3: a memory of blocks, references and empty places (section 3.3) -------------------------
 */

enum tower_kind { TOWER_EMP, TOWER_REF, TOWER_BLOCK };
struct tower_cell {
    unsigned kind : 4; /* enum tower_kind */
    unsigned addresses : 4;
    unsigned tag : 8;
    unsigned n : 16; /* Ref n; the length of a Block */
};
static_assert(sizeof(struct tower_cell) == sizeof(uint32_t), "no padding in a cell");
/* Where a collection is between two of its steps, which are a move of one address, the end of a
 * list, and the end of all. */
enum tower_where { TOWER_AT_REST, TOWER_IN_ROOTS, TOWER_IN_LOOP, TOWER_IN_BLOCK };
enum tower_stride { TOWER_MOVED, TOWER_LISTED_ALL, TOWER_ENDED };
struct tower_l3 {
    uint32_t b, i, e, b2, e2, j; /* i: end of the heap; during `loop` i and j as in Figure 2 */
    enum tower_where where;
    uint32_t next, n; /* move_list: the place of the next value in a list of n */
    struct tower_cell m[TOWER_ADDRESSES];
    tower_value list[TOWER_ADDRESSES]; /* as or ys of the block at a: list[a + 1 ...] */
    tower_value roots[TOWER_ROOTS];
    unsigned n_roots;
};

/* ---- L4: words of 32 bits (section 3.4) --------------------------------------------------------
 */

struct tower_l4 {
    uint32_t b, i, e, b2, e2; /* in words, as in L3 */
    uint32_t gap;             /* the word between the halves: no memory */
    uint32_t roots;           /* the first root; the word before it is no memory either */
    uint32_t words;           /* both halves, then the roots, with a word between any two */
    uint32_t n_roots;
    uint32_t g[TOWER_ADDRESSES + 1 + TOWER_ROOTS];
    uint32_t r1, r3; /* in a collection, after a step: the word that has been moved, or the end of
                        the list; the end of what has been copied.  Bytes, as in Figure 4 */
    uint32_t bad;    /* mc_collector_pre: place + 1 of the last improper access, or 0 */
};

/* Word of L4 for a value: ref_heap_addr of Figure 5. */
static inline uint32_t tower_ref_heap_addr(tower_value v) {
    return tower_is_address(v) ? 4 * tower_address(v) : v;
}

/* ---- what the judge sees -----------------------------------------------------------------------
 */

enum tower_level { TOWER_L4, TOWER_L3, TOWER_L2, TOWER_L1, TOWER_LEVELS };
enum tower_stage {
    TOWER_START,  /* before a collection: the levels agree */
    TOWER_RULE,   /* L2 is about to apply `rule` to a (and b) */
    TOWER_STEP,   /* it has */
    TOWER_LOOP,   /* L3 is at the top of `loop`; from_i and from_j are those of the last time */
    TOWER_WORDS,  /* L4 has taken a step, l4_stride, and L3 one, l3_stride */
    TOWER_DONE,   /* after a collection */
    TOWER_REFUSED /* an allocation of `request` fields fails */
};
enum tower_rule { TOWER_MOVE, TOWER_DROP, TOWER_FINISH };

/* Handed to hooks->refinement.  Levels below `level` do not exist in this run. */
struct tower_view {
    enum tower_stage stage;
    enum tower_level level; /* which holds the heap */
    struct tower_l2 *l2;    /* L1 and L2 */
    struct tower_l3 *l3;
    struct tower_l4 *l4;
    enum tower_rule rule;
    uint32_t a, b;
    uint32_t from_i, from_j;
    enum tower_stride l4_stride, l3_stride;
    /* Of a move of L3: the place of the word in L4, where it led, and where what it led to has been
     * copied to by this step, or TOWER_NONE. */
    uint32_t place, source, copy;
    uint32_t request, used, half; /* words; half: of one half of the heap */
    uint64_t budget;              /* addresses that full checks may still visit in this run */
    uint64_t words_budget;        /* the same of those on L4 */
};

#endif
