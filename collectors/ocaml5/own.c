/* SPDX-License-Identifier: MIT
 *
 * The heap of the OCaml 5 runtime as it is (collectors/own.h): minor heaps, pools and large blocks
 * by their addresses, what each domain remembers for the next minor collection, the free slots of
 * each pool, and what the runtime counts.
 *
 * Free slots are no extents, since a pool has hundreds: each pool's list is looked through here.
 */
#include "collectors/ocaml5/internal.h"

#include <stdlib.h>

#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/shared_heap.h>
#include <caml/skiplist.h>
#include <caml/weak.h>

extern struct skiplist caml_global_roots_young; /* in no header */

/* ---- what lies in the heap ----------------------------------------------------------------------
 */

/* A row of blocks: a pool, the minor heap of a domain (each 0), or a large block. */
struct piece {
    struct heap_pool pool;
    bool young;
};
enum { PIECES = 1 << 13 };
static struct piece pieces[PIECES];
static size_t n_pieces;

static void add_piece(struct heap_pool pool, bool young) {
    if (n_pieces == PIECES)
        runtime_broken("the heap has grown beyond all that a program can need");
    pieces[n_pieces++] = (struct piece){pool, young};
}

static void add_pool(const struct heap_pool *p) {
    add_piece(*p, false);
}

static void add_large(word *header) {
    size_t words = header_wosize(*header) + 1;
    add_piece((struct heap_pool){header, header, header + words, words, NULL}, false);
}

static int by_address(const void *a, const void *b) {
    const word *p = ((const struct piece *)a)->pool.first,
               *q = ((const struct piece *)b)->pool.first;
    return (p > q) - (p < q);
}

static void list_pieces(void *context) {
    (void)context;
    n_pieces = 0;
    heap_pools(add_pool);
    heap_large(add_large);
    for (unsigned m = 0; m < RUNTIME_MUTATORS; m++) {
        const caml_domain_state *d = runtime_domain(m);
        if (d)
            add_piece(
                (struct heap_pool){.first = (word *)d->young_ptr, .end = (word *)d->young_end},
                true);
    }
    qsort(pieces, n_pieces, sizeof *pieces, by_address);
}

static void list_young(struct gc *g, const struct heap_pool *p) {
    for (const word *hp = p->first; hp < p->end; hp += header_wosize(*hp) + 1) {
        if (header_wosize(*hp) >= (word)(p->end - hp))
            return; /* heap_map says so */
        own_add(g, hp, true, false);
    }
}

/* Its free slots are chained, each once; what is in use is not among them. */
static void judge_free_slots(struct gc *g, const struct heap_pool *p, size_t slots, size_t unused) {
    size_t n = 0;
    for (const word *slot = p->free; slot; slot = word_pointer(slot[1])) {
        bool inside = slot >= p->first && slot + p->each <= p->end;
        if (n++ == slots || !inside || (size_t)(slot - p->first) % p->each || *slot) {
            g->own.broken = "the list of free slots of a pool leads to what is no free slot of it, "
                            "or round in a circle";
            return;
        }
    }
    if (n != unused)
        g->own.broken = "a free slot of a pool is not on its list";
}

static void list_pool(struct gc *g, const struct heap_pool *p) {
    size_t slots = 0, unused = 0;
    for (const word *hp = p->first; hp + p->each <= p->end; hp += p->each, slots++) {
        if (*hp)
            own_add(g, hp, false, false);
        else
            unused++;
    }
    g->own.free_words += unused * p->each;
    if (p->start != p->first)
        judge_free_slots(g, p, slots, unused);
}

static void list_heap(struct gc *g) {
    runtime_beside(list_pieces, NULL);
    g->own.n = g->own.free_words = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        if (pieces[i].young)
            list_young(g, &pieces[i].pool);
        else
            list_pool(g, &pieces[i].pool);
    }
}

static void list_ephemerons(struct gc *g, value v) {
    for (size_t n = 0; v && n++ < g->own.n; v = Ephe_link(v)) {
        struct gc_own_extent *e = own_extent_at(g, word_pointer((word)v) - 1);
        if (!e)
            return; /* heap_map says so */
        e->weak = true;
    }
}

/* ---- what is remembered -------------------------------------------------------------------------
 */

static void list_tables(struct gc *g, const struct caml_minor_tables *tables) {
    for (value **p = tables->major_ref.base; p < tables->major_ref.ptr; p++)
        own_put(g, GC_OWN_FIELDS, (const word *)*p);
    for (struct caml_ephe_ref_elt *p = tables->ephe_ref.base; p < tables->ephe_ref.ptr; p++)
        own_put(g, GC_OWN_WEAK, (const word *)&Field(p->ephe, p->offset));
    for (struct caml_custom_elt *p = tables->custom.base; p < tables->custom.ptr; p++)
        own_put(g, GC_OWN_DEATHS, (const word *)p->block - 1);
}

static void list_domains(struct gc *g) {
    unsigned row = root_row;
    for (root_row = 0; root_row < RUNTIME_MUTATORS; root_row++) {
        const caml_domain_state *d = runtime_domain(root_row);
        if (!d)
            continue;
        own_list_roots(g);
        list_tables(g, d->minor_tables);
        list_ephemerons(g, d->ephe_info->live);
        list_ephemerons(g, d->ephe_info->todo);
    }
    root_row = row;
    list_ephemerons(g, (value)runtime_orphans());
    FOREACH_SKIPLIST_ELEMENT(e, &caml_global_roots_young,
                             { own_put(g, GC_OWN_FIELDS, (const word *)e->key); });
    own_sort(g, GC_OWN_FIELDS);
    own_sort(g, GC_OWN_WEAK);
    own_sort(g, GC_OWN_DEATHS);
}

/* ---- what the runtime says ----------------------------------------------------------------------
 */

/* As Gc.quick_stat has it of all domains together, but without what the runtime has for itself. */
static void list_counts(struct gc *g) {
    struct heap_counted c;
    heap_counts(&c);
    g->own.counts =
        (struct gc_own_counts){.heap_words = c.pool_words - c.pool_frag_words + c.large_words,
                               .live_words = c.pool_live_words + c.large_words,
                               .live_blocks = c.pool_live_blocks + c.large_blocks,
                               .free_words = c.pool_words - c.pool_live_words - c.pool_frag_words};
    g->own.counted = true;
}

static void list_colours(struct gc *g) {
    g->own.phase = caml_gc_phase == Phase_sweep_ephe ? GC_OWN_SWEEP : GC_OWN_MARK;
    g->own.turning = true;
    g->own.unmarked = (unsigned)(caml_global_heap_state.UNMARKED >> HEADER_COLOR_SHIFT);
    g->own.dead = (unsigned)(caml_global_heap_state.GARBAGE >> HEADER_COLOR_SHIFT);
}

struct gc_own *runtime_own(struct gc *g) {
    for (unsigned list = 0; list < GC_OWN_LISTS; list++)
        g->own.lists[list].n = 0;
    g->own.broken = NULL;
    list_heap(g);
    list_domains(g);
    list_colours(g);
    list_counts(g);
    return &g->own;
}
