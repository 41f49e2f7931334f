/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors that share one compilation of their source (switch.c).
 */
#ifndef ISOHEAP_KNOWN_BAD_SWITCH_H
#define ISOHEAP_KNOWN_BAD_SWITCH_H

#include "collectors/collector.h"
#include "collectors/faults.h"

/* The collector `source` with this defect, which is to be called `name`.  `start` has what is
 * called without a struct gc: NULL where the source has NULL. */
struct switched_start {
    struct gc *(*open)(void);
    void (*promise)(const struct gc_config *, struct collector_traits *);
    bool (*writable)(unsigned tag);
};
struct collector switched_collector(const struct collector *source, const char *name,
                                    const struct switched_start *start);

/* The functions of `start`, with the defect switched on. */
struct gc *switched_open(const struct collector *source, enum isoheap_fault);
void switched_promise(const struct collector *source, enum isoheap_fault, const struct gc_config *,
                      struct collector_traits *);
bool switched_writable(const struct collector *source, enum isoheap_fault, unsigned tag);

#endif
