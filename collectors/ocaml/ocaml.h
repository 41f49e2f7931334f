/* SPDX-License-Identifier: MIT
 *
 * The garbage collector of the OCaml runtime, 4.12 to 4.14 (docs/ocaml.md), in up to five builds.
 */
#ifndef ISOHEAP_OCAML_H
#define ISOHEAP_OCAML_H

#include "collectors/collector.h"

extern const struct collector ocaml;        /* as Debian builds it */
extern const struct collector ocaml_debug;  /* with the runtime's own assertions */
extern const struct collector ocaml_tiny;   /* small pages, minor heap and mark stack */
extern const struct collector ocaml_nnp;    /* without naked pointers */
extern const struct collector ocaml_native; /* with the roots of native code */

#endif
