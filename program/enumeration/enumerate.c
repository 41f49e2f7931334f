/* SPDX-License-Identifier: MIT
 *
 * The enumeration of a scope, one program of every class (enumerate.h).
 *
 * Renamings are a group that acts on shapes, fields, roots and script one after another, so the
 * least program of a class is found part by part: of each part the least ones are kept, and with
 * them the renamings that leave all parts so far as they are.  Only these can still make a later
 * part smaller.
 */
#include "program/enumeration/enumerate.h"

#include <stdlib.h>
#include <string.h>

enum { PERMUTATIONS = 24, PLACES = SCOPE_BLOCKS + 1 };
_Static_assert(SCOPE_BLOCKS == 4 && SCOPE_SLOTS == 4, "4! permutations");

/* An even word: to a collector that takes it for a value, a pointer. */
static const uint64_t raw_word = 0x2a;

struct permutations {
    unsigned n;
    uint8_t to[PERMUTATIONS][SCOPE_BLOCKS]; /* number 0 changes nothing */
};

struct walk {
    const struct enumeration *e;
    const struct scope *scope;
    struct program *program;
    uint64_t unit, wanted;
    unsigned length, blocks, words; /* of the script; of the heap; of its items */

    /* A value of fields and roots is a number: atoms, then blocks, then their infix blocks, then
     * their addresses.  A raw word is atom 0, which is another one there, or an address. */
    unsigned atoms;
    uint8_t gap[PLACES]; /* 0: none */
    uint8_t shape[SCOPE_BLOCKS];
    uint8_t field[SCOPE_BLOCKS][SCOPE_FIELDS];
    uint8_t root[SCOPE_SLOTS];

    struct permutations of_blocks, of_slots;
    uint32_t heap_kept; /* set of block permutations that leave shapes and fields as they are */

    unsigned n_menu;
    struct op menu[SCOPE_MENU];
    uint16_t renamed[PERMUTATIONS][SCOPE_MENU]; /* by a permutation of the slots */
};

/* ---- renaming ---------------------------------------------------------------------------------
 */

static void permute(struct permutations *p, uint8_t *to, unsigned at, unsigned n) {
    if (at == n)
        memcpy(p->to[p->n++], to, SCOPE_BLOCKS);
    for (unsigned i = at; i < n; i++) {
        uint8_t chosen = to[i];
        memmove(to + at + 1, to + at, i - at);
        to[at] = chosen;
        permute(p, to, at + 1, n);
        memmove(to + at, to + at + 1, i - at);
        to[i] = chosen;
    }
}

/* All permutations of 0 .. n - 1, or the first one alone. */
static void permutations_of(struct permutations *p, unsigned n, bool all) {
    uint8_t to[SCOPE_BLOCKS] = {0, 1, 2, 3};
    p->n = 0;
    permute(p, to, 0, n);
    p->n = all ? p->n : 1;
}

static uint8_t rename_slot(const uint8_t *to, const struct op *op, unsigned operand) {
    uint8_t slot = operand == OPERAND_DST ? op->dst : op->src;
    return op_shapes[op->code].operands & operand ? to[slot] : slot;
}

static struct op rename_op(const uint8_t *to, struct op op) {
    op.dst = rename_slot(to, &op, OPERAND_DST);
    op.src = rename_slot(to, &op, OPERAND_SRC);
    for (unsigned v = 0; v < op.n_values; v++)
        if (value_reads_slot(&op.values[v]))
            op.values[v].block = to[op.values[v].block];
    return op;
}

static void rename_menu(struct walk *w) {
    for (unsigned p = 0; p < w->of_slots.n; p++)
        for (unsigned i = 0; i < w->n_menu; i++) {
            struct op op = rename_op(w->of_slots.to[p], w->menu[i]);
            unsigned at = 0;
            while (!op_equal(&op, &w->menu[at]))
                at++;
            w->renamed[p][i] = (uint16_t)at;
        }
}

static uint8_t rename_value(const struct walk *w, const uint8_t *to, uint8_t value) {
    if (value < w->atoms)
        return value;
    unsigned block = (value - w->atoms) % w->blocks, infix = (value - w->atoms) / w->blocks;
    return (uint8_t)(w->atoms + infix * w->blocks + to[block]);
}

/* ---- the program ------------------------------------------------------------------------------
 */

static const struct scope_shape *shape_of(const struct walk *w, unsigned block) {
    return &w->scope->shapes[w->shape[block]];
}

/* Those that are not the same in every program. */
static unsigned chosen_fields(const struct walk *w, unsigned block) {
    bool fixed = shape_of(w, block)->kind == ITEM_RAW && !w->scope->addresses;
    return fixed ? 0 : shape_of(w, block)->fields;
}

static unsigned values(const struct walk *w) {
    return w->atoms + (w->scope->addresses ? 3 : 2) * w->blocks;
}

/* Is there such a value, with these shapes? */
static bool value_exists(const struct walk *w, unsigned value) {
    return value < w->atoms + w->blocks || value >= w->atoms + 2 * w->blocks ||
           shape_of(w, value - w->atoms - w->blocks)->functions == 2;
}

/* May a field of the block hold it? */
static bool value_fits(const struct walk *w, unsigned block, unsigned value) {
    if (shape_of(w, block)->kind == ITEM_RAW)
        return value == 0 || value >= w->atoms + 2 * w->blocks;
    return value_exists(w, value);
}

static struct value value_of(const struct walk *w, uint8_t number) {
    static const int8_t arity[PROGRAM_FUNCTIONS] = {1, 1};
    if (number == 0)
        return (struct value){.kind = VALUE_IMMEDIATE};
    if (number < w->atoms) /* `out 0` before `atom 0` */
        return (struct value){.kind =
                                  number == 1 && w->scope->outside ? VALUE_OUTSIDE : VALUE_ATOM};
    unsigned block = (number - w->atoms) % w->blocks;
    if (number < w->atoms + w->blocks)
        return (struct value){.kind = VALUE_BLOCK, .block = (uint16_t)block};
    if (number >= w->atoms + 2 * w->blocks)
        return (struct value){.kind = VALUE_ADDRESS, .block = (uint16_t)block};
    return (struct value){.kind = VALUE_INFIX,
                          .block = (uint16_t)block,
                          .offset = (uint16_t)closure_entry_offset(1, arity)};
}

static struct item item_of(const struct scope_shape *shape) {
    struct item item = {.kind = shape->kind,
                        .tag = shape->tag,
                        .functions = shape->functions,
                        .n_fields = shape->fields};
    for (unsigned f = 0; f < shape->functions; f++)
        item.arity[f] = 1;
    item.wosize = (uint16_t)(closure_code_words(item.functions, item.arity) + shape->fields);
    return item;
}

static struct item gap_of(unsigned kind) {
    return (struct item){.kind = kind == GAP_FREE   ? ITEM_FREE
                                 : kind == GAP_DEAD ? ITEM_DEAD
                                                    : ITEM_FRAGMENT,
                         .wosize = kind != GAP_FRAGMENT};
}

static struct value field_of(const struct walk *w, const struct item *item, unsigned block,
                             unsigned f) {
    if (item->kind == ITEM_RAW && (!w->scope->addresses || w->field[block][f] == 0))
        return (struct value){.kind = VALUE_RAW, .bits = raw_word};
    return value_of(w, w->field[block][f]);
}

static void write_heap(struct walk *w) {
    struct program *p = w->program;
    p->n_items = p->n_fields = 0;
    for (unsigned b = 0; b <= w->blocks; b++) {
        if (w->gap[b])
            p->items[p->n_items++] = gap_of(w->gap[b]);
        if (b == w->blocks)
            break;
        struct item *item = &p->items[p->n_items++];
        *item = item_of(shape_of(w, b));
        item->first_field = p->n_fields;
        for (unsigned f = 0; f < item->n_fields; f++)
            p->fields[p->n_fields++] = field_of(w, item, b, f);
    }
}

/* ---- script -----------------------------------------------------------------------------------
 */

/* Of the renamings in kept, those that leave operation i as it is; 0 if one makes it smaller. */
static uint32_t narrow(const struct walk *w, uint32_t kept, unsigned i) {
    uint32_t narrowed = 1;
    for (unsigned p = 1; p < w->of_slots.n && kept >> p; p++) {
        unsigned renamed = w->renamed[p][i];
        if (!(kept >> p & 1))
            continue;
        if (renamed < i)
            return 0;
        narrowed |= (uint32_t)(renamed == i) << p;
    }
    return narrowed;
}

static bool for_scripts(struct walk *w, unsigned at, uint32_t kept) {
    if (at == w->length)
        return w->e->visit(w->e->context, w->program);
    for (unsigned i = 0; i < w->n_menu; i++) {
        uint32_t narrowed = narrow(w, kept, i);
        w->program->ops[at] = w->menu[i];
        if (narrowed && !for_scripts(w, at + 1, narrowed))
            return false;
    }
    return true;
}

/* A unit begins: its programs, if it is wanted. */
static bool for_unit(struct walk *w, uint32_t kept) {
    if (w->unit++ != w->wanted)
        return true;
    if (!for_scripts(w, w->length > 0, kept))
        return false;
    w->wanted = w->e->next(w->e->context, w->unit);
    return w->wanted != UINT64_MAX;
}

static bool for_first_operation(struct walk *w, uint32_t kept) {
    if (w->length == 0)
        return for_unit(w, kept);
    if (kept == 1 && w->wanted - w->unit >= w->n_menu) { /* not here */
        w->unit += w->n_menu;
        return true;
    }
    for (unsigned i = 0; i < w->n_menu; i++) {
        uint32_t narrowed = narrow(w, kept, i);
        w->program->ops[0] = w->menu[i];
        if (narrowed && !for_unit(w, narrowed))
            return false;
    }
    return true;
}

/* ---- roots ------------------------------------------------------------------------------------
 */

/* The roots under a renaming of blocks and slots against the roots themselves. */
static int compare_roots(const struct walk *w, const uint8_t *blocks, const uint8_t *slots) {
    uint8_t renamed[SCOPE_SLOTS];
    for (unsigned s = 0; s < w->scope->slots; s++)
        renamed[slots[s]] = rename_value(w, blocks, w->root[s]);
    return memcmp(renamed, w->root, w->scope->slots);
}

/* The slot renamings that leave the roots as they are, blocks renamed along; 0: not the least. */
static uint32_t least_roots(const struct walk *w) {
    uint32_t kept = 0;
    for (unsigned b = 0; b < w->of_blocks.n; b++)
        for (unsigned s = 0; s < w->of_slots.n && w->heap_kept >> b & 1; s++) {
            int order = compare_roots(w, w->of_blocks.to[b], w->of_slots.to[s]);
            if (order < 0)
                return 0;
            kept |= (uint32_t)(order == 0) << s;
        }
    return kept;
}

static bool for_roots(struct walk *w, unsigned slot) {
    if (slot == w->scope->slots) {
        uint32_t kept = least_roots(w);
        return !kept || for_first_operation(w, kept);
    }
    for (unsigned v = 0; v < values(w); v++) {
        if (!value_exists(w, v))
            continue;
        w->root[slot] = (uint8_t)v;
        w->program->roots[0][slot] = value_of(w, (uint8_t)v);
        if (!for_roots(w, slot + 1))
            return false;
    }
    return true;
}

/* ---- heap -------------------------------------------------------------------------------------
 */

static int compare_fields(const struct walk *w, const uint8_t *to) {
    uint8_t renamed[SCOPE_BLOCKS][SCOPE_FIELDS] = {{0}};
    for (unsigned b = 0; b < w->blocks; b++)
        for (unsigned f = 0; f < chosen_fields(w, b); f++)
            renamed[to[b]][f] = rename_value(w, to, w->field[b][f]);
    for (unsigned b = 0; b < w->blocks; b++) {
        int order = memcmp(renamed[b], w->field[b], chosen_fields(w, b));
        if (order)
            return order;
    }
    return 0;
}

static bool keeps_shapes(const struct walk *w, const uint8_t *to) {
    for (unsigned b = 0; b < w->blocks; b++)
        if (w->shape[to[b]] != w->shape[b])
            return false;
    return true;
}

/* The block renamings that leave the heap as it is; 0: not the least.  Shapes ascend, so none makes
 * them smaller. */
static uint32_t least_heap(const struct walk *w) {
    uint32_t kept = 0;
    for (unsigned p = 0; p < w->of_blocks.n; p++) {
        if (!keeps_shapes(w, w->of_blocks.to[p]))
            continue;
        int order = compare_fields(w, w->of_blocks.to[p]);
        if (order < 0)
            return 0;
        kept |= (uint32_t)(order == 0) << p;
    }
    return kept;
}

static bool for_fields(struct walk *w, unsigned block, unsigned field) {
    while (block < w->blocks && field == chosen_fields(w, block)) {
        block++;
        field = 0;
    }
    if (block == w->blocks) {
        w->heap_kept = least_heap(w);
        if (!w->heap_kept)
            return true;
        write_heap(w);
        return for_roots(w, 0);
    }
    for (unsigned v = 0; v < values(w); v++) {
        if (!value_fits(w, block, v))
            continue;
        w->field[block][field] = (uint8_t)v;
        if (!for_fields(w, block, field + 1))
            return false;
    }
    return true;
}

static bool for_shapes(struct walk *w, unsigned block) {
    if (block == w->blocks)
        return for_fields(w, 0, 0);
    bool ascending = block > 0 && !w->scope->orders;
    for (unsigned s = ascending ? w->shape[block - 1] : 0; s < w->scope->n_shapes; s++) {
        struct item item = item_of(&w->scope->shapes[s]);
        unsigned words = item_words(&item);
        if (w->words + words > w->program->config[CONFIG_HEAP])
            continue;
        w->words += words;
        w->shape[block] = (uint8_t)s;
        bool goes_on = for_shapes(w, block + 1);
        w->words -= words;
        if (!goes_on)
            return false;
    }
    return true;
}

static bool for_gaps(struct walk *w, unsigned place, unsigned left) {
    w->gap[place] = 0;
    if (!(place == w->blocks ? for_shapes(w, 0) : for_gaps(w, place + 1, left)))
        return false;
    for (unsigned kind = 1; kind <= GAPS_ALL && left > 0; kind <<= 1) {
        struct item item = gap_of(kind);
        if (!(w->scope->gap_kinds & kind))
            continue;
        w->gap[place] = (uint8_t)kind;
        w->words += item_words(&item);
        bool goes_on = place == w->blocks ? for_shapes(w, 0) : for_gaps(w, place + 1, left - 1);
        w->words -= item_words(&item);
        if (!goes_on)
            return false;
    }
    return true;
}

/* ---- config -----------------------------------------------------------------------------------
 */

static bool for_config(struct walk *w, unsigned key) {
    if (key == CONFIG_KEYS)
        return for_gaps(w, 0, w->scope->gaps);
    for (unsigned v = 0; v < w->scope->n_values[key]; v++) {
        w->program->config[key] = w->scope->values[key][v];
        if (!for_config(w, key + 1))
            return false;
    }
    return true;
}

static bool for_lengths(struct walk *w) {
    for (w->length = 0; w->length <= w->scope->ops; w->length++)
        for (w->blocks = 0; w->blocks <= w->scope->blocks; w->blocks++) {
            permutations_of(&w->of_blocks, w->blocks, !w->scope->orders);
            w->program->n_ops = (uint16_t)w->length;
            if (!for_config(w, 0))
                return false;
        }
    return true;
}

enum enumerated enumerate(const struct enumeration *e) {
    struct walk *w = calloc(1, sizeof *w);
    if (!w)
        return ENUMERATION_NO_MEMORY;
    w->e = e;
    w->scope = e->scope;
    w->program = e->program;
    w->atoms = 1u + e->scope->outside + e->scope->atoms;
    w->n_menu = scope_menu(e->scope, w->menu);
    permutations_of(&w->of_slots, e->scope->slots, true);
    rename_menu(w);
    program_clear(e->program);
    w->wanted = e->next(e->context, 0);
    bool whole = w->wanted != UINT64_MAX && for_lengths(w);
    free(w);
    return whole ? ENUMERATED : ENUMERATION_ENDED;
}
