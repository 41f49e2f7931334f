/* SPDX-License-Identifier: MIT
 *
 * How much memory the process has, from malloc and from the system: for oracles and steps that
 * judge what a collector uses beside its heap.
 */
#ifndef ISOHEAP_HARNESS_ALLOCATED_H
#define ISOHEAP_HARNESS_ALLOCATED_H

#include <stddef.h>

/* Bytes that malloc and its like have given out and nobody has given back, in all of the process; 0
 * where neither AddressSanitizer nor the C library says so. */
size_t memory_allocated(void);
/* Bytes of its address space that are mapped; 0 where the system does not say so.  What a collector
 * maps for itself is in it, and not in what malloc has given out. */
size_t memory_mapped(void);

#endif
