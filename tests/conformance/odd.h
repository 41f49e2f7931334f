/* SPDX-License-Identifier: MIT
 *
 * Healthy collectors that do what is rare and legal: no step of the conformance kit may call one of
 * their promises broken.
 */
#ifndef ISOHEAP_CONFORMANCE_ODD_H
#define ISOHEAP_CONFORMANCE_ODD_H

#include "collectors/collector.h"

/* Number n of them; NULL behind the last. */
const struct collector *odd_collector(unsigned n);

#endif
