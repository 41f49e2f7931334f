/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_bytes: every byte string decodes to a valid program, which survives being encoded
 * and being printed.
 */
#include "program/bytes.h"
#include "program/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 1 << 20 };

static struct program first, second;
static uint8_t bytes[ROOM];
static char text[ROOM];

static void require(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "fuzz_bytes: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text_error error;
    program_decode(&first, data, size);
    require(program_valid(&first) == NULL, "the decoded program is not valid");
    size_t length = program_encode(&first, bytes, sizeof bytes);
    require(length <= program_encode_bound && length <= sizeof bytes, "the encoding is too long");
    program_decode(&second, bytes, length);
    require(program_equal(&first, &second), "decode(encode(p)) is not p");
    length = program_print(&first, text, sizeof text);
    require(length < sizeof text, "the text is too long");
    require(program_parse(&second, text, length, &error), "the printed program does not parse");
    require(program_equal(&first, &second), "parse(print(p)) is not p");
    return 0;
}
