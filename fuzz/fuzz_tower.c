/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_tower: the tower against cheney, the model where they differ, and every level of the
 * tower against the one above.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/tower/tower.h"
#include "fuzz/collector_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return collector_target(&tower, &cheney, data, size);
}
