/* SPDX-License-Identifier: MIT
 *
 * The collectors that this build knows by name (registry.h).
 */
#include "collectors/registry.h"

#include "collectors/boehm/boehm.h"
#include "collectors/cakeml/cakeml.h"
#include "collectors/cheney/cheney.h"
#include "collectors/generational/generational.h"
#include "collectors/incremental/incremental.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "collectors/tower/tower.h"

#include <string.h>

const struct collector *const registered_collectors[] = {
    &mark_sweep, &cheney, &incremental, &generational, &tower, &cakeml, &boehm, NULL};

const struct collector *collector_find(const struct collector *const *list, const char *name) {
    for (; *list; list++)
        if (strcmp((*list)->name, name) == 0)
            return *list;
    return NULL;
}
