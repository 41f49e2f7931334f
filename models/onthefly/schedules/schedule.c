/* SPDX-License-Identifier: MIT
 *
 * Running and reducing schedules (schedule.h).
 */
#include "models/onthefly/schedules/schedule.h"

#include <stdlib.h>
#include <string.h>

void schedule_free(struct schedule *s) {
    free(s->steps);
    memset(s, 0, sizeof *s);
}

bool schedule_append(struct schedule *s, const struct action *x) {
    if (s->n == SCHEDULE_STEPS_MAX)
        return false;
    if (s->n == s->capacity) {
        size_t capacity = s->capacity ? s->capacity * 2 : 64;
        struct action *more = realloc(s->steps, capacity * sizeof *more);
        if (!more)
            return false;
        s->steps = more;
        s->capacity = capacity;
    }
    s->steps[s->n++] = *x;
    return true;
}

void schedule_start_from(struct schedule *s, const struct model *m, const struct state *from) {
    s->model = *m;
    s->invariants = INVARIANTS_ALL;
    s->alloc = from->alloc;
    for (unsigned r = 0; r < m->refs; r++)
        for (unsigned f = 0; f < m->fields; f++)
            s->fields[r * FIELDS_MAX + f] = state_field(from, r, f);
    for (unsigned p = 0; p < m->mutators; p++)
        s->roots[p] = from->agent[p].roots;
}

void schedule_start(const struct schedule *s, struct state *out) {
    model_start(&s->model, out, s->alloc, s->fields, s->roots);
}

/* ---- runs -------------------------------------------------------------------------------------
 */

struct run {
    const struct model *m;
    unsigned invariants;
    schedule_observer *observe;
    void *context;
    struct schedule_result *r;
};

/* False: the run is over. */
static bool take(struct run *run, const struct action *x) {
    struct schedule_result *r = run->r;
    struct state before = r->state;
    unsigned events = model_apply(run->m, &r->state, x);
    r->steps++;
    if (run->observe)
        run->observe(run->context, x, &before, &r->state);
    r->broken = invariants_broken(run->m, &r->state, events, run->invariants);
    if (r->broken)
        r->end = SCHEDULE_VIOLATION;
    return !r->broken;
}

static bool waiting(const struct state *s) {
    unsigned pc = s->agent[GC].pc;
    return gc_handshake(pc) < HANDSHAKES && gc_part(pc) == PART_WAIT;
}

static bool commit(struct run *run, unsigned p) {
    return take(run, &(struct action){(uint8_t)p, DO_COMMIT, 0, 0, 0});
}

/* What a process does when it is left to itself: its first step, and no new operation. */
static bool next_step(const struct run *run, unsigned p, struct action *x) {
    struct action actions[ACTIONS_MAX];
    const struct state *s = &run->r->state;
    unsigned n = model_actions(run->m, s, p, actions);
    for (unsigned i = 0; i < n; i++)
        if (p == GC || s->agent[p].pc != mut_top || actions[i].op == DO_HANDSHAKE ||
            actions[i].op == DO_STEP) {
            *x = actions[i];
            return true;
        }
    return false;
}

static bool run_until_handshake(struct run *run, unsigned p) {
    enum { STEPS = 2000 };
    struct action x;
    bool moved = false;
    for (unsigned i = 0; i < STEPS; i++) {
        const struct state *s = &run->r->state;
        if (p == GC && waiting(s) && (moved || s->pending))
            return true;
        if (next_step(run, p, &x)) {
            moved |= !waiting(s);
            if (!take(run, &x))
                return false;
        } else if (s->agent[p].pc != mut_top && model_can_commit(s, p)) {
            if (!commit(run, p))
                return false;
        } else {
            return true;
        }
    }
    return true;
}

enum { NOBODY = TSO_PROCESSES, END_OF_CYCLE = HP_IDLE_MARK_SWEEP + 1, ROUNDS = 4000 };

/* The collector has begun a handshake phase, or its last step ended a cycle. */
static bool arrived(const struct state *s, unsigned pc_before, unsigned hp) {
    if (hp == END_OF_CYCLE)
        return pc_before == gc_phase_idle && s->agent[GC].pc != gc_phase_idle;
    return s->hp == hp;
}

/* All but one take turns until the collector is there, or nothing moves any more. */
static bool take_turns(struct run *run, unsigned parked, unsigned hp) {
    const struct state *s = &run->r->state;
    unsigned pc = s->agent[GC].pc;
    bool moved = true;
    for (unsigned i = 0; i < ROUNDS && moved; i++) {
        moved = false;
        for (unsigned p = 0; p < TSO_PROCESSES; p++) {
            struct action x;
            if (arrived(s, pc, hp))
                return true;
            if (p == parked || (p >= run->m->mutators && p != GC))
                continue;
            if (model_can_commit(s, p) && (moved = true) && !commit(run, p))
                return false;
            pc = s->agent[GC].pc;
            if (next_step(run, p, &x) && (moved = true) && !take(run, &x))
                return false;
        }
    }
    return true;
}

static bool run_cycle(struct run *run) {
    bool good = take_turns(run, NOBODY, END_OF_CYCLE);
    while (good && model_can_commit(&run->r->state, GC)) /* phase := Idle */
        good = commit(run, GC);
    return good;
}

/* Garbage is tracked if it is asked for. */
static struct model run_model(const struct schedule *s) {
    struct model m = s->model;
    m.track_garbage = s->invariants & INVARIANT(garbage);
    return m;
}

static bool run_item(struct run *run, const struct action *x) {
    if (x->op == DO_RUN)
        return run_until_handshake(run, x->process);
    if (x->op == DO_PARK)
        return take_turns(run, x->process, x->a);
    if (x->op == DO_CYCLE)
        return run_cycle(run);
    if (model_enabled(run->m, &run->r->state, x))
        return take(run, x);
    run->r->end = SCHEDULE_STUCK;
    return false;
}

struct schedule_result schedule_run(const struct schedule *s, schedule_observer *observe,
                                    void *context) {
    struct schedule_result r = {.end = SCHEDULE_DONE};
    struct model m = run_model(s);
    struct run run = {&m, s->invariants, observe, context, &r};
    schedule_start(s, &r.state);
    r.broken = invariants_broken(&m, &r.state, EVENT_NONE, s->invariants);
    if (r.broken)
        r.end = SCHEDULE_VIOLATION;
    for (r.step = 0; r.end == SCHEDULE_DONE && r.step < s->n; r.step++)
        if (!run_item(&run, &s->steps[r.step]))
            break;
    return r;
}

/* ---- reduction --------------------------------------------------------------------------------
 */

struct replay {
    const struct schedule *s;
    struct model m;
    unsigned wanted;
    struct schedule kept; /* the steps that were taken */
};

static void keep(void *context, const struct action *x, const struct state *before,
                 const struct state *after) {
    (void)before;
    (void)after;
    schedule_append(context, x);
}

/* Takes the steps but those from..to-1, leaving out what is not possible then; whether a wanted
 * invariant breaks.  The steps taken are in kept. */
static bool breaks_without(struct replay *y, size_t from, size_t to) {
    struct schedule_result r = {.end = SCHEDULE_DONE};
    struct run run = {&y->m, y->s->invariants, keep, &y->kept, &r};
    schedule_start(y->s, &r.state);
    y->kept.n = 0;
    for (size_t i = 0; i < y->s->n; i++) {
        if (i >= from && i < to)
            continue;
        r.end = SCHEDULE_DONE;
        if (!run_item(&run, &y->s->steps[i]) && r.end == SCHEDULE_VIOLATION)
            return (r.broken & y->wanted) != 0;
    }
    return false;
}

void schedule_reduce(struct schedule *s) {
    struct schedule_result first = schedule_run(s, NULL, NULL);
    struct replay y = {s, run_model(s), first.broken, {.n = 0}};
    if (first.end != SCHEDULE_VIOLATION)
        return;
    size_t chunk = s->n, before;
    do {
        before = s->n;
        for (chunk = s->n ? s->n : 1; chunk > 0; chunk /= 2)
            for (size_t from = s->n; from > 0;) {
                size_t to = from;
                from = from > chunk ? from - chunk : 0;
                if (!breaks_without(&y, from, to) || y.kept.n >= s->n)
                    continue;
                struct action *steps = s->steps;
                size_t capacity = s->capacity;
                s->steps = y.kept.steps;
                s->capacity = y.kept.capacity;
                s->n = y.kept.n;
                y.kept.steps = steps;
                y.kept.capacity = capacity;
                from = from < s->n ? from : s->n;
            }
    } while (s->n < before);
    free(y.kept.steps);
}
