/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime with several domains behind the plug-in interface: each mutator is a domain,
 * whose thread is a fiber (docs/ocaml5.md).
 *
 * An operation runs on the thread of its mutator's domain, and all others beside it.  When it is
 * done everybody goes on until no stop-the-world section is under way; only then does anybody look
 * at the heap.  A domain that has nothing to do polls, as OCaml code does in a loop, or is in a
 * blocking section, where its backup thread answers for it: every other one.
 */
#include "collectors/threads/rename.h"

#include "collectors/ocaml5/internal.h"

#include "collectors/faults.h"
#include "collectors/ocaml5/domains/domains.h"
#include "collectors/threads/plug.h"

#include <sched.h>
#include <string.h>

#include <caml/domain.h>
#include <caml/finalise.h>
#include <caml/mlvalues.h>
#include <caml/signals.h>
#include <caml/sync.h>
#include <caml/version.h>

extern value caml_domain_spawn(value callback, value term_sync); /* in no header */
void caml_init_domain_self(int domain_id);
void *caml_init_signal_stack(void);
void caml_free_signal_stack(void *);

/* ---- domains ----------------------------------------------------------------------------------
 */

static struct domain {
    caml_domain_state *state; /* NULL: it is not there */
    int mutator;              /* of collectors/threads; -1: it is not there, or not yet */
    bool blocks;              /* between two operations it is in a blocking section */
    bool busy;                /* it polls, and is not through */
} domains[GC_MUTATORS];
static unsigned n_wanted;  /* domains that there are when all is done that is under way, */
static unsigned n_threads; /* and those that Domain.spawn has made, which have not ended */

caml_domain_state *runtime_domain(unsigned m) {
    return domains[m].state;
}

static bool is_idle(const struct domain *d) {
    return d->mutator < 0 || (threads_is_free(d->mutator) && !d->busy);
}

/* Has nobody anything to do but `self`? */
static bool all_stand_but(const struct domain *self) {
    unsigned n = 0;
    for (unsigned m = 0; m < GC_MUTATORS; m++) {
        if (&domains[m] != self && !is_idle(&domains[m]))
            return false;
        n += domains[m].mutator >= 0;
    }
    return n == n_wanted && n_threads == n_wanted - 1 && domains_stand_still();
}

static bool all_stand(void *context) {
    (void)context;
    return all_stand_but(NULL);
}

static void ask(void *answer) {
    *(bool *)answer = all_stand_but(&domains[root_row]);
}

void runtime_settle(void) {
    bool stand = threads_self() == 0;
    while (!stand) {
        threads_outside(ask, &stand);
        if (stand)
            return;
        caml_handle_incoming_interrupts();
        sched_yield();
    }
}

void runtime_progressed(void) {
    threads_refuel();
}

void runtime_beside(void body(void *), void *argument) {
    threads_outside(body, argument);
}

/* ---- sections in which all stop -----------------------------------------------------------------
 */

/* Whose domain a place of the runtime's is; one that is on its way is nobody's yet. */
static unsigned owners[GC_MUTATORS], coming;

static unsigned owner(const caml_domain_state *d) {
    return d->id < GC_MUTATORS && owners[d->id] < GC_MUTATORS ? owners[d->id] : coming;
}

struct told_section {
    enum gc_section what;
    unsigned m;
};

static void tell_section(void *context) {
    const struct told_section *s = context;
    struct gc_hooks *hooks = runtime_of_process()->config.hooks;
    hooks->section(hooks, s->what, s->m, threads_counts().choices);
}

/* Nothing of it is a point of the schedule. */
void runtime_section(enum gc_section what) {
    if (runtime_of_process()->config.hooks->section)
        threads_outside(tell_section, &(struct told_section){what, owner(Caml_state)});
}

/* At a poll point of OCaml code. */
static void poll(void *context) {
    struct domain *d = context;
    d->busy = true;
    if (Caml_check_gc_interrupt(Caml_state))
        caml_handle_gc_interrupt();
    d->busy = false;
}

/* ---- what a domain wants of the rest of the runtime
 * ----------------------------------------------
 *
 * Nobody waits for its end by Domain.join, so its mutex is none.
 */

value caml_ml_mutex_lock(value wrapper) {
    return wrapper;
}
value caml_ml_condition_broadcast(value wrapper) {
    return wrapper;
}
int caml_mutex_unlock(sync_mutex mutex) {
    (void)mutex;
    return 0;
}

/* The first and the last that the thread of a domain calls.  Signals are the engine's. */
void *caml_init_signal_stack(void) {
    n_threads++;
    return &n_threads;
}
void caml_free_signal_stack(void *stack) {
    (void)stack;
    n_threads--;
}

/* ---- life of a domain ---------------------------------------------------------------------------
 */

/* What OCaml code would have of it to wait for its end: a block outside the heap. */
static struct { word header, fields[3]; } ends[GC_MUTATORS];
static word no_mutex[2];

static value end_of(unsigned m) {
    ends[m].header = header_make(3, BLACK, 0);
    ends[m].fields[0] = WORD_UNIT;
    ends[m].fields[1] = ends[m].fields[2] = pointer_word(no_mutex);
    return (value)pointer_word(ends[m].fields);
}

word runtime_domain_body(unsigned m) {
    struct domain *d = &domains[m];
    unsigned row = root_row;
    root_row = m;
    runtime_begin_domain();
    root_row = row;
    d->state = Caml_state;
    owners[d->state->id] = m;
    if (d->blocks)
        caml_enter_blocking_section();
    d->mutator = threads_enlist(d->blocks ? NULL : poll, d);
    threads_serve(d->mutator);
    d->mutator = -1;
    if (d->blocks)
        caml_leave_blocking_section();
    d->state = NULL;
    return WORD_UNIT;
}

/* ---- operations ---------------------------------------------------------------------------------
 */

static void tell(struct gc *g, enum threads_answer answer) {
    threads_tell_answer(g->config.hooks, answer);
}

static void stand(struct gc *g) {
    tell(g, threads_run(all_stand, NULL));
    runtime_keep_up(g);
}

/* In the name of a mutator, where all stand still: nothing of it is a safepoint. */
static void begin_beside(unsigned m) {
    root_row = m;
    caml_init_domain_self(domains[m].state->id);
}

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)
#define OWN(side)      JOIN(side, ISOHEAP_COLLECTOR, _own)
extern char OWN(__start_)[], OWN(__stop_)[]; /* scheduled.h */

static size_t own_bytes(void) {
    return (size_t)((word)OWN(__stop_) - (word)OWN(__start_));
}

static void end_beside(void) {
    memset(OWN(__start_), 0, own_bytes());
}

/* Slots that the harness has changed become roots, each in the name of its mutator, before anything
 * runs: so it makes no difference for the schedule whether somebody has looked at the heap since.
 */
static void read_slots(struct gc *g) {
    for (unsigned m = 0; m < g->config.mutators; m++) {
        if (!domains[m].state)
            continue;
        begin_beside(m);
        shadow_read_slots_of(&g->shadow, m);
        end_beside();
    }
}

static void obey(void *context) {
    struct order *o = context;
    const struct domain *d = &domains[o->m];
    if (d->blocks)
        caml_leave_blocking_section();
    o->body(o);
    if (d->blocks)
        caml_enter_blocking_section();
}

enum gc_result domains_perform(struct order *o) {
    read_slots(o->gc);
    root_row = o->m;
    tell(o->gc, threads_do(domains[o->m].mutator, obey, o));
    stand(o->gc);
    return o->result;
}

#define PERFORM(name, ...)                                                                         \
    static void do_##name(struct order *o) {                                                       \
        o->result = runtime_##name(__VA_ARGS__);                                                   \
    }
PERFORM(alloc, o->gc, o->m, o->dst, o->n, o->tag, o->raw)
PERFORM(store, o->gc, o->m, o->obj, o->i, o->value)
PERFORM(blit, o->gc, o->m, o->src, o->i, o->dst, o->j, o->n)
PERFORM(collect, o->gc, o->kind)
PERFORM(step, o->gc, o->n)
PERFORM(switch_kind, o->gc, o->value)

static void do_act(struct order *o) {
    runtime_act(o->gc);
}

/* Has it found blocks dead whose functions of Gc.finalise have not run? */
static bool has_finalisers(unsigned m) {
    return domains[m].state && domains[m].state->final_info->todo_head;
}

/* A mutator whose domain has finalisers to run; GC_MUTATORS: nobody has. */
static unsigned next_to_act(const struct gc *g) {
    unsigned m = 0;
    while (m < GC_MUTATORS && !(g->finalises && has_finalisers(m)))
        m++;
    return m;
}

void domains_act(struct gc *g) {
    for (unsigned m; (m = next_to_act(g)) < GC_MUTATORS;)
        ORDER(act, .m = m);
}

static enum gc_result alloc(struct gc *g, unsigned m, unsigned dst, size_t wosize, unsigned tag,
                            const word *raw) {
    return ORDER(alloc, .m = m, .dst = dst, .n = wosize, .tag = tag, .raw = raw);
}

static enum gc_result store(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned v) {
    return ORDER(store, .m = m, .obj = obj, .i = i, .value = v);
}

static enum gc_result blit(struct gc *g, unsigned m, unsigned src, size_t i, unsigned dst, size_t j,
                           size_t n) {
    return ORDER(blit, .m = m, .src = src, .i = i, .dst = dst, .j = j, .n = n);
}

static bool is_sampled(const struct gc *g) {
    return g->config.variant % VARIANTS == VARIANT_SAMPLED;
}

static void do_tell(struct order *o) {
    runtime_urgent(o->gc);
}

/* What Gc.Memprof tells it tells in the domain whose block it is, at its next poll point. */
static void judge_samples(struct gc *g) {
    if (!is_sampled(g))
        return;
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        if (domains[m].state)
            ORDER(tell, .m = m);
    runtime_judge_samples(g);
}

/* A domain does not run what another one has found dead: so that a full collection is followed by
 * that, and by another one, until nothing waits. */
static enum gc_result collect(struct gc *g, enum gc_collection kind) {
    const unsigned m = g->config.hooks->mutator;
    enum gc_result result = ORDER(collect, .m = m, .kind = kind);
    while (kind == GC_FULL && next_to_act(g) < GC_MUTATORS) {
        domains_act(g);
        result = ORDER(collect, .m = m, .kind = kind);
    }
    if (kind == GC_FULL)
        judge_samples(g);
    return result;
}

static enum gc_result step(struct gc *g, size_t budget) {
    return ORDER(step, .m = g->config.hooks->mutator, .n = budget);
}

static enum gc_result switch_kind(struct gc *g, unsigned kind) {
    return ORDER(switch_kind, .m = g->config.hooks->mutator, .value = kind);
}

static void init(struct gc *g, unsigned m, unsigned obj, size_t i, unsigned v) {
    begin_beside(m);
    runtime_init(g, m, obj, i, v);
    end_beside();
}

static enum gc_result load(struct gc *g, unsigned m, unsigned dst, unsigned obj, size_t i) {
    begin_beside(m);
    enum gc_result result = runtime_load(g, m, dst, obj, i);
    end_beside();
    return result;
}

static void write_raw(struct gc *g, unsigned m, unsigned obj, size_t i, word raw) {
    begin_beside(m);
    runtime_write_raw(g, m, obj, i, raw);
    end_beside();
}

/* ---- mutators come and go -----------------------------------------------------------------------
 */

static void do_spawn(struct order *o) {
    runtime_begin(o->gc);
    caml_domain_spawn(Val_long(DOMAIN_BODY + (intnat)o->obj), end_of(o->obj));
}

static void attach(struct gc *g, unsigned m) {
    if (m == 0)
        return;
    n_wanted++;
    coming = m;
    ORDER(spawn, .m = 0, .obj = m);
}

static void do_leave(struct order *o) {
    runtime_begin(o->gc);
    if (is_sampled(o->gc))
        runtime_urgent(o->gc); /* who ends tells of no allocation any more */
    roots_remove();
}

static void detach(struct gc *g, unsigned m) {
    ORDER(leave, .m = m);
    n_wanted--;
    int place = domains[m].state->id;
    tell(g, threads_dismiss(domains[m].mutator));
    stand(g);
    owners[place] = GC_MUTATORS;
}

/* ---- life ---------------------------------------------------------------------------------------
 */

enum { FUEL = 4000000 }; /* of edges: a full collection with four domains takes a tenth */

static void before_end(void) {
    runtime_before_end(runtime_of_process());
}

static void boot(void *context) {
    struct gc *g = context;
    const struct gc_config config = g->config;
    runtime_reset(g, &config);
    domains[0].state = Caml_state;
    caml_domain_stop_hook = before_end;
}

static void reset(struct gc *g, const struct gc_config *config) {
    const struct threads_schedule schedule = threads_schedule_of(config, FUEL);
    threads_reset(&schedule);
    end_beside();
    threads_local(OWN(__start_), own_bytes());
    g->config = *config;
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        domains[m] = (struct domain){.mutator = -1, .blocks = m % 2}, owners[m] = GC_MUTATORS;
    owners[0] = coming = 0;
    root_row = n_threads = 0;
    n_wanted = 1;
    domains[0].mutator = threads_mutator(poll, &domains[0]);
    tell(g, threads_do(domains[0].mutator, boot, g));
}

static void finish(struct gc *g) {
    threads_close();
    runtime_close(g);
}

/* Slots that the harness has changed are roots first. */
static struct gc_own *own(struct gc *g) {
    read_slots(g);
    return runtime_own(g);
}

static void walk(struct gc *g, gc_visit *visit, void *context) {
    read_slots(g);
    runtime_walk(g, visit, context);
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
#if defined(DEBUG)
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime with domains and its own assertions",
#else
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime with a domain for each mutator",
#endif
    .traits = {RUNTIME_TRAITS, .own_tags = OWN_TAGS},
    .variants = runtime_variants,
    .kinds = runtime_kinds,
    .open = runtime_open,
    .reset = reset,
    .close = finish,
    .attach = attach,
    .detach = detach,
    .alloc = alloc,
    .init = init,
    .load = load,
    .store = store,
    .blit = blit,
    .write_raw = write_raw,
    .collect = collect,
    .step = step,
    .switch_kind = switch_kind,
    .walk = walk,
    .check = runtime_check,
    .promise = runtime_promise,
    .shown_at = runtime_shown_at,
    .own = own,
    .extras = &domains_extras,
    .masks = ocaml_masks,
};
