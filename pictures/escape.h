/* SPDX-License-Identifier: MIT
 *
 * Text of programs and collectors inside pages.
 */
#ifndef ISOHEAP_CLI_ESCAPE_H
#define ISOHEAP_CLI_ESCAPE_H

#include <stddef.h>
#include <stdio.h>

/* A JSON string, quotes included, that may stand in a <script>; any bytes, the result is ASCII. */
void put_json(FILE *, const char *text);
/* Characters of HTML, in an element or a quoted attribute; control characters become spaces. */
void put_html(FILE *, const char *text, size_t length);

#endif
