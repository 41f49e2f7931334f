/* SPDX-License-Identifier: MIT
 *
 * The one symbol of a fault's shared object (faults/canary.h); everything else in it is hidden, so
 * that it meets no namesake of the program that loads it.
 */
#include "collectors/collector.h"
#include "fuzz/faults/choose.h"

extern const struct collector ISOHEAP_FAULT_SUBJECT;

extern const struct fault_export isoheap_fault;
__attribute__((visibility("default")))
const struct fault_export isoheap_fault = {&ISOHEAP_FAULT_SUBJECT, 0, &fault_canary, choose};
