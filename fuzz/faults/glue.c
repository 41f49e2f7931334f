/* SPDX-License-Identifier: MIT
 *
 * The one symbol of a fault's shared object (faults/canary.h); everything else in it is hidden, so
 * that it meets no namesake of the program that loads it.
 */
#include "collectors/collector.h"
#include "faults/canary.h"

extern const struct collector ISOHEAP_FAULT_SUBJECT;

static struct canary unwatched;
struct canary *fault_canary = &unwatched;

extern const struct fault_export isoheap_fault;
__attribute__((visibility("default")))
const struct fault_export isoheap_fault = {&ISOHEAP_FAULT_SUBJECT, 0, &fault_canary};
