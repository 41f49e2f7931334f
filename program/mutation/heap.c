/* SPDX-License-Identifier: MIT
 *
 * Mutations of the initial heap and its roots (mutation.h).
 */
#include "program/mutation/internal.h"

enum { LARGEST_GROUP = 20 }; /* new blocks at once: more than short encodings of the mark stack */

static struct value *field_of(struct program *p, const struct item *item, unsigned f) {
    return &p->fields[item->first_field + f];
}

/* ---- edges ----------------------------------------------------------------------------------- */

bool mutate_rewire(struct mutation *m) {
    struct program *p = &m->program;
    struct named_blocks named;
    named_blocks_find(&named, p);
    if (named.count == 0)
        return false;
    const struct item *item = named_block(&named, random_below(&m->random, named.count));
    if (item->n_fields == 0)
        return false;
    struct value *v = field_of(p, item, random_below(&m->random, item->n_fields)), old = *v;
    *v = item->kind == ITEM_RAW ? random_heap_word(m, &named)
                                : random_heap_value(m, &named, item->is_static);
    return !value_equal(v, &old);
}

/* Slots 0..7 mostly; row 0 mostly. */
static struct value *random_root(struct mutation *m) {
    unsigned row = random_chance(&m->random, 24) ? random_below(&m->random, PROGRAM_MUTATORS) : 0;
    unsigned slot = random_below(&m->random, random_chance(&m->random, 4) ? PROGRAM_SLOTS : 8);
    return &m->program.roots[row][slot];
}

bool mutate_root(struct mutation *m) {
    struct named_blocks named;
    struct value *v = random_root(m), old = *v;
    named_blocks_find(&named, &m->program);
    if (random_chance(&m->random, 4))
        *v = (struct value){.kind = VALUE_IMMEDIATE};
    else
        *v = random_heap_value(m, &named, false);
    return !value_equal(v, &old);
}

/* ---- one item -------------------------------------------------------------------------------- */

bool mutate_tag(struct mutation *m) {
    struct program *p = &m->program;
    int8_t arity[PROGRAM_FUNCTIONS];
    if (p->n_items == 0)
        return false;
    unsigned at = random_below(&m->random, p->n_items);
    const struct item *item = &p->items[at];
    if (item->kind == ITEM_CLOSURE && random_chance(&m->random, 4))
        return edit_code(p, at);
    if (item->kind == ITEM_CLOSURE) {
        unsigned functions = random_functions(m, arity);
        return edit_functions(p, at, functions, arity);
    }
    if (!item_is_named(item))
        return false;
    bool raw = item->kind == ITEM_RAW;
    return edit_tag(p, at, random_tag(m, raw != random_chance(&m->random, 4)));
}

bool mutate_size(struct mutation *m) {
    struct program *p = &m->program;
    if (p->n_items == 0)
        return false;
    unsigned at = random_below(&m->random, p->n_items);
    const struct item *item = &p->items[at];
    unsigned size = item_is_named(item) ? item->n_fields : item->wosize;
    unsigned step = random_few(&m->random, 8);
    if (random_chance(&m->random, 8))
        size = random_size(m, 1, PROGRAM_WOSIZE / 2);
    else if (random_chance(&m->random, 2))
        size += step;
    else
        size -= size < step ? size : step;
    return edit_resize_item(p, at, size);
}

/* ---- gaps ------------------------------------------------------------------------------------ */

static struct item random_gap(struct mutation *m) {
    unsigned dice = random_below(&m->random, 8);
    struct item gap = {.kind = dice < 4 ? ITEM_FREE : dice < 6 ? ITEM_DEAD : ITEM_FRAGMENT};
    if (gap.kind != ITEM_FRAGMENT)
        gap.wosize = random_size(m, 1, PROGRAM_WOSIZE / 2);
    return gap;
}

/* A gap from a random place on; n_items if there is none. */
static unsigned some_gap(struct mutation *m) {
    const struct program *p = &m->program;
    unsigned start = p->n_items ? random_below(&m->random, p->n_items) : 0;
    for (unsigned i = 0; i < p->n_items; i++)
        if (!item_is_named(&p->items[(start + i) % p->n_items]))
            return (start + i) % p->n_items;
    return p->n_items;
}

bool mutate_gap(struct mutation *m) {
    struct program *p = &m->program;
    unsigned dice = random_below(&m->random, 4), at = some_gap(m);
    struct item gap = random_gap(m);
    if (dice < 2 || at == p->n_items)
        return edit_insert_item(p, random_below(&m->random, p->n_items + 1u), &gap);
    edit_remove_items(p, at, 1);
    if (dice == 2) /* another gap at the same place, if there is room */
        edit_insert_item(p, at, &gap);
    return true;
}

/* ---- new blocks ------------------------------------------------------------------------------ */

static struct item random_item(struct mutation *m) {
    struct item item = {.kind = ITEM_BLOCK};
    if (random_below(&m->random, 16) < m->weights.closures) {
        item.kind = ITEM_CLOSURE;
        item.tag = PROGRAM_TAG_CLOSURE;
        item.functions = random_functions(m, item.arity);
        item.n_fields = (uint16_t)random_below(&m->random, 3);
        item.address_code = random_chance(&m->random, 4);
    } else {
        bool raw = random_chance(&m->random, 6);
        item.kind = raw ? ITEM_RAW : ITEM_BLOCK;
        item.tag = random_tag(m, raw);
        item.n_fields = item.tag == PROGRAM_TAG_DOUBLE ? 1 : random_size(m, 1, 64);
    }
    item.wosize = (uint16_t)(item.n_fields + closure_code_words(item.functions, item.arity));
    item.is_static = random_chance(&m->random, 32);
    return item;
}

/* Fills the fields of a new block; at most the first three, the others are cheap defaults. */
static void fill_fields(struct mutation *m, unsigned at) {
    const struct item *item = &m->program.items[at];
    struct named_blocks named;
    named_blocks_find(&named, &m->program);
    for (unsigned f = 0; f < item->n_fields && f < 3; f++)
        *field_of(&m->program, item, f) = item->kind == ITEM_RAW
                                              ? random_heap_word(m, &named)
                                              : random_heap_value(m, &named, item->is_static);
}

/* A new block somewhere; its place, or n_items if there is no room. */
static unsigned add_block(struct mutation *m) {
    struct item item = random_item(m);
    unsigned at = random_below(&m->random, m->program.n_items + 1u);
    if (!edit_insert_item(&m->program, at, &item))
        return m->program.n_items;
    fill_fields(m, at);
    return at;
}

/* A root slot that holds nothing, or any. */
static struct value *free_root(struct mutation *m) {
    struct value *v = random_root(m);
    for (unsigned tries = 0; tries < 4; tries++) {
        if (v->kind == VALUE_IMMEDIATE)
            break;
        v = random_root(m);
    }
    return v;
}

/* Lets a root, or a field, lead to the block of item `at`. */
static void lead_to(struct mutation *m, unsigned at) {
    struct program *p = &m->program;
    struct named_blocks named;
    struct value v = {.kind = VALUE_BLOCK, .block = (uint16_t)edit_named_before(p, at)};
    const struct item *target = &p->items[at];
    if (target->functions > 1 && random_below(&m->random, 16) < m->weights.infix) {
        v.kind = VALUE_INFIX;
        v.offset = (uint16_t)closure_entry_offset(
            random_between(&m->random, 1, target->functions - 1u), target->arity);
    }
    named_blocks_find(&named, p);
    const struct item *from = named_block(&named, random_below(&m->random, named.count));
    if (from->kind != ITEM_RAW && from->n_fields > 0 && !from->is_static &&
        random_chance(&m->random, 2))
        *field_of(p, from, random_below(&m->random, from->n_fields)) = v;
    else
        *free_root(m) = v;
}

/* A block whose fields lead to as many new small blocks: the mark stack must hold them all. */
static bool add_star(struct mutation *m) {
    struct program *p = &m->program;
    unsigned rays = p->config[CONFIG_MARK_STACK] + random_below(&m->random, 3);
    if (rays > LARGEST_GROUP || rays < 2)
        rays = random_between(&m->random, 2, LARGEST_GROUP);
    struct item hub = {.kind = ITEM_BLOCK, .wosize = (uint16_t)rays, .n_fields = (uint16_t)rays};
    unsigned at = p->n_items, named = edit_named_before(p, at);
    if (!edit_insert_item(p, at, &hub))
        return false;
    bool raw = random_chance(&m->random, 4);
    struct item ray = {.kind = raw ? ITEM_RAW : ITEM_BLOCK, .wosize = 1, .n_fields = 1};
    ray.tag = random_tag(m, raw);
    for (unsigned i = 0; i < rays && edit_insert_item(p, p->n_items, &ray); i++)
        p->fields[p->items[at].first_field + i] =
            (struct value){.kind = VALUE_BLOCK, .block = (uint16_t)(named + 1 + i)};
    lead_to(m, at);
    return true;
}

bool mutate_grow(struct mutation *m) {
    if (random_below(&m->random, 16) < m->weights.stars / 2)
        return add_star(m);
    unsigned count = random_few(&m->random, LARGEST_GROUP);
    bool grown = false;
    for (unsigned i = 0; i < count; i++) {
        unsigned at = add_block(m);
        if (at == m->program.n_items)
            break;
        grown = true;
        if (!random_chance(&m->random, 4)) /* else garbage, unless something led there */
            lead_to(m, at);
    }
    return grown;
}

bool mutate_shrink(struct mutation *m) {
    struct program *p = &m->program;
    if (p->n_items == 0)
        return false;
    unsigned from = random_below(&m->random, p->n_items), count = random_few(&m->random, 8);
    edit_remove_items(p, from, count < p->n_items - from ? count : p->n_items - from);
    return true;
}
