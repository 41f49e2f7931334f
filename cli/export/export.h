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
    bool of_levels; /* an oracle of the collector's levels has raised it */
    char detail[VERDICT_TEXT];
};

/* Files as text, from the build: those in export/, and the oracles of tower and cakeml. */
extern const char export_template[], export_prelude[], export_tower[], export_cakeml[];

/* template.c: what plays the program and asserts its class; before it and the tables the
 * oracle, where the class is one of a collector with levels. */
void export_mirror(FILE *, const struct exported *);
void export_oracle(FILE *, const struct exported *);
/* tables.c: limits, config, items and roots of the program as C, lowered to what both
 * collectors take, as the runner does. */
void export_tables(FILE *, const struct exported *);
/* The script as calls, and main. */
void export_script(FILE *, const struct exported *);
/* The program as OCaml: an exit status, after a message if it is not 0; *text is the caller's. */
int export_ocaml(const struct exported *, const char *file, char **text, size_t *size);

#endif
