/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_all: every registered collector on one program, each against the model, so that a
 * corpus found for one is tried on all.
 */
#include "collectors/registry/registry.h"
#include "fuzz/collector_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return all_collectors_target(registered_collectors, data, size);
}
