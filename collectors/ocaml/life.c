/* SPDX-License-Identifier: MIT
 *
 * Life of the adapter of the OCaml runtime, and its full collections (internal.h).
 */
#include "collectors/ocaml/internal.h"

#include <stdlib.h>

/* ---- life ---------------------------------------------------------------------------------------
 */

struct gc *runtime_open(void) {
    struct gc *g = calloc(1, sizeof *g);
    if (!g || !region_open() || !shadow_open(&g->shadow, g, &ocaml_subject, CAPACITY)) {
        free(g);
        return NULL;
    }
    if (!runtime_save() || !heap_open()) {
        shadow_close(&g->shadow);
        free(g);
        return NULL;
    }
    return g;
}

void runtime_close(struct gc *g) {
    shadow_close(&g->shadow);
    heap_close(g);
    free(g);
}

void runtime_reset(struct gc *g, const struct gc_config *config) {
    g->config = *config;
    shadow_reset(&g->shadow, config);
    extras_reset(g);
    runtime_boot(g);
    runtime_set(g, config->kind);
    if (config->variant % VARIANTS == VARIANT_SAMPLED)
        sampling_begin();
    g->seen = runtime_collections();
    g->exact = false;
    runtime_show(g);
}

/* ---- collections --------------------------------------------------------------------------------
 */

/* The blocks with tag 250.  A pointer is led past one while that is marked, so that it goes in the
 * next cycle; of a chain one goes after the other, from its end. */
static struct forwards count_forwards(struct gc *g) {
    if (!heap_has_forward())
        return (struct forwards){0};
    runtime_show(g);
    return runtime_forwards(g);
}

/* A function of Gc.finalise gets its block, which dies in the next cycle if it is not kept; and the
 * first of the two cycles may have begun when the block was still alive.  So once more, until none
 * has run.  What Obj.truncate leaves is black: where sweeping has passed it, it takes a cycle more.
 */
static void full_major(struct gc *g) {
    if (g->truncated)
        runtime_full_major();
    g->truncated = false;
    for (uint64_t before = UINT64_MAX; before != runtime_callbacks();) {
        before = runtime_callbacks();
        runtime_full_major();
    }
}

/* Until no block with tag 250 is left that nothing reaches, or none has gone. */
static void full_until_exact(struct gc *g) {
    full_major(g);
    struct forwards left = count_forwards(g);
    for (size_t before = SIZE_MAX; left.unreached > 0 && left.all < before;) {
        before = left.all;
        full_major(g);
        left = count_forwards(g);
    }
}

enum gc_result runtime_collect(struct gc *g, enum gc_collection kind) {
    runtime_begin(g);
    region_may_refuse(true);
    bool keeps = runtime_keeps_garbage(g);
    if (kind == GC_MINOR)
        runtime_empty_minor_heap();
    else if (kind == GC_FULL)
        full_until_exact(g);
    else
        runtime_compact(g);
    runtime_finish(g);
    runtime_end(g);
    keeps = kind == GC_FULL && (keeps || runtime_keeps_garbage(g));
    g->exact = kind == GC_FULL && !keeps;
    return keeps ? GC_OUT_OF_MEMORY : GC_OK;
}

enum gc_result runtime_switch_kind(struct gc *g, unsigned kind) {
    runtime_begin(g);
    RUNTIME_GUARD_CALL(g);
    runtime_set(g, kind);
    runtime_end(g);
    return GC_OK;
}

const char *runtime_check(struct gc *g) {
    return g->broken ? g->broken : shadow_check(&g->shadow);
}
