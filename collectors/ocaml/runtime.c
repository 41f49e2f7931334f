/* SPDX-License-Identifier: MIT
 *
 * Life of the OCaml runtime: a fresh one for every program.
 */
#include "collectors/ocaml/internal.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <caml/address_class.h>
#include <caml/finalise.h>
#include <caml/freelist.h>
#include <caml/gc_ctrl.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/misc.h>
#include <caml/mlvalues.h>
#include <caml/roots.h>
#include <caml/signals.h>
#include <caml/stacks.h>
#include <caml/startup_aux.h>
#include <caml/version.h>

/* ---- start --------------------------------------------------------------------------------------
 */

static uint64_t slices;

static void count_slice(void) {
    slices++;
}

uint64_t runtime_collections(void) {
    return slices + (uint64_t)Caml_state->stat_minor_collections +
           (uint64_t)Caml_state->stat_major_collections + (uint64_t)Caml_state->stat_compactions;
}

void runtime_actions(void) {
    caml_process_pending_actions();
}

void runtime_urgent(struct gc *g) {
    if (g->finalises)
        caml_check_urgent_gc(Val_unit);
    else
        runtime_actions();
}

#ifndef NATIVE_CODE
word *runtime_stack(unsigned m) {
    (void)m; /* there is one */
    return (word *)Caml_state->stack_high;
}

void runtime_push(unsigned n) {
    while (n-- > 0)
        *--Caml_state->extern_sp = Val_unit;
}

static void begin_stack(void) {
    caml_init_stack(Max_stack_def);
    caml_global_data = Val_unit;
}
#else
static void begin_stack(void) {
    frames_begin();
}
#endif

static void start_collector(struct gc *g, unsigned policy) {
#if OCAML_VERSION < 41300
    caml_set_allocation_policy((intnat)policy);
#define WITH_POLICY(policy)
#else
#define WITH_POLICY(policy) , policy
#endif
    caml_init_gc(g->config.nursery_words, 0, Heap_chunk_def,
                 runtime_space_overhead(g->config.variant), Max_percent_free_def, Major_window_def,
                 Custom_major_ratio_def, Custom_minor_ratio_def,
                 Custom_minor_max_bsz_def WITH_POLICY(policy));
}

void runtime_boot(struct gc *g) {
    runtime_put_back(g);
    slices = 0;
    caml_fatal_error_hook = runtime_fatal_error;
    caml_major_slice_end_hook = count_slice;
    caml_stat_create_pool();
    caml_init_domain();
    start_collector(g, runtime_policy(g->config.kind));
    begin_stack();
    caml_init_atom_table();
    exceptions_begin();
    marshalling_begin();
    roots_clear();
}
