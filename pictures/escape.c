/* SPDX-License-Identifier: MIT
 *
 * Escaping for pages (escape.h).
 */
#include "pictures/escape.h"

/* Bytes beyond ASCII are shown as what they are, one character a byte: no text of ours has them. */
void put_json(FILE *out, const char *text) {
    putc('"', out);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        if (*c == '"' || *c == '\\')
            fprintf(out, "\\%c", *c);
        else if (*c < ' ' || *c > '~' || *c == '<' || *c == '>' || *c == '&')
            fprintf(out, "\\u%04x", *c);
        else
            putc(*c, out);
    putc('"', out);
}

void put_html(FILE *out, const char *text, size_t length) {
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'' || c > '~')
            fprintf(out, "&#%u;", c);
        else
            putc(c < ' ' ? ' ' : c, out);
    }
}
