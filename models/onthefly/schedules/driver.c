/* SPDX-License-Identifier: MIT
 *
 * Bytes as schedules of the on-the-fly model (driver.h).
 */
#include "models/onthefly/schedules/driver.h"

#include <string.h>

/* ---- numbers ----------------------------------------------------------------------------------
 */

struct source {
    const uint8_t *data;
    size_t size, at;
    uint64_t seed;
};

/* xorshift64*, the upper byte */
static unsigned next_byte(struct source *x) {
    if (x->at < x->size)
        return x->data[x->at++];
    x->seed ^= x->seed >> 12;
    x->seed ^= x->seed << 25;
    x->seed ^= x->seed >> 27;
    return (unsigned)((x->seed * 0x2545f4914f6cdd1d) >> 56);
}

static unsigned below(struct source *x, unsigned n) {
    return n < 2 ? 0 : next_byte(x) % n;
}

static uint64_t seed_of(const uint8_t *data, size_t size) {
    uint64_t seed = 0xcbf29ce484222325;
    for (size_t i = 0; i < size; i++)
        seed = (seed ^ data[i]) * 0x100000001b3;
    return seed ? seed : 1;
}

/* ---- configuration ----------------------------------------------------------------------------
 */

static void choose_model(struct source *x, struct model *m, uint64_t variant) {
    /* small ones more often: most faults need no more than two of anything */
    static const uint8_t mutators[8] = {1, 1, 2, 2, 2, 2, 3, 4};
    static const uint8_t refs[8] = {2, 2, 3, 3, 4, 2, 6, 8};
    static const uint8_t fields[8] = {1, 1, 1, 2, 1, 2, 3, 4};
    unsigned a = next_byte(x), b = next_byte(x);
    m->mutators = mutators[a & 7];
    m->refs = refs[a >> 3 & 7];
    m->sequential = (a & 0xc0) == 0xc0;
    m->fields = fields[b & 7];
    m->buffer = 1 + (b >> 3 & 3);
    m->gc_buffer = 2 + (b >> 5 & 3);
    m->variant = variant;
}

static unsigned first_roots(struct source *x, unsigned alloc) {
    return alloc & (next_byte(x) | next_byte(x));
}

static void choose_start(struct source *x, const struct model *m, struct state *s) {
    oref fields[REFS_MAX * FIELDS_MAX] = {0};
    refset roots[MUTATORS_MAX] = {0};
    unsigned all = (1U << m->refs) - 1;
    unsigned alloc = all & (next_byte(x) | next_byte(x)); /* rather full */
    for (unsigned r = 0; r < m->refs; r++)
        for (unsigned f = 0; f < m->fields && alloc >> r & 1; f++) {
            unsigned v = below(x, m->refs + 1);
            fields[r * FIELDS_MAX + f] = (oref)(v && alloc >> (v - 1) & 1 ? v : 0);
        }
    for (unsigned p = 0; p < m->mutators; p++)
        roots[p] = (refset)first_roots(x, alloc);
    model_start(m, s, (refset)alloc, fields, roots);
}

/* ---- steps ------------------------------------------------------------------------------------
 */

static unsigned pick_bit(struct source *x, unsigned set) {
    unsigned n = 0, want;
    for (unsigned rest = set; rest; rest &= rest - 1)
        n++;
    for (want = below(x, n); want; want--)
        set &= set - 1;
    for (n = 0; !(set >> n & 1); n++)
        ;
    return n;
}

/* The same for few operations at the right moments. */
static struct action choose_rarely(struct source *x, const struct model *m, const struct state *s,
                                   unsigned p) {
    struct action a = {(uint8_t)p, DO_FENCE, 0, 0, 0};
    unsigned roots = s->agent[p].roots, free = ((1U << m->refs) - 1) & ~(unsigned)s->alloc;
    unsigned byte = next_byte(x), kind = byte & 7;
    bool asked = s->pending >> p & 1;
    if (asked && type_asks_for_roots(s->type) && roots && kind < 3) {
        a.op = DO_DISCARD;
        a.a = (uint8_t)pick_bit(x, roots);
    } else if (asked && kind < 7) {
        a.op = DO_HANDSHAKE;
    } else if (byte >= 64 || !(roots | free)) {
        return a; /* nothing, for this time */
    } else if (roots && kind < 4) {
        a.op = DO_LOAD;
        a.a = (uint8_t)pick_bit(x, roots);
        a.b = (uint8_t)below(x, m->fields);
    } else if (roots && (kind < 7 || !free)) {
        a.op = DO_STORE;
        a.a = (uint8_t)pick_bit(x, roots);
        a.b = (uint8_t)below(x, m->fields);
        a.c = (uint8_t)pick_bit(x, (roots << 1) | 1);
    } else if (free) {
        a.op = DO_ALLOC;
        a.a = (uint8_t)pick_bit(x, free);
    }
    return a;
}

/* Makes a mutator if one is missing, or goes; false: neither can be. */
static bool come_or_go(struct source *x, const struct model *m, const struct state *s, unsigned p,
                       struct action *out) {
    *out = (struct action){(uint8_t)p, DO_GO, 0, 0, 0};
    for (unsigned other = 0; other < m->mutators && s->agent[p].roots; other++)
        if (s->agent[other].pc == mut_gone)
            *out = (struct action){(uint8_t)p, DO_COME, (uint8_t)other,
                                   (uint8_t)pick_bit(x, s->agent[p].roots), 0};
    return model_enabled(m, s, out);
}

/* What a mutator does next at the top, in which a handshake that is pending comes soon. */
static struct action choose_operation(struct source *x, const struct model *m,
                                      const struct state *s, unsigned p) {
    struct action a = {(uint8_t)p, DO_FENCE, 0, 0, 0};
    unsigned free = ((1U << m->refs) - 1) & ~(unsigned)s->alloc, roots = s->agent[p].roots;
    unsigned kind = next_byte(x) & 15;
    const struct action block = {(uint8_t)p, DO_BLOCK, 0, 0, 0};
    if (model_blocks(m) && !below(x, 8) && model_enabled(m, s, &block))
        return block;
    struct action life;
    if (model_comes_and_goes(m) && !below(x, 8) && come_or_go(x, m, s, p, &life))
        return life;
    if (s->pending >> p & 1 && kind < 6) {
        a.op = DO_HANDSHAKE;
    } else if (kind < 9 && roots) {
        unsigned dst = roots << 1 | 1;
        a.op = DO_STORE;
        a.a = (uint8_t)pick_bit(x, roots);
        a.b = (uint8_t)below(x, m->fields);
        a.c = (uint8_t)pick_bit(x, dst);
    } else if (kind < 12 && roots) {
        a.op = DO_LOAD;
        a.a = (uint8_t)pick_bit(x, roots);
        a.b = (uint8_t)below(x, m->fields);
    } else if (kind < 14 && roots) {
        a.op = DO_DISCARD;
        a.a = (uint8_t)pick_bit(x, roots);
    } else if (free) {
        a.op = DO_ALLOC;
        a.a = (uint8_t)pick_bit(x, free);
    } else if (s->pending >> p & 1) {
        a.op = DO_HANDSHAKE;
    }
    return a;
}

/* A step of an entity: a process, or with TSO_PROCESSES added its store buffer.  False: none, or
 * nothing but a fence. */
static bool choose_step(struct source *x, const struct model *m, const struct state *s,
                        unsigned entity, bool rarely, struct action *out) {
    struct action actions[ACTIONS_MAX];
    unsigned p = entity % TSO_PROCESSES;
    if (entity >= TSO_PROCESSES) {
        *out = (struct action){(uint8_t)p, DO_COMMIT, 0, 0, 0};
        return model_can_commit(s, p);
    }
    bool plain = !model_pools(m) && !model_tso_handshake(m) && !(m->variant & VARIANT(deaf));
    if (p != GC && s->agent[p].pc == mut_top && plain) {
        *out = rarely ? choose_rarely(x, m, s, p) : choose_operation(x, m, s, p);
        return out->op != DO_FENCE;
    }
    unsigned n = model_actions(m, s, p, actions);
    if (n)
        *out = actions[below(x, n)];
    return n > 0;
}

/* ---- strategies -------------------------------------------------------------------------------
 */

enum { ENTITIES = 2 * TSO_PROCESSES, CHANGES_MAX = 8 };

struct scheduler {
    unsigned strategy, n;     /* n entities take part */
    uint8_t entity[ENTITIES]; /* by priority, the highest first */
    unsigned burst;
    unsigned n_changes;
    uint16_t change[CHANGES_MAX]; /* before these steps the first becomes the last */
};

/* The fifth has an eighth of the bytes, the others share the rest. */
unsigned driver_strategy(unsigned head) {
    return head >> 5 == 7 ? DRIVER_STRATEGIES - 1 : head % (DRIVER_STRATEGIES - 1);
}

static void open_scheduler(struct source *x, struct scheduler *c, const struct model *m,
                           unsigned steps) {
    memset(c, 0, sizeof *c);
    unsigned head = next_byte(x);
    c->strategy = driver_strategy(head);
    for (uint8_t e = 0; e < ENTITIES; e++)
        if (e % TSO_PROCESSES < m->mutators || e % TSO_PROCESSES == GC)
            c->entity[c->n++] = e;
    for (unsigned i = c->n - 1; i > 0; i--) {
        unsigned j = below(x, i + 1);
        uint8_t moved = c->entity[i];
        c->entity[i] = c->entity[j];
        c->entity[j] = moved;
    }
    c->n_changes = (head >> 2) % CHANGES_MAX;
    for (unsigned i = 0; i < c->n_changes; i++)
        c->change[i] = (uint16_t)((next_byte(x) << 8 | next_byte(x)) % steps);
}

/* An entity falls behind all others. */
static void demote(struct scheduler *c, unsigned at) {
    uint8_t entity = c->entity[at];
    memmove(c->entity + at, c->entity + at + 1, c->n - at - 1U);
    c->entity[c->n - 1] = entity;
}

static bool by_priority(struct source *x, struct scheduler *c, const struct model *m,
                        const struct state *s, unsigned step, struct action *out) {
    for (unsigned i = 0; i < c->n_changes; i++)
        if (c->change[i] == step)
            demote(c, 0);
    for (unsigned i = 0; i < c->n; i++)
        if (choose_step(x, m, s, c->entity[i], false, out)) {
            /* an operation at the top ends a turn: no mutator may run for ever */
            bool top =
                out->op != DO_COMMIT && out->process != GC && s->agent[out->process].pc == mut_top;
            if (top && out->op != DO_HANDSHAKE && next_byte(x) & 1)
                demote(c, i);
            return true;
        }
    return false;
}

/* Between two operations, a mutator may be left for another without counting. */
static bool between_operations(const struct state *s, unsigned entity) {
    return entity < GC && s->agent[entity].pc == mut_top;
}

/* Of all entities one that can move, which is the current one from now on. */
static bool switch_over(struct source *x, struct scheduler *c, const struct model *m,
                        const struct state *s, struct action *out) {
    for (unsigned tries = 0; tries < 8 * ENTITIES; tries++) {
        unsigned at = below(x, c->n);
        uint8_t entity = c->entity[at];
        if (!choose_step(x, m, s, entity, true, out))
            continue;
        c->entity[at] = c->entity[0];
        c->entity[0] = entity;
        return true;
    }
    return false;
}

/* The current entity goes on until it is blocked or has ended its operation; it is only left
 * before that at the few steps drawn. */
static bool by_preemptions(struct source *x, struct scheduler *c, const struct model *m,
                           const struct state *s, unsigned step, struct action *out) {
    bool preempted = between_operations(s, c->entity[0]);
    for (unsigned i = 0; i < c->n_changes; i++)
        preempted |= c->change[i] == step;
    return (!preempted && choose_step(x, m, s, c->entity[0], true, out)) ||
           switch_over(x, c, m, s, out);
}

static bool choose(struct source *x, struct scheduler *c, const struct model *m,
                   const struct state *s, unsigned step, struct action *out) {
    if (c->strategy == 2)
        return by_priority(x, c, m, s, step, out);
    if (c->strategy == 4)
        return by_preemptions(x, c, m, s, step, out);
    if (c->strategy == 1 && c->burst > 0 && choose_step(x, m, s, c->entity[0], false, out)) {
        c->burst--;
        return true;
    }
    for (unsigned tries = 0; tries < 8 * ENTITIES; tries++) {
        unsigned at = below(x, c->n);
        uint8_t entity = c->entity[at];
        bool rarely = c->strategy == 3;
        if (rarely && entity >= TSO_PROCESSES && tries < ENTITIES && (next_byte(x) & 7))
            continue; /* stores stay in their buffers */
        if (!choose_step(x, m, s, entity, rarely, out))
            continue;
        if (c->strategy == 1) {
            c->entity[at] = c->entity[0];
            c->entity[0] = entity;
            c->burst = next_byte(x) & 31;
        }
        return true;
    }
    return false;
}

/* ---- runs -------------------------------------------------------------------------------------
 */

void driver_run(const struct driver_options *o, const uint8_t *data, size_t size,
                struct driver_result *r) {
    struct source x = {data, size, 0, seed_of(data, size)};
    struct scheduler scheduler;
    struct model *m = &r->model;
    struct state *s = &r->end;
    memset(m, 0, sizeof *m);
    choose_model(&x, m, o->variant);
    m->track_garbage = o->invariants & INVARIANT(garbage);
    unsigned steps = 64 + next_byte(&x) * 4;
    if (o->steps)
        steps = o->steps;
    open_scheduler(&x, &scheduler, m, steps);
    choose_start(&x, m, s);
    r->start = *s;
    r->unfair = false;
    r->broken = invariants_broken(m, s, EVENT_NONE, o->invariants);
    for (r->n = 0; r->n < steps && !r->broken; r->n++) {
        struct action *a = &r->steps[r->n];
        if (!choose(&x, &scheduler, m, s, r->n, a))
            break;
        unsigned events = model_apply(m, s, a);
        r->broken = invariants_broken(m, s, events, o->invariants);
        if (o->seen)
            o->seen(m, s);
    }
    if (!r->broken)
        r->unfair = !fair_run_completes(m, s);
}

bool driver_schedule(const struct driver_options *o, const struct driver_result *r,
                     struct schedule *s) {
    schedule_start_from(s, &r->model, &r->start);
    s->invariants = o->invariants;
    for (unsigned i = 0; i < r->n; i++)
        if (!schedule_append(s, &r->steps[i]))
            return false;
    return true;
}
