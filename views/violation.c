/* SPDX-License-Identifier: MIT
 *
 * Violation classes (violation.h).
 */
#include "views/violation.h"

#include <string.h>

static const struct {
    const char *name, *meaning;
} classes[VIOLATION_classes] = {[VIOLATION_none] = {"none", "no violation"},
#define X(name, meaning) [VIOLATION_##name] = {#name, meaning},
                                VIOLATION_CLASSES(X)
#undef X
};

const char *violation_name(enum violation v) {
    return classes[v].name;
}

const char *violation_meaning(enum violation v) {
    return classes[v].meaning;
}

enum violation violation_named(const char *name) {
    unsigned v = 0;
    while (v < VIOLATION_classes && strcmp(classes[v].name, name) != 0)
        v++;
    return (enum violation)v;
}
