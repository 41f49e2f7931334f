/* SPDX-License-Identifier: MIT
 *
 * Where the memory of the OCaml 5 runtime lies (region.c).
 */
#ifndef ISOHEAP_OCAML5_REGION_H
#define ISOHEAP_OCAML5_REGION_H

#include "collectors/layout.h"

#include <caml/sizeclasses.h>

enum {
    MAPPED = 1 << 26,                      /* bytes for what the runtime maps: pools, minor heaps */
    POOL_BYTES = POOL_WSIZE * sizeof(word) /* of most of what it maps; at multiples of this */
};

word region_mapped(void); /* where that begins */
size_t region_used(void); /* bytes from there up to the last that has been mapped */
void *region_calloc(size_t n, size_t size);

#endif
