/* SPDX-License-Identifier: MIT
 *
 * The Boehm-Demers-Weiser collector of the system (Debian: libgc-dev), behind the plug-in
 * interface.
 */
#ifndef ISOHEAP_BOEHM_H
#define ISOHEAP_BOEHM_H

#include "collectors/collector.h"

extern const struct collector boehm;

/* A conservative collector may keep garbage, so this is a figure and no verdict.  garbage_words:
 * words of the blocks that were unreachable when a full collection began; kept_words: of those that
 * were still allocated after it.  Sums since the process began. */
struct boehm_statistics {
    uint64_t garbage_words, kept_words, collections;
};
struct boehm_statistics boehm_statistics(void);

#endif
