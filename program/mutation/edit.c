/* SPDX-License-Identifier: MIT
 *
 * Edits that keep a program valid (mutation.h): items and operations come, go and change, and
 * references, field storage and limits follow.
 */
#include "program/mutation/internal.h"

#include <string.h>

/* ---- references ------------------------------------------------------------------------------ */

/* Block numbers from first on go up by one. */
static void shift_up(struct value *values, unsigned n, unsigned first) {
    for (unsigned i = 0; i < n; i++)
        if (value_names_block(&values[i]) && values[i].block >= first)
            values[i].block++;
}

/* Blocks first .. first + count - 1 are gone. */
static void shift_down(struct value *values, unsigned n, unsigned first, unsigned count) {
    for (unsigned i = 0; i < n; i++) {
        if (!value_names_block(&values[i]) || values[i].block < first)
            continue;
        if (values[i].block < first + count)
            values[i] = (struct value){.kind = VALUE_IMMEDIATE};
        else
            values[i].block -= (uint16_t)count;
    }
}

/* Where a raw block has lost an address. */
static void settle_words(struct program *p) {
    for (unsigned i = 0; i < p->n_items; i++)
        for (unsigned f = 0; p->items[i].kind == ITEM_RAW && f < p->items[i].n_fields; f++)
            if (p->fields[p->items[i].first_field + f].kind == VALUE_IMMEDIATE)
                p->fields[p->items[i].first_field + f].kind = VALUE_RAW;
}

/* Infix pointers at a closure whose functions change: the same entry, or the last one. */
static void follow_functions(struct value *values, unsigned n, unsigned block,
                             const struct item *old, unsigned functions, const int8_t *arity) {
    for (unsigned i = 0; i < n; i++) {
        struct value *v = &values[i];
        if (v->kind != VALUE_INFIX || v->block != block)
            continue;
        unsigned entry = closure_entry_at(old, v->offset);
        if (entry >= functions)
            entry = functions - 1;
        v->kind = entry ? VALUE_INFIX : VALUE_BLOCK;
        v->offset = (uint16_t)closure_entry_offset(entry, arity);
    }
}

static struct value *all_roots(struct program *p) {
    return &p->roots[0][0];
}
enum { ALL_ROOTS = PROGRAM_MUTATORS * PROGRAM_SLOTS };

unsigned edit_named_before(const struct program *p, unsigned at) {
    unsigned named = 0;
    for (unsigned i = 0; i < at; i++)
        named += item_is_named(&p->items[i]);
    return named;
}

/* ---- room ------------------------------------------------------------------------------------ */

bool edit_has_room(const struct program *p, unsigned words, bool is_static) {
    unsigned used = 0;
    for (unsigned i = 0; i < p->n_items; i++)
        if (p->items[i].is_static == is_static)
            used += item_words(&p->items[i]);
    return used + words <= PROGRAM_HEAP_WORDS;
}

static void raise_heap(struct program *p) {
    unsigned words = program_heap_words(p);
    if (p->config[CONFIG_HEAP] < words)
        p->config[CONFIG_HEAP] = words;
}

/* The place in `fields` where the fields of item `at` are, or would be. */
static unsigned field_place(const struct program *p, unsigned at) {
    for (unsigned i = at; i < p->n_items; i++)
        if (item_is_named(&p->items[i]))
            return p->items[i].first_field;
    return p->n_fields;
}

/* Moves the fields from place `from` on by `by` places; later items follow. */
static void shift_fields(struct program *p, unsigned from, int by, unsigned first_item) {
    memmove(p->fields + (int)from + by, p->fields + from, (p->n_fields - from) * sizeof *p->fields);
    p->n_fields = (uint16_t)(p->n_fields + by);
    for (unsigned i = first_item; i < p->n_items; i++)
        if (item_is_named(&p->items[i]))
            p->items[i].first_field = (uint16_t)(p->items[i].first_field + by);
}

static void default_fields(struct program *p, const struct item *item, unsigned from) {
    const struct value initial = {.kind = item->kind == ITEM_RAW ? VALUE_RAW : VALUE_IMMEDIATE};
    for (unsigned f = from; f < item->n_fields; f++)
        p->fields[item->first_field + f] = initial;
}

/* ---- items ----------------------------------------------------------------------------------- */

bool edit_insert_item(struct program *p, unsigned at, const struct item *item) {
    if (p->n_items == PROGRAM_ITEMS || item->n_fields > PROGRAM_FIELDS - p->n_fields ||
        item->wosize > PROGRAM_WOSIZE || !edit_has_room(p, item_words(item), item->is_static))
        return false;
    unsigned place = field_place(p, at), named = edit_named_before(p, at);
    if (item->n_fields)
        shift_fields(p, place, item->n_fields, at);
    memmove(p->items + at + 1, p->items + at, (p->n_items - at) * sizeof *p->items);
    p->n_items++;
    p->items[at] = *item;
    p->items[at].first_field = item_is_named(item) ? (uint16_t)place : 0;
    default_fields(p, &p->items[at], 0);
    if (item_is_named(item) && at + 1 < p->n_items) {
        shift_up(p->fields, p->n_fields, named);
        shift_up(all_roots(p), ALL_ROOTS, named);
    }
    raise_heap(p);
    return true;
}

void edit_remove_items(struct program *p, unsigned from, unsigned count) {
    unsigned first = edit_named_before(p, from);
    unsigned named = edit_named_before(p, from + count) - first;
    unsigned begin = field_place(p, from), end = field_place(p, from + count);
    shift_fields(p, end, (int)begin - (int)end, from + count);
    memmove(p->items + from, p->items + from + count,
            (p->n_items - from - count) * sizeof *p->items);
    p->n_items -= (uint16_t)count;
    shift_down(p->fields, p->n_fields, first, named);
    shift_down(all_roots(p), ALL_ROOTS, first, named);
    settle_words(p);
}

bool edit_resize_item(struct program *p, unsigned at, unsigned size) {
    struct item *item = &p->items[at];
    unsigned old = item_is_named(item) ? item->n_fields : item->wosize;
    unsigned least = item->kind == ITEM_CLOSURE || item->kind == ITEM_FRAGMENT ? 0 : 1;
    int by = (int)size - (int)old;
    if (by == 0 || size < least || (int)item->wosize + by > PROGRAM_WOSIZE ||
        item->kind == ITEM_FRAGMENT || item->tag == PROGRAM_TAG_DOUBLE ||
        (by > 0 && !edit_has_room(p, (unsigned)by, item->is_static)))
        return false;
    if (item_is_named(item)) {
        if (p->n_fields + by > PROGRAM_FIELDS)
            return false;
        unsigned end = item->first_field + (by < 0 ? size : old);
        if (by > 0)
            shift_fields(p, end, by, at + 1);
        else
            shift_fields(p, end - (unsigned)by, by, at + 1);
        item->n_fields = (uint16_t)size;
        default_fields(p, item, old);
    }
    item->wosize = (uint16_t)(item->wosize + by);
    raise_heap(p);
    return true;
}

bool edit_functions(struct program *p, unsigned at, unsigned functions, const int8_t *arity) {
    struct item *item = &p->items[at];
    unsigned wosize = closure_code_words(functions, arity) + item->n_fields;
    if (wosize > PROGRAM_WOSIZE ||
        (wosize > item->wosize && !edit_has_room(p, wosize - item->wosize, item->is_static)))
        return false;
    unsigned block = edit_named_before(p, at);
    follow_functions(p->fields, p->n_fields, block, item, functions, arity);
    follow_functions(all_roots(p), ALL_ROOTS, block, item, functions, arity);
    item->functions = (uint8_t)functions;
    for (unsigned f = 0; f < PROGRAM_FUNCTIONS; f++)
        item->arity[f] = f < functions ? arity[f] : 0;
    item->wosize = (uint16_t)wosize;
    raise_heap(p);
    return true;
}

bool edit_code(struct program *p, unsigned at) {
    p->items[at].address_code = !p->items[at].address_code;
    return true;
}

bool edit_tag(struct program *p, unsigned at, uint8_t tag) {
    struct item *item = &p->items[at];
    bool raw = tag_is_raw(tag);
    if (item->tag == tag || (tag == PROGRAM_TAG_DOUBLE && item->wosize != 1))
        return false;
    item->tag = tag;
    if (raw == (item->kind == ITEM_RAW))
        return true;
    item->kind = raw ? ITEM_RAW : ITEM_BLOCK;
    for (unsigned f = 0; f < item->n_fields; f++) {
        struct value *v = &p->fields[item->first_field + f];
        uint64_t bits = value_is_reference(v) || v->kind == VALUE_ATOM ? 0 : v->bits;
        if (v->kind == VALUE_ADDRESS)
            continue;
        *v = raw ? (struct value){.kind = VALUE_RAW, .bits = bits}
                 : (struct value){.kind = VALUE_IMMEDIATE, .bits = immediate_bits(bits)};
    }
    return true;
}

/* ---- script ---------------------------------------------------------------------------------- */

unsigned edit_open_script(struct program *p, unsigned at, unsigned count) {
    if (count > PROGRAM_OPS - (unsigned)p->n_ops)
        count = PROGRAM_OPS - (unsigned)p->n_ops;
    memmove(p->ops + at + count, p->ops + at, (p->n_ops - at) * sizeof *p->ops);
    p->n_ops += (uint16_t)count;
    return count;
}

void edit_remove_ops(struct program *p, unsigned from, unsigned count) {
    memmove(p->ops + from, p->ops + from + count, (p->n_ops - from - count) * sizeof *p->ops);
    p->n_ops -= (uint16_t)count;
}
