/* SPDX-License-Identifier: MIT
 *
 * A copying collector that shares: equal blocks which may not be written become one.
 */
#ifndef ISOHEAP_SHARING_H
#define ISOHEAP_SHARING_H

#include "collectors/collector.h"

extern const struct collector sharing;

#endif
