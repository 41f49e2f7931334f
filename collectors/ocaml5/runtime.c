/* SPDX-License-Identifier: MIT
 *
 * Life of the OCaml 5 runtime: a fresh one for every program, with one domain.
 *
 * With one mutator no thread is ever created: domain 0 starts its backup thread when it makes
 * another domain (domains/).
 */
#include "collectors/ocaml5/internal.h"
#include "collectors/ocaml5/versions.h"

#include <caml/codefrag.h>
#include <caml/custom.h>
#include <caml/domain.h>
#include <caml/fiber.h>
#include <caml/finalise.h>
#include <caml/gc_ctrl.h>
#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/misc.h>
#include <caml/platform.h>
#include <caml/shared_heap.h>
#include <caml/signals.h>
#include <caml/startup_aux.h>

enum { STACK_WORDS = 1 << 12 };

static _Atomic uint64_t slices; /* of all domains */

static void count_slice(void) {
    slices++;
}

uint64_t runtime_collections(void) {
    return slices + (uint64_t)atomic_load(&caml_minor_collections_count) +
           (uint64_t)caml_major_cycles_completed + runtime_compactions();
}

/* Finalisers run in collections, and when the program waits for them: else the runtime believes
 * that one is running. */
static void hold_finalisers(bool hold) {
    Caml_state->final_info->running_finalisation_function = hold;
}

/* An exception of a finaliser is caught here, and those behind it run.  One that collects runs no
 * others meanwhile. */
void runtime_actions(void) {
    if (runtime_is_called()) {
        runtime_pending();
        return;
    }
    do {
        hold_finalisers(false);
        caml_set_action_pending(Caml_state);
        runtime_pending();
    } while (Caml_state->final_info->todo_head);
    hold_finalisers(true);
}

void runtime_urgent(struct gc *g) {
    sampling_resume(g);
    runtime_pending();
}

void runtime_finish(struct gc *g) {
    if (g->finalises && Caml_state->final_info->todo_head)
        runtime_actions();
}

word *runtime_stack(unsigned m) {
    const caml_domain_state *d = runtime_domain(m);
    return d ? (word *)Stack_high(d->current_stack) : NULL;
}

void runtime_push(unsigned n) {
    while (n-- > 0)
        *--Caml_state->current_stack->sp = Val_unit;
}

/* What OCAMLRUNPARAM says elsewhere. */
static void set_parameters(const struct gc *g) {
    caml_parse_ocamlrunparam();
    struct caml_params *p = (struct caml_params *)caml_params;
#if OCAML_VERSION >= 50200
    p->max_domains = g->config.mutators;
#endif
    p->init_minor_heap_wsz = g->config.nursery_words;
    p->init_percent_free = runtime_space_overhead(g->config.variant);
    p->init_max_stack_wsz = STACK_WORDS;
#ifdef DEBUG
    p->verify_heap = 1;
#endif
    atomic_store(&caml_verb_gc, 0);
}

void runtime_begin_domain(void) {
    Caml_state->external_raise = NULL;
    hold_finalisers(true);
    roots_clear();
}

void runtime_boot(struct gc *g) {
    runtime_put_back(g);
    slices = 0;
    runtime_calls_begin();
    caml_plat_pagesize = caml_plat_mmap_alignment = Page_size;
    caml_fatal_error_hook = runtime_fatal_error;
    set_parameters(g);
    caml_startup_aux(0);
    caml_init_codefrag();
    caml_init_gc();
    caml_major_slice_end_hook = count_slice;
    runtime_begin_domain();
}
