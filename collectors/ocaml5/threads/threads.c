/* SPDX-License-Identifier: MIT
 *
 * Life of the OCaml 5 runtime's domains in threads of the system (threads.h), and what the files
 * of the adapter want of one another where there is no shadow: nobody looks at the heap but the
 * domains themselves.
 */
#include "collectors/ocaml5/threads/threads.h"

#include "collectors/ocaml5/threads/internal.h"
#include "collectors/ocaml5/versions.h"

#include <caml/alloc.h>
#include <caml/callback.h>
#include <caml/finalise.h>
#include <caml/memory.h>
#include <caml/mlvalues.h>
#include <caml/sync.h>

/* In no header. */
extern value caml_domain_spawn(value callback, value term_sync);
extern value caml_ml_mutex_new(value), caml_ml_mutex_lock(value), caml_ml_mutex_unlock(value);
extern value caml_ml_condition_new(value), caml_ml_condition_wait(value condition, value mutex);
extern value caml_final_register(value closure, value block);
extern value caml_final_register_called_without_value(value closure, value block);

/* ---- what the adapter has of its own ------------------------------------------------------------
 */

static struct gc domains[GC_MUTATORS];
static OF_A_THREAD struct gc *mine;
static OF_A_THREAD unsigned own_number; /* of the domain */

struct gc *parallel_mine(void) {
    return mine;
}

void runtime_begin(struct gc *g) {
    g->making = 0;
}
void runtime_renew(struct gc *g) {
    g->stale = false;
}
void runtime_keep_up(struct gc *g) {
    (void)g; /* there is no shadow */
}
void runtime_end(struct gc *g) {
    runtime_urgent(g);
}
void runtime_may_lack(const struct gc *g) {
    (void)g;
}
bool runtime_has_room(struct gc *g, size_t wosize) {
    (void)g, (void)wosize; /* whoever makes programs sees to it */
    return true;
}
bool runtime_is_shown(struct gc *g, word v) {
    (void)g, (void)v;
    return false;
}
/* Another domain may make one at any time. */
bool heap_has_ephemerons(void) {
    return true;
}
/* Memory is the system's, and is not given back between two programs. */
void region_reset(struct gc_hooks *hooks) {
    (void)hooks;
}

void runtime_finalise(struct gc *g, word block, uint64_t id, bool last,
                      const struct gc_finaliser *then) {
    (void)g, (void)then;
    value closure = Val_long((intnat)id);
    if (last)
        caml_final_register_called_without_value(closure, (value)block);
    else
        caml_final_register(closure, (value)block);
}
void runtime_act(struct gc *g) {
    (void)g;
    runtime_actions();
}
bool runtime_runs(uint64_t id, word v) {
    (void)v;
    runtime_finalised(id);
    return false;
}

void caml_raise_sys_error(value message); /* of what cannot be locked */
void caml_raise_sys_error(value message) {
    (void)message;
    runtime_die("the runtime raises Sys_error");
}

/* ---- rows of slots ------------------------------------------------------------------------------
 */

void parallel_row(unsigned row) {
    root_row = row * GC_MUTATORS + own_number;
}

void parallel_drop(void) {
    unsigned row = root_row;
    for (unsigned r = 0; r < PARALLEL_ROWS; r++) {
        parallel_row(r);
        for (unsigned s = 0; s < GC_SLOTS; s++)
            root_set(s, WORD_UNIT);
    }
    root_row = row;
}

static void begin_domain(unsigned m) {
    own_number = m;
    mine = &domains[m];
    parallel_row(1);
    runtime_begin_domain();
    parallel_row(0);
    if (m > 0)
        roots_clear(); /* else runtime_boot does it */
}

static void end_domain(void) {
    for (unsigned r = 0; r < PARALLEL_ROWS; r++) {
        parallel_row(r);
        roots_remove();
    }
}

/* ---- domains ------------------------------------------------------------------------------------
 */

static value ends[GC_MUTATORS], published; /* generational global roots */
static word (*bodies[GC_MUTATORS])(unsigned m);

static void before_end(void) {
    runtime_before_end(mine);
}

void parallel_start(const struct gc_config *config) {
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        domains[m].config = *config;
    own_number = 0;
    mine = &domains[0];
    parallel_row(0);
    runtime_boot(mine);
    caml_domain_stop_hook = before_end;
    parallel_row(1);
    roots_clear();
    parallel_row(0);
    for (unsigned m = 0; m < GC_MUTATORS; m++) {
        ends[m] = Val_unit;
        caml_register_generational_global_root(&ends[m]);
    }
    published = Val_unit;
    caml_register_generational_global_root(&published);
}

word runtime_domain_body(unsigned m) {
    CAMLparam0();
    CAMLlocal1(result);
    begin_domain(m);
    result = (value)bodies[m](m);
    end_domain();
    CAMLreturn((word)result);
}

/* As the standard library's Domain.spawn. */
void parallel_spawn(unsigned m, word (*body)(unsigned m)) {
    CAMLparam0();
    CAMLlocal3(mutex, condition, end);
    bodies[m] = body;
    mutex = caml_ml_mutex_new(Val_unit);
    condition = caml_ml_condition_new(Val_unit);
    end = caml_alloc_small(3, 0);
    Field(end, 0) = Val_unit;
    Field(end, 1) = mutex;
    Field(end, 2) = condition;
    caml_modify_generational_global_root(&ends[m], end);
    caml_domain_spawn(Val_long(DOMAIN_BODY + (intnat)m), end);
    CAMLreturn0;
}

/* As its Domain.join. */
void parallel_join(unsigned m, unsigned dst) {
    CAMLparam0();
    CAMLlocal1(end);
    end = ends[m];
    caml_ml_mutex_lock(Field(end, 1));
    while (Is_long(Field(end, 0)))
        caml_ml_condition_wait(Field(end, 2), Field(end, 1));
    caml_ml_mutex_unlock(Field(end, 1));
    value finished = Field(Field(end, 0), 0); /* Ok v, or Error */
    root_set(dst, (word)Field(finished, 0));
    caml_modify_generational_global_root(&ends[m], Val_unit);
    CAMLreturn0;
}

void parallel_publish(unsigned slot) {
    caml_modify_generational_global_root(&published, (value)root_get(slot));
}

void parallel_receive(unsigned dst) {
    root_set(dst, (word)published);
}
