/* SPDX-License-Identifier: MIT
 *
 * A collector that counts references: garbage goes but for cycles, and for what hangs on them.
 */
#ifndef ISOHEAP_COUNTING_H
#define ISOHEAP_COUNTING_H

#include "collectors/collector.h"

extern const struct collector counting;

#endif
