/* SPDX-License-Identifier: MIT
 *
 * Violation classes (violation.h).
 */
#include "views/violation.h"

#include <string.h>

static const struct {
    const char *name;
    enum violation_effect effect;
    const char *meaning;
} classes[VIOLATION_classes] = {[VIOLATION_none] = {"none", EFFECT_wrong, "no violation"},
#define X(name, effect, meaning) [VIOLATION_##name] = {#name, EFFECT_##effect, meaning},
                                VIOLATION_CLASSES(X)
#undef X
};

const char *violation_name(enum violation v) {
    return classes[v].name;
}

const char *violation_meaning(enum violation v) {
    return classes[v].meaning;
}

enum violation_effect violation_effect(enum violation v) {
    return classes[v].effect;
}

const char *effect_name(enum violation_effect e) {
    static const char *const names[] = {"wrong", "waste", "leak", "lie"};
    return names[e];
}

enum violation violation_named(const char *name) {
    unsigned v = 0;
    while (v < VIOLATION_classes && strcmp(classes[v].name, name) != 0)
        v++;
    return (enum violation)v;
}
