/* SPDX-License-Identifier: MIT
 *
 * The forms of operations.def (form.h).
 */
#include "program/text/form.h"

#include "program/text/text.h"

#include <string.h>

const char *form_choice(const char *at, unsigned choice, size_t *length) {
    const char *word = strchr(at, '<') + 1;
    for (;; word += *length + 1) {
        *length = strcspn(word, "|>");
        if (choice-- == 0)
            return word;
        if (word[*length] == '>')
            return NULL;
    }
}

const char *op_word(const struct op *op, size_t *length) {
    const char *at = strstr(op_shapes[op->code].form, "i<");
    return at ? form_choice(at, op->i, length) : NULL;
}
