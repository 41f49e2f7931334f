/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_text: the parser on any bytes; what it takes is valid and survives being printed and
 * encoded, what it refuses has a place and a reason.
 */
#include "fuzz/current.h"
#include "fuzz/round_trip.h"
#include "program/text/text.h"

static struct program program;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text_error error = {0};
    current_begin(data, size);
    if (program_parse(&program, (const char *)data, size, &error))
        require_round_trip(&program);
    else
        require(error.line > 0 && error.column > 0 && error.message[0], "an error without a place");
    current_end();
    return 0;
}
