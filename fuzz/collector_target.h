/* SPDX-License-Identifier: MIT
 *
 * The body of every target that fuzzes a collector: decode, run, report, abort.
 */
#ifndef ISOHEAP_COLLECTOR_TARGET_H
#define ISOHEAP_COLLECTOR_TARGET_H

#include "collectors/collector.h"
#include "harness/harness.h"

#ifdef __cplusplus
extern "C" {
#endif

/* For targets that watch their runs; both are set before the first input.  target_oracles: the
 * oracles that judge, 0: all.  target_found: called with the violation before the process ends,
 * with VIOLATION_none for a sanitizer's report. */
extern oracle_set target_oracles;
extern void (*target_found)(const struct verdict *);

/* The trait max_wosize of the target's subject, for whoever makes inputs; a target without one
 * subject has no such function. */
size_t target_max_wosize(void);

/* Why the last input has not been run: no collector can be given that program, and this is what the
 * first of them has no room for, say.  NULL if it has been run. */
const char *target_refusal(void);

/* One input: bytes, or a program as text (recognised by its version line), so that a file of
 * seeds/ or crashes/ replays as it is.  reference NULL: against the model alone.  Returns 0, or
 * writes the report to stderr and aborts.  The pair of collectors must be the same in every call
 * of a process. */
int collector_target(const struct collector *subject, const struct collector *reference,
                     const uint8_t *data, size_t size);

/* The same for every collector of a NULL-terminated list, one after the other, each against the
 * model: one input, decoded once.  The list must be the same in every call of a process. */
int all_collectors_target(const struct collector *const *collectors, const uint8_t *data,
                          size_t size);
enum { ALL_COLLECTORS_MOST = 32 };

#ifdef __cplusplus
}
#endif

#endif
