/* SPDX-License-Identifier: MIT
 *
 * The garbage collector of the OCaml 5 runtime (docs/ocaml5.md), in several builds.
 */
#ifndef ISOHEAP_OCAML5_H
#define ISOHEAP_OCAML5_H

#include "collectors/collector.h"

extern const struct collector ocaml5;         /* with its own constants */
extern const struct collector ocaml5_debug;   /* with its own assertions and heap checks */
extern const struct collector ocaml5_tiny;    /* small pools, minor heap and mark stack */
extern const struct collector ocaml5_domains; /* each mutator is a domain */
extern const struct collector ocaml5_domains_debug;

#endif
