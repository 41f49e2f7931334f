/* SPDX-License-Identifier: MIT
 *
 * The reference: a simple copying collector with two semispaces.
 */
#ifndef ISOHEAP_CHENEY_H
#define ISOHEAP_CHENEY_H

#include "collectors/collector.h"

extern const struct collector cheney;

#endif
