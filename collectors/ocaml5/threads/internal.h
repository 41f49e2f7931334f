/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime with domains in threads of the system: what the files of its adapter share.
 */
#ifndef ISOHEAP_OCAML5_THREADS_INTERNAL_H
#define ISOHEAP_OCAML5_THREADS_INTERNAL_H

#include "collectors/ocaml5/internal.h"

/* ---- threads.c: struct parallel_runtime has what they do
 * -----------------------------------------
 */

void parallel_start(const struct gc_config *);
void parallel_spawn(unsigned m, word (*body)(unsigned m));
void parallel_join(unsigned m, unsigned dst);
void parallel_drop(void);
void parallel_publish(unsigned slot);
void parallel_receive(unsigned dst);
void parallel_row(unsigned row);
struct gc *parallel_mine(void);

#endif
