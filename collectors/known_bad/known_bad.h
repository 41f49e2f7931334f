/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors: each is a collector of this project with one defect (collectors/faults.h),
 * and the violation class that the defect must raise.
 */
#ifndef ISOHEAP_KNOWN_BAD_H
#define ISOHEAP_KNOWN_BAD_H

#include "collectors/collector.h"
#include "views/violation.h"

struct known_bad {
    const struct collector *collector; /* named bad_<defect> */
    enum violation violation;
    const char *defect; /* one line: what is wrong */
};

/* All of them, in the order of collectors/faults.def; collector == NULL at the end.  The
 * rows and the collectors are the same as long as the process lasts. */
const struct known_bad *known_bad(void);
/* The same collectors; NULL at the end. */
const struct collector *const *known_bad_collectors(void);

#endif
