/* SPDX-License-Identifier: MIT
 *
 * The one symbol of a shared object that holds a fault of the on-the-fly model (faults/canary.h);
 * everything else in it is hidden.
 */
#include "faults/schedules.h"

#include "fuzz/faults/choose.h"

static const struct fault_schedules schedules = {schedule_run, schedule_reduce, driver_run};

extern const struct fault_export isoheap_fault;
__attribute__((visibility("default")))
const struct fault_export isoheap_fault = {NULL, &schedules, &fault_canary, choose};
