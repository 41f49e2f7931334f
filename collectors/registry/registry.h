/* SPDX-License-Identifier: MIT
 *
 * The collectors that this build knows by name.
 */
#ifndef ISOHEAP_REGISTRY_H
#define ISOHEAP_REGISTRY_H

#include "collectors/collector.h"

/* NULL at the end. */
extern const struct collector *const registered_collectors[];

/* NULL if no collector of that name is in the NULL-terminated list. */
const struct collector *collector_find(const struct collector *const *list, const char *name);

#endif
