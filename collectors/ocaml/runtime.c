/* SPDX-License-Identifier: MIT
 *
 * Life of the OCaml runtime: a fresh one for every program, and its roots.
 *
 * The runtime can be started once in a process.  Its variables are in sections of their own (the
 * build sees to it), which are saved before the first start; putting them back and giving all
 * memory back makes the next start the first one, whatever ran before.
 */
#include "collectors/ocaml/internal.h"
#include "collectors/sections.h"

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

/* ---- variables ----------------------------------------------------------------------------------
 */

#define JOIN_(a, b, c) a##b##c
#define JOIN(a, b, c)  JOIN_(a, b, c)
#define SECTION(side, kind)                                                                        \
    JOIN(side, ISOHEAP_COLLECTOR, kind) /* __start_NAME and __stop_NAME are the linker's */
extern char SECTION(__start_, _data)[], SECTION(__stop_, _data)[];
extern char SECTION(__start_, _bss)[], SECTION(__stop_, _bss)[];

static struct sections variables;

bool runtime_save(void) {
    return variables.n > 0 ||
           (sections_add(&variables, SECTION(__start_, _data), SECTION(__stop_, _data)) &&
            sections_add(&variables, SECTION(__start_, _bss), SECTION(__stop_, _bss)));
}

/* ---- roots --------------------------------------------------------------------------------------
 */

/* Slots take turns in being every kind of root that C code can have. */
enum root_kind { ROOT_GENERATIONAL, ROOT_GLOBAL, ROOT_LOCAL, ROOT_STACK, ROOT_KINDS };
static value roots[GC_SLOTS], local_roots[GC_SLOTS];
static bool registered[GC_SLOTS];
static struct caml__roots_block local_block;

static value *root_place(unsigned slot) {
    switch ((enum root_kind)(slot % ROOT_KINDS)) {
    case ROOT_LOCAL:
        return &local_roots[slot];
    case ROOT_STACK:
        return Caml_state->stack_high - 1 - slot / ROOT_KINDS;
    default:
        return &roots[slot];
    }
}

word root_get(unsigned slot) {
    return (word)*root_place(slot);
}

const word *root_at(unsigned slot) {
    return (const word *)root_place(slot);
}

bool root_is_old(unsigned slot) {
    return slot % ROOT_KINDS == ROOT_GENERATIONAL && registered[slot];
}

void root_set(unsigned slot, word v) {
    value *place = root_place(slot);
    switch ((enum root_kind)(slot % ROOT_KINDS)) {
    case ROOT_GENERATIONAL:
        if (!registered[slot])
            caml_register_generational_global_root(place);
        caml_modify_generational_global_root(place, (value)v);
        registered[slot] = true;
        break;
    case ROOT_GLOBAL:
        if (!registered[slot])
            caml_register_global_root(place);
        registered[slot] = true;
        *place = (value)v;
        break;
    default:
        *place = (value)v;
        break;
    }
}

static void clear_roots(void) {
    for (unsigned s = 0; s < GC_SLOTS; s++) {
        roots[s] = local_roots[s] = Val_unit;
        registered[s] = false;
    }
    for (unsigned s = 0; s < GC_SLOTS / ROOT_KINDS; s++)
        *--Caml_state->extern_sp = Val_unit;
    local_block =
        (struct caml__roots_block){.ntables = 1, .nitems = GC_SLOTS, .tables = {local_roots}};
    Caml_state->local_roots = &local_block;
}

/* ---- start --------------------------------------------------------------------------------------
 */

static struct gc *current; /* whose runtime this is: its functions have no argument for that */
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

struct gc *runtime_of_process(void) {
    return current;
}

void runtime_broken(const char *sentence) {
    current->config.hooks->broken(current->config.hooks, sentence);
}

void runtime_ended(const char *sentence) {
    current->config.hooks->ended(current->config.hooks, sentence);
}

void runtime_finalised(uint64_t number) {
    if (current->config.hooks->finalised)
        current->config.hooks->finalised(current->config.hooks, number);
}

/* Percent of garbage that the major heap may have: how much a slice does.  With 1000 a graph of a
 * dozen blocks takes several slices to mark. */
static const unsigned space_overhead[] = {120, 1000, 20, [VARIANT_SAMPLED] = 120};
unsigned runtime_space_overhead(unsigned variant) {
    return space_overhead[variant % (sizeof space_overhead / sizeof *space_overhead)];
}

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
    sections_put_back(&variables);
    region_reset(g->config.hooks);
    current = g;
    slices = 0;
    caml_fatal_error_hook = runtime_fatal_error;
    caml_major_slice_end_hook = count_slice;
    caml_stat_create_pool();
    caml_init_domain();
    start_collector(g, runtime_policy(g->config.kind));
    caml_init_stack(Max_stack_def);
    caml_init_atom_table();
    caml_global_data = Val_unit;
    exceptions_begin();
    marshalling_begin();
    clear_roots();
}
