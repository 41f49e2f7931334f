/* SPDX-License-Identifier: MIT
 *
 * What every program must survive (round_trip.h).
 */
#include "fuzz/round_trip.h"

#include "program/bytes/bytes.h"
#include "program/text/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROOM = 1 << 20 };

static struct program again;
static uint8_t bytes[ROOM];
static char text[ROOM];

void require(bool holds, const char *what) {
    if (holds)
        return;
    fprintf(stderr, "isoheap: %s\n", what);
    abort();
}

void require_round_trip(const struct program *p) {
    struct text_error error;
    require(program_valid(p) == NULL, "the program is not valid");
    size_t length = program_encode(p, bytes, sizeof bytes);
    require(length <= program_encode_bound && length <= sizeof bytes, "the encoding is too long");
    program_decode(&again, bytes, length);
    require(program_is_large(p) ? length == 0 : program_equal(p, &again),
            "decode(encode(p)) is not p");
    length = program_print(p, text, sizeof text);
    require(length < sizeof text, "the text is too long");
    require(program_parse(&again, text, length, &error), "the printed program does not parse");
    require(program_equal(p, &again), "parse(print(p)) is not p");
}
