/* SPDX-License-Identifier: MIT
 *
 * What a mistyped name most likely means (nearest.h).
 */
#include "cli/nearest.h"

#include "cli/cli.h"
#include "cli/plugin.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"

#include <stdio.h>
#include <string.h>

enum { SLIPS = 2, LONGEST = 64 };

/* ---- the lists --------------------------------------------------------------------------------
 */

const char *command_names(unsigned n) {
    return commands[n].name;
}

static unsigned length_of(const struct collector *const *list) {
    unsigned n = 0;
    while (list[n])
        n++;
    return n;
}

const char *collector_names(unsigned n) {
    const struct collector *const *const lists[] = {plugin_collectors(), registered_collectors,
                                                    known_bad_collectors()};
    for (unsigned i = 0; i < sizeof lists / sizeof *lists; i++) {
        unsigned length = length_of(lists[i]);
        if (n < length)
            return lists[i][n]->name;
        n -= length;
    }
    return NULL;
}

const char *oracle_names(unsigned n) {
    return n < ORACLE_COUNT ? oracle_name((enum oracle)n) : NULL;
}

/* Not none. */
const char *class_names(unsigned n) {
    return n + 1 < VIOLATION_classes ? violation_name((enum violation)(n + 1)) : NULL;
}

/* ---- the search -------------------------------------------------------------------------------
 */

/* Insertions, deletions and replacements that make one word of the other. */
static unsigned distance(const char *a, const char *b) {
    unsigned row[LONGEST + 1];
    size_t width = strlen(b);
    for (size_t j = 0; j <= width; j++)
        row[j] = (unsigned)j;
    for (size_t i = 0; a[i]; i++) {
        unsigned diagonal = row[0];
        row[0] = (unsigned)i + 1;
        for (size_t j = 0; j < width; j++) {
            unsigned best = diagonal + (a[i] != b[j]);
            diagonal = row[j + 1];
            best = row[j] + 1 < best ? row[j] + 1 : best;
            row[j + 1] = diagonal + 1 < best ? diagonal + 1 : best;
        }
    }
    return row[width];
}

const char *nearest_name(const char *typed, name_list *names) {
    const char *best = NULL, *name;
    unsigned least = SLIPS + 1;
    for (unsigned n = 0; strlen(typed) <= LONGEST && (name = names(n)); n++) {
        unsigned d = strlen(name) <= LONGEST ? distance(typed, name) : least;
        if (d < least && d < strlen(typed)) {
            least = d;
            best = name;
        }
    }
    return best;
}

const char *did_you_mean(const char *typed, name_list *names) {
    static char text[LONGEST + sizeof "; did you mean ?"];
    const char *name = nearest_name(typed, names);
    snprintf(text, sizeof text, name ? "; did you mean %s?" : "%s", name ? name : "");
    return text;
}
