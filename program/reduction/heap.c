/* SPDX-License-Identifier: MIT
 *
 * The steps of reduction on heap, roots and config (steps.h).
 */
#include "program/cut.h"
#include "program/named.h"
#include "program/reduction/steps.h"

/* ---- what is left over ------------------------------------------------------------------------
 */

/* The same heap without the words that a step has saved, if it may be so small: what was full stays
 * full. */
static void shed_words(struct program *p, unsigned words_before) {
    unsigned saved = words_before - program_heap_words(p);
    if (p->config[CONFIG_HEAP] >= config_ranges[CONFIG_HEAP].min + saved)
        p->config[CONFIG_HEAP] -= saved;
}

/* ---- items ------------------------------------------------------------------------------------
 */

static unsigned count_items(const struct program *p) {
    return p->n_items;
}

static bool remove_items(struct program *p, unsigned at, unsigned n) {
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    return true;
}

static bool remove_items_and_words(struct program *p, unsigned at, unsigned n) {
    unsigned before = program_heap_words(p);
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    shed_words(p, before);
    return true;
}

/* A stack that overflows does so with fewer blocks, too. */
static bool remove_items_and_entries(struct program *p, unsigned at, unsigned n) {
    if (p->config[CONFIG_MARK_STACK] <= n) /* 0 would be: no limit */
        return false;
    p->config[CONFIG_MARK_STACK] -= n;
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    return true;
}

/* A cycle that has come so far then comes to the same place: slices do less by what is gone. */
static unsigned take_work(struct program *p, unsigned words, bool write) {
    unsigned slices = p->config[CONFIG_SLICE] > words; /* 0 has a meaning of its own */
    if (write && slices)
        p->config[CONFIG_SLICE] -= words;
    for (unsigned i = 0; i < p->n_ops; i++) {
        if (p->ops[i].code != OP_SLICE || p->ops[i].n <= words)
            continue;
        slices++;
        if (write)
            p->ops[i].n = (uint16_t)(p->ops[i].n - words);
    }
    return slices;
}
static bool remove_items_and_work(struct program *p, unsigned at, unsigned n) {
    unsigned words = 0;
    for (unsigned i = at; i < at + n && i < p->n_items; i++)
        words += p->items[i].is_static ? 0 : item_words(&p->items[i]);
    if (words == 0 || take_work(p, words, false) == 0)
        return false;
    take_work(p, words, true);
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    return true;
}

static bool remove_items_words_and_work(struct program *p, unsigned at, unsigned n) {
    unsigned before = program_heap_words(p);
    if (!remove_items_and_work(p, at, n))
        return false;
    shed_words(p, before);
    return true;
}

/* ---- items of collectors without an image -----------------------------------------------------
 *
 * The harness builds their heap by allocations: in the nursery if there is one, and with one block
 * more, which has a field for each block until all is tied (harness/initial/build.c).
 */

static unsigned words_of(const struct program *p, unsigned at, unsigned n) {
    unsigned words = 0;
    for (unsigned i = at; i < at + n && i < p->n_items; i++)
        words += p->items[i].is_static ? 0 : item_words(&p->items[i]);
    return words;
}

bool take_words(struct program *p, enum config_key key, unsigned words) {
    if (words == 0 || p->config[key] < config_ranges[key].min + words)
        return false;
    p->config[key] -= words;
    return true;
}

static bool remove_items_words_and_table(struct program *p, unsigned at, unsigned n) {
    unsigned words = words_of(p, at, n);
    for (unsigned i = at; i < at + n; i++)
        words += item_is_named(&p->items[i]);
    if (!take_words(p, CONFIG_HEAP, words))
        return false;
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    return true;
}

static bool remove_items_and_nursery(struct program *p, unsigned at, unsigned n) {
    if (!take_words(p, CONFIG_NURSERY, words_of(p, at, n)))
        return false;
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    return true;
}

static bool remove_items_heap_and_nursery(struct program *p, unsigned at, unsigned n) {
    unsigned words = words_of(p, at, n);
    if (p->config[CONFIG_HEAP] < config_ranges[CONFIG_HEAP].min + words ||
        !take_words(p, CONFIG_NURSERY, words))
        return false;
    take_words(p, CONFIG_HEAP, words);
    cut_items(p, at, n, MEND_UNIT, REST_NOTHING);
    return true;
}

/* ---- items, one at a time ---------------------------------------------------------------------
 */

/* Step i merges item i with the next one. */
static bool merge_neighbours(struct program *p, unsigned at, unsigned n) {
    return merge_gaps(p, at, n + 1);
}

static bool unlink_items(struct program *p, unsigned at, unsigned n) {
    if (!item_is_named(&p->items[at]))
        return false;
    cut_items(p, at, n, MEND_FOLLOW, REST_NOTHING);
    return true;
}

/* Their words stay; static ones have none in the heap. */
static bool free_items(struct program *p, unsigned at, unsigned n) {
    bool any = false;
    for (unsigned i = at; i < at + n; i++) {
        const struct item *item = &p->items[i];
        if (item->is_static || item->kind == ITEM_FRAGMENT)
            return false;
        any |= item->kind != ITEM_FREE;
    }
    if (any)
        cut_items(p, at, n, MEND_UNIT, REST_FREE);
    return any;
}

static bool kill_item(struct program *p, unsigned at, unsigned n) {
    if (p->items[at].is_static || !item_is_named(&p->items[at]))
        return false;
    cut_items(p, at, n, MEND_UNIT, REST_DEAD);
    return true;
}

static bool make_ordinary(struct program *p, unsigned at, unsigned n) {
    (void)n;
    return item_is_named(&p->items[at]) && p->items[at].kind != ITEM_BLOCK && cut_kind(p, at);
}

static bool move_into_heap(struct program *p, unsigned at, unsigned n) {
    (void)n;
    bool was = p->items[at].is_static;
    p->items[at].is_static = false;
    return was;
}

/* Tag 0; for raw blocks the string's. */
static bool clear_tag(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct item *item = &p->items[at];
    uint8_t plain = item->kind == ITEM_RAW ? PROGRAM_TAG_STRING : 0;
    if ((item->kind != ITEM_BLOCK && item->kind != ITEM_RAW) || item->tag == plain)
        return false;
    item->tag = plain;
    return true;
}

/* ---- gaps -------------------------------------------------------------------------------------
 */

static unsigned count_rungs(const struct program *p) {
    return p->n_items * LADDER;
}

static bool shrink_gap(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct item *item = &p->items[at / LADDER];
    if (item_is_named(item) || item->kind == ITEM_FRAGMENT)
        return false;
    unsigned size = step_down(item->wosize, 1, at % LADDER);
    bool smaller = size < item->wosize;
    item->wosize = (uint16_t)size;
    return smaller;
}

static bool shrink_gap_and_words(struct program *p, unsigned at, unsigned n) {
    unsigned before = program_heap_words(p);
    bool smaller = shrink_gap(p, at, n);
    if (smaller)
        shed_words(p, before);
    return smaller;
}

/* ---- items by count ---------------------------------------------------------------------------
 */

/* One block alone has no next one, and of each block there is one. */
static void count_no_more(struct program *p, const struct item *item) {
    for (unsigned f = item->first_field; f < item->first_field + item->n_fields; f++) {
        struct value *v = &p->fields[f];
        if (v->kind == VALUE_NEXT)
            *v = (struct value){.kind = VALUE_IMMEDIATE};
        else if (v->kind == VALUE_EACH)
            v->kind = VALUE_BLOCK;
    }
}

static bool lower_count(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct item *item = &p->items[at / LADDER];
    unsigned more = step_down(item->more, 0, at % LADDER);
    if (more == item->more)
        return false;
    item->more = more;
    if (more == 0)
        count_no_more(p, item);
    return true;
}

static bool lower_count_and_words(struct program *p, unsigned at, unsigned n) {
    unsigned before = program_heap_words(p);
    if (!lower_count(p, at, n))
        return false;
    shed_words(p, before);
    return true;
}

/* ---- fields -----------------------------------------------------------------------------------
 */

static unsigned count_fields(const struct program *p) {
    return p->n_fields;
}

static bool remove_fields_and_words(struct program *p, unsigned at, unsigned n) {
    unsigned before = program_heap_words(p);
    bool removed = cut_fields(p, at, n);
    if (removed)
        shed_words(p, before);
    return removed;
}

static bool clear_value(struct value *v, bool raw) {
    struct value zero = {.kind = raw ? VALUE_RAW : VALUE_IMMEDIATE};
    bool set = !value_equal(v, &zero);
    *v = zero;
    return set;
}

/* Does field number `at` of all fields belong to a raw block? */
static bool field_is_raw(const struct program *p, unsigned at) {
    bool raw = p->fields[at].kind == VALUE_RAW;
    for (unsigned i = 0; i < p->n_items && p->fields[at].kind == VALUE_ADDRESS; i++)
        raw |= p->items[i].kind == ITEM_RAW && at - p->items[i].first_field < p->items[i].n_fields;
    return raw;
}

static bool clear_fields(struct program *p, unsigned at, unsigned n) {
    bool any = false;
    for (unsigned f = at; f < at + n; f++)
        any |= clear_value(&p->fields[f], field_is_raw(p, f));
    return any;
}

static unsigned count_field_rungs(const struct program *p) {
    return p->n_fields * VALUE_RUNGS;
}

static bool simplify_field(struct program *p, unsigned at, unsigned n) {
    (void)n;
    return simplify_value(&p->fields[at / VALUE_RUNGS], field_is_raw(p, at / VALUE_RUNGS),
                          at % VALUE_RUNGS);
}

/* ---- closures ---------------------------------------------------------------------------------
 */

static bool remove_function(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct item item = p->items[at];
    if (item.functions < 2)
        return false;
    cut_functions(p, at, item.functions - 1u, item.arity);
    return true;
}

static bool clear_code(struct program *p, unsigned at, unsigned n) {
    bool any = false;
    for (unsigned i = at; i < at + n; i++) {
        any |= p->items[i].address_code;
        p->items[i].address_code = false;
    }
    return any;
}

static unsigned count_functions(const struct program *p) {
    return p->n_items * PROGRAM_FUNCTIONS;
}

/* Arity 1, the usual one of the shortest. */
static bool simplify_arity(struct program *p, unsigned at, unsigned n) {
    (void)n;
    struct item item = p->items[at / PROGRAM_FUNCTIONS];
    unsigned f = at % PROGRAM_FUNCTIONS;
    if (f >= item.functions || item.arity[f] == 1)
        return false;
    item.arity[f] = 1;
    cut_functions(p, at / PROGRAM_FUNCTIONS, item.functions, item.arity);
    return true;
}

/* ---- roots ------------------------------------------------------------------------------------
 */

static unsigned count_roots(const struct program *p) {
    (void)p;
    return PROGRAM_MUTATORS * PROGRAM_SLOTS;
}

static bool clear_roots(struct program *p, unsigned at, unsigned n) {
    bool any = false;
    for (unsigned r = at; r < at + n; r++)
        any |= clear_value(&p->roots[r / PROGRAM_SLOTS][r % PROGRAM_SLOTS], false);
    return any;
}

static unsigned count_root_rungs(const struct program *p) {
    return count_roots(p) * VALUE_RUNGS;
}

static bool simplify_root(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned r = at / VALUE_RUNGS;
    return simplify_value(&p->roots[r / PROGRAM_SLOTS][r % PROGRAM_SLOTS], false, at % VALUE_RUNGS);
}

/* ---- values ----------------------------------------------------------------------------------
 */

static bool simplify_immediate(struct value *v, unsigned rung) {
    int64_t n = (int64_t)v->bits; /* two's complement, as in the rest of the project */
    int64_t simpler = rung == 1 ? 1 : rung == 2 ? n / 2 : n / 256;
    bool smaller = rung == 1 ? n > 1 || n < 0 : rung < 4 && n != 0;
    v->bits = smaller ? (uint64_t)simpler : v->bits;
    return smaller;
}

static bool simplify_bits(struct value *v, unsigned rung) {
    uint64_t simpler = rung == 1 ? 1 : rung == 2 ? v->bits >> 1 : v->bits >> 8;
    bool smaller = rung < 4 && simpler < v->bits;
    v->bits = smaller ? simpler : v->bits;
    return smaller;
}

/* Of the block itself; at its start; the plain word. */
static bool simplify_address(struct value *v, unsigned rung) {
    struct value old = *v;
    if (rung == 1)
        v->bits &= ~(uint64_t)UINT8_MAX;
    if (rung == 2)
        v->offset = 0;
    if (rung == 3)
        v->bits &= ~(uint64_t)ADDRESS_DOUBLED;
    return !value_equal(v, &old);
}

/* The first number; for what is none, fewer bits of it, or the word next to the heap. */
static bool simplify_outside(struct value *v, unsigned rung) {
    uint64_t n = outside_number(v), simpler = v->bits;
    if (rung == 1)
        simpler = 1;
    else if (rung < 4 && outside_form(v) == OUTSIDE_NUMBER)
        simpler = v->bits >> (rung == 2 ? 1 : 8);
    else if (rung == 2 && outside_form(v) == OUTSIDE_WORD) /* of the highest bytes alone */
        simpler = n & ~(OUTSIDE_LEAST - 1);
    else if (rung == 2)
        simpler = outside_bits(outside_form(v), outside_form(v) == OUTSIDE_BEFORE ? 8 : 0);
    if (simpler >= v->bits || !outside_is_legal(simpler))
        return false;
    v->bits = simpler;
    return true;
}

bool simplify_value(struct value *v, bool raw, unsigned rung) {
    const struct value old = *v;
    if (rung == 0)
        return clear_value(v, raw);
    switch (v->kind) {
    case VALUE_IMMEDIATE:
        return simplify_immediate(v, rung);
    case VALUE_RAW:
        return simplify_bits(v, rung);
    case VALUE_OUTSIDE:
        return simplify_outside(v, rung);
    case VALUE_ATOM:
        v->bits = rung == 1 ? 0 : v->bits;
        return rung == 1 && !value_equal(v, &old);
    case VALUE_INFIX:
        if (rung > 1)
            return false;
        v->kind = VALUE_BLOCK;
        v->offset = 0;
        return true;
    case VALUE_ADDRESS:
        return simplify_address(v, rung);
    default:
        return false;
    }
}

/* ---- config -----------------------------------------------------------------------------------
 */

static unsigned count_keys(const struct program *p) {
    (void)p;
    return CONFIG_KEYS;
}

/* Before all else: steps that keep a limit in balance mean nothing where there is none. */
static bool take_default(struct program *p, unsigned key, unsigned n) {
    (void)n;
    bool other = p->config[key] != config_ranges[key].initial;
    p->config[key] = config_ranges[key].initial;
    return other;
}

static unsigned count_config_rungs(const struct program *p) {
    (void)p;
    return CONFIG_KEYS * LADDER;
}

/* The default is the simplest value, then the smallest. */
static bool shrink_config(struct program *p, unsigned at, unsigned n) {
    (void)n;
    unsigned key = at / LADDER, value = p->config[key];
    if (value == config_ranges[key].initial)
        return false;
    p->config[key] = step_down(value, config_ranges[key].min, at % LADDER);
    return p->config[key] != value;
}

/* ---- all of them ------------------------------------------------------------------------------
 */

const struct step_family heap_steps[] = {
    {"take the default of a config value", false, count_keys, take_default},
    {"remove an item", true, count_items, remove_items},
    {"free an item", true, count_items, free_items},
    {"lower a count and the heap", false, count_rungs, lower_count_and_words},
    {"lower a count", false, count_rungs, lower_count},
    {"merge neighbouring gaps", true, count_items, merge_neighbours},
    {"remove an item and its words", true, count_items, remove_items_and_words},
    {"remove an item and an entry of the mark stack", true, count_items, remove_items_and_entries},
    {"remove an item and the work on it", true, count_items, remove_items_and_work},
    {"remove an item, its words and the work on it", true, count_items,
     remove_items_words_and_work},
    {"remove an item, its words and its field of the table", true, count_items,
     remove_items_words_and_table},
    {"remove an item and its words of the nursery", true, count_items, remove_items_and_nursery},
    {"remove an item and its words of heap and nursery", true, count_items,
     remove_items_heap_and_nursery},
    {"clear a root", true, count_roots, clear_roots},
    {"remove a field and its word", true, count_fields, remove_fields_and_words},
    {"remove a field", true, count_fields, cut_fields},
    {"clear a field", true, count_fields, clear_fields},
    {"unlink a block", false, count_items, unlink_items},
    {"make a block dead", false, count_items, kill_item},
    {"make a block an ordinary one", false, count_items, make_ordinary},
    {"move a static block into the heap", false, count_items, move_into_heap},
    {"clear a tag", false, count_items, clear_tag},
    {"shorten a gap and the heap", false, count_rungs, shrink_gap_and_words},
    {"shorten a gap", false, count_rungs, shrink_gap},
    {"clear a code word that is an address", true, count_items, clear_code},
    {"remove a function of a closure", false, count_items, remove_function},
    {"simplify an arity", false, count_functions, simplify_arity},
    {"simplify a root", false, count_root_rungs, simplify_root},
    {"simplify a field", false, count_field_rungs, simplify_field},
    {"shrink a config value", false, count_config_rungs, shrink_config},
    {0}};
_Static_assert(sizeof heap_steps / sizeof *heap_steps <= STEP_FAMILIES, "too many for reduce.c");
