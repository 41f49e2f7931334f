/* SPDX-License-Identifier: MIT
 *
 * The incremental mark-and-sweep collector of section 8.1 of the long OCaml paper.
 */
#ifndef ISOHEAP_INCREMENTAL_H
#define ISOHEAP_INCREMENTAL_H

#include "collectors/collector.h"

extern const struct collector incremental;

#endif
