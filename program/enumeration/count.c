/* SPDX-License-Identifier: MIT
 *
 * How many programs a scope has, by a formula (enumerate.h).
 *
 * Cauchy and Frobenius: the classes under a group are the mean of the fixed points of its elements.
 * A renaming fixes a heap if blocks of one cycle have one shape, and the fields of one block of
 * each cycle, c long, are values that the c-th power of the renaming fixes; these determine the
 * others. It fixes the roots in the same way, cycle of slots by cycle, and a script if every
 * operation names slots alone that it fixes.  Nothing here is shared with enumerate.c.
 */
#include "program/enumeration/enumerate.h"

#include <string.h>

enum { MOST = SCOPE_BLOCKS }; /* blocks and slots alike */

/* ---- numbers that do not overflow --------------------------------------------------------------
 */

static uint64_t plus(uint64_t a, uint64_t b) {
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}
static uint64_t times(uint64_t a, uint64_t b) {
    return a && b > UINT64_MAX / a ? UINT64_MAX : a * b;
}
static uint64_t power(uint64_t base, unsigned exponent) {
    uint64_t result = 1;
    for (unsigned i = 0; i < exponent; i++)
        result = times(result, base);
    return result;
}
static uint64_t factorial(unsigned n) {
    return n < 2 ? 1 : n * factorial(n - 1);
}
static uint64_t choose(unsigned n, unsigned k) {
    return k > n ? 0 : factorial(n) / factorial(k) / factorial(n - k);
}

/* ---- permutations -----------------------------------------------------------------------------
 */

/* The index-th of the n! permutations, by Lehmer code; index 0 changes nothing. */
static void permutation(unsigned n, uint64_t index, unsigned *to) {
    unsigned left[MOST] = {0, 1, 2, 3};
    for (unsigned i = 0; i < n; i++) {
        uint64_t at = index / factorial(n - 1 - i);
        index %= factorial(n - 1 - i);
        to[i] = left[at];
        for (uint64_t j = at; j + 1 < n - i; j++)
            left[j] = left[j + 1];
    }
}

static unsigned cycle_length(const unsigned *to, unsigned from) {
    unsigned length = 1;
    for (unsigned at = to[from]; at != from; at = to[at])
        length++;
    return length;
}

/* Is it the least element of its cycle? */
static bool leads(const unsigned *to, unsigned from) {
    for (unsigned at = to[from]; at != from; at = to[at])
        if (at < from)
            return false;
    return true;
}

/* ---- heaps ------------------------------------------------------------------------------------
 */

struct heap {
    const struct scope *scope;
    unsigned blocks;
    const unsigned *to; /* the renaming of blocks */
    const struct scope_shape *shape[SCOPE_BLOCKS];
};

static uint64_t shape_words(const struct scope_shape *shape) {
    static const unsigned code[] = {0, 2, 5}; /* code pointer, closinfo; infix header between two */
    return 1 + code[shape->functions] + shape->fields;
}

/* Ways to put gaps and config values around blocks of so many words. */
static uint64_t placements(const struct scope *s, unsigned blocks, uint64_t words) {
    unsigned large = (s->gap_kinds & GAP_FREE ? 1 : 0) + (s->gap_kinds & GAP_DEAD ? 1 : 0);
    unsigned small = s->gap_kinds & GAP_FRAGMENT ? 1 : 0;
    uint64_t ways = 0;
    for (unsigned v = 0; v < s->n_values[CONFIG_HEAP]; v++)
        for (unsigned l = 0; l <= s->gaps; l++) /* of two words; f of one */
            for (unsigned f = 0; l + f <= s->gaps && l + f <= blocks + 1; f++)
                if (words + 2 * l + f <= s->values[CONFIG_HEAP][v])
                    ways = plus(ways, choose(blocks + 1, l + f) * choose(l + f, l) *
                                          power(large, l) * power(small, f));
    for (unsigned key = 0; key < CONFIG_KEYS; key++)
        ways = key == CONFIG_HEAP ? ways : times(ways, s->n_values[key]);
    return ways;
}

/* Values of fields and roots that the n-th power of the renaming fixes. */
static uint64_t fixed_values(const struct heap *h, unsigned n) {
    uint64_t fixed = UINT64_C(1) + h->scope->outside + h->scope->atoms;
    for (unsigned b = 0; b < h->blocks; b++)
        if (n % cycle_length(h->to, b) == 0)
            fixed += (h->shape[b]->functions == 2 ? 2u : 1u) + h->scope->addresses;
    return fixed;
}

/* The same of raw words. */
static uint64_t fixed_words(const struct heap *h, unsigned n) {
    uint64_t fixed = 1;
    for (unsigned b = 0; b < h->blocks; b++)
        fixed += h->scope->addresses && n % cycle_length(h->to, b) == 0;
    return fixed;
}

/* Fields and roots together that are fixed, with these shapes. */
static uint64_t fixed_starts(const struct heap *h, const unsigned *slots) {
    uint64_t fixed = 1, words = 0;
    for (unsigned b = 0; b < h->blocks; b++) {
        words += shape_words(h->shape[b]);
        if (h->shape[h->to[b]] != h->shape[b])
            return 0;
        unsigned length = cycle_length(h->to, b);
        uint64_t each =
            h->shape[b]->kind == ITEM_RAW ? fixed_words(h, length) : fixed_values(h, length);
        if (leads(h->to, b))
            fixed = times(fixed, power(each, h->shape[b]->fields));
    }
    for (unsigned s = 0; s < h->scope->slots; s++)
        if (leads(slots, s))
            fixed = times(fixed, fixed_values(h, cycle_length(slots, s)));
    return times(fixed, placements(h->scope, h->blocks, words));
}

static uint64_t fixed_heaps(struct heap *h, const unsigned *slots) {
    uint64_t fixed = 0, shapes = power(h->scope->n_shapes, h->blocks);
    for (uint64_t number = 0; number < shapes; number++) {
        uint64_t rest = number;
        for (unsigned b = 0; b < h->blocks; b++, rest /= h->scope->n_shapes)
            h->shape[b] = &h->scope->shapes[rest % h->scope->n_shapes];
        fixed = plus(fixed, fixed_starts(h, slots));
    }
    return fixed;
}

/* ---- scripts ----------------------------------------------------------------------------------
 */

static bool fixes(const unsigned *slots, const struct op *op) {
    unsigned operands = op_shapes[op->code].operands;
    bool fixed = true;
    if (operands & OPERAND_DST)
        fixed &= slots[op->dst] == op->dst;
    if (operands & OPERAND_SRC)
        fixed &= slots[op->src] == op->src;
    for (unsigned v = 0; v < op->n_values; v++)
        fixed &=
            !value_reads_slot(&op->values[v]) || slots[op->values[v].block] == op->values[v].block;
    return fixed;
}

static uint64_t fixed_operations(const struct scope *s, const unsigned *slots) {
    struct op menu[SCOPE_MENU];
    uint64_t fixed = 0;
    unsigned n = scope_menu(s, menu);
    for (unsigned i = 0; i < n; i++)
        fixed += fixes(slots, &menu[i]);
    return fixed;
}

/* ---- sums -------------------------------------------------------------------------------------
 */

/* Adds the fixed points of one renaming, times how many have its effect, to the sums: of starts
 * (scripts of length 0), starts with one operation, programs. */
static void add_fixed(const struct scope *s, uint64_t heaps, const unsigned *slots,
                      uint64_t sums[3]) {
    uint64_t menu = fixed_operations(s, slots), scripts = 0;
    for (unsigned length = 0; length <= s->ops; length++)
        scripts = plus(scripts, power(menu, length));
    sums[0] = plus(sums[0], heaps);
    sums[1] = plus(sums[1], times(heaps, menu));
    sums[2] = plus(sums[2], times(heaps, scripts));
}

/* The sums over all renamings of heaps with so many blocks, or over none but the identity. */
static void sum_fixed(const struct scope *s, unsigned blocks, bool renames, uint64_t sums[3]) {
    uint64_t of_blocks = s->orders || !renames ? 1 : factorial(blocks);
    uint64_t of_slots = renames ? factorial(s->slots) : 1;
    memset(sums, 0, 3 * sizeof *sums);
    for (uint64_t b = 0; b < of_blocks; b++)
        for (uint64_t t = 0; t < of_slots; t++) {
            unsigned to[MOST], slots[MOST];
            permutation(blocks, b, to);
            permutation(s->slots, t, slots);
            struct heap h = {.scope = s, .blocks = blocks, .to = to};
            add_fixed(s, fixed_heaps(&h, slots), slots, sums);
        }
    for (unsigned i = 0; i < 3; i++)
        sums[i] = sums[i] == UINT64_MAX ? UINT64_MAX : sums[i] / (of_blocks * of_slots);
}

struct scope_count scope_count(const struct scope *s) {
    struct scope_count count = {0, 0};
    for (unsigned blocks = 0; blocks <= s->blocks; blocks++) {
        uint64_t sums[3];
        sum_fixed(s, blocks, true, sums);
        count.units = plus(count.units, plus(sums[0], times(s->ops, sums[1])));
        count.programs = plus(count.programs, sums[2]);
    }
    return count;
}

uint64_t scope_count_named(const struct scope *s) {
    uint64_t count = 0;
    for (unsigned blocks = 0; blocks <= s->blocks; blocks++) {
        uint64_t sums[3];
        sum_fixed(s, blocks, false, sums);
        count = plus(count, sums[2]);
    }
    return count;
}
