/* SPDX-License-Identifier: MIT
 *
 * Where a fuzz target ends when it has found something (violate.h).
 */
#include "fuzz/violate.h"

#include <stdlib.h>

/* Each function writes its own number, so that no linker folds two of them into one. */
volatile unsigned violation_number;

#define X(name, effect, meaning)                                                                   \
    _Noreturn void violation_##name(void);                                                         \
    __attribute__((noinline)) void violation_##name(void) {                                        \
        violation_number = VIOLATION_##name;                                                       \
        abort();                                                                                   \
    }
VIOLATION_CLASSES(X)
#undef X

__attribute__((noinline)) void harness_error(void) {
    violation_number = VIOLATION_classes;
    abort();
}

void violate(enum violation violation) {
    switch (violation) {
#define X(name, effect, meaning)                                                                   \
    case VIOLATION_##name:                                                                         \
        violation_##name();
        VIOLATION_CLASSES(X)
#undef X
    case VIOLATION_none:
    case VIOLATION_classes:
        break;
    }
    harness_error();
}
