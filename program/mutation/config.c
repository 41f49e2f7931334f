/* SPDX-License-Identifier: MIT
 *
 * Mutations of the settings (mutation.h): at random, and aimed at the values at which the program
 * just meets a limit, one less and one more.
 */
#include "program/mutation/internal.h"

static bool set_key(struct program *p, enum config_key key, unsigned value) {
    const struct config_range *range = &config_ranges[key];
    if (value < range->min || value > range->max || p->config[key] == value)
        return false;
    if (key == CONFIG_HEAP && value < program_heap_words(p))
        return false;
    p->config[key] = value;
    return true;
}

bool mutate_config(struct mutation *m) {
    struct random *r = &m->random;
    unsigned key = pick_weighted(r, m->weights.keys, CONFIG_KEYS, UINT32_MAX);
    const struct config_range *range = &config_ranges[key];
    unsigned now = m->program.config[key], value;
    switch (random_below(r, 8)) {
    case 0:
        value = range->initial;
        break;
    case 1:
        value = random_between(r, range->min, range->max);
        break;
    case 2:
    case 3:
        value = now + random_few(r, 4);
        break;
    case 4:
    case 5:
        value = now - random_few(r, 4); /* below zero is out of range */
        break;
    default:
        value = random_between(r, range->min, range->soft_max);
        break;
    }
    return set_key(&m->program, (enum config_key)key, value);
}

/* ---- what a script allocates ----------------------------------------------------------------- */

static unsigned count_allocations(const struct program *p) {
    unsigned n = 0;
    for (unsigned i = 0; i < p->n_ops; i++)
        n += op_blocks(&p->ops[i]);
    return n;
}

/* Words of the first k blocks that the script allocates, headers included. */
static unsigned words_of_first(const struct program *p, unsigned k) {
    unsigned words = 0;
    for (unsigned i = 0; i < p->n_ops && k > 0; i++) {
        unsigned blocks = op_blocks(&p->ops[i]);
        blocks = blocks < k ? blocks : k;
        words += op_words(&p->ops[i], blocks);
        k -= blocks;
    }
    return words;
}

/* Exactly, mostly; a word short, a word more. */
static int beside(struct random *r) {
    static const int8_t by[8] = {0, 0, 0, 0, -1, -1, 1, -2};
    return by[random_below(r, 8)];
}

/* ---- aims ------------------------------------------------------------------------------------ */

/* A gap at a random place that leaves no word of the heap, or one or two. */
static bool fill_heap(struct mutation *m) {
    struct program *p = &m->program;
    unsigned left = p->config[CONFIG_HEAP] - program_heap_words(p);
    unsigned rest = random_below(&m->random, 4) / 2;
    rest *=
        random_between(&m->random, 1, 2); /* one after the other: compilers differ in the order */
    if (left <= rest || left - rest > PROGRAM_WOSIZE)
        return false;
    struct item gap = {.kind = ITEM_FRAGMENT, .wosize = (uint16_t)(left - rest - 1)};
    if (gap.wosize > 0)
        gap.kind = random_chance(&m->random, 2) ? ITEM_FREE : ITEM_DEAD;
    return edit_insert_item(p, random_below(&m->random, p->n_items + 1u), &gap);
}

/* As many words as the initial heap and the first blocks of the script need. */
bool mutate_aim_heap(struct mutation *m) {
    struct program *p = &m->program;
    if (random_chance(&m->random, 4))
        return fill_heap(m);
    unsigned allocations = count_allocations(p);
    unsigned k = allocations ? random_below(&m->random, allocations + 1) : 0;
    int words = (int)(program_heap_words(p) + words_of_first(p, k)) + beside(&m->random);
    return words > 0 && set_key(p, CONFIG_HEAP, (unsigned)words);
}

/* The marking of the initial heap in program order, as a collector with a stack does it. */
struct marking {
    const struct named_blocks *named;
    unsigned top, most;
    bool seen[PROGRAM_ITEMS];
    uint16_t stack[PROGRAM_ITEMS];
};

static void visit(struct marking *k, const struct value *v) {
    if (!value_is_reference(v) || k->seen[v->block] || named_block(k->named, v->block)->is_static)
        return;
    k->seen[v->block] = true;
    k->stack[k->top++] = v->block;
    if (k->top > k->most)
        k->most = k->top;
}

/* The most entries that marking from the roots has on the stack at once. */
static unsigned mark_stack_needed(const struct program *p) {
    struct named_blocks named;
    struct marking k;
    named_blocks_find(&named, p);
    k.named = &named;
    k.top = k.most = 0;
    for (unsigned b = 0; b < named.count; b++)
        k.seen[b] = false;
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
            visit(&k, &p->roots[m][s]);
    while (k.top > 0) {
        const struct item *item = named_block(&named, k.stack[--k.top]);
        for (unsigned f = 0; f < item->n_fields; f++)
            visit(&k, &p->fields[item->first_field + f]);
    }
    return k.most;
}

bool mutate_aim_stack(struct mutation *m) {
    int entries = (int)mark_stack_needed(&m->program) + beside(&m->random);
    return entries > 0 && set_key(&m->program, CONFIG_MARK_STACK, (unsigned)entries);
}

bool mutate_aim_nursery(struct mutation *m) {
    struct program *p = &m->program;
    unsigned allocations = count_allocations(p);
    if (allocations == 0)
        return false;
    unsigned k = random_between(&m->random, 1, allocations);
    int words = (int)words_of_first(p, k) + beside(&m->random);
    return words > 0 && set_key(p, CONFIG_NURSERY, (unsigned)words);
}

bool mutate_aim_count(struct mutation *m) {
    struct program *p = &m->program;
    unsigned allocations = count_allocations(p);
    if (allocations == 0)
        return false;
    unsigned k = random_below(&m->random, allocations);
    switch (random_below(&m->random, 3)) {
    case 0:
        return set_key(p, CONFIG_STRESS, k + 1);
    case 1:
        return set_key(p, CONFIG_FAIL, k + 1);
    default:
        return set_key(p, CONFIG_LARGE,
                       words_of_first(p, k + 1) - words_of_first(p, k) - 1 +
                           random_below(&m->random, 2));
    }
}
