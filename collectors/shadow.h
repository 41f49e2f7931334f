/* SPDX-License-Identifier: MIT
 *
 * A shadow: a heap of OCaml's layout for a subject whose own heap is laid out otherwise, written
 * anew by a search from the roots.
 *
 * Slots and oracles see the shadow alone: the blocks that the slots reach, one behind the other in
 * the order of a breadth-first search, each a copy of one of the subject's own.  An *own word* is
 * what stands in the subject's fields and roots; a *shown* one is what stands in slots and in the
 * shadow. The subject tells by a few functions what its words lead to and what its blocks hold.
 *
 *   collect   shadow_read_slots; the subject's collection; shadow_write; hooks->collections++
 *   alloc     the same if it has collected, else the subject's allocation and shadow_show
 *   store     shadow_original of the two slots, the subject's store, and the word of the shadow
 *   load      shadow_show of the subject's word
 *   walk      shadow_refresh, if the subject's fields may have changed, and shadow_walk
 */
#ifndef ISOHEAP_SHADOW_H
#define ISOHEAP_SHADOW_H

#include "collectors/arena.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What an own word is that is even; an odd one is data.  SHADOW_DATA: it leads to no block and is
 * shown as it is.  SHADOW_LOST: it leads to where a block has been, or never was; shown as a word
 * that leads to no block. */
enum shadow_kind { SHADOW_DATA, SHADOW_BLOCK, SHADOW_LOST };

/* Blocks have names, which are own words too: their address, or a number, even and never 0.  Infix
 * pointers are block + fields * field_bytes. */
struct shadow_subject {
    size_t field_bytes; /* 0: sizeof(word) */
    word lost;          /* the own word of a shown one that leads to no block */
    /* What is it?  Of SHADOW_BLOCK also the block, and how many fields into it the word leads. */
    enum shadow_kind (*look)(struct gc *, word own, word *block, size_t *fields);
    /* Size and tag, as header_make makes them; the colour means nothing. */
    word (*header)(struct gc *, word block);
    /* Writes the block's fields, wosize words: what may be a pointer by shadow_of.  It may leave
     * what stands there if the block is gone. */
    void (*copy)(struct gc *, word block, word *to, size_t wosize);
    /* The roots, if they are not to be shadow.roots; NULL: they are. */
    word (*root)(struct gc *, unsigned m, unsigned slot);
    void (*set_root)(struct gc *, unsigned m, unsigned slot, word own);
};

struct shadow_entry {
    word block;
    uint32_t epoch, place;
};
struct shadow {
    struct arena arena;
    struct gc *gc;
    const struct shadow_subject *subject;
    struct gc_config config;
    size_t used;                /* words of the shadow, from its start */
    size_t copied;              /* words of blocks whose fields are written */
    size_t hidden;              /* words that may be shown besides without an allocation, if the
                                   subject says so: no room for others */
    bool overflow;              /* what the roots reach is more than the heap of the program */
    word *blocks;               /* by the place of field 0: whose copy starts there; 0: none */
    struct shadow_entry *table; /* the places of blocks */
    unsigned
        table_bits; /* of it so many entries are in use, as a power of 2: the more, the slower */
    uint32_t epoch;
    word roots[GC_MUTATORS][GC_SLOTS];  /* own words */
    word synced[GC_MUTATORS][GC_SLOTS]; /* slots as they were when the roots last had the same */
};

/* For heaps of `capacity` words at most; false if the system has no memory.  subject stays the
 * caller's. */
bool shadow_open(struct shadow *, struct gc *, const struct shadow_subject *, size_t capacity);
void shadow_close(struct shadow *);
/* Empties it for a program; the subject's roots are unit. */
void shadow_reset(struct shadow *, const struct gc_config *);

/* Own words of the slots that have changed since become the subject's roots. */
void shadow_read_slots(struct shadow *);
void shadow_read_slots_of(struct shadow *, unsigned mutator); /* of that one alone */
/* Writes the shadow and the slots anew: what the subject's roots reach. */
void shadow_write(struct shadow *);
/* Writes the fields of all blocks anew, where they are. */
void shadow_refresh(struct shadow *);
/* The shown word of an own one: of a block that has just been allocated, or of a field.  What the
 * shadow has not yet comes behind the others, with all that it reaches. */
word shadow_show(struct shadow *, word own);

/* The same for `copy`, which goes on with the search so: a block that the shadow has not yet gets
 * its place, and its fields by the next shadow_spread. */
word shadow_of_pointer(struct shadow *, word own);
static inline word shadow_of(struct shadow *s, word own) {
    return is_immediate(own) ? own : shadow_of_pointer(s, own);
}
void shadow_spread(struct shadow *);
/* The own word of a shown one; subject->lost of one that leads to no block of the shadow. */
word shadow_original(const struct shadow *, word shown);
/* Does the word lead into the heap that is shown? */
bool shadow_is_inside(const struct shadow *, word shown);
/* Does the shadow show this block? */
bool shadow_has(const struct shadow *, word block);

/* Visits the blocks, then what is unused.  each: NULL, or visits all blocks of the subject, also
 * those that are dead: what the roots do not reach is shown behind the others, with units for
 * fields, so that garbage which is kept is seen. */
void shadow_walk(struct shadow *, gc_visit *, void *context,
                 void (*each)(struct gc *, void (*visit)(void *garbage, word block),
                              void *garbage));
/* A sentence if the shadow could not show all that is reachable; else NULL. */
const char *shadow_check(const struct shadow *);

#ifdef __cplusplus
}
#endif

#endif
