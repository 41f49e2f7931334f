/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors and the programs of crashes/ that show their defects.
 */
#ifndef ISOHEAP_TESTS_CRASHES_H
#define ISOHEAP_TESTS_CRASHES_H

#include "collectors/known_bad/known_bad.h"
#include "program/program.h"

/* The known-bad collector of that name; fails the test if there is none. */
const struct known_bad *bad_collector(const char *name);

/* The same, and reads its program. */
const struct known_bad *load_crash(const char *name, struct program *);

#endif
