/* SPDX-License-Identifier: MIT
 *
 * The mark-and-sweep collector with compaction, as OCaml 4 has it.
 */
#ifndef ISOHEAP_COMPACT_H
#define ISOHEAP_COMPACT_H

#include "collectors/collector.h"

extern const struct collector compact;

#endif
