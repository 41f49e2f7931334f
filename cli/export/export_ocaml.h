/* SPDX-License-Identifier: MIT
 *
 * Private to `isoheap export --ocaml`.
 */
#ifndef ISOHEAP_EXPORT_OCAML_H
#define ISOHEAP_EXPORT_OCAML_H

#include "cli/export/export.h"

struct ocaml_export {
    const struct program *program;
    unsigned mutators; /* that the collector has of those of the program */
    unsigned own_tags; /* trait own_tags */
};

/* Files as text, from the build: those in templates/. */
extern const char export_prelude[], export_runtime4[], export_runtime5[], export_domains[];

/* ocaml_script.c: `heap`, which makes the initial heap, and `life_0`, which plays a round; behind
 * the templates. */
void export_ocaml_heap(FILE *, const struct ocaml_export *);
void export_ocaml_script(FILE *, const struct ocaml_export *);
/* ocaml_model.c: `expected`, what the model has at the end of a run of that collector with its
 * known defects steered around, which is all that is wanted of it.  False if it has no such end. */
bool export_ocaml_expected(FILE *, const struct ocaml_export *, const struct collector *subject);

#endif
