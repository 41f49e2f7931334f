/* SPDX-License-Identifier: MIT
 *
 * Objects and words of heaps in words, for verdicts.  All cut and return lengths as snprintf does.
 */
#ifndef ISOHEAP_ORACLE_DESCRIBE_H
#define ISOHEAP_ORACLE_DESCRIBE_H

#include "views/graph.h"

/* Names an object: "b3"; "n7", the block that operation 7 allocated; "n7:2", its second. */
size_t object_name(const struct model *, unsigned object, char *out, size_t capacity);
/* What a word of the model, or of a heap, is: "a pointer to b3 (tag 0, 2 fields)". */
size_t describe_model(const struct model *, word v, char *out, size_t capacity);
size_t describe_heap(const struct graph *, word v, char *out, size_t capacity);

#endif
