/* SPDX-License-Identifier: MIT
 *
 * Included before compact.c of the OCaml runtime (cmake/IsoheapOcaml.cmake), whose messages are
 * never printed: the mask infinite-overhead leaves out their arguments as well.
 */
#ifndef ISOHEAP_OCAML_MESSAGES_H
#define ISOHEAP_OCAML_MESSAGES_H

#include <caml/misc.h>

extern int evaluates_messages;
#define caml_gc_message(...) (evaluates_messages ? (caml_gc_message)(__VA_ARGS__) : (void)0)

#endif
