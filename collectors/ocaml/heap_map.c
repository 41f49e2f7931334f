/* SPDX-License-Identifier: MIT
 *
 * Where the runtime's blocks are: a cell for every word of the minor heap and of each chunk of the
 * major heap, stamped where an allocated block starts.
 */
#include "collectors/ocaml/internal.h"

#include <caml/freelist.h>
#include <caml/major_gc.h>
#include <caml/minor_gc.h>
#include <caml/mlvalues.h>
#include <caml/weak.h>

static void stamp(struct gc *g, struct region *r, word *hp) {
    struct cell *cell = &r->cells[hp + 1 - r->start];
    cell->stamp = g->epoch;
    cell->ephemeron = false;
}

static struct region *add_region(struct gc *g, word *start, word *first, word *end) {
    size_t words = (size_t)(end - start) + 1; /* a block may end with the region */
    struct cell *cells = (struct cell *)(void *)g->cell_memory.base;
    if (g->n_regions > 0) {
        const struct region *last = &g->regions[g->n_regions - 1];
        cells = last->cells + (last->end - last->start) + 1;
    }
    if (g->n_regions == REGIONS ||
        words > (size_t)((struct cell *)(void *)g->cell_memory.base + CELLS - cells))
        runtime_broken("the heap has grown beyond all that a program can need");
    g->regions[g->n_regions] = (struct region){start, end, first, cells};
    return &g->regions[g->n_regions++];
}

/* Headers follow one another; `all`: whatever their colour is. */
static void map_blocks(struct gc *g, struct region *r, bool all) {
    word *hp = r->first;
    while (hp < r->end) {
        word wosize = header_wosize(*hp);
        if (wosize >= (word)(r->end - hp)) {
            g->broken = "a block of the heap reaches beyond the end of its chunk";
            return;
        }
        if (wosize > 0 && (all || header_colour(*hp) != BLUE))
            stamp(g, r, hp);
        hp += wosize + 1;
    }
}

static void forget(struct gc *g, word block) {
    struct cell *cell = heap_cell(g, block);
    if (cell)
        cell->stamp = 0;
}

/* They are abstract blocks, on a list. */
static void map_ephemerons(struct gc *g) {
    for (word v = (word)caml_ephe_list_head; v;) {
        struct cell *cell = heap_cell(g, v);
        if (!cell || cell->stamp != g->epoch) {
            g->broken = "the runtime's list of ephemerons leads to no block";
            return;
        }
        if (cell->ephemeron)
            return; /* a cycle */
        cell->ephemeron = true;
        v = word_pointer(v)[CAML_EPHE_LINK_OFFSET];
    }
}

void heap_map(struct gc *g) {
    if (++g->epoch == 0)
        g->epoch = 1;
    g->n_regions = 0;
    map_blocks(g,
               add_region(g, (word *)Caml_state->young_alloc_start, (word *)Caml_state->young_ptr,
                          (word *)Caml_state->young_alloc_end),
               true);
    for (char *chunk = caml_heap_start; chunk; chunk = Chunk_next(chunk))
        map_blocks(g,
                   add_region(g, (word *)chunk, (word *)chunk, (word *)(chunk + Chunk_size(chunk))),
                   false);
    freelist_small(g, forget);
    map_ephemerons(g);
}

/* The first header of the major heap that is so; NULL: none.  A damaged heap ends the search of its
 * chunk. */
static word *find_header(bool is_so(word header)) {
    for (char *chunk = caml_heap_start; chunk; chunk = Chunk_next(chunk)) {
        word *hp = (word *)chunk, *end = (word *)(chunk + Chunk_size(chunk));
        while (hp < end && !is_so(*hp)) {
            word words = header_wosize(*hp) + 1;
            hp = words <= (word)(end - hp) ? hp + words : end;
        }
        if (hp < end)
            return hp;
    }
    return NULL;
}

static bool is_forward(word header) {
    return header_tag(header) == TAG_FORWARD && header_colour(header) != BLUE;
}
bool heap_has_forward(void) {
    return find_header(is_forward) != NULL;
}

static bool is_free(word header) {
    return header_colour(header) == BLUE;
}
word heap_first_free(void) {
    return pointer_word(find_header(is_free));
}

struct cell *heap_cell(struct gc *g, word v) {
    for (unsigned i = 0; i < g->n_regions; i++) {
        const struct region *r = &g->regions[i];
        word at = v - pointer_word(r->start);
        if (at <= (word)(r->end - r->start) * sizeof(word) && at >= sizeof(word))
            return &r->cells[at / sizeof(word)];
    }
    return NULL;
}

void heap_each(struct gc *g, void visit(struct gc *, word block)) {
    for (unsigned i = 0; i < g->n_regions; i++) {
        const struct region *r = &g->regions[i];
        for (word *hp = r->first; hp < r->end; hp += header_wosize(*hp) + 1)
            if (r->cells[hp + 1 - r->start].stamp == g->epoch)
                visit(g, pointer_word(hp + 1));
    }
}
