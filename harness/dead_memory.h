/* SPDX-License-Identifier: MIT
 *
 * Memory that a collector must not use, and memory that it has not written yet.
 *
 * With AddressSanitizer dead memory is poisoned; the harness itself may be built without it, so
 * whether it is there is known at link time only.  Without it dead memory gets words that are no
 * address of any machine: using one as a pointer faults.
 */
#ifndef ISOHEAP_HARNESS_DEAD_MEMORY_H
#define ISOHEAP_HARNESS_DEAD_MEMORY_H

#include "collectors/collector.h"

/* What both kinds of memory hold.  A verdict that depends on the choice depends on memory that
 * nobody wrote. */
enum memory_fill { FILL_USUAL, FILL_OTHER, MEMORY_FILLS };

/* Sets poison, unpoison, both in bytes too, fill_byte and tight of the hooks. */
void dead_memory_hooks(struct gc_hooks *, enum memory_fill, bool tight);

/* Is it as a collector leaves a word that is dead?  With AddressSanitizer that it cannot be
 * accessed, without that it holds what poison writes. */
bool dead_memory_is_poisoned(const word *);

/* How often a collector of this process has called hooks->poison. */
uint64_t dead_memory_poisonings(void);

#endif
