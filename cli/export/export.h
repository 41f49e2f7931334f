/* SPDX-License-Identifier: MIT
 *
 * Private to `isoheap export`.
 */
#ifndef ISOHEAP_EXPORT_H
#define ISOHEAP_EXPORT_H

#include "cli/cli.h"

struct exported {
    const struct program *program, *original;    /* program: as the collector sees it */
    const struct collector *subject, *reference; /* reference NULL: the model alone */
    const char *symbol;                          /* of the subject's struct, a C name */
    enum violation violation;
    bool of_levels;      /* an oracle of the collector's levels has raised it */
    bool undefined;      /* a sanitizer other than AddressSanitizer has */
    bool seeded;         /* the collector is a seeded fault's */
    size_t stack_kib;    /* it has used up a stack of so many KiB; or 0 */
    const char *sources; /* of a plug-in's collector, as words for a shell; or NULL */
    char detail[VERDICT_TEXT];
};

/* Files as text, from the build: those in export/, and the oracles of tower and cakeml. */
extern const char export_template[], export_tower[], export_cakeml[];

/* template.c: what plays the program and asserts its class; before it and the tables the
 * oracle, where the class is one of a collector with levels. */
void export_mirror(FILE *, const struct exported *);
void export_oracle(FILE *, const struct exported *);
/* tables.c: limits, config, items and roots of the program as C, lowered to what both
 * collectors take, as the runner does. */
void export_tables(FILE *, const struct exported *);
/* Has it atoms, or words beside a heap, which the collector alone can tell? */
bool export_has_outsiders(const struct program *);
/* The script as calls, and main. */
void export_script(FILE *, const struct exported *);
/* prove.c: the command that compiles the file into `out`, from the top of isoheap's sources or, if
 * the collector is a plug-in's, anywhere; malloc'ed. */
char *export_command(const struct exported *, const char *compiler, const char *file,
                     const char *out);
/* Compiles and runs the exported text, where that can be done, and says what came of it.
 * EXIT_VIOLATION: it does not show the violation. */
int export_prove(const struct exported *, const char *text, size_t size);
/* The program as OCaml: an exit status, after a message if it is not 0; *text is the caller's. */
int export_ocaml(const struct exported *, const char *file, char **text, size_t *size);

#endif
