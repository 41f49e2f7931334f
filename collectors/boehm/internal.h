/* SPDX-License-Identifier: MIT
 *
 * What the files of the adapter to libgc share.  Not for other folders.
 *
 * There are two heaps.  The true one is libgc's: a block is an object [id, header, fields...], and
 * a value in it is the address of field 0, an interior pointer.  The shadow has the same blocks in
 * OCaml's layout and in one run of words, as the harness wants to see them; slots hold its
 * addresses.  Nothing that libgc scans points into the
 * shadow, and nothing but the true words of the slots is a root.
 */
#ifndef ISOHEAP_BOEHM_INTERNAL_H
#define ISOHEAP_BOEHM_INTERNAL_H

#include "collectors/faults.h"
#include "collectors/shadow.h"

/* The known-bad ones are further copies of these files in one program: each name belongs to its
 * copy. */
#ifndef ISOHEAP_COLLECTOR
#define ISOHEAP_COLLECTOR boehm
#endif
#define BOEHM_JOIN_(a, b) a##_##b
#define BOEHM_JOIN(a, b)  BOEHM_JOIN_(a, b)
#define OWN(name)         BOEHM_JOIN(ISOHEAP_COLLECTOR, name)
#define boehm_subject     OWN(subject)
#define forget_unreached  OWN(forget_unreached)
#define true_allocate     OWN(true_allocate)
#define true_close        OWN(true_close)
#define true_collect      OWN(true_collect)
#define true_free         OWN(true_free)
#define true_is_inside    OWN(true_is_inside)
#define true_number       OWN(true_number)
#define true_object       OWN(true_object)
#define true_open         OWN(true_open)
#define true_renumber     OWN(true_renumber)
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
    word value; /* address of field 0; hidden from libgc: the table is no root */
    uint32_t wosize, first_scanned;
    bool alive; /* marked by the last collection, or younger */
};

struct gc {
    struct shadow
        shadow; /* its roots, the slots as true words, are all that libgc takes as roots */
    struct gc_config config;
    bool in_cycle, typed, incremental;
    bool marked; /* a cycle has ended since the shadow was laid out */
    uint32_t n_objects;
    struct object objects[OBJECTS];
};

/* ---- true.c: libgc -----------------------------------------------------------------------------
 */

/* Prepares libgc, once per process; false if somebody else's settings are in the way. */
bool true_open(struct gc *);
void true_close(struct gc *);
/* An object with this content; false if the system has no memory. */
bool true_allocate(struct gc *, struct object *, uint32_t id, word header, const word *fields);
void true_free(const struct object *);
/* The number of the object with this value, and another number for an object. */
uint32_t true_number(word value);
void true_renumber(const struct object *, uint32_t id);
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

extern const struct shadow_subject boehm_subject;
/* After a collection, when the shadow has been written anew. */
void forget_unreached(struct gc *);

#endif
