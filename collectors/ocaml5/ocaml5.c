/* SPDX-License-Identifier: MIT
 *
 * The OCaml 5 runtime behind the plug-in interface (internal.h): its major collector.
 */
#include "collectors/ocaml5/internal.h"
#include "collectors/ocaml5/versions.h"

#include "collectors/faults.h"

#include <caml/domain.h>
#include <caml/gc_ctrl.h>
#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/shared_heap.h>
#include <caml/signals.h>
#include <caml/version.h>
#include <caml/weak.h>

/* Marking has looked at ephemerons, and does not look at them again; which ones, nobody asks. */
bool runtime_has_seen(word ephemeron) {
    (void)ephemeron;
    bool looked = false;
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++)
        looked |= runtime_domain(m) && runtime_domain(m)->ephe_info->cursor.cycle > 0;
    return looked && caml_gc_phase != Phase_sweep_ephe;
}

/* So that marking leads keys past Forward blocks without a note for the minor collection. */
bool runtime_leads_keys(void) {
    return caml_gc_phase != Phase_sweep_ephe;
}

/* Young blocks have colour 0, which is that of unmarked ones in every third cycle. */
bool runtime_mistakes_young(void) {
    return caml_global_heap_state.UNMARKED == 0;
}

void runtime_empty_minor_heap(void) {
    caml_empty_minor_heaps_once();
}

void runtime_finish_cycle(void) {
    runtime_cycle(0);
}

/* Gc.full_major and Gc.compact, if no finaliser raises. */
enum { CYCLES_OF_FULL = 3 };

void runtime_full_major(void) {
    for (unsigned i = 0; i < CYCLES_OF_FULL; i++) {
        runtime_cycle(0);
        runtime_actions();
    }
}

/* Garbage is there in a compaction only if a function of Gc.finalise has run in it. */
void runtime_compact(struct gc *g) {
    uint64_t before = is_masked(g, MASK_COMPACT_COUNTS) ? UINT64_MAX : runtime_callbacks();
    for (; before != runtime_callbacks();) {
        before = runtime_callbacks();
        runtime_full_major();
    }
    for (unsigned i = 0; i < CYCLES_OF_FULL; i++) {
        runtime_cycle(i == CYCLES_OF_FULL - 1);
        runtime_actions();
    }
}

/* A budget of 0: what the runtime thinks fit.  Where a cycle ends the next one begins with its
 * roots, and nothing more: idle. */
enum gc_result runtime_step(struct gc *g, size_t budget) {
    runtime_begin(g);
    uintnat before = caml_major_cycles_completed;
    caml_major_collection_slice((intnat)budget);
    bool idle = caml_major_cycles_completed != before;
    runtime_end(g);
    return idle ? GC_IDLE : GC_OK;
}

#if defined(ISOHEAP_DOMAINS) || defined(ISOHEAP_THREADS)
/* A domain that ends where its ephemerons are half swept makes a cycle that never ends.  It sweeps
 * them in slices of its own, of which there is none any more when the runtime calls this.  But the
 * other domains may begin to sweep before it has given its ephemerons up, so it does that here: at
 * no safepoint since the phase was another one. */
void runtime_before_end(const struct gc *g) {
    if (!is_masked(g, MASK_ENDING))
        return;
    while (caml_gc_phase == Phase_sweep_ephe)
        runtime_finish_cycle();
    caml_orphan_ephemerons(Caml_state);
}
#endif

#ifndef ISOHEAP_THREADS /* where nobody looks at the heap */
bool runtime_keeps_garbage(const struct gc *g) {
    return is_masked(g, MASK_FORWARD_KEY) && heap_has_forward_key();
}

static bool judges_samples(const struct gc *g) {
    return g->config.variant % VARIANTS == VARIANT_SAMPLED &&
           !(g->config.mutators > 1 && is_masked(g, MASK_SAMPLED_DEATH));
}

/* Each block of the program is a sample, and each domain has told of all that it knows. */
void runtime_judge_samples(struct gc *g) {
    size_t shown = 0;
    if (!judges_samples(g))
        return;
    for (size_t at = 0; at < g->shadow.used; at += header_wosize(g->shadow.arena.base[at]) + 1)
        shown++;
    if (shown > sampling_alive())
        runtime_broken("memprof has told of the death of blocks that are alive");
}

/* What is steered around so has no other answer. */
void runtime_promise(const struct gc_config *config, struct collector_traits *traits) {
    traits->may_refuse = has_mask(config, MASK_FORWARD_KEY);
}
#endif

/* domains/mutators.c and threads/mutators.c have other tables */
#if !defined(ISOHEAP_DOMAINS) && !defined(ISOHEAP_THREADS)
static enum gc_result collect(struct gc *g, enum gc_collection kind) {
    enum gc_result result = runtime_collect(g, kind);
    if (kind == GC_FULL)
        runtime_judge_samples(g);
    return result;
}

const struct collector ISOHEAP_COLLECTOR = {
    .name = COLLECTOR_NAME,
#if defined(DEBUG)
    .summary = "the OCaml " OCAML_VERSION_STRING " runtime with its own assertions",
#elif defined(ISOHEAP_OCAML_TINY)
    .summary =
        "the OCaml " OCAML_VERSION_STRING " runtime with small pools, minor heap and mark stack",
#else
    .summary = "the OCaml " OCAML_VERSION_STRING
               " runtime: generational, incremental" IF_COMPACTING(", compacting"),
#endif
    .traits = {RUNTIME_TRAITS, .own_tags = OWN_TAGS},
    RUNTIME_TABLE(collect),
    .promise = runtime_promise,
    .step = runtime_step,
    .own = runtime_own,
};
#endif
