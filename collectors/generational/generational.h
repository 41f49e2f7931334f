/* SPDX-License-Identifier: MIT
 *
 * A generational collector as OCaml 4's: copying young generation, mark-and-sweep old one.
 */
#ifndef ISOHEAP_GENERATIONAL_H
#define ISOHEAP_GENERATIONAL_H

#include "collectors/collector.h"

extern const struct collector generational;

#endif
