/* SPDX-License-Identifier: MIT
 *
 * Going on after a violation (go_on.c).  An engine on its own, or a fuzzing service, wants the
 * process to end; a campaign wants the input, and the next one.
 */
#ifndef ISOHEAP_GO_ON_H
#define ISOHEAP_GO_ON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum going {
    GOING_ENDS,  /* nobody has asked to go on: the process is to end */
    GOING_KEEPS, /* the input is wanted: go_on_with, then the next one */
    GOING_ON     /* enough of its kind are kept already: the next one */
};

/* Before a run. */
void go_on_begin(void);
/* What is to be done about a violation of that kind: a text that is the same for violations that
 * may well be the same defect.  Counts it.  After GOING_ON the coverage of this run is forgotten.
 */
enum going go_on_after(const char *kind);
/* Keeps the input and what was said about it.  True: the coverage of this run is forgotten, and the
 * process can go on; false: the input could not be kept, and the process is to end. */
bool go_on_with(const uint8_t *data, size_t size, const char *said);

#endif
