/* SPDX-License-Identifier: MIT
 *
 * What `isoheap faults check` wants to know of triggers that are schedules of the on-the-fly model.
 * Apart from faults.h: the model and the campaign both speak of events.
 */
#ifndef ISOHEAP_CLI_FAULTS_SCHEDULE_H
#define ISOHEAP_CLI_FAULTS_SCHEDULE_H

#include "views/violation.h"

#include <stdbool.h>

struct fault_schedules; /* faults/schedules.h */

bool is_schedule_trigger(const char *path);
/* What the schedule raises on the faulty model, or on the clean one (NULL); VIOLATION_classes: it
 * cannot be run. */
enum violation judge_schedule(const struct fault_schedules *, const char *path);

#endif
