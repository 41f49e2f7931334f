/* SPDX-License-Identifier: MIT
 *
 * The last steps of reduction (steps.h): those that keep a balance, and those that draw again.
 *
 * Where the last allocation must meet a limit exactly, what is removed is made up for by its size.
 * How many words that takes cannot be known without running the program, but it is nearly always
 * the size of something in it: of an item, of an item and all that it reaches, of an allocation.
 * They are tried in small programs alone, where they are few, and after all other steps.
 */
#include "program/cut.h"
#include "program/named.h"
#include "program/reduction/steps.h"

enum { SMALL = 32 }; /* operations, and items, of a small program */

static bool is_small(const struct program *p) {
    return p->n_ops <= SMALL && p->n_items <= SMALL;
}

/* The words of the items that item `index` reaches, its own included. */
static unsigned words_reached(const struct program *p, unsigned index) {
    struct named_blocks named;
    uint8_t queue[SMALL] = {(uint8_t)index};
    uint32_t seen = UINT32_C(1) << index;
    unsigned words = 0, end = 1;
    named_blocks_find(&named, p);
    for (unsigned next = 0; next < end; next++) {
        const struct item *item = &p->items[queue[next]];
        words += item_words(item);
        for (unsigned f = 0; f < item->n_fields; f++) {
            const struct value *v = &p->fields[item->first_field + f];
            if (!value_is_reference(v))
                continue;
            unsigned to = named.item[v->block];
            if (seen >> to & 1)
                continue;
            seen |= UINT32_C(1) << to;
            queue[end++] = (uint8_t)to;
        }
    }
    return words;
}

/* Sizes of things, numbered 0 .. count_sizes - 1; 0 where there is none. */
static unsigned count_sizes(const struct program *p) {
    return 2u * p->n_items + p->n_ops;
}
static unsigned size_of(const struct program *p, unsigned n) {
    if (n < p->n_items)
        return item_words(&p->items[n]);
    if (n < 2u * p->n_items)
        return words_reached(p, n - p->n_items);
    const struct op *op = &p->ops[n - 2u * p->n_items];
    return op_shapes[op->code].operands & OPERAND_SIZE
               ? 1 + op->size + closure_code_words(op->functions, op->arity)
               : 0;
}

/* The last allocation, or n_ops. */
static unsigned last_allocation(const struct program *p) {
    for (unsigned i = p->n_ops; i > 0; i--)
        if (op_shapes[p->ops[i - 1].code].operands & OPERAND_SIZE)
            return i - 1;
    return p->n_ops;
}

/* Makes the last allocation larger or smaller by one of the sizes; false if it cannot be so. */
static bool balance(struct program *p, unsigned choice) {
    unsigned last = last_allocation(p), words = size_of(p, choice / 2);
    if (last == p->n_ops || words == 0)
        return false;
    struct op *op = &p->ops[last];
    const struct op_shape *shape = &op_shapes[op->code];
    unsigned least = op->n_values > shape->min_size ? op->n_values : shape->min_size;
    if (choice % 2 ? op->size + words > shape->max_size : op->size < least + words)
        return false;
    op->size = (uint16_t)(choice % 2 ? op->size + words : op->size - words);
    return true;
}

static unsigned choices(const struct program *p) {
    return is_small(p) && last_allocation(p) < p->n_ops ? 2 * count_sizes(p) : 0;
}

static unsigned count_ops(const struct program *p) {
    return p->n_ops * choices(p);
}
static bool remove_op(struct program *p, unsigned at, unsigned n) {
    unsigned op = at / choices(p);
    if (op == last_allocation(p) || !balance(p, at % choices(p)))
        return false;
    cut_ops(p, op, n);
    return true;
}

static unsigned count_items(const struct program *p) {
    return p->n_items * choices(p);
}
static bool remove_item(struct program *p, unsigned at, unsigned n) {
    unsigned item = at / choices(p);
    if (!balance(p, at % choices(p)))
        return false;
    cut_items(p, item, n, MEND_UNIT, REST_NOTHING);
    return true;
}

static unsigned count_roots(const struct program *p) {
    return PROGRAM_MUTATORS * PROGRAM_SLOTS * choices(p);
}
static bool clear_root(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned root = at / choices(p);
    struct value *v = &p->roots[root / PROGRAM_SLOTS][root % PROGRAM_SLOTS];
    if (!value_is_reference(v) || !balance(p, at % choices(p)))
        return false;
    *v = (struct value){.kind = VALUE_IMMEDIATE};
    return true;
}

/* ---- choices ----------------------------------------------------------------------------------
 *
 * A collector may draw its choices from the config: with one item less it draws others, and the
 * wrong one may come with another config.
 */

enum { RUNGS = 4 }; /* to the minimum, half, a quarter and an eighth of the way there */

static unsigned count_items_and_config(const struct program *p) {
    return is_small(p) ? p->n_items * CONFIG_KEYS * RUNGS : 0;
}
static bool remove_item_and_shrink_config(struct program *p, unsigned at, unsigned n) {
    unsigned key = at / RUNGS % CONFIG_KEYS, value = p->config[key];
    unsigned smaller = step_down(value, config_ranges[key].min, at % RUNGS);
    if (value == config_ranges[key].initial || smaller == value)
        return false;
    cut_items(p, at / RUNGS / CONFIG_KEYS, n, MEND_UNIT, REST_NOTHING);
    if (key == CONFIG_HEAP && smaller < program_heap_words(p))
        smaller = program_heap_words(p);
    p->config[key] = smaller;
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

const struct step_family balance_steps[] = {
    {"remove an operation and balance the last allocation", false, count_ops, remove_op},
    {"remove an item and balance the last allocation", false, count_items, remove_item},
    {"clear a root and balance the last allocation", false, count_roots, clear_root},
    {"remove an item and shrink a config value", false, count_items_and_config,
     remove_item_and_shrink_config},
    {0}};
_Static_assert(sizeof balance_steps / sizeof *balance_steps <= STEP_FAMILIES,
               "too many for reduce.c");
