/* SPDX-License-Identifier: MIT
 *
 * The conformance kit, fourth part: what a collector with two generations tells of them
 * (conform.h).
 */
#include "conformance/internal.h"

enum { NODES = 16, GARBAGE_ID = 1000, MINORS = 16 };

static bool is_young(const struct conform *c, unsigned slot) {
    return c->collector->young(c->gc, c->slots[0][slot]);
}

/* ---- young ------------------------------------------------------------------------------------
 */

static const char *tells_young(const struct conform *c) {
    return c->collector->young ? NULL : "no function young: one generation";
}

static void check_young(struct conform *c) {
    bool old[NODES];
    word before[NODES];
    for (unsigned s = 0; s < NODES; s++) {
        make_node(c, 0, SCRATCH, GARBAGE_ID + s); /* the next one does not stay where it is */
        make_node(c, 0, s, s);
    }
    c->slots[0][SCRATCH] = WORD_UNIT;
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned s = 0; s < NODES; s++) {
            old[s] = !is_young(c, s);
            before[s] = c->slots[0][s];
        }
        collect(c, GC_MINOR);
        for (unsigned s = 0; s < NODES; s++) {
            expect_node(c, 0, s, s, "after a minor collection");
            if (old[s] && c->slots[0][s] != before[s])
                broken(c,
                       "a minor collection has moved the block in slot %u, which was not young "
                       "before it",
                       s);
        }
    }
}

/* ---- remembered -------------------------------------------------------------------------------
 */

static const char *tells_remembered(const struct conform *c) {
    return c->collector->remembered ? NULL : "no function remembered: one generation";
}

struct wanted {
    word block;
    size_t field;
    unsigned found;
};

static void look_for(void *context, word block, size_t i) {
    struct wanted *w = context;
    w->found += block == w->block && i == w->field;
}

/* False if no block grows old. */
static bool make_old(struct conform *c, unsigned slot, unsigned id) {
    make_node(c, 0, slot, id);
    for (unsigned n = 0; n < MINORS && is_young(c, slot); n++)
        collect(c, GC_MINOR);
    return !is_young(c, slot);
}

static void check_remembered(struct conform *c) {
    for (unsigned round = 0; round <= c->scale; round++) {
        if (!make_old(c, 0, 1)) {
            remark(c, "no block grows old: remembered has nothing to visit");
            return;
        }
        make_node(c, 0, 1, 2);
        set_field(c, 0, 0, 1, 1);
        set_field(c, 0, 0, 1, 1);
        struct wanted w = {c->slots[0][0], 1, 0};
        c->collector->remembered(c->gc, look_for, &w);
        if (!w.found && is_young(c, 1) && !is_young(c, 0))
            broken(c, "field 1 of an old block points at a young one, and remembered does not "
                      "visit it");
        if (w.found > 1 && c->traits.remembered_once)
            broken(c,
                   "a young block has been stored into a field of an old one twice, and "
                   "remembered visits it %u times; trait remembered_once promises once",
                   w.found);
        c->slots[0][1] = WORD_UNIT;
        collect(c, GC_MINOR);
        get_field(c, 0, 1, 0, 1);
        expect_node(c, 0, 1, 2, "after a minor collection, held by an old block alone,");
    }
}

/* ---- nursery_words ----------------------------------------------------------------------------
 */

static const char *has_nursery(const struct conform *c) {
    return c->traits.nursery_words ? NULL : "nursery_words is 0: walk covers the heap alone";
}

struct place {
    struct conform *c;
    const word *start; /* of the heap: the first extent */
};

static void visit_place(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct place *p = context;
    (void)words;
    p->start = p->start ? p->start : header;
    if (kind != GC_LIVE || !p->c->collector->young)
        return;
    bool behind = (size_t)(header - p->start) >= p->c->words;
    if (p->c->collector->young(p->c->gc, pointer_word(header + 1)) != behind)
        broken(p->c, "the block at word %zu is %s, and the young generation begins at word %zu",
               (size_t)(header - p->start), behind ? "old" : "young", p->c->words);
}

static void check_nursery(struct conform *c) {
    unsigned n = 1u << c->scale;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        walk(c, HEAP_TILES);
        struct place place = {c, NULL};
        c->collector->walk(c->gc, visit_place, &place);
        collect(c, round ? GC_FULL : GC_MINOR);
    }
}

/* ---- exact_minor ------------------------------------------------------------------------------
 */

CLAIMED(exact_minor)

struct garbage {
    const struct conform *c;
    unsigned young, old; /* nodes with an id from GARBAGE_ID on */
};

static void visit_garbage(void *context, enum gc_extent kind, const word *header, size_t words) {
    struct garbage *g = context;
    if (kind != GC_LIVE || words < 2 || !is_immediate(header[1]) ||
        immediate_value(header[1]) < GARBAGE_ID)
        return;
    if (g->c->collector->young(g->c->gc, pointer_word(header + 1)))
        g->young++;
    else
        g->old++;
}

static struct garbage count_garbage(struct conform *c) {
    struct garbage g = {c, 0, 0};
    c->collector->walk(c->gc, visit_garbage, &g);
    return g;
}

static void check_exact_minor(struct conform *c) {
    unsigned n = 1u << c->scale;
    for (unsigned round = 0; round < 3; round++) {
        make_list(c, n);
        for (unsigned i = 0; i < n; i++)
            make_node(c, 0, SCRATCH, GARBAGE_ID + i);
        c->slots[0][SCRATCH] = WORD_UNIT;
        struct garbage before = count_garbage(c);
        collect(c, GC_MINOR);
        struct garbage after = count_garbage(c);
        if (after.young + after.old > before.old)
            broken(c,
                   "%u young blocks were garbage, and after a minor collection %u of them are "
                   "still there",
                   before.young, after.young + after.old - before.old);
        expect_list(c, n, "after a minor collection");
    }
}

const struct conform_step conform_generations[] = {
    {"young", "a minor collection moves no block of which young says that it is old", tells_young,
     check_young},
    {"remembered", "remembered visits every field of an old block that points at a young one",
     tells_remembered, check_remembered},
    {"nursery", "walk covers nursery_words words of young blocks behind the heap", has_nursery,
     check_nursery},
    {"exact_minor", "a minor collection keeps no young block that nothing reaches",
     claims_exact_minor, check_exact_minor},
    {NULL, NULL, NULL, NULL}};
