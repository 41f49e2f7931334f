/* SPDX-License-Identifier: MIT
 *
 * The initial states of an exploration (search.h): every heap, every choice of roots.
 */
#include "models/onthefly/exploration/search.h"

struct beginning {
    struct search *x;
    void (*add)(struct search *, const struct state *);
    refset alloc;
    oref fields[REFS_MAX * FIELDS_MAX];
    refset roots[MUTATORS_MAX];
};

/* A bound was reached: there may be far more initial states than anybody wants to count. */
static bool over(const struct beginning *b) {
    return b->x->found.end != EXPLORE_COMPLETE;
}

/* REDUCE_FULL keeps all roots that there can be, and discards later. */
static void begin_with_roots(struct beginning *b, unsigned mutator) {
    const struct explore_options *o = b->x->o;
    if (over(b))
        return;
    if (mutator == o->model.mutators) {
        struct state s;
        model_start(&o->model, &s, b->alloc, b->fields, b->roots);
        b->add(b->x, &s);
        return;
    }
    for (unsigned roots = b->alloc;; roots = (roots - 1) & b->alloc) {
        b->roots[mutator] = (refset)roots;
        begin_with_roots(b, mutator + 1);
        if (!roots || b->x->reduction == REDUCE_FULL)
            return;
    }
}

static void begin_with_fields(struct beginning *b, unsigned at) {
    const struct model *m = &b->x->o->model;
    unsigned r = at / m->fields, f = at % m->fields;
    if (over(b))
        return;
    if (r == m->refs) {
        begin_with_roots(b, 0);
        return;
    }
    for (unsigned v = 0; v <= m->refs; v++) {
        bool exists = (b->alloc >> r & 1) && (v == 0 || (b->alloc >> (v - 1) & 1));
        b->fields[r * FIELDS_MAX + f] = (oref)v;
        if (v == 0 || exists)
            begin_with_fields(b, at + 1);
    }
}

void search_begin(struct search *x, void (*add)(struct search *, const struct state *)) {
    for (unsigned alloc = 0; alloc < 1U << x->o->model.refs; alloc++) {
        struct beginning b = {x, add, (refset)alloc, {0}, {0}};
        begin_with_fields(&b, 0);
    }
}
