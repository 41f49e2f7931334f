/* SPDX-License-Identifier: MIT
 *
 * Schedules of the on-the-fly model, replayed by real threads (onthefly_gate.h).
 */
#define _POSIX_C_SOURCE 200809L
#include "tests/models/onthefly_gate.h"

#include "models/onthefly_threads/state.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Root slots: that of reference r is slot r; these two are for loads and for NULL. */
enum { SLOT_LOADED = OTF_ROOTS - 1, SLOT_NULL = OTF_ROOTS - 2 };

struct held {
    bool waiting, granted;
    unsigned label;
    unsigned fences;      /* that it has executed */
    struct action action; /* what it was let through for */
    pthread_cond_t go;
    struct {
        otf_cell *cell;
        word value;
    } buffer[BUFFER_MAX];
    unsigned pending;
};

struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t arrived;
    struct held held[TSO_PROCESSES];
    bool open; /* all run freely */
    bool sequential;
    struct otf *otf;
    const struct model *model;
};

/* ---- threads ----------------------------------------------------------------------------------
 */

/* Waits to be let through; false: the gate is open. */
static bool arrive_at(struct gate *g, unsigned p, unsigned label, struct action *x) {
    struct held *h = &g->held[p];
    pthread_mutex_lock(&g->mutex);
    h->label = label;
    h->waiting = true;
    pthread_cond_signal(&g->arrived);
    while (!h->granted && !g->open)
        pthread_cond_wait(&h->go, &g->mutex);
    h->granted = false;
    *x = h->action;
    bool open = g->open;
    pthread_mutex_unlock(&g->mutex);
    return !open;
}

static void hook_step(void *context, unsigned p, unsigned label) {
    struct action x;
    arrive_at(context, p, label, &x);
}

static unsigned hook_choose(void *context, unsigned p, unsigned fallback) {
    const struct gate *g = context;
    const struct action *x = &g->held[p].action;
    if (g->open)
        return fallback;
    return x->op == DO_STEP ? OTF_NONE : x->a;
}

static word hook_load(void *context, unsigned p, const otf_cell *cell) {
    const struct gate *g = context;
    const struct held *h = &g->held[p];
    for (unsigned i = h->pending; i-- > 0;)
        if (h->buffer[i].cell == cell)
            return h->buffer[i].value;
    return atomic_load(cell);
}

static void hook_store(void *context, unsigned p, otf_cell *cell, word value) {
    struct gate *g = context;
    struct held *h = &g->held[p];
    if (g->open || g->sequential) {
        atomic_store(cell, value);
        return;
    }
    if (h->pending == BUFFER_MAX)
        abort();
    h->buffer[h->pending].cell = cell;
    h->buffer[h->pending++].value = value;
}

/* The model takes a fence only when the buffer is empty. */
static void hook_fence(void *context, unsigned p) {
    struct gate *g = context;
    if (g->held[p].pending)
        abort();
    g->held[p].fences++;
}

/* What the model has chosen for a mutator at mut_top. */
static void operate(struct gate *g, unsigned m, const struct action *x) {
    static const word units[OTF_WOSIZE] = {WORD_UNIT, WORD_UNIT, WORD_UNIT, WORD_UNIT,
                                           WORD_UNIT, WORD_UNIT, WORD_UNIT};
    word *roots = otf_roots(g->otf, m);
    switch (x->op) {
    case DO_ALLOC:
        if (!otf_alloc(g->otf, m, x->a, g->model->fields, 0, units))
            abort();
        break;
    case DO_DISCARD:
        roots[x->a] = WORD_UNIT;
        break;
    case DO_LOAD:
        otf_load(g->otf, m, SLOT_LOADED, x->a, x->b);
        if (is_pointer(roots[SLOT_LOADED]))
            roots[otf_number(g->otf, roots[SLOT_LOADED])] = roots[SLOT_LOADED];
        roots[SLOT_LOADED] = WORD_UNIT;
        break;
    case DO_STORE:
        otf_store(g->otf, m, x->a, x->b, x->c ? x->c - 1U : SLOT_NULL);
        break;
    case DO_FENCE:
        otf_fence(g->otf, m);
        break;
    default: /* DO_HANDSHAKE */
        if (!otf_poll(g->otf, m))
            abort();
        break;
    }
}

struct mutator {
    struct gate *gate;
    unsigned m;
    pthread_t thread;
};

static void *mutate(void *context) {
    const struct mutator *self = context;
    struct gate *g = self->gate;
    struct action x;
    while (arrive_at(g, self->m, OTF_MUTATOR + mut_top, &x))
        operate(g, self->m, &x);
    while (!otf_stopped(g->otf))
        if (!otf_poll(g->otf, self->m))
            sched_yield();
    return NULL;
}

/* ---- the test's side --------------------------------------------------------------------------
 */

static void wait_for(struct gate *g, unsigned p) {
    pthread_mutex_lock(&g->mutex);
    while (!g->held[p].waiting)
        pthread_cond_wait(&g->arrived, &g->mutex);
    pthread_mutex_unlock(&g->mutex);
}

static void let_through(struct gate *g, const struct action *x) {
    struct held *h = &g->held[x->process];
    pthread_mutex_lock(&g->mutex);
    h->action = *x;
    h->granted = true;
    h->waiting = false;
    pthread_cond_signal(&h->go);
    pthread_mutex_unlock(&g->mutex);
    wait_for(g, x->process);
}

static void commit(struct held *h) {
    atomic_store(h->buffer[0].cell, h->buffer[0].value);
    memmove(h->buffer, h->buffer + 1, --h->pending * sizeof *h->buffer);
}

/* The model's step, by the real threads.  Of a CAS they do all when the model unlocks; its pending
 * mark is then a part of that instruction. */
static void take(struct gate *g, const struct state *before, const struct action *x) {
    unsigned p = x->process, mark_pc = before->agent[p].mark_pc;
    if (x->op == DO_COMMIT) {
        if (!cell_is_mark(before->tso.buffer[p][0].cell))
            commit(&g->held[p]);
    } else if (mark_pc < mo_co_lock || mark_pc > mo_co_mark) {
        let_through(g, x);
    }
}

static void open_gate(struct gate *g) {
    pthread_mutex_lock(&g->mutex);
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        while (g->held[p].pending)
            commit(&g->held[p]);
    g->open = true;
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        pthread_cond_signal(&g->held[p].go);
    pthread_mutex_unlock(&g->mutex);
}

/* ---- comparison -------------------------------------------------------------------------------
 */

struct comparison {
    const struct gate *g;
    const struct state *s;
    struct replay_result *r;
};

static void differ(struct comparison *c, const char *format, ...) {
    va_list arguments;
    if (!c->r->agree)
        return;
    c->r->agree = false;
    va_start(arguments, format);
    vsnprintf(c->r->difference, sizeof c->r->difference, format, arguments);
    va_end(arguments);
}

static void same(struct comparison *c, const char *what, unsigned which, word model, word code) {
    if (model != code)
        differ(c, "%s %u: %llu in the model, %llu in the code", what, which,
               (unsigned long long)model, (unsigned long long)code);
}

static unsigned label_of(const struct state *s, unsigned p) {
    const struct agent *a = &s->agent[p];
    if (a->mark_pc >= mo_co_lock && a->mark_pc <= mo_co_unlock)
        return OTF_MARK + mo_co_lock;
    if (a->mark_pc != mo_out)
        return OTF_MARK + a->mark_pc;
    return (p == GC ? OTF_COLLECTOR : OTF_MUTATOR) + a->pc;
}

static oref ref_of(const struct gate *g, word v) {
    return is_immediate(v) ? 0 : (oref)(otf_number(g->otf, v) + 1);
}

/* Not the flag that a CAS under way has already changed in the model. */
static void compare_heap(struct comparison *c) {
    const struct otf *otf = c->g->otf;
    const struct state *s = c->s;
    oref held = s->tso.lock == TSO_NOBODY ? 0 : s->agent[s->tso.lock].ref;
    for (unsigned r = 0; r < c->g->model->refs; r++) {
        word v = otf_block(otf, r), header = atomic_load(otf_header(v));
        bool exists = header_colour(header) != BLUE;
        same(c, "existence of r", r, s->alloc >> r & 1, exists);
        if (!exists || !c->r->agree)
            continue;
        if (held != r + 1)
            same(c, "flag of r", r, otf_colour(s->tso.memory[cell_mark(r)]), header_colour(header));
        for (unsigned f = 0; f < c->g->model->fields; f++)
            same(c, "a field of r", r, state_field(s, r, f),
                 ref_of(c->g, atomic_load(otf_field(v, f))));
    }
}

static oref value_of(const struct gate *g, otf_cell *cell, word value) {
    const struct otf *otf = g->otf;
    bool control = cell == &otf->fA || cell == &otf->fM || cell == &otf->phase;
    return control ? (oref)value : ref_of(g, value);
}

static otf_cell *cell_of(const struct gate *g, unsigned cell) {
    struct otf *otf = g->otf;
    if (cell < CELL_MARK)
        return cell == CELL_FA ? &otf->fA : cell == CELL_FM ? &otf->fM : &otf->phase;
    return otf_field(otf_block(otf, cell_ref(cell)), (cell - CELL_FIELD) % FIELDS_MAX);
}

static void compare_buffer(struct comparison *c, unsigned p) {
    const struct held *h = &c->g->held[p];
    unsigned n = 0;
    for (unsigned i = 0; i < c->s->tso.count[p]; i++) {
        struct tso_entry e = c->s->tso.buffer[p][i];
        if (cell_is_mark(e.cell))
            continue;
        if (n >= h->pending || h->buffer[n].cell != cell_of(c->g, e.cell) ||
            value_of(c->g, h->buffer[n].cell, h->buffer[n].value) != e.value)
            differ(c, "pending store %u of process %u", n, p);
        n++;
    }
    same(c, "number of pending stores of process", p, n, h->pending);
}

static refset set_of_list(const struct otf_list *list) {
    refset set = 0;
    for (size_t i = 0; i < list->n; i++)
        set |= (refset)(1U << list->block[i]);
    return set;
}

static void compare_process(struct comparison *c, unsigned p) {
    const struct otf_process *process = &c->g->otf->process[p];
    same(c, "label of process", p, label_of(c->s, p), c->g->held[p].label);
    same(c, "work-list of process", p, c->s->agent[p].W, set_of_list(&process->W));
    compare_buffer(c, p);
    if (p == GC)
        return;
    refset roots = 0;
    for (unsigned r = 0; r < c->g->model->refs; r++)
        if (is_pointer(process->roots[r]))
            roots |= (refset)(1U << r);
    same(c, "roots of mutator", p, c->s->agent[p].roots, roots);
    same(c, "pending bit of mutator", p, c->s->pending >> p & 1,
         atomic_load(&c->g->otf->pending[p]));
}

static void compare(struct comparison *c) {
    struct otf *otf = c->g->otf;
    same(c, "f_A", 0, c->s->tso.memory[CELL_FA], atomic_load(&otf->fA));
    same(c, "f_M", 0, c->s->tso.memory[CELL_FM], atomic_load(&otf->fM));
    same(c, "phase", 0, c->s->tso.memory[CELL_PHASE], atomic_load(&otf->phase));
    same(c, "type of handshake", 0, c->s->type, atomic_load(&otf->type));
    same(c, "work-list handed over", 0, c->s->W, set_of_list(&otf->W));
    compare_heap(c);
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        if (p < c->g->model->mutators || p == GC)
            compare_process(c, p);
}

/* ---- replay -----------------------------------------------------------------------------------
 */

/* The initial heap and roots. */
static void lay_out(struct gate *g, const struct state *s) {
    for (unsigned r = 0; r < g->model->refs; r++) {
        g->held[0].action = (struct action){0, DO_ALLOC, (uint8_t)r, 0, 0};
        if (s->alloc >> r & 1)
            operate(g, 0, &g->held[0].action);
    }
    for (unsigned r = 0; r < g->model->refs; r++)
        for (unsigned f = 0; f < g->model->fields && s->alloc >> r & 1; f++)
            if (state_field(s, r, f))
                atomic_store(otf_field(otf_block(g->otf, r), f),
                             otf_block(g->otf, state_field(s, r, f) - 1U));
    for (unsigned m = 0; m < g->model->mutators; m++)
        for (unsigned r = 0; r < g->model->refs; r++)
            otf_roots(g->otf, m)[r] = s->agent[m].roots >> r & 1 ? otf_block(g->otf, r) : WORD_UNIT;
}

static void open_all(struct gate *g, struct mutator *mutators) {
    pthread_mutex_init(&g->mutex, NULL);
    pthread_cond_init(&g->arrived, NULL);
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        pthread_cond_init(&g->held[p].go, NULL);
    for (unsigned m = 0; m < g->model->mutators; m++) {
        mutators[m] = (struct mutator){.gate = g, .m = m};
        if (pthread_create(&mutators[m].thread, NULL, mutate, &mutators[m]) != 0)
            abort();
    }
    if (!otf_start(g->otf))
        abort();
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        if (p < g->model->mutators || p == GC)
            wait_for(g, p);
}

static void close_all(struct gate *g, struct mutator *mutators) {
    otf_stop(g->otf);
    open_gate(g);
    otf_join(g->otf);
    for (unsigned m = 0; m < g->model->mutators; m++)
        pthread_join(mutators[m].thread, NULL);
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        pthread_cond_destroy(&g->held[p].go);
    pthread_cond_destroy(&g->arrived);
    pthread_mutex_destroy(&g->mutex);
}

static refset singleton(oref r) {
    return (refset)(r ? 1U << (r - 1) : 0);
}

/* Of what the mutators and the work-lists reach, the references to free blocks. */
static unsigned count_dangling(const struct gate *g) {
    refset reached = 0, work = set_of_list(&g->otf->W);
    unsigned dangling = 0;
    for (unsigned p = 0; p < TSO_PROCESSES; p++)
        work |= set_of_list(&g->otf->process[p].W);
    for (unsigned m = 0; m < g->model->mutators; m++)
        for (unsigned k = 0; k < OTF_ROOTS; k++)
            work |= singleton(ref_of(g, g->otf->process[m].roots[k]));
    while (work & ~reached) {
        unsigned r = (unsigned)__builtin_ctz((unsigned)(work & ~reached));
        reached |= singleton((oref)(r + 1));
        word v = otf_block(g->otf, r);
        if (header_colour(atomic_load(otf_header(v))) == BLUE) {
            dangling++;
            continue;
        }
        for (unsigned f = 0; f < g->model->fields; f++)
            work |= singleton(ref_of(g, atomic_load(otf_field(v, f))));
    }
    return dangling;
}

/* Is the step one for which the code needs an mfence? */
static bool is_fence(const struct model *m, const struct state *s, const struct action *x) {
    const struct agent *a = &s->agent[x->process];
    if (x->op == DO_COMMIT || a->mark_pc != mo_out)
        return false;
    if (x->process == GC)
        return gc_handshake(a->pc) < HANDSHAKES && gc_part(a->pc) == PART_FENCE;
    return x->op == DO_FENCE ||
           (a->pc == mut_hs_fence && !(m->variant & VARIANT(no_mutator_fence)));
}

/* What a replay needs from its beginning to its end. */
struct replay {
    struct gate gate;
    struct otf_hooks hooks;
    struct mutator mutators[MUTATORS_MAX];
};

/* The threads take the steps of the run, as long as they agree with the model. */
static struct replay_result follow(struct replay *p, const struct driver_result *run) {
    struct replay_result r = {.agree = true};
    struct gate *g = &p->gate;
    struct state s = run->start;
    struct comparison c = {g, &s, &r};
    *g = (struct gate){.sequential = run->model.sequential, .model = &run->model};
    p->hooks = (struct otf_hooks){.context = g,
                                  .step = hook_step,
                                  .choose = hook_choose,
                                  .load = hook_load,
                                  .store = hook_store,
                                  .fence = hook_fence};
    g->otf = otf_open(run->model.mutators, run->model.refs, &p->hooks);
    if (!g->otf)
        abort();
    lay_out(g, &s);
    open_all(g, p->mutators);
    compare(&c);
    for (; r.steps < run->n && r.agree; r.steps++) {
        const struct action *x = &run->steps[r.steps];
        struct state before = s;
        model_apply(&run->model, &s, x);
        unsigned fences = g->held[x->process].fences + is_fence(&run->model, &before, x);
        take(g, &before, x);
        same(&c, "mfences of process", x->process, fences, g->held[x->process].fences);
        compare(&c);
    }
    return r;
}

struct replay_result gate_replay(const struct driver_result *run) {
    struct replay p;
    struct replay_result r = follow(&p, run);
    close_all(&p.gate, p.mutators);
    r.cycles = otf_cycles(p.gate.otf);
    r.dangling = count_dangling(&p.gate);
    otf_close(p.gate.otf);
    return r;
}

/* Is it a field of a block that is free? */
static bool is_in_free_block(const struct otf *otf, const otf_cell *cell) {
    size_t at = (size_t)(cell - otf->heap);
    return cell >= otf->heap && at < otf->blocks * OTF_STRIDE &&
           header_colour(atomic_load(otf_header(otf_block(otf, (uint32_t)(at / OTF_STRIDE))))) ==
               BLUE;
}

struct otf *gate_stop(const struct driver_result *run, struct replay_result *r) {
    struct replay p;
    unsigned lost = 0;
    *r = follow(&p, run);
    for (unsigned q = 0; q < TSO_PROCESSES; q++)
        for (struct held *h = &p.gate.held[q]; h->pending;) {
            lost += is_in_free_block(p.gate.otf, h->buffer[0].cell);
            if (lost)
                h->pending = 0;
            else
                commit(h);
        }
    r->dangling = lost + count_dangling(&p.gate);
    return p.gate.otf;
}
