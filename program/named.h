/* SPDX-License-Identifier: MIT
 *
 * Private to program/: the named blocks of a program as a table, for functions that follow many
 * references: program_named_item looks through all items, which would make the whole quadratic.
 */
#ifndef ISOHEAP_PROGRAM_NAMED_H
#define ISOHEAP_PROGRAM_NAMED_H

#include "program/program.h"

struct named_blocks {
    const struct program *program;
    unsigned count;
    uint16_t item[PROGRAM_ITEMS]; /* only the first count entries are set */
};

void named_blocks_find(struct named_blocks *named, const struct program *p);

/* The item of named block b < count. */
static inline const struct item *named_block(const struct named_blocks *named, unsigned b) {
    return &named->program->items[named->item[b]];
}

/* The entry k >= 1 of the closure that starts at field `offset`; 0 if no infix block does, or the
 * item is no closure. */
unsigned closure_entry_at(const struct item *item, unsigned offset);

/* Has it a number in the model, since each collector has another word for it?  Of such there are
 * few: items by count have none. */
static inline bool value_is_numbered(const struct value *v) {
    return v->kind == VALUE_ADDRESS || v->kind == VALUE_ATOM ||
           (v->kind == VALUE_OUTSIDE &&
            (outside_form(v) == OUTSIDE_BEFORE || outside_form(v) == OUTSIDE_BEHIND));
}

/* The immediate 0, of a valid program: what most slots hold. */
static inline bool value_is_unit(const struct value *v) {
    return v->kind == VALUE_IMMEDIATE && v->bits == 0;
}

/* 63 bits signed, as OCaml's integers, extended to 64. */
static inline uint64_t immediate_bits(uint64_t bits) {
    const uint64_t top = UINT64_C(1) << 63;
    return bits & top >> 1 ? bits | top : bits & ~top;
}

#endif
