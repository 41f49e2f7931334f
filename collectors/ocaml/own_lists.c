/* SPDX-License-Identifier: MIT
 *
 * The lists of the own heap (collectors/own.h) that both runtimes fill in the same way.
 */
#include "collectors/ocaml/internal.h"

#include <stdlib.h>

#include <caml/custom.h>
#include <caml/mlvalues.h>

void *own_room(void *array, size_t n, size_t *room, size_t size) {
    if (n < *room)
        return array;
    *room = 2 * *room + 64;
    void *larger = realloc(array, *room * size);
    if (!larger)
        abort();
    return larger;
}

void own_put(struct gc *g, enum gc_own_list list, const word *place) {
    struct gc_own_places *p = &g->own.lists[list];
    p->places = own_room(p->places, p->n, &p->room, sizeof *p->places);
    p->places[p->n++] = place;
}

static int by_address(const void *a, const void *b) {
    const word *p = *(const word *const *)a, *q = *(const word *const *)b;
    return (p > q) - (p < q);
}

void own_sort(struct gc *g, enum gc_own_list list) {
    struct gc_own_places *p = &g->own.lists[list];
    if (p->n > 1)
        qsort(p->places, p->n, sizeof *p->places, by_address);
}

static bool is_told_of(const word *hp, bool young) {
    return young && header_tag(*hp) == TAG_CUSTOM &&
           Custom_ops_val((value)(hp + 1))->finalize != NULL;
}

void own_add(struct gc *g, const word *hp, bool young, bool is_free) {
    struct gc_own *own = &g->own;
    own->extents = own_room(own->extents, own->n, &own->room, sizeof *own->extents);
    own->extents[own->n++] = (struct gc_own_extent){.header = hp,
                                                    .words = (uint32_t)header_wosize(*hp) + 1,
                                                    .free = is_free,
                                                    .young = young,
                                                    .dies = is_told_of(hp, young)};
}

struct gc_own_extent *own_extent_at(struct gc *g, const word *header) {
    size_t low = 0, high = g->own.n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (g->own.extents[middle].header < header)
            low = middle + 1;
        else
            high = middle;
    }
    return low < g->own.n && g->own.extents[low].header == header ? &g->own.extents[low] : NULL;
}

void own_list_roots(struct gc *g) {
    for (unsigned slot = 0; slot < GC_SLOTS; slot++) {
        own_put(g, GC_OWN_ROOTS, root_at(slot));
        if (root_is_old(slot))
            own_put(g, GC_OWN_OLD_ROOTS, root_at(slot));
    }
}

void runtime_own_close(struct gc *g) {
    for (unsigned list = 0; list < GC_OWN_LISTS; list++)
        free(g->own.lists[list].places);
    free(g->own.extents);
    free(g->own.gray);
}
