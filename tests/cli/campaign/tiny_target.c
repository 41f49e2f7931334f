/* SPDX-License-Identifier: MIT
 *
 * A target for campaign_test.sh, which compiles it with afl-clang-fast: says what a target of
 * isoheap says of a violation when the input starts with x.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size > 0 && data[0] == 'x') {
        fprintf(stderr, "isoheap: violation overlap\n  guilty     subject (tiny)\n");
        abort();
    }
    return 0;
}
