/* SPDX-License-Identifier: MIT
 *
 * Graph views (graph.h).
 */
#include "views/graph.h"

#include <string.h>

void graph_forget(const struct graph *g) {
    memset(g->cells, 0, g->n_cells * sizeof *g->cells);
}

struct graph_ref graph_resolve_inside(const struct graph *g, uint32_t id, word v) {
    struct graph_ref ref = {GRAPH_DANGLING, id, 0};
    if (v % sizeof(word))
        return ref;
    if (!g->epoch || !graph_in_use(g, id)) {
        ref.kind = GRAPH_LOST;
        return ref;
    }
    if (id == 0 || !graph_in_use(g, id - 1))
        return ref; /* at the header of a block; what is before it may be dead memory */
    word header = word_pointer(v)[-1], back = header_wosize(header);
    if (header_tag(header) == TAG_INFIX && back > 0 && back <= id && graph_starts(g, id - back) &&
        header_tag(word_pointer(v)[-1 - (ptrdiff_t)back]) == TAG_CLOSURE)
        ref = (struct graph_ref){GRAPH_BLOCK, id - (uint32_t)back, (uint32_t)back};
    return ref;
}

void graph_of_heap(struct graph *g, const word *base, size_t words, const word *statics,
                   size_t static_words, const word *slots, unsigned mutators,
                   struct graph_cell *cells, size_t n_cells, uint64_t *in_use) {
    *g = (struct graph){.universe = (uint32_t)(words + static_words),
                        .cells = cells,
                        .n_cells = n_cells,
                        .in_use = in_use,
                        .slots = slots,
                        .mutators = mutators,
                        .base = base,
                        .statics = statics,
                        .words = words,
                        .static_words = static_words,
                        .epoch = g->epoch};
}

void graph_of_model(struct graph *g, const struct model *model, struct graph_cell *cells) {
    *g = (struct graph){.universe = (uint32_t)model->most_objects,
                        .cells = cells,
                        .n_cells = model->room_objects,
                        .slots = model->slots[0],
                        .mutators = model->mutators,
                        .model = model};
}
