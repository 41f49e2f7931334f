/* SPDX-License-Identifier: MIT
 *
 * Objects and words of heaps in words, for verdicts.  All cut and return lengths as snprintf does.
 *
 * A block of a heap is at the word of its header, counted from the start of the heap; a pointer to
 * it is said to lead there.  In a run that is looked at closely it has its name before that.
 */
#ifndef ISOHEAP_ORACLE_DESCRIBE_H
#define ISOHEAP_ORACLE_DESCRIBE_H

#include "oracles/judge.h"

/* Names an object: "b3"; "n7", the block that operation 7 allocated; "n7:2", its second. */
size_t origin_name(int origin, unsigned serial, char *out, size_t capacity);
size_t object_name(const struct model *, unsigned object, char *out, size_t capacity);
/* The name of the block that v leads to in the side's heap, or "" (judge_services.name). */
void describe_name(struct judge *, word v, char out[NAME_TEXT]);
/* The same of a raw word of the model: "the word 0x1f". */
size_t describe_word(const struct model *, word v, char *out, size_t capacity);
/* What a word of the model is: "a pointer to b3 (tag 0, 2 fields)". */
size_t describe_model(const struct model *, word v, char *out, size_t capacity);
/* The same of a word of the side's heap: "a pointer to b3 (at word 5, tag 0, 2 fields)". */
size_t describe_heap(struct judge *, word v, char *out, size_t capacity);
/* A block of the heap, by the place of its field 0: "b3 (at word 5, tag 0, 2 fields)". */
size_t describe_block(struct judge *, uint32_t id, char *out, size_t capacity);
/* A word of the heap: "field 1 of b3 (at word 5, ...)", "the header of ...". */
size_t describe_at(struct judge *, uint32_t at, char *out, size_t capacity);

#endif
