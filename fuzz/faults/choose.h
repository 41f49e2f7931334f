/* SPDX-License-Identifier: MIT
 *
 * What the glue of all faults' shared objects has in common: whose canary it is, and which fault of
 * those that were merged (cmake/merge_faults.py), whose names the build defines as a file to
 * include.
 */
#ifndef ISOHEAP_FAULT_CHOOSE_H
#define ISOHEAP_FAULT_CHOOSE_H

#include "faults/canary.h"

#include <stddef.h>
#include <string.h>

static struct canary unwatched;
struct canary *fault_canary = &unwatched;
unsigned fault_number;

#ifdef ISOHEAP_FAULT_NAMES
static int choose(const char *path) {
    static const char *const names[] = {
#include ISOHEAP_FAULT_NAMES
    };
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    size_t length = strcspn(name, ".");
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == length && strncmp(names[i], name, length) == 0) {
            fault_number = i + 1;
            return 1;
        }
    return 0;
}
#else
static int choose(const char *path) { /* it has one alone */
    return path != NULL;
}
#endif

#endif
