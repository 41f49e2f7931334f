/* SPDX-License-Identifier: MIT
 *
 * What the operations of a language runtime share.
 *
 *   runtime.c      lazy blocks, truncation, many blocks at once; the dispatch
 *   ephemerons.c   ephemerons
 *   finalisers.c   finalisers and custom blocks
 *   copies.c       marshalling and counting
 */
#ifndef ISOHEAP_HARNESS_RUNTIME_INTERNAL_H
#define ISOHEAP_HARNESS_RUNTIME_INTERNAL_H

#include "harness/call.h"

/* The model's side of a block that the collectors have in dst. */
uint32_t new_object(struct runner *, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                    size_t first_scanned, const word *raw);

/* Operations: false if they have no legal meaning here, and did nothing. */
bool op_ephemeron(struct runner *, const struct op *, unsigned m);
bool op_on_ephemeron(struct runner *, const struct op *, unsigned m);
bool op_resource(struct runner *, const struct op *, unsigned m);
bool op_finalise(struct runner *, const struct op *, unsigned m);
bool op_marshal(struct runner *, const struct op *, unsigned m);
bool op_measure(struct runner *, const struct op *, unsigned m);

#endif
