/* SPDX-License-Identifier: MIT
 *
 * Seeded faults as collectors: the shared objects that the build makes of faults/.
 */
#ifndef ISOHEAP_CLI_FAULT_OBJECT_H
#define ISOHEAP_CLI_FAULT_OBJECT_H

#include "faults/record.h"

/* Loads a shared object, for ever, and returns what it exports.  NULL after a message. */
const struct fault_export *load_fault(const char *path);
/* The same for one that must have a collector; returns the collector. */
const struct collector *load_fault_object(const char *path);

#endif
