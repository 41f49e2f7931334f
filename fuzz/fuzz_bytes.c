/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_bytes: every byte string decodes to a valid program, which survives being encoded
 * and being printed.
 */
#include "fuzz/current.h"
#include "fuzz/round_trip.h"
#include "program/bytes/bytes.h"

static struct program program;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    current_begin(data, size);
    program_decode(&program, data, size);
    require_round_trip(&program);
    current_end();
    return 0;
}
