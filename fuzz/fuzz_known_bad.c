/* SPDX-License-Identifier: MIT
 *
 * Targets fuzz_bad_*: a known-bad collector, whose name the build defines as KNOWN_BAD_SUBJECT.
 */
#include "collectors/cheney/cheney.h"
#include "collectors/known_bad/known_bad.h"
#include "collectors/registry/registry.h"
#include "fuzz/collector_target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const struct collector *subject;
    if (!subject)
        subject = collector_find(known_bad_collectors(), KNOWN_BAD_SUBJECT);
    return collector_target(subject, &cheney, data, size);
}
