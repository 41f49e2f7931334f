/* SPDX-License-Identifier: MIT
 *
 * Text of programs and collectors inside pages.
 */
#ifndef ISOHEAP_CLI_ESCAPE_H
#define ISOHEAP_CLI_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* Writes any bytes up to a NUL as a JSON string with its quotes, in ASCII, that may stand in a
 * <script>. */
void put_json(FILE *, const char *text);
/* Writes text for an element or a quoted attribute of HTML; control characters become spaces. */
void put_html(FILE *, const char *text, size_t length);

#endif
