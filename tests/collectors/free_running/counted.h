/* SPDX-License-Identifier: MIT
 *
 * Functions of Gc.finalise and custom blocks that tell of their death, of all domains together.
 */
#ifndef ISOHEAP_TESTS_COUNTED_H
#define ISOHEAP_TESTS_COUNTED_H

#include "collectors/collector.h"

uint64_t counted_new(void); /* the number of another one */
void counted_ran(struct gc_hooks *, uint64_t number);
/* How many have not run; the process ends if one runs twice. */
uint64_t counted_waiting(void);
void counted_reset(void);

#endif
