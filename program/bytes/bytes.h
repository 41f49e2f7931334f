/* SPDX-License-Identifier: MIT
 *
 * Programs as bytes: what fuzzing engines mutate.
 *
 * The byte form is a sequence of records, each one opcode byte followed by a number of operand
 * bytes that depends on the opcode alone; docs/program.md has the table.  Decoding is total.
 */
#ifndef ISOHEAP_PROGRAM_BYTES_H
#define ISOHEAP_PROGRAM_BYTES_H

#include "program/program.h"

/* The version of the byte form: a string of one version means in the next what it meant before,
 * unless it has a byte that names an operation or a setting which that one brings
 * (docs/program.md). */
enum { PROGRAM_BYTES_VERSION = 10 };

/* Decodes any byte string to a valid program, in time linear in size and without allocating.
 * What exceeds a limit of program.h is left out; what refers to something that does not exist is
 * taken modulo what does.  data may be NULL if size is 0. */
void program_decode(struct program *p, const uint8_t *data, size_t size);

/* The same for a string that was written for an older version, from 1 on. */
void program_decode_version(struct program *p, const uint8_t *data, size_t size, unsigned version);

/* Writes p as bytes: program_decode of them equals p.  Returns the number of bytes that the
 * encoding needs; at most `capacity` are written (out may be NULL if capacity is 0), so a result
 * above capacity means that nothing usable was written.  p must be valid. */
size_t program_encode(const struct program *p, uint8_t *out, size_t capacity);

/* No valid program needs more bytes than this. */
extern const size_t program_encode_bound;

#endif
