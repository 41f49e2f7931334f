/* SPDX-License-Identifier: MIT
 *
 * A fuzz target that ends in the violation class of its first byte, as every target ends in it: for
 * crash_identity_test.sh.  The number behind the classes is a harness error.
 */
#include "fuzz/violate.h"

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 1 && data[0] == VIOLATION_classes)
        harness_error();
    if (size == 1 && data[0] > VIOLATION_none)
        violate((enum violation)data[0]);
    return 0;
}
