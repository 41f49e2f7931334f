/* SPDX-License-Identifier: MIT
 *
 * What the operations of a script do, on all parties, and what they share.
 *
 *   operations.c   the way to each operation, and what looks at slots for all
 *   allocation.c   blocks, one or many
 *   fields.c       loads, stores and copies of fields
 *   slots.c        what slots hold
 *   addresses.c    words that look like pointers and are none
 *   collections.c  collections and their steps
 *   mutators.c     mutators that come and go
 *   ephemerons.c   of a language runtime: ephemerons,
 *   finalisers.c   custom blocks and finalisers,
 *   lazy.c         blocks that change,
 *   marshalling.c  copies, damaged texts and counts; copy.c: what a copy is,
 *   arrays.c       blocks made of others,
 *   starve.c       memory that is refused
 *
 * If all collectors of a run have the operations of a runtime (collectors/extras.h), these mean
 * what they mean in OCaml and the model says what is observable.  Else they are the nearest thing
 * that a collector has (op_without_runtime): an ephemeron is a block that keeps its fields alive, a
 * finaliser never runs, a copy is an alias.  With them there is one mutator, and the subject alone
 * or collectors that all have them.
 */
#ifndef ISOHEAP_HARNESS_OPERATIONS_H
#define ISOHEAP_HARNESS_OPERATIONS_H

#include "harness/call.h"
#include "harness/events.h"
#include "harness/history.h"

/* op_alloc, op_closure, ...: one for each row of operations.def.  False if it has no legal meaning
 * here, and did nothing. */
#define OP(id, name, ...) bool op_##name(struct runner *, const struct op *, unsigned m);
#include "program/operations.def"
#undef OP

/* False, for an operation to return: why it has no effect, if nothing is there, it need not say so.
 */
bool skip(struct runner *, enum skip why);
/* The same for what a slot leads to: no block, or one of another kind. */
bool skip_block(struct runner *, unsigned object);

/* ---- slots, in all parties --------------------------------------------------------------------
 */

void set_slot(struct runner *, unsigned m, unsigned dst, const struct value *);
void clear_slot(struct runner *, unsigned m, unsigned slot);
/* Puts the block (never an infix pointer) that slot points at into a scratch slot. */
void copy_parent(struct runner *, unsigned m, unsigned slot, unsigned scratch);
/* The model's word for a script value; an address takes the form. */
word operand_word(struct runner *, unsigned m, const struct value *, enum address_form);
/* set_slot, where operand_word has given w for the value: an immediate or a pointer. */
void set_slot_word(struct runner *, unsigned m, unsigned dst, const struct value *, word w);

/* ---- fields -----------------------------------------------------------------------------------
 */

/* Has this side refused what has just been asked of it?  The subject is asked first: nothing has
 * happened anywhere, and the operation is over.  If the reference refuses what the subject has
 * done, their heaps differ for good: this does not return. */
bool is_refused(struct side *, bool done);
/* Field i of the block in SLOT_TO := SLOT_VALUE.  False: the subject has refused. */
bool store_field(struct runner *, unsigned m, size_t i, bool initialise);
/* SLOT_VALUE := field i of the block in SLOT_FROM.  False: the subject has refused. */
bool load_field(struct runner *, unsigned m, size_t i);

/* ---- blocks and collections -------------------------------------------------------------------
 */

void collect_all(struct runner *, unsigned m, enum gc_collection);
/* The model's side of a block that the collectors have in dst. */
uint32_t new_object(struct runner *, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                    size_t first_scanned, const word *raw);
/* The model has just made the object for it: dst leads to it, and this operation is its origin. */
void name_object(struct runner *, unsigned m, unsigned dst, uint32_t object);
/* Does the word lead through Forward blocks into the middle of a closure, where no key may? */
bool leads_to_infix(const struct runner *, word v);
/* v as a key: where a known defect is, the closure stands in for an infix pointer to it; counted.
 */
word closure_for_key(struct runner *, word v);
/* Does anything lead through Forward blocks to the object?  Marks the model. */
bool is_forwarded(struct runner *, unsigned object);
/* The lazy block in the slot becomes a Forward block to its field. */
void make_forward(struct runner *, unsigned m, unsigned slot);

/* Do all sides have the function?  Where there is a runtime, that is what is to be run. */
#define ALL_HAVE(r, function)                                                                      \
    ((r)->side[PARTY_SUBJECT].collector->extras->function &&                                       \
     ((r)->n_sides == 1 || (r)->side[PARTY_REFERENCE].collector->extras->function))

#endif
