/* SPDX-License-Identifier: MIT
 *
 * How much memory of malloc the process has: for oracles and steps that judge what a collector uses
 * beside its heap.
 */
#ifndef ISOHEAP_HARNESS_ALLOCATED_H
#define ISOHEAP_HARNESS_ALLOCATED_H

#include <stddef.h>

/* Bytes that malloc and its like have given out and nobody has given back, in all of the process; 0
 * where neither AddressSanitizer nor the C library says so. */
size_t memory_allocated(void);

#endif
