/* SPDX-License-Identifier: MIT
 *
 * A collector for small machines: words of 16 bits, headers with six bits for the size, a heap that
 * grows.
 */
#ifndef ISOHEAP_NARROW_H
#define ISOHEAP_NARROW_H

#include "collectors/collector.h"

extern const struct collector narrow;

#endif
