/* SPDX-License-Identifier: MIT
 *
 * Where a fuzz target ends when it has found something.
 */
#ifndef ISOHEAP_VIOLATE_H
#define ISOHEAP_VIOLATE_H

#include "views/violation.h"

/* Aborts from a function of its own, violation_<class>, so that triage by stack frame keeps the
 * classes apart. */
_Noreturn void violate(enum violation);
/* Aborts because an assertion of the harness has failed. */
_Noreturn void harness_error(void);

#endif
