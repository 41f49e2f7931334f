/* SPDX-License-Identifier: MIT
 *
 * Liveness of the on-the-fly model: whether a cycle of the collector that has begun can go on for
 * ever although everybody is fair (explore.h).
 *
 * All states are numbered first, breadth first, every step taken and no names exchanged.  What
 * never ends a cycle is a way in the graph without the steps that end one, and for ever in one
 * strongly connected component of it (Tarjan).  A component is fair if each of the following is,
 * and then a way that goes round all of it is a counter-example:
 *
 * - weakly, that is, taken again and again or again and again impossible: the collector; a mutator
 *   in the middle of an operation or of an answer; the commits of each store buffer;
 * - strongly, taken again and again or never possible from some time on: that a mutator which is
 *   asked begins to answer.
 *
 * Nothing else is owed: a mutator need not begin an operation, nor wake.  Where only the strong
 * kind fails, what remains of the component without the states in which that step is possible is
 * looked at again.  A state in which nobody owes a step is a loop of no steps.
 */
#include "models/onthefly/exploration/search.h"

#include <stdlib.h>
#include <string.h>

enum { BY_GC, BY_MUTATOR, COMMIT = BY_MUTATOR + MUTATORS_MAX, ANSWER = COMMIT + TSO_PROCESSES };
enum {
    CLASSES = ANSWER + MUTATORS_MAX,
    NO_CLASS = CLASSES,
    EDGES_MAX = TSO_PROCESSES * (ACTIONS_MAX + 1)
};
enum { ALL = (1 << CLASSES) - 1, STRONG = ALL & ~((1 << ANSWER) - 1), NOWHERE = 0 };

struct edge {
    uint32_t to;
    uint8_t class;
    bool ends; /* a cycle */
    struct action step;
};

/* Numbers of states. */
struct numbers {
    uint32_t *at;
    size_t n, capacity;
};

/* A part of the graph, and what is left of one. */
struct region {
    uint32_t id;
    struct numbers states;
};

struct graph {
    struct search *x;
    uint32_t *from;        /* who was there before, breadth first; UINT32_MAX: nobody */
    uint32_t *region;      /* NOWHERE before the first */
    uint32_t *order, *low; /* Tarjan */
    uint32_t *before;      /* a way within a component */
    uint32_t regions, visited;
    struct numbers stack, succ, frames, way;
    struct region *todo;
    size_t n_todo;
    uint32_t found; /* the region of a fair component; NOWHERE: none */
    bool failed;    /* no memory */
    struct edge edge[EDGES_MAX];
};

static void push(struct graph *g, struct numbers *list, uint32_t number) {
    if (list->n == list->capacity) {
        size_t capacity = list->capacity ? list->capacity * 2 : 256;
        uint32_t *more = realloc(list->at, capacity * sizeof *more);
        g->failed |= !more;
        if (!more)
            return;
        list->at = more;
        list->capacity = capacity;
    }
    list->at[list->n++] = number;
}

/* ---- edges ------------------------------------------------------------------------------------
 */

static unsigned class_of(const struct state *s, const struct action *x) {
    unsigned pc = s->agent[x->process].pc;
    if (x->op == DO_COMMIT)
        return COMMIT + x->process;
    if (x->process == GC)
        return BY_GC;
    if (x->op == DO_HANDSHAKE)
        return ANSWER + x->process;
    return pc == mut_top || pc == mut_blocked ? NO_CLASS : BY_MUTATOR + x->process;
}

static bool ends_cycle(const struct state *s, const struct action *x) {
    return x->process == GC && x->op != DO_COMMIT && s->agent[GC].mark_pc == mo_out &&
           s->agent[GC].pc == gc_phase_idle;
}

static void add_edge(struct graph *g, const struct state *s, const struct action *x, bool grows,
                     unsigned *n) {
    struct search *search = g->x;
    uint8_t packed[PACK_BYTES_MAX];
    struct state next = *s;
    model_apply(&search->o->model, &next, x);
    pack_canonical(&search->packing, &next, packed);
    uint64_t hash = store_hash(&search->store, packed);
    if (grows && store_add(&search->store, packed, hash) == STORE_FULL) {
        search->found.end = EXPLORE_MEMORY;
        return;
    }
    g->edge[(*n)++] = (struct edge){(uint32_t)store_find(&search->store, packed, hash),
                                    (uint8_t)class_of(s, x), ends_cycle(s, x), *x};
}

/* All steps from a state, into g->edge; grows: they may lead to new ones. */
static unsigned edges_of(struct graph *g, uint32_t number, bool grows) {
    const struct model *m = &g->x->o->model;
    struct action actions[ACTIONS_MAX + 1];
    struct state s;
    unsigned n = 0;
    unpack(&g->x->packing, store_get(&g->x->store, number), &s);
    for (unsigned p = 0; p < TSO_PROCESSES; p++) {
        if (p >= m->mutators && p != GC)
            continue;
        unsigned count = model_actions(m, &s, p, actions);
        if (model_can_commit(&s, p))
            actions[count++] = (struct action){(uint8_t)p, DO_COMMIT, 0, 0, 0};
        for (unsigned i = 0; i < count; i++)
            add_edge(g, &s, &actions[i], grows, &n);
    }
    return n;
}

static unsigned possible(const struct graph *g, unsigned edges) {
    unsigned set = 0;
    for (unsigned i = 0; i < edges; i++)
        set |= 1U << g->edge[i].class;
    return set & ALL;
}

static bool within(const struct graph *g, const struct edge *e, uint32_t region) {
    return !e->ends && g->region[e->to] == region;
}

/* ---- the graph --------------------------------------------------------------------------------
 */

static bool stopped(struct graph *g, uint64_t expanded) {
    struct search *x = g->x;
    struct explore_figures f = {
        .states = x->store.n, .expanded = expanded, .bytes = x->store.bytes};
    if (x->o->states && x->store.n > x->o->states)
        x->found.end = EXPLORE_STATES;
    else if (expanded % 4096 == 0 && x->o->progress && !x->o->progress(&f, x->o->context))
        x->found.end = EXPLORE_STOPPED;
    return g->failed || x->found.end != EXPLORE_COMPLETE;
}

static void add_initial(struct search *x, const struct state *s) {
    uint8_t packed[PACK_BYTES_MAX];
    pack_canonical(&x->packing, s, packed);
    if (store_add(&x->store, packed, store_hash(&x->store, packed)) == STORE_FULL)
        x->found.end = EXPLORE_MEMORY;
}

/* Numbers all states; false: something ended that. */
static bool number_states(struct graph *g) {
    struct search *x = g->x;
    struct numbers from = {0};
    search_begin(x, add_initial);
    for (uint64_t i = 0; i < x->store.n; i++)
        push(g, &from, UINT32_MAX);
    for (uint64_t i = 0; i < x->store.n && !stopped(g, i); i++) {
        x->transitions += edges_of(g, (uint32_t)i, true);
        while (from.n < x->store.n && !g->failed)
            push(g, &from, (uint32_t)i);
    }
    g->from = from.at;
    return !g->failed && x->found.end == EXPLORE_COMPLETE;
}

/* ---- components -------------------------------------------------------------------------------
 */

static void push_region(struct graph *g, struct region r) {
    struct region *more = realloc(g->todo, (g->n_todo + 1) * sizeof *more);
    g->failed |= !more;
    if (!more) {
        free(r.states.at);
        return;
    }
    g->todo = more;
    g->todo[g->n_todo++] = r;
}

/* A component without the states in which one of these classes is possible. */
static void split(struct graph *g, const uint32_t *states, size_t n, unsigned classes) {
    struct region r = {++g->regions, {0}};
    for (size_t i = 0; i < n; i++) {
        if (possible(g, edges_of(g, states[i], false)) & classes)
            continue;
        g->region[states[i]] = r.id;
        push(g, &r.states, states[i]);
    }
    if (r.states.n)
        push_region(g, r);
    else
        free(r.states.at);
}

/* Whether a component, which is a region of its own, is fair. */
static void judge(struct graph *g, const uint32_t *states, size_t n, uint32_t region) {
    unsigned taken = 0, once = 0, always = ALL;
    bool loops = false;
    for (size_t i = 0; i < n; i++) {
        unsigned edges = edges_of(g, states[i], false), here = possible(g, edges);
        once |= here;
        always &= here;
        loops |= !here;
        for (unsigned k = 0; k < edges; k++)
            if (within(g, &g->edge[k], region)) {
                taken |= 1U << g->edge[k].class;
                loops = true;
            }
    }
    unsigned wronged = always & ~(unsigned)STRONG & ~taken, denied = once & STRONG & ~taken;
    if (!loops || wronged)
        return;
    if (denied)
        split(g, states, n, denied);
    else
        g->found = region;
}

/* Frames hold a state, where its successors begin in succ, and which is next. */
static void enter(struct graph *g, uint32_t state, uint32_t region) {
    unsigned edges = edges_of(g, state, false);
    g->order[state] = g->low[state] = ++g->visited;
    push(g, &g->stack, state);
    push(g, &g->frames, state);
    push(g, &g->frames, (uint32_t)g->succ.n);
    push(g, &g->frames, (uint32_t)g->succ.n);
    for (unsigned i = 0; i < edges; i++)
        if (within(g, &g->edge[i], region))
            push(g, &g->succ, g->edge[i].to);
}

/* The component that a state is the first of is on the stack from it on. */
static void leave_component(struct graph *g, uint32_t state) {
    size_t first = g->stack.n;
    uint32_t id = ++g->regions;
    do
        g->region[g->stack.at[--first]] = id;
    while (g->stack.at[first] != state);
    judge(g, g->stack.at + first, g->stack.n - first, id);
    g->stack.n = first;
}

static void take_frame(struct graph *g, uint32_t region) {
    uint32_t *frame = g->frames.at + g->frames.n - 3, state = frame[0];
    if (frame[2] < g->succ.n) {
        uint32_t to = g->succ.at[frame[2]++];
        if (!g->order[to])
            enter(g, to, region);
        else if (g->region[to] == region && g->order[to] < g->low[state])
            g->low[state] = g->order[to];
        return;
    }
    g->succ.n = frame[1];
    g->frames.n -= 3;
    if (g->low[state] == g->order[state])
        leave_component(g, state);
    if (!g->frames.n)
        return;
    uint32_t parent = g->frames.at[g->frames.n - 3];
    if (g->low[state] < g->low[parent])
        g->low[parent] = g->low[state];
}

static void decompose(struct graph *g, const struct region *r) {
    g->visited = 0;
    for (size_t i = 0; i < r->states.n; i++)
        g->order[r->states.at[i]] = 0;
    for (size_t i = 0; i < r->states.n && !g->failed && !g->found; i++) {
        if (g->order[r->states.at[i]])
            continue;
        enter(g, r->states.at[i], r->id);
        while (g->frames.n && !g->failed && !g->found)
            take_frame(g, r->id);
    }
}

static bool open_arrays(struct graph *g) {
    size_t n = g->x->store.n;
    g->region = calloc(n, sizeof *g->region);
    g->order = calloc(n, sizeof *g->order);
    g->low = calloc(n, sizeof *g->low);
    g->before = calloc(n, sizeof *g->before);
    return g->region && g->order && g->low && g->before;
}

static void find_component(struct graph *g) {
    struct region all = {++g->regions, {0}};
    for (uint64_t i = 0; i < g->x->store.n; i++) {
        g->region[i] = all.id;
        push(g, &all.states, (uint32_t)i);
    }
    push_region(g, all);
    while (g->n_todo && !g->failed && !g->found) {
        struct region r = g->todo[--g->n_todo];
        decompose(g, &r);
        free(r.states.at);
    }
}

/* ---- the lasso --------------------------------------------------------------------------------
 */

/* What a way within the component is to lead to: a state where a class is impossible, a step of it,
 * or a state. */
struct goal {
    enum { IMPOSSIBLE, STEP, STATE } kind;
    unsigned class;
    uint32_t state;
};

/* Whether a state is the goal; *last: the step that belongs to it leads there. */
static bool reaches(struct graph *g, uint32_t state, const struct goal *goal, uint32_t *last) {
    *last = UINT32_MAX;
    if (goal->kind == STATE)
        return state == goal->state;
    unsigned edges = edges_of(g, state, false);
    if (goal->kind == IMPOSSIBLE)
        return !(possible(g, edges) >> goal->class & 1);
    for (unsigned i = 0; i < edges; i++)
        if (within(g, &g->edge[i], g->found) && g->edge[i].class == goal->class)
            *last = g->edge[i].to;
    return *last != UINT32_MAX;
}

/* Lengthens the way by the states behind `from` up to `to`; before: by which each was reached. */
static void unwind(struct graph *g, const uint32_t *before, uint32_t from, uint32_t to) {
    size_t first = g->way.n;
    for (uint32_t at = to; at != from; at = before[at])
        push(g, &g->way, at);
    for (size_t i = first, k = g->way.n; i + 1 < k; i++) {
        uint32_t moved = g->way.at[--k];
        g->way.at[k] = g->way.at[i];
        g->way.at[i] = moved;
    }
}

/* Lengthens the way, within the component, by a shortest one to a goal; false: there is none. */
static bool go_to(struct graph *g, const struct goal *goal) {
    uint32_t from = g->way.at[g->way.n - 1], last;
    memset(g->before, 0xff, g->x->store.n * sizeof *g->before);
    g->stack.n = 0;
    g->before[from] = from;
    push(g, &g->stack, from);
    for (size_t i = 0; i < g->stack.n && !g->failed; i++) {
        uint32_t at = g->stack.at[i];
        if (reaches(g, at, goal, &last)) {
            unwind(g, g->before, from, at);
            if (last != UINT32_MAX)
                push(g, &g->way, last);
            return true;
        }
        unsigned edges = edges_of(g, at, false);
        for (unsigned k = 0; k < edges; k++) {
            uint32_t to = g->edge[k].to;
            if (!within(g, &g->edge[k], g->found) || g->before[to] != UINT32_MAX)
                continue;
            g->before[to] = at;
            push(g, &g->stack, to);
        }
    }
    return false;
}

/* From the state where the way ends, round what makes the component fair, and back. */
static void go_round(struct graph *g) {
    uint32_t start = g->way.at[g->way.n - 1];
    size_t before = g->way.n;
    for (unsigned class = 0; class < CLASSES; class ++) {
        struct goal impossible = {IMPOSSIBLE, class, 0}, step = {STEP, class, 0};
        if ((1U << class & STRONG) || !go_to(g, &impossible))
            go_to(g, &step); /* there need be none of a strong class */
    }
    for (unsigned class = 0; class <= NO_CLASS && g->way.n == before; class ++) {
        struct goal any = {STEP, class, 0};
        go_to(g, &any);
    }
    struct goal back = {STATE, 0, start};
    go_to(g, &back);
}

/* The way from an initial state to the first of the component that was numbered. */
static void find_stem(struct graph *g) {
    uint32_t first = 0;
    while (g->region[first] != g->found)
        first++;
    unwind(g, g->from, UINT32_MAX, first);
}

/* The steps between the states of the way; in the loop, none that ends a cycle. */
static bool name_steps(struct graph *g, struct explore_result *r, size_t stem) {
    unpack(&g->x->packing, store_get(&g->x->store, g->way.at[0]), &r->start);
    r->trace = calloc(g->way.n, sizeof *r->trace);
    for (size_t i = 0; i + 1 < g->way.n && r->trace; i++) {
        unsigned edges = edges_of(g, g->way.at[i], false), k = 0;
        while (k < edges && (g->edge[k].to != g->way.at[i + 1] || (i >= stem && g->edge[k].ends)))
            k++;
        r->trace[r->trace_length++] = g->edge[k].step;
    }
    r->loop = stem;
    return r->trace != NULL;
}

static void close_graph(struct graph *g) {
    for (size_t i = 0; i < g->n_todo; i++)
        free(g->todo[i].states.at);
    free(g->todo);
    free(g->from);
    free(g->region);
    free(g->order);
    free(g->low);
    free(g->before);
    free(g->stack.at);
    free(g->succ.at);
    free(g->frames.at);
    free(g->way.at);
    free(g);
}

static void look_for_lasso(struct graph *g, struct explore_result *r) {
    if (!number_states(g))
        return;
    g->failed |= !open_arrays(g);
    if (!g->failed)
        find_component(g);
    if (g->failed || !g->found)
        return;
    find_stem(g);
    size_t stem = g->way.n - 1;
    go_round(g);
    if (!g->failed && name_steps(g, r, stem))
        r->end = EXPLORE_LASSO;
    else
        g->failed = true;
}

struct explore_result explore_lasso(const struct explore_options *o) {
    static const struct finding nothing = {.end = EXPLORE_COMPLETE};
    struct explore_result r = {.end = EXPLORE_MEMORY, .reduction = REDUCE_NONE};
    struct search x = {.o = o, .found = nothing, .reduction = REDUCE_NONE};
    struct graph *g = calloc(1, sizeof *g);
    pack_open(&x.packing, &o->model, false);
    if (!g || !store_open(&x.store, x.packing.bytes, o->memory)) {
        free(g);
        return r;
    }
    g->x = &x;
    r.end = EXPLORE_COMPLETE;
    look_for_lasso(g, &r);
    if (g->failed)
        r.end = EXPLORE_MEMORY;
    else if (x.found.end != EXPLORE_COMPLETE)
        r.end = x.found.end;
    r.figures = (struct explore_figures){.states = x.store.n,
                                         .expanded = x.store.n,
                                         .transitions = x.transitions,
                                         .bytes = x.store.bytes,
                                         .state_bytes = x.packing.bytes};
    store_close(&x.store);
    close_graph(g);
    return r;
}
