/* SPDX-License-Identifier: MIT
 *
 * Directed search through the on-the-fly model (explore.h): from a state towards a violation.
 *
 * The macro steps and the set of seen states are those of explore.c; what differs is which state
 * is looked at next.  States fall into cells by a coarse view of them: where every process is,
 * which handshake it answered last, whether a store waits in its buffer and would insert something
 * white, how much of what is reachable is neither marked nor grey-protected.  The cell that has
 * been served least is next (novelty: Go-Explore, best-first width search), and one is served the
 * more often the more is unprotected, which is what a collector is about to lose.  Nothing in the
 * view is a ghost: marks, work-lists, buffers and answers are there in a real collector.
 */
#include "models/onthefly/exploration/assume.h"
#include "models/onthefly/exploration/search.h"

#include <stdlib.h>
#include <string.h>

enum { CELLS = 1 << 20, NOTHING = -1 };

struct cell {
    uint64_t key;
    uint32_t visits;
    int32_t first; /* its states, the last to arrive first: deep ways are good ways */
    uint8_t danger;
    bool queued;
};

struct directed {
    struct search x;
    struct cell *cells; /* hash table by key */
    unsigned n_cells;
    uint32_t *heap; /* cells with states in them, the one to be served next first */
    unsigned n_heap;
    struct link {
        int32_t parent, next; /* the state that led here; the next of its cell */
    } * links;
    uint64_t capacity;
    int32_t current;
    bool moved;
    uint64_t steps;
};

/* ---- the view ---------------------------------------------------------------------------------
 */

static uint64_t mix(uint64_t hash, uint64_t value) {
    hash = (hash ^ value) * 0xd6e8feb86659fd93;
    return hash ^ hash >> 32;
}

static refset targets_of(const struct model *m, const struct state *s, unsigned r) {
    unsigned set = 0;
    for (unsigned f = 0; f < m->fields; f++)
        set |= 1U << state_field(s, r, f);
    return (refset)(set >> 1);
}

/* What is on a work-list, and what that leads to by white objects. */
static refset protected_by_greys(const struct model *m, const struct state *s, unsigned marked) {
    unsigned set = s->W | s->agent[GC].W, before;
    for (unsigned p = 0; p < m->mutators; p++)
        set |= s->agent[p].W;
    do {
        before = set;
        for (unsigned r = 0; r < m->refs; r++)
            if (set >> r & 1)
                set |= targets_of(m, s, r) & ~marked;
    } while (set != before);
    return (refset)set;
}

static unsigned count(unsigned set) {
    unsigned n = 0;
    for (; set; set &= set - 1)
        n++;
    return n;
}

static uint64_t view_mutator(const struct state *s, unsigned p, unsigned marked, unsigned lost) {
    const struct agent *a = &s->agent[p];
    unsigned pending = s->tso.count[p], inserts = 0;
    for (unsigned i = 0; i < pending; i++) {
        struct tso_entry e = s->tso.buffer[p][i];
        inserts |= e.cell >= CELL_FIELD && e.value && !(marked >> (e.value - 1) & 1);
    }
    uint64_t view = (uint64_t)a->pc << 24 | (uint64_t)a->mark_pc << 16 | (uint64_t)a->hp << 8;
    return view | (s->pending >> p & 1U) << 7 | count(lost) << 3 | inserts << 1 | (pending > 0);
}

/* The cell of a state, and how much is in danger; the same for states that differ by names. */
static uint64_t look(const struct model *m, const struct state *s, unsigned *danger) {
    uint64_t view[MUTATORS_MAX];
    unsigned marked = state_marked(m, s), safe = marked | protected_by_greys(m, s, marked);
    *danger = 0;
    for (unsigned p = 0; p < m->mutators; p++) {
        unsigned lost = state_closure(m, s, state_roots(s, p)) & ~safe;
        bool answered = s->agent[p].hp == HP_IDLE_MARK_SWEEP && s->hp == HP_IDLE_MARK_SWEEP &&
                        s->tso.memory[CELL_PHASE] != PHASE_IDLE;
        if (answered && count(lost) > *danger)
            *danger = count(lost);
        uint64_t mine = view_mutator(s, p, marked, lost);
        unsigned at = p;
        for (; at > 0 && view[at - 1] > mine; at--)
            view[at] = view[at - 1];
        view[at] = mine;
    }
    uint64_t key = (uint64_t)s->agent[GC].pc << 8 | s->agent[GC].mark_pc;
    for (unsigned p = 0; p < m->mutators; p++)
        key = mix(key, view[p]);
    return key ? key : 1;
}

/* ---- cells ------------------------------------------------------------------------------------
 */

static uint64_t rank(const struct directed *d, uint32_t cell) {
    const struct cell *c = &d->cells[cell];
    return (uint64_t)(c->visits >> 2 * c->danger) << 32 | cell;
}

static void swap(struct directed *d, unsigned i, unsigned k) {
    uint32_t moved = d->heap[i];
    d->heap[i] = d->heap[k];
    d->heap[k] = moved;
}

static void sift_up(struct directed *d, unsigned i) {
    for (; i > 0 && rank(d, d->heap[i]) < rank(d, d->heap[(i - 1) / 2]); i = (i - 1) / 2)
        swap(d, i, (i - 1) / 2);
}

static void sift_down(struct directed *d) {
    for (unsigned i = 0, least;; i = least) {
        least = i;
        for (unsigned k = 2 * i + 1; k <= 2 * i + 2 && k < d->n_heap; k++)
            if (rank(d, d->heap[k]) < rank(d, d->heap[least]))
                least = k;
        if (least == i)
            return;
        swap(d, i, least);
    }
}

/* The cell with this key; when the table is nearly full, cells are shared. */
static uint32_t find_cell(struct directed *d, uint64_t key) {
    uint32_t at = (uint32_t)(key >> 20) % CELLS;
    for (; d->cells[at].key && d->cells[at].key != key; at = (at + 1) % CELLS)
        if (d->n_cells > CELLS / 2)
            return at;
    d->n_cells += !d->cells[at].key;
    return at;
}

static void enqueue(struct directed *d, const struct state *s, int32_t number) {
    unsigned danger;
    uint64_t key = look(&d->x.o->model, s, &danger);
    uint32_t at = find_cell(d, key);
    struct cell *c = &d->cells[at];
    if (!c->key)
        *c = (struct cell){.key = key, .danger = (uint8_t)danger, .first = NOTHING};
    d->links[number].next = c->first;
    c->first = number;
    if (c->queued)
        return;
    c->queued = true;
    d->heap[d->n_heap++] = at;
    sift_up(d, d->n_heap - 1);
}

/* The next state to look at, or NOTHING. */
static int32_t dequeue(struct directed *d) {
    if (!d->n_heap)
        return NOTHING;
    struct cell *c = &d->cells[d->heap[0]];
    int32_t number = c->first;
    c->first = d->links[number].next;
    c->visits++; /* so it sinks */
    c->queued = c->first != NOTHING;
    if (!c->queued)
        d->heap[0] = d->heap[--d->n_heap];
    sift_down(d);
    return number;
}

/* ---- search -----------------------------------------------------------------------------------
 */

static bool has_link(struct directed *d) {
    if (d->x.store.n < d->capacity)
        return true;
    if (d->capacity > INT32_MAX / 2)
        return false;
    struct link *more = realloc(d->links, d->capacity * 2 * sizeof *more);
    if (!more)
        return false;
    d->links = more;
    d->capacity *= 2;
    return true;
}

static void find(struct directed *d, enum explore_end end, unsigned broken, bool by_step) {
    if (d->x.found.end == EXPLORE_COMPLETE)
        d->x.found = (struct finding){
            .end = end, .state = (uint64_t)d->current, .broken = broken, .by_step = by_step};
}

static void add(struct search *x, const struct state *s) {
    struct directed *d = (struct directed *)x; /* its first member */
    uint8_t packed[PACK_BYTES_MAX];
    if (x->found.end != EXPLORE_COMPLETE)
        return;
    pack_canonical(&x->packing, s, packed);
    int32_t number = (int32_t)x->store.n;
    enum store_result r =
        has_link(d) ? store_add(&x->store, packed, store_hash(&x->store, packed)) : STORE_FULL;
    if (r == STORE_NEW) {
        d->links[number] = (struct link){d->current, NOTHING};
        enqueue(d, s, number);
        if (x->o->states && x->store.n > x->o->states)
            find(d, EXPLORE_STATES, 0, false);
    } else if (r == STORE_FULL) {
        find(d, EXPLORE_MEMORY, 0, false);
    }
}

static void see_successor(struct walk *w, const struct state *s) {
    struct directed *d = w->context;
    const struct explore_options *o = d->x.o;
    unsigned broken = invariants_broken(&o->model, s, w->events, o->invariants);
    d->moved = true;
    d->x.transitions++;
    if (search_wants(o, broken))
        find(d, EXPLORE_VIOLATION, broken, true);
    else if (!broken)
        add(&d->x, s);
}

static void count_step(struct walk *w, const struct state *s) {
    struct directed *d = w->context;
    (void)s;
    d->steps++;
}

static void expand(struct directed *d) {
    struct search *x = &d->x;
    struct walk walk = {.visit = see_successor, .step = count_step, .context = d};
    walk_begin(&walk, &x->o->model, x->reduction);
    struct state s;
    unpack(&x->packing, store_get(&x->store, (uint64_t)d->current), &s);
    d->moved = false;
    unsigned broken = invariants_broken(&x->o->model, &s, EVENT_NONE, x->o->invariants);
    if (search_wants(x->o, broken))
        find(d, EXPLORE_VIOLATION, broken, false);
    else if (broken)
        d->moved = true;
    else if (x->o->fair && !fair_run_completes(&x->o->model, &s))
        find(d, EXPLORE_UNFAIR, 0, false);
    else
        walk_successors(&walk, &s);
    if (walk.unsound) {
        find(d, EXPLORE_UNSOUND, 0, false);
        x->found.unsound = walk.unsound;
    }
    if (!d->moved)
        find(d, EXPLORE_DEADLOCK, 0, false);
}

static void take_figures(const struct directed *d, uint64_t expanded, struct explore_figures *f) {
    const struct store *store = &d->x.store;
    f->states = store->n;
    f->expanded = expanded;
    f->transitions = d->x.transitions;
    f->bytes = store->bytes + d->capacity * sizeof *d->links;
    f->state_bytes = store->width;
    f->steps = d->steps;
}

static void run(struct directed *d, struct explore_result *r) {
    const struct explore_options *o = d->x.o;
    uint64_t expanded = 0;
    take_figures(d, expanded, &r->figures); /* the initial states alone may reach a bound */
    while (d->x.found.end == EXPLORE_COMPLETE && (d->current = dequeue(d)) != NOTHING) {
        expand(d);
        take_figures(d, ++expanded, &r->figures);
        if (expanded % 1024 == 0 && o->progress && !o->progress(&r->figures, o->context))
            find(d, EXPLORE_STOPPED, 0, false);
    }
}

/* The way from the beginning to what was found. */
static void trace(const struct directed *d, struct explore_result *r) {
    unsigned n = 0;
    for (int32_t at = (int32_t)d->x.found.state; at != NOTHING; at = d->links[at].parent)
        n++;
    uint64_t *way = calloc(n, sizeof *way);
    if (!way)
        return;
    r->figures.depth = n - 1;
    for (int32_t at = (int32_t)d->x.found.state; at != NOTHING; at = d->links[at].parent)
        way[--n] = (uint64_t)at;
    search_follow(&d->x, way, r->figures.depth + 1, r);
    free(way);
}

struct explore_result explore_directed(const struct explore_options *o, const struct state *from) {
    enum { FIRST = 1 << 12 };
    struct explore_result r = {.end = EXPLORE_MEMORY};
    enum reduction reduction = assume_reduction(&o->model, o->reduction);
    struct directed d = {
        .x = {.o = o, .from = from, .reduction = reduction}, .capacity = FIRST, .current = NOTHING};
    r.reduction = reduction;
    pack_open(&d.x.packing, &o->model, o->symmetry);
    uint64_t links = o->memory / (d.x.packing.bytes + 4 + sizeof *d.links) * sizeof *d.links;
    d.cells = calloc(CELLS, sizeof *d.cells);
    d.heap = calloc(CELLS, sizeof *d.heap);
    d.links = calloc(FIRST, sizeof *d.links);
    bool opened = d.cells && d.heap && d.links &&
                  store_open(&d.x.store, d.x.packing.bytes, o->memory - links);
    if (opened) {
        if (from)
            add(&d.x, from);
        else
            search_begin(&d.x, add);
        run(&d, &r);
        r.end = d.x.found.end;
        r.broken = d.x.found.broken;
        r.unsound = d.x.found.unsound;
        if (r.end == EXPLORE_VIOLATION || r.end == EXPLORE_DEADLOCK || r.end == EXPLORE_UNFAIR)
            trace(&d, &r);
        store_close(&d.x.store);
    }
    free(d.links);
    free(d.heap);
    free(d.cells);
    return r;
}
