/* SPDX-License-Identifier: MIT
 *
 * What the tests share: loading programs and running them here or in a child process.
 */
#ifndef ISOHEAP_TESTS_SUPPORT_H
#define ISOHEAP_TESTS_SUPPORT_H

#include "harness/harness.h"

/* Reads a text program; ends the test with the parser's message if it is none. */
void load_program(struct program *, const char *path);
/* The same from a string. */
void parse_program(struct program *, const char *text);

/* Calls visit with the path of every .txt file under dir, sorted; returns how many. */
unsigned for_each_program(const char *dir, void (*visit)(const char *path, void *context),
                          void *context);

/* Runs once in this process with a runner of its own. */
struct verdict run_here(const struct collector *subject, const struct collector *reference,
                        const struct program *);
/* In a child: cmocka's handlers, which would go on with the next test there, are taken off. */
void crashes_end_the_process(void);
/* Runs in a child; a crash or sanitizer report is VIOLATION_sanitizer, a hang a failed test. */
enum violation run_in_child(const struct collector *subject, const struct collector *reference,
                            const struct program *);
/* The same, with no oracle that looks at a sample (runner_options, thorough). */
enum violation run_thoroughly(const struct collector *subject, const struct program *);

#endif
