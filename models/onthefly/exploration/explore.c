/* SPDX-License-Identifier: MIT
 *
 * Breadth-first search through the on-the-fly model (explore.h).
 *
 * The states of a level are looked at in batches.  Workers take the shares of a batch as they come
 * to them, check its states, pack their successors and leave out those that the store has already,
 * which are most; then the others go into the store in the order of the states.  So the order, and
 * with it every result, is the same for any number of workers.
 */
#define _POSIX_C_SOURCE 200809L /* pthread_barrier */
#include "models/onthefly/exploration/assume.h"
#include "models/onthefly/exploration/search.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEVELS_MAX = 1 << 16,
    SHARE = 256,     /* states */
    SHARES_MAX = 64, /* of a batch */
    JOBS_MAX = 64
};

struct crew;

/* Some states of a batch, and what came of them. */
struct share {
    uint64_t from, to;
    uint64_t transitions;
    uint8_t *out; /* packed successors that are not in the store, each behind its hash */
    size_t n_out, capacity;
    bool failed; /* no memory */
    struct finding found;
};

struct worker {
    struct search *x;
    pthread_t thread;
    struct crew *crew;
    struct walk walk;
    struct share *share; /* what it works on */
    uint64_t current;
    bool moved;  /* the current state has a successor */
    bool beyond; /* what was looked at last breaks something */
};

/* ---- a share ----------------------------------------------------------------------------------
 */

static void note_violation(struct worker *w, unsigned broken) {
    struct finding *f = &w->share->found;
    f->end = EXPLORE_VIOLATION;
    f->state = w->current;
    f->broken = broken;
    f->by_step = true;
}

static bool over(const struct worker *w) {
    return w->share->failed || w->share->found.end != EXPLORE_COMPLETE;
}

static void see_step(struct walk *walk, const struct state *s) {
    struct worker *w = walk->context;
    unsigned broken = invariants_broken(walk->model, s, walk->events, w->x->o->invariants);
    w->beyond = broken != 0;
    if (search_wants(w->x->o, broken) && !over(w))
        note_violation(w, broken);
}

/* Room for one more; NULL, and the share has failed. */
static uint8_t *next_out(struct share *h, size_t width) {
    if (h->n_out == h->capacity) {
        size_t capacity = h->capacity ? h->capacity * 2 : 1024;
        uint8_t *more = realloc(h->out, capacity * width);
        h->failed = !more;
        if (!more)
            return NULL;
        h->out = more;
        h->capacity = capacity;
    }
    return h->out + h->n_out * width;
}

static void see_successor(struct walk *walk, const struct state *s) {
    struct worker *w = walk->context;
    struct search *x = w->x;
    uint8_t packed[PACK_BYTES_MAX];
    if (over(w))
        return;
    w->moved = true;
    if (walk->events) /* no state shows them */
        see_step(walk, s);
    if (over(w) || (walk->events && w->beyond))
        return;
    w->share->transitions++;
    pack_canonical(&x->packing, s, packed);
    uint64_t hash = store_hash(&x->store, packed);
    if (store_has(&x->store, packed, hash))
        return;
    uint8_t *out = next_out(w->share, sizeof hash + x->packing.bytes);
    if (!out)
        return;
    memcpy(out, &hash, sizeof hash);
    memcpy(out + sizeof hash, packed, x->packing.bytes);
    w->share->n_out++;
}

static void expand(struct worker *w) {
    const struct explore_options *o = w->x->o;
    struct state s;
    struct finding *f = &w->share->found;
    unpack(&w->x->packing, store_get(&w->x->store, w->current), &s);
    unsigned broken = invariants_broken(&o->model, &s, EVENT_NONE, o->invariants);
    w->moved = broken != 0; /* nobody asks what follows */
    f->broken = search_wants(o, broken) ? broken : 0;
    if (f->broken)
        f->end = EXPLORE_VIOLATION;
    else if (broken)
        return;
    else if (o->fair && !fair_run_completes(&o->model, &s))
        f->end = EXPLORE_UNFAIR;
    else
        walk_successors(&w->walk, &s);
    if (!over(w) && w->walk.unsound) {
        f->end = EXPLORE_UNSOUND;
        f->unsound = w->walk.unsound;
    }
    if (!over(w) && !w->moved)
        f->end = EXPLORE_DEADLOCK;
    if (f->end != EXPLORE_COMPLETE)
        f->state = w->current;
}

static void do_share(struct worker *w, struct share *h) {
    w->share = h;
    h->n_out = 0;
    h->transitions = 0;
    for (w->current = h->from; w->current < h->to && !over(w); w->current++)
        expand(w);
}

/* ---- workers ----------------------------------------------------------------------------------
 */

struct crew {
    struct worker worker[JOBS_MAX];
    unsigned n;
    struct share share[SHARES_MAX];
    unsigned n_shares;
    atomic_uint next;       /* share that nobody has taken */
    pthread_mutex_t hiring; /* held until n is known and the barriers are there */
    pthread_barrier_t begin, end;
    bool quit;
};

static void do_shares(struct worker *w) {
    struct crew *c = w->crew;
    for (unsigned i; (i = atomic_fetch_add(&c->next, 1)) < c->n_shares;)
        do_share(w, &c->share[i]);
}

static void *work(void *context) {
    struct worker *w = context;
    pthread_mutex_lock(&w->crew->hiring);
    pthread_mutex_unlock(&w->crew->hiring);
    for (;;) {
        pthread_barrier_wait(&w->crew->begin);
        if (w->crew->quit)
            return NULL;
        do_shares(w);
        pthread_barrier_wait(&w->crew->end);
    }
}

static void introduce(struct crew *c, struct worker *w, struct search *x) {
    w->x = x;
    w->crew = c;
    w->walk = (struct walk){
        .visit = see_successor, .step = x->o->between ? see_step : NULL, .context = w};
    walk_begin(&w->walk, &x->o->model, x->reduction);
}

/* The calling thread is the first worker.  If the system has no more threads, fewer work. */
static bool hire(struct crew *c, struct search *x) {
    unsigned jobs = x->o->jobs < 1 ? 1 : x->o->jobs > JOBS_MAX ? JOBS_MAX : x->o->jobs;
    memset(c, 0, sizeof *c);
    if (pthread_mutex_init(&c->hiring, NULL) != 0)
        return false;
    pthread_mutex_lock(&c->hiring);
    introduce(c, &c->worker[0], x);
    for (c->n = 1; c->n < jobs; c->n++) {
        struct worker *w = &c->worker[c->n];
        introduce(c, w, x);
        if (pthread_create(&w->thread, NULL, work, w) != 0)
            break;
    }
    /* these fail for no reason but a count of 0 */
    if (pthread_barrier_init(&c->begin, NULL, c->n) != 0 ||
        pthread_barrier_init(&c->end, NULL, c->n) != 0)
        abort();
    pthread_mutex_unlock(&c->hiring);
    return true;
}

static void dismiss(struct crew *c) {
    c->quit = true;
    pthread_barrier_wait(&c->begin);
    for (unsigned i = 1; i < c->n; i++)
        pthread_join(c->worker[i].thread, NULL);
    for (unsigned i = 0; i < SHARES_MAX; i++)
        free(c->share[i].out);
    pthread_barrier_destroy(&c->begin);
    pthread_barrier_destroy(&c->end);
    pthread_mutex_destroy(&c->hiring);
}

static void do_batch(struct crew *c, uint64_t from, uint64_t to) {
    for (c->n_shares = 0; from < to; c->n_shares++) {
        struct share *h = &c->share[c->n_shares];
        h->from = from;
        h->to = to - from < SHARE ? to : from + SHARE;
        from = h->to;
    }
    atomic_store(&c->next, 0);
    if (c->n_shares == 1 || c->n == 1) { /* nobody else need be woken */
        do_shares(&c->worker[0]);
        return;
    }
    pthread_barrier_wait(&c->begin);
    do_shares(&c->worker[0]);
    pthread_barrier_wait(&c->end);
}

/* ---- the search -------------------------------------------------------------------------------
 */

static void add_packed(struct search *x, const uint8_t *packed, uint64_t hash) {
    if (x->found.end != EXPLORE_COMPLETE)
        return;
    if (store_add(&x->store, packed, hash) == STORE_FULL)
        x->found.end = EXPLORE_MEMORY;
    else if (x->o->states && x->store.n > x->o->states)
        x->found.end = EXPLORE_STATES;
}

static void add_state(struct search *x, const struct state *s) {
    uint8_t packed[PACK_BYTES_MAX];
    pack_canonical(&x->packing, s, packed);
    add_packed(x, packed, store_hash(&x->store, packed));
}

/* The shares of a batch in order, up to the first that found something. */
static void collect(struct search *x, const struct crew *c) {
    for (unsigned i = 0; i < c->n_shares && x->found.end == EXPLORE_COMPLETE; i++) {
        const struct share *h = &c->share[i];
        uint64_t hash;
        x->transitions += h->transitions;
        for (size_t k = 0; k < h->n_out; k++) {
            const uint8_t *out = h->out + k * (sizeof hash + x->packing.bytes);
            memcpy(&hash, out, sizeof hash);
            add_packed(x, out + sizeof hash, hash);
        }
        if (h->failed && x->found.end == EXPLORE_COMPLETE)
            x->found.end = EXPLORE_MEMORY;
        if (x->found.end == EXPLORE_COMPLETE)
            x->found = h->found;
    }
}

static void take_figures(const struct search *x, uint64_t expanded, struct explore_figures *f) {
    f->states = x->store.n;
    f->expanded = expanded;
    f->transitions = x->transitions;
    f->bytes = x->store.bytes;
    f->depth = x->levels > 1 ? x->levels - 2 : 0;
    f->state_bytes = x->packing.bytes;
}

static void run(struct search *x, struct crew *c, struct explore_result *r) {
    uint64_t at = 0, batch = (uint64_t)SHARE * SHARES_MAX;
    while (x->found.end == EXPLORE_COMPLETE && at < x->store.n) {
        if (at == x->level[x->levels - 1] && x->levels < LEVELS_MAX)
            x->level[x->levels++] = x->store.n; /* where the next level begins */
        uint64_t end = x->level[x->levels - 1];
        end = end - at > batch ? at + batch : end;
        do_batch(c, at, end);
        collect(x, c);
        at = end;
        take_figures(x, at, &r->figures);
        if (x->o->progress && !x->o->progress(&r->figures, x->o->context) &&
            x->found.end == EXPLORE_COMPLETE)
            x->found.end = EXPLORE_STOPPED;
    }
    take_figures(x, at, &r->figures);
}

struct explore_result explore(const struct explore_options *o) {
    static const struct finding nothing = {.end = EXPLORE_COMPLETE};
    struct explore_result r = {.end = EXPLORE_MEMORY};
    struct search x = {.o = o, .levels = 1, .found = nothing};
    struct crew *crew = malloc(sizeof *crew);
    r.reduction = x.reduction = assume_reduction(&o->model, o->reduction);
    pack_open(&x.packing, &o->model, o->symmetry);
    x.level = calloc(LEVELS_MAX + 1, sizeof *x.level);
    bool opened = crew && x.level && store_open(&x.store, x.packing.bytes, o->memory);
    if (opened && hire(crew, &x)) {
        search_begin(&x, add_state);
        run(&x, crew, &r);
        dismiss(crew);
        r.end = x.found.end;
        r.broken = x.found.broken;
        r.unsound = x.found.unsound;
        if (r.end == EXPLORE_VIOLATION || r.end == EXPLORE_DEADLOCK || r.end == EXPLORE_UNFAIR)
            search_trace(&x, &r);
    }
    if (opened)
        store_close(&x.store);
    free(x.level);
    free(crew);
    return r;
}
