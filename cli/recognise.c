/* SPDX-License-Identifier: MIT
 *
 * Which form of a program a file has (cli.h).
 *
 * Every byte string is a program, so a text with a slip in its first line would run too, as one
 * that has nothing to do with what it says.  What people have written is therefore refused unless
 * it begins with the version line; an engine's input is hardly ever all letters and line ends.
 */
#include "cli/cli.h"

#include "cli/plugin.h"
#include "program/text/text.h"

#include <ctype.h>
#include <string.h>

enum { SHORTEST = 16, LOOKED_AT = 64, BYTES = 2100 };

static bool as_bytes;

/* Bytes of one UTF-8 character at data, or 0 if it is none that a text has. */
static size_t character(const uint8_t *data, size_t size) {
    uint8_t c = data[0];
    size_t n = c < 0x80 ? 1 : c >= 0xc2 && c < 0xe0 ? 2 : c >= 0xe0 && c < 0xf0 ? 3 : 4;
    if (c < 0x80)
        return isprint(c) || (c && strchr("\n\r\t\f", c)) ? 1 : 0;
    if (c < 0xc2 || c >= 0xf5 || n > size)
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((data[i] & 0xc0) != 0x80)
            return 0;
    return n;
}

static bool is_text(const uint8_t *data, size_t size) {
    size_t n;
    for (size_t at = 0; at < size; at += n)
        if (!(n = character(data + at, size - at)))
            return false;
    return size > 0;
}

/* Letters and zeros in turn; first: 0 if the letters come first. */
static bool is_wide(const uint8_t *data, size_t size, unsigned first) {
    size_t n = size < LOOKED_AT ? size : LOOKED_AT;
    for (size_t i = 0; i + 1 < n; i += 2)
        if (data[i + !first] || !character(&data[i + first], 1))
            return false;
    return size >= SHORTEST;
}

static bool has_mark(const uint8_t *data, size_t size, const char *mark) {
    return size >= strlen(mark) && memcmp(data, mark, strlen(mark)) == 0;
}

const char *mistaken_text(const uint8_t *data, size_t size) {
    if (as_bytes || program_looks_like_text(data, size))
        return NULL;
    if (has_mark(data, size, "\xef\xbb\xbf") && is_text(data, size))
        return "a text that begins with a byte-order mark: save it as UTF-8 without one";
    if (((has_mark(data, size, "\xff\xfe") && is_wide(data + 2, size - 2, 0)) ||
         (has_mark(data, size, "\xfe\xff") && is_wide(data + 2, size - 2, 1))) ||
        is_wide(data, size, 0) || is_wide(data, size, 1))
        return "a text in UTF-16: save it as UTF-8";
    if (size >= SHORTEST && is_text(data, size))
        return "a text, but its first line is not `isoheap program 1` (comments begin with #)";
    return NULL;
}

bool takes_as_bytes(void) {
    return as_bytes;
}

/* ---- the option -------------------------------------------------------------------------------
 */

static error_t parse(int key, char *argument, struct argp_state *state) {
    (void)argument;
    (void)state;
    if (key != BYTES)
        return ARGP_ERR_UNKNOWN;
    as_bytes = true;
    return 0;
}

static const struct argp_option options[] = {
    {"bytes", BYTES, NULL, 0, "FILE is a program as bytes, whatever it looks like", 0}, {0}};
const struct argp bytes_argp = {options, parse, NULL, NULL, NULL, NULL, NULL};
const struct argp_child bytes_option[] = {{&bytes_argp, 0, NULL, 0}, {NULL, 0, NULL, 0}};
