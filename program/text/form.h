/* SPDX-License-Identifier: MIT
 *
 * Private to program/: the forms of operations.def, which the printer and the parser walk alike.
 *
 * A form is operands, words and signs.  An operand is a letter that stands alone; a word has two
 * letters or more, so a walk that passes words as a whole meets lone letters only where operands
 * are.
 */
#ifndef ISOHEAP_PROGRAM_FORM_H
#define ISOHEAP_PROGRAM_FORM_H

#include <stdbool.h>
#include <stddef.h>

static inline bool form_is_letter(char c) {
    return (c >= 'a' && c <= 'z') || c == 'T';
}

/* Does an operand stand here, where no word goes on? */
static inline bool form_is_operand(const char *at) {
    return form_is_letter(at[0]) && !form_is_letter(at[1]);
}

/* Word number `choice` of "i<x|y|z>" at `at`; NULL if there are fewer. */
const char *form_choice(const char *at, unsigned choice, size_t *length);

#endif
