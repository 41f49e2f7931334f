/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_reference: cheney, the reference, against the model.
 */
#include "collectors/cheney/cheney.h"
#include "fuzz/collector_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return collector_target(&cheney, NULL, data, size);
}
