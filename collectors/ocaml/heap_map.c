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

/* What is known of a word of the runtime's heap. */
struct cell {
    uint32_t stamp; /* == epoch: an allocated block starts here (its field 0) */
    bool ephemeron;
};
struct region {
    word *start, *end;
    word *first;        /* header of the first block */
    struct cell *cells; /* one a word */
};
enum {
    REGIONS = 1 << 10, /* chunks of the major heap, and the minor heap */
    CELLS = 1 << 24    /* words of them all; address space only until touched */
};
static struct arena cell_memory;
static unsigned n_regions;
static struct region regions[REGIONS];
static uint32_t epoch;

/* There is one runtime in a process, whoever has it: what is mapped for it stays. */
bool heap_open(void) {
    return cell_memory.base || arena_open(&cell_memory, CELLS);
}

void heap_close(struct gc *g) {
    runtime_own_close(g);
}

static void stamp(struct region *r, word *hp) {
    struct cell *cell = &r->cells[hp + 1 - r->start];
    cell->stamp = epoch;
    cell->ephemeron = false;
}

static struct region *add_region(word *start, word *first, word *end) {
    size_t words = (size_t)(end - start) + 1; /* a block may end with the region */
    struct cell *cells = (struct cell *)(void *)cell_memory.base;
    if (n_regions > 0) {
        const struct region *last = &regions[n_regions - 1];
        cells = last->cells + (last->end - last->start) + 1;
    }
    if (n_regions == REGIONS ||
        words > (size_t)((struct cell *)(void *)cell_memory.base + CELLS - cells))
        runtime_broken("the heap has grown beyond all that a program can need");
    regions[n_regions] = (struct region){start, end, first, cells};
    return &regions[n_regions++];
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
            stamp(r, hp);
        hp += wosize + 1;
    }
}

/* NULL: it lies elsewhere. */
static struct cell *heap_cell(word v) {
    for (unsigned i = 0; i < n_regions; i++) {
        const struct region *r = &regions[i];
        word at = v - pointer_word(r->start);
        if (at <= (word)(r->end - r->start) * sizeof(word) && at >= sizeof(word))
            return &r->cells[at / sizeof(word)];
    }
    return NULL;
}

static void forget(struct gc *g, word block) {
    (void)g;
    struct cell *cell = heap_cell(block);
    if (cell)
        cell->stamp = 0;
}

/* They are abstract blocks, on a list. */
static void map_ephemerons(struct gc *g) {
    for (word v = (word)caml_ephe_list_head; v;) {
        struct cell *cell = heap_cell(v);
        if (!cell || cell->stamp != epoch) {
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
    if (++epoch == 0)
        epoch = 1;
    n_regions = 0;
    map_blocks(g,
               add_region((word *)Caml_state->young_alloc_start, (word *)Caml_state->young_ptr,
                          (word *)Caml_state->young_alloc_end),
               true);
    for (char *chunk = caml_heap_start; chunk; chunk = Chunk_next(chunk))
        map_blocks(g, add_region((word *)chunk, (word *)chunk, (word *)(chunk + Chunk_size(chunk))),
                   false);
    freelist_small(g, forget);
    map_ephemerons(g);
}

void heap_add(struct gc *g, word block) {
    struct cell *cell = heap_cell(block);
    if (!cell) { /* in a new chunk */
        heap_map(g);
        cell = heap_cell(block);
    }
    cell->stamp = epoch;
    cell->ephemeron = false;
}

bool heap_is_inside(word v) {
    return heap_cell(v) != NULL;
}

bool heap_is_block(word v) {
    const struct cell *cell = heap_cell(v);
    return cell && cell->stamp == epoch;
}

bool heap_has_ephemerons(void) {
    return caml_ephe_list_head;
}

/* Most heaps have none. */
bool heap_is_ephemeron(word v) {
    const struct cell *cell = heap_has_ephemerons() ? heap_cell(v) : NULL;
    return cell && cell->stamp == epoch && cell->ephemeron;
}

bool heap_lacks_mark(word block) {
    return caml_gc_phase == Phase_clean && !Is_young((value)block) &&
           header_colour(header_of(block)) != BLACK;
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

void heap_each(struct gc *g, void visit(struct gc *, word block)) {
    for (unsigned i = 0; i < n_regions; i++) {
        const struct region *r = &regions[i];
        for (word *hp = r->first; hp < r->end; hp += header_wosize(*hp) + 1)
            if (r->cells[hp + 1 - r->start].stamp == epoch)
                visit(g, pointer_word(hp + 1));
    }
}
