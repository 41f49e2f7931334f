/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_mark_sweep: mark_sweep against cheney, the model where they differ.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/mark_sweep/mark_sweep.h"
#include "fuzz/collector_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return collector_target(&mark_sweep, &cheney, data, size);
}
