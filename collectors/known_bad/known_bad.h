/* SPDX-License-Identifier: MIT
 *
 * Known-bad collectors: each is a collector of this project compiled with one defect
 * (collectors/faults.h), and the violation class that the defect must raise.
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
extern const struct known_bad known_bad[];                   /* collector == NULL at the end */
extern const struct collector *const known_bad_collectors[]; /* the same; NULL at the end */

#endif
