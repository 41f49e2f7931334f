/* SPDX-License-Identifier: MIT
 *
 * The way to what an exploration found (search.h).
 *
 * No state keeps its predecessor, which would cost as much as a quarter of the state.  The states
 * stand in the store in the order of their distance, so a predecessor is found by trying those of
 * the level before; all levels together are not more than the exploration was.
 */
#include "models/onthefly/exploration/search.h"

#include <stdlib.h>
#include <string.h>

struct tracer {
    const struct search *x;
    struct explore_result *r;
    struct walk walk;
    const uint8_t *wanted;
    bool found;
    unsigned step_length;
    struct action step[PATH_MAX_STEPS];
};

static void note_step(struct tracer *t) {
    t->found = true;
    t->step_length = t->walk.n;
    memcpy(t->step, t->walk.path, t->walk.n * sizeof *t->step);
}

static void compare_successor(struct walk *w, const struct state *s) {
    struct tracer *t = w->context;
    uint8_t packed[PACK_BYTES_MAX];
    if (t->found)
        return;
    pack_canonical(&t->x->packing, s, packed);
    if (memcmp(packed, t->wanted, t->x->packing.bytes) == 0)
        note_step(t);
}

/* The same violation as that of the search, under other names. */
static void see_violation(struct walk *w, const struct state *s) {
    struct tracer *t = w->context;
    unsigned broken = invariants_broken(w->model, s, w->events, t->x->o->invariants);
    if (!t->found && search_wants(t->x->o, broken))
        note_step(t);
}

/* The first state of a level that a macro step leads from to the wanted one. */
static uint64_t predecessor(struct tracer *t, unsigned level) {
    const struct search *x = t->x;
    t->found = false;
    for (uint64_t i = x->level[level]; i < x->level[level + 1]; i++) {
        struct state s;
        unpack(&x->packing, store_get(&x->store, i), &s);
        walk_successors(&t->walk, &s);
        if (t->found)
            return i;
    }
    abort(); /* the store holds nothing that it was not led to */
}

static bool append_step(struct tracer *t, struct state *s) {
    struct explore_result *r = t->r;
    struct action *more = realloc(r->trace, (r->trace_length + t->step_length + 1) * sizeof *more);
    if (!more)
        return false;
    memcpy(more + r->trace_length, t->step, t->step_length * sizeof *more);
    r->trace = more;
    r->trace_length += t->step_length;
    for (unsigned k = 0; k < t->step_length; k++)
        model_apply(&t->x->o->model, s, &t->step[k]);
    return true;
}

/* Names change places from one stored state to the next, so the schedule is found by going along
 * the stored states with one that keeps its names. */
static bool follow(struct tracer *t, const uint64_t *way, unsigned n) {
    const struct search *x = t->x;
    struct state s;
    unpack(&x->packing, store_get(&x->store, way[0]), &s);
    if (x->from)
        s = *x->from;
    t->r->start = s;
    t->step_length = 0;
    if (!append_step(t, &s)) /* no step at all is a trace too */
        return false;
    for (unsigned i = 1; i < n; i++) {
        t->wanted = store_get(&x->store, way[i]);
        t->found = false;
        walk_successors(&t->walk, &s);
        if (!t->found)
            abort(); /* packing tells two names of one state apart */
        if (!append_step(t, &s))
            return false;
    }
    if (!x->found.by_step)
        return true;
    t->walk.visit = see_violation;
    t->walk.step = x->o->between ? see_violation : NULL;
    t->found = false;
    walk_successors(&t->walk, &s);
    return append_step(t, &s);
}

static struct tracer open_tracer(const struct search *x, struct explore_result *r) {
    struct tracer t = {.x = x, .r = r};
    t.walk = (struct walk){.visit = compare_successor};
    walk_begin(&t.walk, &x->o->model, x->reduction);
    return t;
}

void search_follow(const struct search *x, const uint64_t *way, unsigned n,
                   struct explore_result *r) {
    struct tracer t = open_tracer(x, r);
    t.walk.context = &t;
    if (!follow(&t, way, n)) {
        free(r->trace);
        r->trace = NULL;
    }
}

void search_trace(const struct search *x, struct explore_result *r) {
    struct tracer t = open_tracer(x, r);
    unsigned level = 0;
    t.walk.context = &t;
    while (level + 1 < x->levels && x->level[level + 1] <= x->found.state)
        level++;
    uint64_t *way = calloc(level + 1U, sizeof *way);
    if (!way)
        return;
    way[level] = x->found.state;
    for (unsigned l = level; l-- > 0;) {
        t.wanted = store_get(&x->store, way[l + 1]);
        way[l] = predecessor(&t, l);
    }
    search_follow(x, way, level + 1, r);
    free(way);
}
