/* SPDX-License-Identifier: MIT
 *
 * The OCaml runtime behind the plug-in interface (internal.h).
 *
 * Its life and its collections; mutator.c has what a program does.
 */
#include "collectors/ocaml/internal.h"

#include "collectors/faults.h"

#include <caml/gc_ctrl.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/version.h>

extern value caml_gc_full_major(value unit), caml_gc_compaction(value unit); /* in no header */
extern int caml_check_pending_actions(void);
extern uintnat caml_percent_free;

/* ---- the collector ------------------------------------------------------------------------------
 */

static bool is_marking(void) {
    return caml_gc_phase == Phase_mark;
}

bool runtime_has_seen(word ephemeron) {
    return is_marking() && major_has_seen(ephemeron);
}

bool runtime_waits(word block) {
    return is_marking() && major_waits(block);
}

bool runtime_mistakes_young(void) {
    return false;
}

bool runtime_leads_keys(void) {
    return is_marking();
}

void runtime_finish(struct gc *g) {
    while (g->finalises && caml_check_pending_actions())
        runtime_actions();
}

void runtime_full_major(void) {
    caml_gc_full_major(Val_unit);
}

void runtime_compact(struct gc *g) {
    (void)g;
    caml_gc_compaction(Val_unit);
}

void runtime_empty_minor_heap(void) {
    caml_empty_minor_heap();
}

void runtime_finish_cycle(void) {
    caml_finish_major_cycle();
}

bool runtime_keeps_garbage(const struct gc *g) {
    (void)g;
    return false;
}

/* The least slice that marks a word: of n the runtime makes n * 375 / overhead words, and rounds
 * down. */
static intnat least_slice(void) {
    return (intnat)(caml_percent_free + 374) / 375;
}

/* A cycle starts with an empty minor heap.  The answer is the slice's: what it has put off may
 * begin the next cycle. */
static enum gc_result ocaml_step(struct gc *g, size_t budget) {
    runtime_begin(g);
    region_may_refuse(true);
    if (caml_gc_phase == Phase_idle)
        caml_empty_minor_heap();
    intnat least = least_slice(), slice = (intnat)budget;
    caml_major_collection_slice(budget == 0 ? -1 : slice < least ? least : slice);
    bool idle = caml_gc_phase == Phase_idle;
    runtime_end(g);
    return idle ? GC_IDLE : GC_OK;
}

/* What caml_alloc gives for no fields. */
static word ocaml_atom(struct gc *g, unsigned tag) {
    (void)g;
    return (word)Atom((tag_t)tag);
}

static word ocaml_own_place(struct gc *g, enum gc_place place) {
    (void)g;
    return place == GC_PLACE_YOUNG ? (word)Caml_state->young_start : heap_first_free();
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
#if defined(DEBUG)
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime with its own assertions",
#elif defined(ISOHEAP_OCAML_TINY)
    .summary =
        "the OCaml " OCAML_VERSION_STRING " runtime with small pages, minor heap and mark stack",
#elif defined(NATIVE_CODE)
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime with the roots of native code",
#elif defined(NO_NAKED_POINTERS)
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime without naked pointers",
#else
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime: generational, incremental, compacting",
#endif
    .traits =
        {
            RUNTIME_TRAITS,
#ifdef NO_NAKED_POINTERS /* each word that looks like a pointer is one to a block */
            .statics = true,
#else
            .outside = true,
            .any_word = true,
#endif
            .atoms = true,
        },
    RUNTIME_TABLE(runtime_collect),
    .step = ocaml_step,
    .promise = ocaml_promise,
    .atom = ocaml_atom,
    .own_place = ocaml_own_place,
    .own = runtime_own,
};
