/* SPDX-License-Identifier: MIT
 *
 * States of the on-the-fly model in few bits, and one for all that differ by names only.
 *
 * Mutators may change places, references may, and the two senses of the mark may: from states that
 * differ so, the same follows up to names.  pack_canonical takes the least of all of them.
 *
 * A state that the widths cannot hold ends the process by an assertion: it is never another state.
 */
#ifndef ISOHEAP_ONTHEFLY_PACK_H
#define ISOHEAP_ONTHEFLY_PACK_H

#include "models/onthefly/model.h"

enum { PACK_BYTES_MAX = 160, PACK_REFS_MAX = 4 /* more references do not change places */ };

/* Widths of a state's parts in bits, for one model. */
struct packing {
    struct model model;
    bool symmetry;
    unsigned bytes; /* of a packed state */
    unsigned n_mutator_orders, n_ref_orders;
    uint8_t mutator_order[24][MUTATORS_MAX], ref_order[24][REFS_MAX];
    refset ref_set[24][1 << PACK_REFS_MAX]; /* where an order takes a set */
    unsigned ref_bits, set_bits, field_bits, work_bits;
    unsigned entries[2], entry_bits[2]; /* what may be pending, for a mutator and the collector */
};

void pack_open(struct packing *, const struct model *, bool symmetry);
/* Every state has one packed form, of packing.bytes. */
void pack_canonical(const struct packing *, const struct state *, uint8_t *out);
/* A state whose packed form this is; with symmetry f_M is false in it. */
void unpack(const struct packing *, const uint8_t *in, struct state *);

#endif
