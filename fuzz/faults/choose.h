/* SPDX-License-Identifier: MIT
 *
 * What the glue of all faults' shared objects has in common: whose canary it is, and which faults
 * of those that were merged (cmake/merge_faults.py), whose rows the build defines as a file to
 * include.
 */
#ifndef ISOHEAP_FAULT_CHOOSE_H
#define ISOHEAP_FAULT_CHOOSE_H

#include "faults/canary.h"

#include <stddef.h>
#include <string.h>

static struct canary unwatched;
struct canary *fault_canary = &unwatched;

#ifdef ISOHEAP_FAULT_NAMES
enum { FAULT_FUNCTIONS = 16 };
/* A fault, and for each function that it changes the variable that says whose copy is called. */
struct fault_row {
    const char *name;
    unsigned number;
    unsigned *functions[FAULT_FUNCTIONS];
};
#include ISOHEAP_FAULT_NAMES
enum { FAULT_ROWS = sizeof fault_rows / sizeof *fault_rows };

/* 0: another fault has one of the functions. */
static int choose_row(const struct fault_row *row) {
    for (unsigned *const *f = row->functions; *f; f++) {
        if (**f)
            return 0;
        **f = row->number;
    }
    return 1;
}

/* The file's name, NAME.so; or NAME+NAME.so, several at once. */
static int choose(const char *path) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    for (unsigned i = 0; i < FAULT_ROWS; i++)
        for (unsigned *const *f = fault_rows[i].functions; *f; f++)
            **f = 0;
    for (size_t length; (length = strcspn(name, "+.")) > 0; name += length + 1) {
        unsigned i = 0;
        while (i < FAULT_ROWS && (strlen(fault_rows[i].name) != length ||
                                  strncmp(fault_rows[i].name, name, length) != 0))
            i++;
        if (i == FAULT_ROWS || !choose_row(&fault_rows[i]))
            return 0;
        if (name[length] != '+')
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
