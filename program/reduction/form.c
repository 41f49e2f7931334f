/* SPDX-License-Identifier: MIT
 *
 * The steps of reduction that bring small programs to one form (steps.h): what a defect needs can
 * be said in several ways, of which one is chosen, so that its programs are alike in the end.
 *
 * They are tried after all others, where there is little left; there are as many of them as pairs
 * of blocks.
 */
#include "program/cut.h"
#include "program/named.h"
#include "program/reduction/steps.h"

#include <string.h>

enum { SMALL = 16 }; /* operations, and items, of a small program */

static bool is_small(const struct program *p) {
    return p->n_ops <= SMALL && p->n_items <= SMALL;
}
static unsigned count_items(const struct program *p) {
    return is_small(p) ? p->n_items : 0;
}
static unsigned count_fields(const struct program *p) {
    return is_small(p) ? p->n_fields : 0;
}
static unsigned count_ops(const struct program *p) {
    return is_small(p) ? p->n_ops : 0;
}

/* Calls change for every value of fields and roots that names a block. */
static void each_name(struct program *p, void (*change)(struct value *, const unsigned *),
                      const unsigned *context) {
    for (unsigned f = 0; f < p->n_fields; f++)
        if (value_names_block(&p->fields[f]))
            change(&p->fields[f], context);
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
            if (value_names_block(&p->roots[m][s]))
                change(&p->roots[m][s], context);
}

static unsigned name_of(const struct program *p, unsigned index) {
    unsigned name = 0;
    for (unsigned i = 0; i < index; i++)
        name += item_is_named(&p->items[i]);
    return name;
}

/* ---- blocks -----------------------------------------------------------------------------------
 */

static void lead_to_other(struct value *v, const unsigned *pair) {
    if (value_is_reference(v) && v->block == pair[0])
        *v = (struct value){.kind = VALUE_BLOCK, .block = (uint16_t)pair[1]};
}

static unsigned count_pairs(const struct program *p) {
    return count_items(p) * count_items(p);
}

/* What points at one block points at another one, and the first is gone. */
static bool merge_blocks(struct program *p, unsigned at, unsigned n) {
    unsigned one = at / p->n_items, other = at % p->n_items;
    if (one == other || !item_is_named(&p->items[one]) || !item_is_named(&p->items[other]))
        return false;
    unsigned pair[] = {name_of(p, one), name_of(p, other)};
    each_name(p, lead_to_other, pair);
    cut_items(p, one, n, MEND_UNIT, REST_NOTHING);
    return true;
}

static bool slot_in_use(const struct program *p, unsigned slot) {
    bool used = !value_is_unit(&p->roots[0][slot]);
    for (unsigned i = 0; i < p->n_ops && !used; i++) {
        const struct op *op = &p->ops[i];
        used = (op_writes_slot(op) && op->dst == slot) || op_reads_slot(op, slot);
    }
    return used;
}

static unsigned free_slot(const struct program *p) {
    unsigned slot = 0;
    while (slot < PROGRAM_SLOTS && slot_in_use(p, slot))
        slot++;
    return slot;
}

/* A root points where a field pointed. */
static bool root_for_field(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned slot = free_slot(p);
    if (slot == PROGRAM_SLOTS || !value_is_reference(&p->fields[at]))
        return false;
    p->roots[0][slot] = p->fields[at];
    p->fields[at] = (struct value){.kind = VALUE_IMMEDIATE};
    return true;
}

/* A block goes, and roots point at what it pointed at. */
static bool roots_for_block(struct program *p, unsigned at, unsigned n) {
    const struct item item = p->items[at];
    unsigned roots = 0, name = name_of(p, at);
    for (unsigned f = 0; f < item.n_fields; f++) {
        const struct value v = p->fields[item.first_field + f];
        unsigned slot = free_slot(p);
        if (!value_is_reference(&v) || v.block == name)
            continue;
        if (slot == PROGRAM_SLOTS)
            break;
        p->roots[0][slot] = v;
        roots++;
    }
    if (roots == 0)
        return false;
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    return true;
}

/* ---- kinds of blocks --------------------------------------------------------------------------
 */

enum { CLOSURE_SIZES = 2 }; /* one field, as many words as the closure has */
static unsigned count_closures(const struct program *p) {
    return count_items(p) * CLOSURE_SIZES;
}

/* A closure without an environment has no field that could stay. */
static bool make_closure_ordinary(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned index = at / CLOSURE_SIZES;
    struct item *item = &p->items[index];
    unsigned size = at % CLOSURE_SIZES ? item->wosize : 1u;
    if (item->kind != ITEM_CLOSURE || item->n_fields || p->n_fields + size > PROGRAM_FIELDS)
        return false;
    struct value *fields = &p->fields[item->first_field];
    memmove(fields + size, fields, (p->n_fields - item->first_field) * sizeof *fields);
    for (unsigned f = 0; f < size; f++)
        fields[f] = (struct value){.kind = VALUE_IMMEDIATE};
    p->n_fields = (uint16_t)(p->n_fields + size);
    for (unsigned i = index + 1; i < p->n_items; i++)
        if (item_is_named(&p->items[i]))
            p->items[i].first_field = (uint16_t)(p->items[i].first_field + size);
    item->n_fields = (uint16_t)size;
    return cut_kind(p, index);
}

/* One bit less; the last rung is 1. */
enum { TAG_BITS = 8, TAG_RUNGS = TAG_BITS + 1 };
static bool lower_tag(uint8_t *tag, unsigned rung) {
    unsigned lower = rung == TAG_BITS ? 1 : *tag & ~(1u << rung);
    if (lower >= *tag || !tag_is_ordinary(*tag) || !tag_is_ordinary(lower))
        return false;
    *tag = (uint8_t)lower;
    return true;
}

static unsigned count_tags(const struct program *p) {
    return count_items(p) * TAG_RUNGS;
}
static bool simplify_tag(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct item *item = &p->items[at / TAG_RUNGS];
    return item->kind == ITEM_BLOCK && lower_tag(&item->tag, at % TAG_RUNGS);
}

static unsigned count_op_tags(const struct program *p) {
    return count_ops(p) * TAG_RUNGS;
}
static bool simplify_op_tag(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at / TAG_RUNGS];
    return op->code == OP_ALLOC && lower_tag(&op->tag, at % TAG_RUNGS);
}

/* ---- infix pointers ---------------------------------------------------------------------------
 */

static bool lower_entry(const struct program *p, struct value *v) {
    if (v->kind != VALUE_INFIX)
        return false;
    const struct item *item = program_named_item(p, v->block);
    unsigned entry = closure_entry_at(item, v->offset);
    if (entry < 2)
        return false;
    v->offset = (uint16_t)closure_entry_offset(entry - 1, item->arity);
    return true;
}

static bool lower_field_entry(struct program *p, unsigned at, unsigned n) {
    (void)n;
    return lower_entry(p, &p->fields[at]);
}

static unsigned count_roots(const struct program *p) {
    return is_small(p) ? PROGRAM_MUTATORS * PROGRAM_SLOTS : 0;
}
static bool lower_root_entry(struct program *p, unsigned at, unsigned n) {
    (void)n;
    return lower_entry(p, &p->roots[at / PROGRAM_SLOTS][at % PROGRAM_SLOTS]);
}

/* ---- choices ----------------------------------------------------------------------------------
 */

/* A variant or kind counts modulo those that there are: the least number that means the same. */
enum { CHOICES = 16 };
static const unsigned choosing[] = {CONFIG_VARIANT, CONFIG_KIND};
static unsigned count_choices(const struct program *p) {
    return is_small(p) ? sizeof choosing / sizeof *choosing * CHOICES : 0;
}
static bool lower_choice(struct program *p, unsigned at, unsigned n) {
    (void)n;
    uint32_t *value = &p->config[choosing[at / CHOICES]];
    bool lower = at % CHOICES < *value;
    *value = lower ? at % CHOICES : *value;
    return lower;
}

/* Some collectors take the bits of their variant for so many switches. */
enum { CHOICE_BITS = 8 };
static unsigned count_choice_bits(const struct program *p) {
    return is_small(p) ? sizeof choosing / sizeof *choosing * CHOICE_BITS : 0;
}
static bool clear_choice_bit(struct program *p, unsigned at, unsigned n) {
    (void)n;
    uint32_t *value = &p->config[choosing[at / CHOICE_BITS]];
    bool set = *value >> at % CHOICE_BITS & 1;
    *value &= ~(1u << at % CHOICE_BITS);
    return set;
}

static unsigned count_op_kinds(const struct program *p) {
    return count_ops(p) * CHOICES;
}
static bool lower_op_kind(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at / CHOICES];
    if (op->code != OP_KIND || at % CHOICES >= op->kind)
        return false;
    op->kind = (uint16_t)(at % CHOICES);
    return true;
}

/* What allocates may matter by the compaction that it causes. */
static bool make_compaction(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at];
    if (!op_has(op->code, ALLOCATES))
        return false;
    *op = (struct op){.code = OP_COMPACT};
    return true;
}

/* What allocates, or does a slice, may matter by the minor collection that it causes. */
static bool make_minor(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at];
    if (!op_has(op->code, ALLOCATES) && op->code != OP_SLICE)
        return false;
    *op = (struct op){.code = OP_MINOR};
    return true;
}

/* ---- values of allocations --------------------------------------------------------------------
 */

/* A closure's environment as the fields of a block, as many words behind its start. */
enum { SHIFTS = PROGRAM_VALUES };
static unsigned count_shifts(const struct program *p) {
    return count_ops(p) * SHIFTS;
}

static bool make_shifted_block(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at / SHIFTS];
    unsigned by = at % SHIFTS, words = op->size + closure_code_words(op->functions, op->arity);
    if (op->code != OP_ALLOC_CLOSURE || by == 0 || op->n_values == 0 ||
        op->n_values + by > PROGRAM_VALUES)
        return false;
    struct op alloc = {.code = OP_ALLOC,
                       .mutator = op->mutator,
                       .dst = op->dst,
                       .size = (uint16_t)words,
                       .n_values = (uint8_t)(op->n_values + by)};
    for (unsigned v = 0; v < op->n_values; v++)
        alloc.values[v + by] = op->values[v];
    *op = alloc;
    return true;
}

/* The first value goes, and the others take its place. */
static bool shift_values(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct op *op = &p->ops[at];
    if ((op->code != OP_ALLOC && op->code != OP_ALLOC_CLOSURE) || op->n_values < 2)
        return false;
    memmove(op->values, op->values + 1, (op->n_values - 1u) * sizeof *op->values);
    op->values[--op->n_values] = (struct value){.kind = VALUE_IMMEDIATE};
    return true;
}

/* ---- slots that are written -------------------------------------------------------------------
 */

enum { LOW_SLOTS = 4 };
static unsigned count_low_slots(const struct program *p) {
    return count_ops(p) * LOW_SLOTS;
}

/* Its result goes into a lower slot, and who reads it reads that one. */
static bool write_lower(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned first = at / LOW_SLOTS, to = at % LOW_SLOTS;
    struct op *op = &p->ops[first];
    unsigned from = op->dst;
    if (!op_writes_slot(op) || to >= from)
        return false;
    op->dst = (uint8_t)to;
    for (unsigned i = first + 1; i < p->n_ops; i++) {
        struct op *later = &p->ops[i];
        bool ends = op_writes_slot(later) && later->dst == from && later->mutator == op->mutator;
        if (later->mutator == op->mutator)
            op_rename_read(later, from, to);
        if (ends)
            break;
    }
    return true;
}

/* ---- order ------------------------------------------------------------------------------------
 */

static bool item_before(const struct item *a, const struct item *b) {
    if (a->is_static != b->is_static)
        return a->is_static < b->is_static;
    if (a->kind != b->kind)
        return a->kind < b->kind;
    if (a->tag != b->tag)
        return a->tag < b->tag;
    if (a->wosize != b->wosize)
        return a->wosize < b->wosize;
    return a->more < b->more;
}

static void swap_names(struct value *v, const unsigned *pair) {
    if (v->block == pair[0] || v->block == pair[1])
        v->block = (uint16_t)(pair[0] + pair[1] - v->block);
}

/* The smaller of two neighbours comes first. */
static bool sort_items(struct program *p, unsigned at, unsigned n) {
    static struct value moved[PROGRAM_FIELDS];
    (void)n;
    struct item *one = &p->items[at], *other = &p->items[at + 1];
    if (at + 1 >= p->n_items || !item_before(other, one))
        return false;
    if (item_is_named(one) && item_is_named(other)) {
        unsigned pair[] = {name_of(p, at), name_of(p, at) + 1};
        struct value *fields = &p->fields[one->first_field];
        memcpy(moved, fields, one->n_fields * sizeof *fields);
        memmove(fields, fields + one->n_fields, other->n_fields * sizeof *fields);
        memcpy(fields + other->n_fields, moved, one->n_fields * sizeof *fields);
        other->first_field = one->first_field;
        one->first_field = (uint16_t)(one->first_field + other->n_fields);
        each_name(p, swap_names, pair);
    }
    struct item first = *other;
    *other = *one;
    *one = first;
    return true;
}

static bool sort_ops(struct program *p, unsigned at, unsigned n) {
    (void)n;
    if (at + 1 >= p->n_ops || p->ops[at].code <= p->ops[at + 1].code)
        return false;
    struct op first = p->ops[at + 1];
    p->ops[at + 1] = p->ops[at];
    p->ops[at] = first;
    return true;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

const struct step_family form_steps[] = {
    {"merge two blocks", false, count_pairs, merge_blocks},
    {"remove a block and root what it points at", false, count_items, roots_for_block},
    {"point a root where a field points", false, count_fields, root_for_field},
    {"make a closure an ordinary block", false, count_closures, make_closure_ordinary},
    {"make an allocation a compaction", false, count_ops, make_compaction},
    {"make an operation a minor collection", false, count_ops, make_minor},
    {"lower a tag", false, count_tags, simplify_tag},
    {"lower the tag of an allocation", false, count_op_tags, simplify_op_tag},
    {"lower the entry of a field", false, count_fields, lower_field_entry},
    {"lower the entry of a root", false, count_roots, lower_root_entry},
    {"lower a variant or kind", false, count_choices, lower_choice},
    {"clear a bit of a variant or kind", false, count_choice_bits, clear_choice_bit},
    {"lower the kind that an operation takes", false, count_op_kinds, lower_op_kind},
    {"make a closure a block with its values further on", false, count_shifts, make_shifted_block},
    {"shift the values of an allocation", false, count_ops, shift_values},
    {"write to a lower slot", false, count_low_slots, write_lower},
    {"sort two items", false, count_items, sort_items},
    {"sort two operations", false, count_ops, sort_ops},
    {0}};
_Static_assert(sizeof form_steps / sizeof *form_steps <= STEP_FAMILIES, "too many for reduce.c");
