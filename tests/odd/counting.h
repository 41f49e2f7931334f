/* SPDX-License-Identifier: MIT
 *
 * A collector that counts references: garbage goes but for cycles, and for what hangs on them.
 */
#ifndef ISOHEAP_TESTS_COUNTING_H
#define ISOHEAP_TESTS_COUNTING_H

#include "collectors/collector.h"

extern const struct collector counting;

/* It forgets to count down the last field of a block of three fields or more that dies. */
extern bool counting_leaks;

#endif
