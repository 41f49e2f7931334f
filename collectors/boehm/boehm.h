/* SPDX-License-Identifier: MIT
 *
 * The Boehm-Demers-Weiser collector of the system (Debian: libgc-dev), behind the plug-in
 * interface.
 */
#ifndef ISOHEAP_BOEHM_H
#define ISOHEAP_BOEHM_H

#include "collectors/collector.h"

extern const struct collector boehm;

/* A conservative collector keeps garbage, and promises nothing about it: a figure, no verdict.
 * Words of blocks that the program could no longer reach at a full collection, and of those that
 * were still allocated afterwards; since the process began. */
struct boehm_statistics {
    uint64_t garbage_words, kept_words, collections;
};
struct boehm_statistics boehm_statistics(void);

#endif
