/* SPDX-License-Identifier: MIT
 *
 * Target fuzz_text: the parser on any bytes.
 *
 * Text that is accepted must be a valid program that survives both of its forms.  The checks are
 * always on; a broken one ends the process.
 */
#include "program/bytes.h"
#include "program/text.h"

#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct program program, again;
static char text[1 << 21];
static uint8_t bytes[1 << 20];

static void require(bool holds, const char *rule) {
    if (holds)
        return;
    fprintf(stderr, "isoheap: fuzz_text: %s\n", rule);
    abort();
}

static void require_valid(const struct program *p) {
    const char *fault = program_valid(p);
    require(!fault, fault);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct text_error error = {0};
    if (!program_parse(&program, (const char *)data, size, &error)) {
        require(error.line > 0 && error.column > 0 && error.message[0] != '\0',
                "an error of the parser has no place or no message");
        return 0;
    }
    require_valid(&program);
    require(program_looks_like_text(data, size), "accepted text is not recognised as text");
    size_t length = program_print(&program, text, sizeof text);
    require(length < sizeof text, "the printed program is too long");
    require(program_parse(&again, text, length, &error), "the printed program is not accepted");
    require(program_equal(&program, &again), "print and parse changed the program");
    size_t used = program_encode(&program, bytes, sizeof bytes);
    require(used <= program_encode_bound && used <= sizeof bytes, "the encoding is too long");
    program_decode(&again, bytes, used);
    require(program_equal(&program, &again), "encode and decode changed the program");
    return 0;
}
