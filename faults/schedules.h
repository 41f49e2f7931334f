/* SPDX-License-Identifier: MIT
 *
 * What the shared object of a fault of the on-the-fly model exports: the functions that take steps
 * of the model.  What reads and prints schedules is the same in all.
 */
#ifndef ISOHEAP_FAULT_SCHEDULES_H
#define ISOHEAP_FAULT_SCHEDULES_H

#include "models/onthefly/schedules/driver.h"
#include "faults/canary.h"

struct fault_schedules {
    struct schedule_result (*run)(const struct schedule *, schedule_observer *, void *context);
    void (*reduce)(struct schedule *);
    void (*drive)(const struct driver_options *, const uint8_t *data, size_t size,
                  struct driver_result *);
};

#endif
