/* SPDX-License-Identifier: MIT
 *
 * The runtime's heap as it is (collectors/own.h): minor heap and chunks by their addresses, the
 * tables of the minor collector, the mark stack, the free list, and what Gc.stat says.
 */
#include "collectors/ocaml/internal.h"

#include <caml/freelist.h>
#include <caml/gc_ctrl.h>
#include <caml/major_gc.h>
#include <caml/memory.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/skiplist.h>
#include <caml/weak.h>

extern struct skiplist caml_global_roots_young; /* in no header */
extern value caml_gc_stat(value unit);

/* ---- what lies in the heap ----------------------------------------------------------------------
 */

static void list_extents(struct gc *g, const word *hp, const word *end, bool young) {
    for (; hp < end; hp += header_wosize(*hp) + 1) {
        if (header_wosize(*hp) >= (word)(end - hp))
            return; /* heap_map says so */
        own_add(g, hp, young, !young && header_colour(*hp) == BLUE);
    }
}

static void list_young(struct gc *g) {
    list_extents(g, (const word *)Caml_state->young_ptr, (const word *)Caml_state->young_alloc_end,
                 true);
}

/* Chunks are chained by their addresses. */
static void list_heap(struct gc *g) {
    bool young = false;
    g->own.n = g->own.heap_words = g->own.chunks = 0;
    for (char *chunk = caml_heap_start; chunk; chunk = Chunk_next(chunk)) {
        if (!young && chunk > (char *)Caml_state->young_alloc_start) {
            list_young(g);
            young = true;
        }
        list_extents(g, (const word *)chunk, (const word *)(chunk + Chunk_size(chunk)), false);
        g->own.heap_words += Chunk_size(chunk) / sizeof(word);
        g->own.chunks++;
    }
    if (!young)
        list_young(g);
}

static void list_ephemerons(struct gc *g) {
    size_t n = 0; /* the list may be a circle, which heap_map says */
    for (word v = (word)caml_ephe_list_head; v && n++ < g->own.n;
         v = word_pointer(v)[CAML_EPHE_LINK_OFFSET]) {
        struct gc_own_extent *e = own_extent_at(g, word_pointer(v) - 1);
        if (!e)
            return;
        e->weak = true;
    }
}

/* ---- what is remembered -------------------------------------------------------------------------
 */

static void list_tables(struct gc *g) {
    const struct caml_ref_table *fields = Caml_state->ref_table;
    const struct caml_ephe_ref_table *weak = Caml_state->ephe_ref_table;
    const struct caml_custom_table *deaths = Caml_state->custom_table;
    for (value **p = fields->base; p < fields->ptr; p++)
        own_put(g, GC_OWN_FIELDS, (const word *)*p);
    for (struct caml_ephe_ref_elt *p = weak->base; p < weak->ptr; p++)
        own_put(g, GC_OWN_WEAK, (const word *)&Field(p->ephe, p->offset));
    for (struct caml_custom_elt *p = deaths->base; p < deaths->ptr; p++)
        own_put(g, GC_OWN_DEATHS, (const word *)p->block - 1);
    FOREACH_SKIPLIST_ELEMENT(e, &caml_global_roots_young,
                             { own_put(g, GC_OWN_FIELDS, (const word *)e->key); });
    own_sort(g, GC_OWN_FIELDS);
    own_sort(g, GC_OWN_WEAK);
    own_sort(g, GC_OWN_DEATHS);
}

/* ---- marking and sweeping -----------------------------------------------------------------------
 */

static void put(struct gc *g, struct gc_own_gray gray) {
    struct gc_own *own = &g->own;
    own->gray = own_room(own->gray, own->n_gray, &own->gray_room, sizeof *own->gray);
    own->gray[own->n_gray++] = gray;
}

static void put_gray(struct gc *g, const word *first, const word *end) {
    put(g, (struct gc_own_gray){.first = first, .end = end});
}

#ifdef NATIVE_CODE
static void put_static(struct gc *g, const word *first, const word *end) {
    put(g, (struct gc_own_gray){.first = first, .end = end, .is_static = true});
}
#endif

static void list_cycle(struct gc *g) {
    struct gc_own *own = &g->own;
    own->n_gray = 0;
    own->swept = NULL;
    own->phase = caml_gc_phase == Phase_idle   ? GC_OWN_IDLE
                 : caml_gc_phase == Phase_mark ? GC_OWN_MARK
                                               : GC_OWN_SWEEP;
    if (caml_gc_phase == Phase_mark)
        major_gray(g, put_gray);
#ifdef NATIVE_CODE
    if (caml_gc_phase == Phase_mark && caml_gc_subphase == Subphase_mark_roots)
        frames_data(g, put_static); /* it is marked in slices, too */
#endif
    if (caml_gc_phase == Phase_sweep)
        own->swept = (const word *)caml_gc_sweep_hp;
}

/* ---- the free list ------------------------------------------------------------------------------
 */

/* A list with more than all that there is goes round in a circle. */
static bool put_free(struct gc *g, word block) {
    struct gc_own_extent *e = own_extent_at(g, word_pointer(block) - 1);
    own_put(g, GC_OWN_FREE, word_pointer(block) - 1);
    if (e)
        e->free = true; /* what is left of a small block is white */
    return e && g->own.lists[GC_OWN_FREE].n <= g->own.n;
}

/* ---- Gc.stat ------------------------------------------------------------------------------------
 */

enum { STAT_WORDS = 48 }; /* more than what it allocates */
/* The places in what Gc.stat answers. */
enum { LIVE_WORDS = 7, LIVE_BLOCKS, FREE_WORDS, FREE_BLOCKS, LARGEST_FREE, FRAGMENTS };

/* The debugging runtime looks at the free list as well, and its check of best-fit's fails where
 * sweeping has just freed a small block: what merges is then behind the last free block. */
static bool may_count(void) {
#ifdef DEBUG
    return caml_gc_phase != Phase_sweep;
#else
    return true;
#endif
}

/* Where there is room in the minor heap, and nothing waits to be done, it does nothing but allocate
 * its answer, which is taken back.  The rest is the runtime's, also in Gc.quick_stat. */
static void list_counts(struct gc *g) {
    struct gc_own_counts *counts = &g->own.counts;
    counts->heap_words = (size_t)Caml_state->stat_heap_wsz;
    counts->chunks = (size_t)Caml_state->stat_heap_chunks;
    value *before = Caml_state->young_ptr;
    g->own.counted = may_count() && before - STAT_WORDS > Caml_state->young_limit &&
                     before - STAT_WORDS > Caml_state->young_alloc_start;
    if (!g->own.counted)
        return;
    value stat = caml_gc_stat(Val_unit);
    Caml_state->young_ptr = before;
    counts->live_words = (size_t)Long_val(Field(stat, LIVE_WORDS));
    counts->live_blocks = (size_t)Long_val(Field(stat, LIVE_BLOCKS));
    counts->free_words = (size_t)Long_val(Field(stat, FREE_WORDS));
    counts->free_blocks = (size_t)Long_val(Field(stat, FREE_BLOCKS));
    counts->largest_free = (size_t)Long_val(Field(stat, LARGEST_FREE));
    counts->fragments = (size_t)Long_val(Field(stat, FRAGMENTS));
}

struct gc_own *runtime_own(struct gc *g) {
    for (unsigned list = 0; list < GC_OWN_LISTS; list++)
        g->own.lists[list].n = 0;
    list_heap(g);
    list_ephemerons(g);
    own_list_roots(g);
    list_tables(g);
    list_cycle(g);
    g->own.broken = freelist_each(g, put_free);
    g->own.sorted = freelist_is_sorted();
    g->own.listed_words = (size_t)caml_fl_cur_wsz;
    list_counts(g);
    return &g->own;
}
