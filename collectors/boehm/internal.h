/* SPDX-License-Identifier: MIT
 *
 * What the files of the adapter to libgc share.  Not for other folders.
 *
 * There are two heaps.  The true one is libgc's: a block is an object [id, header, fields...], and
 * a value in it is the address of field 0, an interior pointer.  The shadow has the same blocks in
 * OCaml's layout and in one run of words, as the harness wants to see them; slots hold its
 * addresses.  A table knows both ends of each block.  Nothing that libgc scans points into the
 * shadow, and nothing but the true words of the slots is a root.
 */
#ifndef ISOHEAP_BOEHM_INTERNAL_H
#define ISOHEAP_BOEHM_INTERNAL_H

#include "collectors/arena.h"
#include "collectors/faults.h"

/* The known-bad ones are further copies of these files in one program: each name belongs to its
 * copy. */
#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR boehm
#endif
#define BOEHM_JOIN_(a, b) a##_##b
#define BOEHM_JOIN(a, b)  BOEHM_JOIN_(a, b)
#define OWN(name)         BOEHM_JOIN(ISOHEAP_COLLECTOR, name)
#define shadow_add        OWN(shadow_add)
#define shadow_from_true  OWN(shadow_from_true)
#define shadow_has        OWN(shadow_has)
#define shadow_nowhere    OWN(shadow_nowhere)
#define shadow_rebuild    OWN(shadow_rebuild)
#define shadow_refresh    OWN(shadow_refresh)
#define shadow_roots      OWN(shadow_roots)
#define shadow_to_true    OWN(shadow_to_true)
#define true_allocate     OWN(true_allocate)
#define true_close        OWN(true_close)
#define true_collect      OWN(true_collect)
#define true_free         OWN(true_free)
#define true_is_inside    OWN(true_is_inside)
#define true_object       OWN(true_object)
#define true_open         OWN(true_open)
#define true_slice        OWN(true_slice)
#define true_written      OWN(true_written)

enum {
    CAPACITY = 1 << 14, /* words of the shadow: the largest heap, and room */
    OBJECTS = 1 << 15,  /* entries of the table */
    NO_OBJECT = OBJECTS,
    PREFIX = 2 /* words of an object before field 0 */
};

/* In the true heap, in place of a pointer to a block that libgc has freed although it is reachable.
 */
#define LOST ((word)0x00dead0000000000)

struct object {
    word value;     /* address of field 0; hidden from libgc: the table is no root */
    uint32_t place; /* field 0 in the shadow, in words from its base */
    uint32_t wosize, first_scanned;
    bool alive;   /* marked by the last collection, or younger */
    bool reached; /* by the last trace from the slots */
};

struct gc {
    struct arena shadow;
    struct gc_config config;
    size_t used; /* words of the shadow, from its start */
    bool in_cycle, typed, incremental;
    bool marked; /* a cycle has ended since the shadow was laid out */
    uint32_t n_objects;
    struct object objects[OBJECTS];
    uint32_t owner[CAPACITY]; /* of the block whose field 0 is there; only read for live blocks */
    uint32_t work[OBJECTS];
    word roots[GC_MUTATORS][GC_SLOTS]; /* the slots as true words: all that libgc takes as roots */
};

/* ---- true.c: libgc -----------------------------------------------------------------------------
 */

/* Prepares libgc, once per process; false if somebody else's settings are in the way. */
bool true_open(struct gc *);
void true_close(struct gc *);
/* An object with this content; false if the system has no memory. */
bool true_allocate(struct gc *, struct object *, uint32_t id, word header, const word *fields);
void true_free(const struct object *);
/* A true word was written into this object: the barrier of incremental collection. */
void true_written(const struct object *);
void true_collect(struct gc *);
/* True while a cycle is under way. */
bool true_slice(struct gc *);
/* The object of a true word that points at a block, or NO_OBJECT. */
uint32_t true_object(const struct gc *, word v, size_t *offset);

/* Does the word point into memory that holds an object, or has held one? */
bool true_is_inside(word v);

/* ---- shadow.c ----------------------------------------------------------------------------------
 */

/* The word of the true heap for a word of the shadow, and the other way round; words that point
 * into neither are the same in both. */
word shadow_to_true(const struct gc *, word v);
word shadow_from_true(const struct gc *, word v);
bool shadow_has(const struct gc *, word v);
/* Somewhere in the shadow where no block starts: for a pointer to a block that is lost. */
word shadow_nowhere(const struct gc *);
/* Puts a new block after the others. */
void shadow_add(struct gc *, uint32_t id, word header, const word *fields);
/* Takes the true words of all slots, before libgc looks for roots. */
void shadow_roots(struct gc *);
/* After a collection: lays out what the slots reach, and rewrites them. */
void shadow_rebuild(struct gc *);
/* Writes the fields anew, where the blocks are. */
void shadow_refresh(struct gc *);

#endif
