/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors (crashes.h).
 */
#include "tests/support/crashes.h"

#include "tests/support/support.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

const struct known_bad *bad_collector(const char *name) {
    for (const struct known_bad *b = known_bad(); b->collector; b++)
        if (strcmp(b->collector->name, name) == 0)
            return b;
    fail_msg("no collector is called %s", name);
    return NULL;
}

const struct known_bad *load_crash(const char *name, struct program *program) {
    const struct known_bad *bad = bad_collector(name);
    char path[512];
    snprintf(path, sizeof path, "%s/%s/%s.txt", CRASHES_DIR, violation_name(bad->violation), name);
    load_program(program, path);
    return bad;
}
