/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors by name (known_bad.h, table.h).
 */
#include "collectors/known_bad/known_bad.h"

#include "collectors/known_bad/table.h"

#include <stddef.h>

#define X(source, defect, violation, text) extern const struct collector bad_##defect;
KNOWN_BAD(X)
#undef X

const struct known_bad known_bad[] = {
#define X(source, defect, violation, text) {&bad_##defect, VIOLATION_##violation, text},
    KNOWN_BAD(X)
#undef X
        {NULL, VIOLATION_none, NULL}};

const struct collector *const known_bad_collectors[] = {
#define X(source, defect, violation, text) &bad_##defect,
    KNOWN_BAD(X)
#undef X
        NULL};
