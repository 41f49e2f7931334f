/* SPDX-License-Identifier: MIT
 *
 * Crossover (mutate.h): the child starts as the first parent and takes operations, blocks,
 * decisions or settings of the second.
 */
#include "program/mutation/internal.h"

/* A run of n things, never empty if there are any. */
static unsigned random_part(struct random *r, unsigned n, unsigned *from) {
    *from = n ? random_below(r, n) : 0;
    return n ? random_between(r, 1, n - *from) : 0;
}

/* ---- script ---------------------------------------------------------------------------------- */

/* A run of the second script goes into the first: between two operations, or over a part. */
static bool cross_script(struct mutation *m) {
    struct program *p = &m->program;
    struct random *r = &m->random;
    unsigned from, count = random_part(r, m->second.n_ops, &from);
    unsigned at = random_below(r, p->n_ops + 1u);
    if (count == 0)
        return false;
    if (at < p->n_ops && random_chance(r, 2)) {
        unsigned gone = random_below(r, p->n_ops - at);
        edit_remove_ops(p, at, gone);
    }
    count = edit_open_script(p, at, count);
    for (unsigned i = 0; i < count; i++)
        p->ops[at + i] = m->second.ops[from + i];
    return count > 0;
}

/* ---- heap ------------------------------------------------------------------------------------ */

/* Items of the second parent, behind those of the first. */
struct graft {
    unsigned first_named, n_named; /* the blocks of the second parent that come along */
    unsigned base;                 /* their first number in the child */
};

/* A value of the second parent in the child: what did not come along is unit, or 0. */
static struct value grafted(const struct graft *g, struct value v, bool raw) {
    if (!value_names_block(&v))
        return v;
    if (v.block < g->first_named || v.block - g->first_named >= g->n_named)
        return (struct value){.kind = raw ? VALUE_RAW : VALUE_IMMEDIATE};
    v.block = (uint16_t)(v.block - g->first_named + g->base);
    return v;
}

/* Appends items from .. of the second parent while there is room; returns how many. */
static unsigned graft_items(struct mutation *m, unsigned from, unsigned count, struct graft *g) {
    unsigned n = 0;
    g->first_named = edit_named_before(&m->second, from);
    g->base = edit_named_before(&m->program, m->program.n_items);
    while (n < count &&
           edit_insert_item(&m->program, m->program.n_items, &m->second.items[from + n]))
        n++;
    g->n_named = edit_named_before(&m->second, from + n) - g->first_named;
    return n;
}

static void graft_fields(struct mutation *m, unsigned from, unsigned count, unsigned at,
                         const struct graft *g) {
    for (unsigned i = 0; i < count; i++) {
        const struct item *source = &m->second.items[from + i], *item = &m->program.items[at + i];
        for (unsigned f = 0; f < item->n_fields; f++)
            m->program.fields[item->first_field + f] =
                grafted(g, m->second.fields[source->first_field + f], item->kind == ITEM_RAW);
    }
}

/* Roots of the second parent at what came along: their slots, where the first has nothing. */
static void graft_roots(struct mutation *m, const struct graft *g) {
    for (unsigned row = 0; row < PROGRAM_MUTATORS; row++) {
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++) {
            struct value *v = &m->program.roots[row][s],
                         new = grafted(g, m->second.roots[row][s], false);
            if (new.kind != VALUE_IMMEDIATE && v->kind == VALUE_IMMEDIATE)
                *v = new;
        }
    }
}

static bool cross_heap(struct mutation *m) {
    struct graft g;
    unsigned from, at = m->program.n_items;
    unsigned count = random_part(&m->random, m->second.n_items, &from);
    if (random_chance(&m->random, 2)) { /* all of them: nothing is cut off */
        from = 0;
        count = m->second.n_items;
    }
    count = graft_items(m, from, count, &g);
    graft_fields(m, from, count, at, &g);
    graft_roots(m, &g);
    return count > 0;
}

/* ---- settings -------------------------------------------------------------------------------- */

static bool cross_config(struct mutation *m) {
    bool any = false;
    for (unsigned k = 0; k < CONFIG_KEYS; k++) {
        unsigned value = m->second.config[k];
        if (m->program.config[k] == value || random_chance(&m->random, 2) ||
            (k == CONFIG_HEAP && value < program_heap_words(&m->program)))
            continue;
        m->program.config[k] = value;
        any = true;
    }
    return any;
}

/* ---- both ------------------------------------------------------------------------------------ */

size_t mutation_cross(struct mutation *m, const uint8_t *first, size_t first_size,
                      const uint8_t *second, size_t second_size, uint8_t *out, size_t max_size,
                      uint64_t seed) {
    start_round(m, seed);
    m->crossed = true;
    mutation_load(&m->program, first, first_size);
    mutation_load(&m->second, second, second_size);
    unsigned dice = random_below(&m->random, 8);
    bool any = false;
    if (dice != 0)
        any |= cross_script(m);
    if (dice < 4)
        any |= cross_heap(m);
    if (dice == 0 || dice == 7)
        any |= cross_config(m);
    if (m->second.n_switches && random_chance(&m->random, 2))
        any |= cross_decisions(m);
    if (!any && !cross_script(m) && !cross_heap(m))
        cross_config(m);
    return encode_within(m, out, max_size);
}
