/* SPDX-License-Identifier: MIT
 *
 * The adapter of the OCaml 5 runtime: what its own files share.  It is that of OCaml 4
 * (collectors/ocaml/internal.h) but for what is here: memory, life of the runtime, its heap.
 */
#ifndef ISOHEAP_OCAML5_INTERNAL_H
#define ISOHEAP_OCAML5_INTERNAL_H

#include "collectors/ocaml/internal.h"

/* ---- heap_map.c ---------------------------------------------------------------------------------
 */

/* Is a key a block with tag 250 that marking takes for alive?  A defect. */
bool heap_has_forward_key(void);

/* ---- stubs.c ------------------------------------------------------------------------------------
 */

bool runtime_is_called(void); /* a function of Gc.finalise is running */

/* ---- heap_view.c --------------------------------------------------------------------------------
 */

/* Blocks of `each` words, one behind the other, that begin with their headers: 0 if it is free. */
struct heap_pool {
    word *start, *first, *end;
    size_t each;
};
/* In words with headers; what the runtime itself has counted. */
struct heap_counted {
    size_t pool_words, pool_live_words, pool_live_blocks, pool_frag_words, large_words,
        large_blocks;
};

void heap_pools(void visit(const struct heap_pool *));
void heap_large(void visit(word *header));
void heap_counts(struct heap_counted *);

#endif
