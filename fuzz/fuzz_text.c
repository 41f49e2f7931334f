/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_text: the parser on any bytes; what it takes is valid and survives being printed and
 * encoded, what it refuses has a place and a reason.
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
    fprintf(stderr, "fuzz_text: %s\n", what);
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text_error error = {0};
    if (!program_parse(&first, (const char *)data, size, &error)) {
        require(error.line > 0 && error.column > 0 && error.message[0], "an error without a place");
        return 0;
    }
    require(program_valid(&first) == NULL, "the parsed program is not valid");
    size_t length = program_print(&first, text, sizeof text);
    require(length < sizeof text, "the text is too long");
    require(program_parse(&second, text, length, &error), "the printed program does not parse");
    require(program_equal(&first, &second), "parse(print(p)) is not p");
    length = program_encode(&first, bytes, sizeof bytes);
    require(length <= program_encode_bound && length <= sizeof bytes, "the encoding is too long");
    program_decode(&second, bytes, length);
    require(program_equal(&first, &second), "decode(encode(p)) is not p");
    return 0;
}
