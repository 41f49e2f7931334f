/* SPDX-License-Identifier: MIT
 *
 * Cuts: operations, items, fields and functions out of a program (cut.h).
 */
#include "program/cut.h"

#include "program/named.h"

#include <string.h>

static const struct value unit = {.kind = VALUE_IMMEDIATE};

void cut_switches(struct program *p, unsigned at, unsigned n) {
    memmove(p->switches + at, p->switches + at + n, (p->n_switches - at - n) * sizeof *p->switches);
    p->n_switches = (uint16_t)(p->n_switches - n);
}

void cut_ops(struct program *p, unsigned at, unsigned n) {
    memmove(p->ops + at, p->ops + at + n, (p->n_ops - at - n) * sizeof *p->ops);
    p->n_ops = (uint16_t)(p->n_ops - n);
}

/* ---- references -------------------------------------------------------------------------------
 */

static const struct value zero = {.kind = VALUE_RAW};

/* Calls change for every value of the roots and of the items that stay which names a block; plain
 * is what may stand there in its place. */
static void each_name(struct program *p, unsigned gone_at, unsigned gone,
                      void (*change)(struct value *, const struct value *plain, void *),
                      void *context) {
    for (unsigned i = 0; i < p->n_items; i++)
        for (unsigned f = 0; f < p->items[i].n_fields && i - gone_at >= gone; f++)
            if (value_names_block(&p->fields[p->items[i].first_field + f]))
                change(&p->fields[p->items[i].first_field + f],
                       p->items[i].kind == ITEM_RAW ? &zero : &unit, context);
    for (unsigned m = 0; m < PROGRAM_MUTATORS; m++)
        for (unsigned r = 0; r < PROGRAM_SLOTS; r++)
            if (value_names_block(&p->roots[m][r]))
                change(&p->roots[m][r], &unit, context);
}

/* ---- items ------------------------------------------------------------------------------------
 */

struct mending {
    struct named_blocks named;
    unsigned at, n;     /* the items that go */
    unsigned low, high; /* the named blocks among them: low .. high - 1 */
    enum mend mend;
};

static struct value first_reference(const struct mending *m, unsigned block) {
    const struct item *item = named_block(&m->named, block);
    for (unsigned f = 0; f < item->n_fields; f++)
        if (value_is_reference(&m->named.program->fields[item->first_field + f]))
            return m->named.program->fields[item->first_field + f];
    return unit;
}

static void mend_name(struct value *v, const struct value *plain, void *context) {
    const struct mending *m = context;
    unsigned gone = m->high - m->low, steps = 0;
    if (v->kind == VALUE_ADDRESS && v->block - m->low < gone)
        *v = *plain;
    while (value_is_reference(v) && v->block - m->low < gone)
        *v = m->mend == MEND_FOLLOW && steps++ < gone ? first_reference(m, v->block) : unit;
    if (value_names_block(v) && v->block >= m->high)
        v->block = (uint16_t)(v->block - gone);
}

static struct item gap_for(const struct item *item, enum rest rest) {
    return (struct item){.kind = rest == REST_FREE ? ITEM_FREE : ITEM_DEAD,
                         .wosize = item->wosize,
                         .more = item->more};
}

/* Moves items and fields together. */
static void close_up(struct program *p, unsigned at, unsigned n, enum rest rest) {
    unsigned items = 0, fields = 0;
    for (unsigned i = 0; i < p->n_items; i++) {
        struct item item = p->items[i];
        bool goes = i - at < n;
        if (goes && (rest == REST_NOTHING || item.is_static || item.kind == ITEM_FRAGMENT))
            continue;
        if (goes)
            item = gap_for(&item, rest);
        memmove(p->fields + fields, p->fields + item.first_field,
                item.n_fields * sizeof *p->fields);
        if (item_is_named(&item))
            item.first_field = (uint16_t)fields;
        fields += item.n_fields;
        p->items[items++] = item;
    }
    p->n_items = (uint16_t)items;
    p->n_fields = (uint16_t)fields;
}

void cut_items(struct program *p, unsigned at, unsigned n, enum mend mend, enum rest rest) {
    struct mending m = {.at = at, .n = n, .mend = mend};
    named_blocks_find(&m.named, p);
    for (unsigned i = 0; i < at + n; i++) {
        m.low += i < at && item_is_named(&p->items[i]);
        m.high += item_is_named(&p->items[i]);
    }
    if (m.high > m.low)
        each_name(p, at, n, mend_name, &m);
    close_up(p, at, n, rest);
}

static bool is_gap(const struct item *item) {
    return !item_is_named(item);
}

bool merge_gaps(struct program *p, unsigned at, unsigned n) {
    unsigned kept = 0, before = p->n_items;
    for (unsigned i = 0; i < before; i++) {
        struct item item = p->items[i], *last = kept ? &p->items[kept - 1] : NULL;
        unsigned words = last ? item_words(last) + item_words(&item) : 0;
        if (i > at && i < at + n && is_gap(&item) && is_gap(last) && !item.more && !last->more &&
            words <= PROGRAM_WOSIZE) {
            bool dead = last->kind == ITEM_DEAD && item.kind == ITEM_DEAD;
            *last = (struct item){.kind = dead ? ITEM_DEAD : ITEM_FREE,
                                  .wosize = (uint16_t)(words - 1)};
        } else {
            p->items[kept++] = item;
        }
    }
    p->n_items = (uint16_t)kept;
    return kept < before;
}

/* ---- fields -----------------------------------------------------------------------------------
 */

static unsigned fewest_fields(const struct item *item) {
    return item->kind == ITEM_CLOSURE ? 0 : 1;
}

bool cut_fields(struct program *p, unsigned at, unsigned n) {
    unsigned fields = 0, before = p->n_fields;
    for (unsigned i = 0; i < p->n_items; i++) {
        struct item *item = &p->items[i];
        unsigned first = item->first_field, kept = 0;
        if (!item_is_named(item))
            continue;
        item->first_field = (uint16_t)fields;
        for (unsigned f = 0; f < item->n_fields; f++) {
            unsigned left = item->n_fields - f - 1;
            if (first + f - at < n && kept + left >= fewest_fields(item))
                continue;
            p->fields[fields++] = p->fields[first + f];
            kept++;
        }
        item->wosize = (uint16_t)(item->wosize - (item->n_fields - kept));
        item->n_fields = (uint16_t)kept;
    }
    p->n_fields = (uint16_t)fields;
    return fields < before;
}

/* ---- closures ---------------------------------------------------------------------------------
 */

struct reshaping {
    unsigned block;
    struct item before, after;
};

static void follow_function(struct value *v, const struct value *plain, void *context) {
    (void)plain;
    const struct reshaping *r = context;
    if (v->kind != VALUE_INFIX || v->block != r->block)
        return;
    unsigned k = closure_entry_at(&r->before, v->offset);
    if (k < r->after.functions) {
        v->offset = (uint16_t)closure_entry_offset(k, r->after.arity);
    } else {
        v->kind = VALUE_BLOCK;
        v->offset = 0;
    }
}

static void reshape(struct program *p, unsigned index, const struct item *after) {
    struct reshaping r = {.before = p->items[index], .after = *after};
    for (unsigned i = 0; i < index; i++)
        r.block += item_is_named(&p->items[i]);
    p->items[index] = *after;
    each_name(p, 0, 0, follow_function, &r);
}

void cut_functions(struct program *p, unsigned index, unsigned functions, const int8_t *arity) {
    struct item item = p->items[index];
    item.functions = (uint8_t)functions;
    memset(item.arity, 0, sizeof item.arity);
    memcpy(item.arity, arity, functions * sizeof *arity);
    item.wosize = (uint16_t)(closure_code_words(functions, item.arity) + item.n_fields);
    reshape(p, index, &item);
}

bool cut_kind(struct program *p, unsigned index) {
    struct item item = p->items[index];
    if (item.n_fields == 0)
        return false;
    if (item.kind == ITEM_RAW)
        for (unsigned f = 0; f < item.n_fields; f++)
            p->fields[item.first_field + f] = unit;
    item.kind = ITEM_BLOCK;
    item.tag = item.functions = 0;
    item.address_code = false;
    memset(item.arity, 0, sizeof item.arity);
    item.wosize = item.n_fields;
    reshape(p, index, &item);
    return true;
}
