/* SPDX-License-Identifier: MIT
 *
 * The own heap of a collector that shows a copy (collectors/own.h), and what can be reached in it:
 * taken down after operations for the oracles of this folder.
 */
#ifndef ISOHEAP_ORACLE_OWN_RECORD_H
#define ISOHEAP_ORACLE_OWN_RECORD_H

#include "oracles/judge.h"

/* Of struct gc_own_extent, seen.  Strongly: from the roots, by fields that keep a block alive;
 * reached: also by those of ephemerons; guarded: from what is gray, through white blocks; listed:
 * it is on the free list. */
enum { SEEN_STRONGLY = 1, SEEN_REACHED = 2, SEEN_GUARDED = 4, SEEN_LISTED = 8 };

struct own_record {
    struct gc_own *own; /* NULL: nobody looks after this operation */
    unsigned operation, stride;
    uint32_t queue, queue_end; /* of extents, by their numbers; UINT32_MAX: empty */
};

/* A block that is in use, or one that is free and has a header. */
static inline bool own_is_block(const struct gc_own_extent *e) {
    return e->words > 1 && !e->free;
}
static inline word own_value(const struct gc_own_extent *e) {
    return pointer_word(e->header + 1);
}
static inline bool own_is_below(const struct gc_own *own, const struct gc_own_extent *e) {
    return e->header < own->swept;
}
/* The block in use that v leads to, also into its middle by an infix pointer; NULL: none. */
struct gc_own_extent *own_find(const struct gc_own *, word v);
/* What begins with this header; NULL: nothing does. */
struct gc_own_extent *own_at(const struct gc_own *, const word *header);
/* Whether all words of [first, end), of which there is one, lie in blocks of the old generation,
 * one behind the other. */
bool own_holds(const struct gc_own *, const word *first, const word *end);
/* The first of its fields that may lead to other blocks, and is no ephemeron's; or their number. */
size_t own_first_field(const struct gc_own_extent *);
/* What can be reached through white blocks from what is gray becomes SEEN_GUARDED.  All ranges must
 * be ones that can be read (own_holds, but for static ones). */
void own_guard(struct own_record *);
/* "a block at word 17 of the collector's own heap (tag 0, 2 fields, white, n3 to the program)" */
void own_describe(struct judge *, const struct gc_own_extent *, char *out, size_t capacity);

#endif
