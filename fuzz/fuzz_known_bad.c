/* SPDX-License-Identifier: MIT
 *
 * Targets fuzz_bad_*: a known-bad collector, whose name the build defines as KNOWN_BAD_SUBJECT.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "fuzz/collector_target.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const struct collector *const *subject = known_bad_collectors();
    while (strcmp((*subject)->name, KNOWN_BAD_SUBJECT) != 0)
        subject++;
    return collector_target(*subject, &cheney, data, size);
}
