/* SPDX-License-Identifier: MIT
 *
 * A fuzz target that judges programs for the isoheap command (serve.c).
 */
#ifndef ISOHEAP_FUZZ_SERVE_H
#define ISOHEAP_FUZZ_SERVE_H

#include "collectors/collector.h"

/* If the command asks for it in the environment, serves until it asks to end, and ends the process.
 * subjects: NULL at the end; reference: theirs, or NULL. */
void serve_if_asked(const struct collector *const *subjects, const struct collector *reference);

#endif
