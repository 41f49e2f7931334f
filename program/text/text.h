/* SPDX-License-Identifier: MIT
 *
 * Programs as text: the durable form, one operation a line.  docs/program.md has the grammar.
 */
#ifndef ISOHEAP_PROGRAM_TEXT_H
#define ISOHEAP_PROGRAM_TEXT_H

#include "program/program.h"

/* Where and why a text is not a program.  message is complete: "expected ... , found ...". */
struct text_error {
    unsigned line, column; /* both from 1; columns count bytes */
    char message[200];
};

/* Parses text[0..size) into p.  Returns false and fills *error if it is no program; p is then
 * unspecified.  Linear in size, allocates nothing, tolerates every byte (NUL and CR included). */
bool program_parse(struct program *p, const char *text, size_t size, struct text_error *error);

/* Does the text start (after blank lines and comments) with the version line's first word? */
bool program_looks_like_text(const void *data, size_t size);

/* Prints p as text; program_parse of it equals p.  Returns the length without the final NUL; at
 * most `capacity` bytes are written, the last of them NUL (as snprintf).  p must be valid. */
size_t program_print(const struct program *p, char *out, size_t capacity);

/* Prints one operation as in the script, without a newline; cuts the text and returns its length as
 * snprintf does. */
size_t op_print(const struct op *op, char *out, size_t capacity);

/* A value as it stands in the script, or else in heap and roots; the same. */
size_t value_print(const struct value *v, bool script, char *out, size_t capacity);

/* The word that number i of an operation stands for, as "list": *length characters, or NULL. */
const char *op_word(const struct op *op, size_t *length);

/* The same for item number `index` of p, with the names of blocks. */
size_t item_print(const struct program *p, unsigned index, char *out, size_t capacity);

#endif
