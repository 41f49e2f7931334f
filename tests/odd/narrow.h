/* SPDX-License-Identifier: MIT
 *
 * A collector for small machines: words of 16 bits, headers with six bits for the size, a heap that
 * grows.
 */
#ifndef ISOHEAP_TESTS_NARROW_H
#define ISOHEAP_TESTS_NARROW_H

#include "collectors/collector.h"

extern const struct collector narrow;

/* What is wrong with it, for the tests that find it. */
extern enum narrow_defect {
    NARROW_SOUND,
    NARROW_FORGETS_GROWTH, /* marking does not know what has been added to the heap */
    NARROW_GROWS_HALF,     /* it refuses where it could grow */
    NARROW_LOSES_SIGN      /* a load takes an integer for one without sign */
} narrow_defect;

#endif
