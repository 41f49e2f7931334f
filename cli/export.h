/* SPDX-License-Identifier: MIT
 *
 * Private to `isoheap export`.
 */
#ifndef ISOHEAP_EXPORT_H
#define ISOHEAP_EXPORT_H

#include "cli/cli.h"

struct exported {
    const struct program *program;
    const struct collector *subject, *reference; /* reference NULL: the model alone */
    const char *symbol;                          /* of the subject's struct, a C name */
    enum violation violation;
    char detail[VERDICT_TEXT];
};

/* The files in export/ as text, from the build. */
extern const char export_template[];

/* Limits, config, items and roots of the program as C, lowered to what both collectors take, as the
 * runner does. */
void export_tables(FILE *, const struct exported *);
/* The program as OCaml: an exit status, after a message if it is not 0; *text is the caller's. */
int export_ocaml(const struct exported *, const char *file, char **text, size_t *size);
extern const char export_prelude[];
/* The script as calls, and main. */
void export_script(FILE *, const struct exported *);

#endif
