/* SPDX-License-Identifier: MIT
 *
 * The heap before a minor collection (minor_record.h).
 */
#include "oracles/cycles/minor_record.h"

#include "collectors/words_copy.h"

#include <string.h>

static bool young_block(const struct side *s, uint32_t id) {
    return is_young(s, graph_word(&s->graph, id));
}

/* One for each word of the heap. */
static void clear_bits(uint64_t *bits, const struct side *s) {
    memset(bits, 0, (s->graph.words / 64 + 1) * sizeof *bits);
}

/* Of a field that is no longer part of an old block nothing can be said. */
static void take_down_field(void *context, word block, size_t i) {
    const struct judge *j = context;
    struct minor_record *m = j->state;
    const struct side *s = j->side;
    size_t at = (block - pointer_word(s->graph.base)) / sizeof(word) + i;
    if (at >= s->graph.words || !graph_in_use(&s->graph, at) || is_young(s, block))
        return;
    if (bit_at(m->recorded, at)) {
        m->twice = block;
        m->twice_field = i;
    }
    set_bit(m->recorded, at);
}

static void copy_block(const struct side *s, struct minor_record *m, uint64_t *starts,
                       uint32_t id) {
    const word *header = graph_fields(&s->graph, id) - 1;
    word *copy = m->words + id - 1;
    words_copy(copy, header, header_wosize(*header) + 1);
    set_bit(starts, id);
}

static bool has_unrecorded(const struct side *s, const struct minor_record *m, uint32_t id) {
    struct graph_block block = graph_block(&s->graph, id);
    FOR_POINTERS (i, block.fields, block.first_scanned, block.wosize)
        if (is_young(s, block.fields[i]) && !bit_at(m->recorded, id + i))
            return true;
    return false;
}

/* True if some old block, reachable or not, has an edge to a young one that is not recorded. */
static bool take_down_old(const struct side *s, struct minor_record *m) {
    size_t words = s->graph.words;
    bool unrecorded = false;
    clear_bits(m->starts, s);
    m->old = 0;
    /* The first word in use behind a block is the header of the next. */
    for (size_t at = 0; (at = next_bit(s->graph.in_use, at, words)) < words;) {
        uint32_t id = (uint32_t)at + 1;
        if (!young_block(s, id)) {
            copy_block(s, m, m->starts, id);
            m->old++;
            unrecorded = unrecorded || has_unrecorded(s, m, id);
        }
        at += header_wosize(s->graph.base[at]) + 1;
    }
    return unrecorded;
}

/* A young block that the collection must keep goes into the cells and into the queue. */
static void must_keep(struct judge *j, word v) {
    const struct side *s = j->side;
    struct minor_record *m = j->record;
    struct graph_ref ref = graph_resolve(&s->graph, v);
    if (ref.kind != GRAPH_BLOCK || !young_block(s, ref.id) ||
        s->graph.cells[ref.id].visit == j->iso->run)
        return;
    s->graph.cells[ref.id].visit = j->iso->run;
    copy_block(s, m, m->young_starts, ref.id);
    j->iso->queue[m->young++].a = ref.id;
}

/* V of the reachable subgraph of the young generation: from slots and remembered fields. */
void minor_record_young(struct judge *j) {
    const struct side *s = j->side;
    struct minor_record *m = j->record;
    clear_bits(m->young_starts, s);
    m->young = 0;
    isomorphism_begin(j->iso, &s->graph, NULL);
    const word *slots = s->slots[0];
    size_t n = s->graph.mutators * (size_t)GC_SLOTS;
    FOR_POINTERS (i, slots, 0, n)
        must_keep(j, slots[i]);
    for (size_t id = 0; (id = next_bit(m->recorded, id, s->graph.words)) < s->graph.words; id++)
        must_keep(j, s->graph.base[id]);
    for (size_t q = 0; q < m->young; q++) {
        struct graph_block block = graph_block(&s->graph, j->iso->queue[q].a);
        FOR_POINTERS (f, block.fields, block.first_scanned, block.wosize)
            must_keep(j, block.fields[f]);
    }
    words_copy(m->slots[0], slots, n);
}

/* ---- around a collection ----------------------------------------------------------------------
 */

/* If there is an edge that is not recorded: is the heap what it should be?  Else the checks after
 * the operation will say so. */
static void before_minor(struct judge *j) {
    struct side *s = j->side;
    struct minor_record *m = j->state;
    m->known = m->unrecorded = false;
    m->twice = 0;
    j->services->walk_inside(j);
    if (s->facts.violation)
        return;
    clear_bits(m->recorded, s);
    s->collector->remembered(s->gc, take_down_field, j);
    m->unrecorded = take_down_old(s, m);
    m->known = !m->unrecorded || !isomorphism_compare(j->iso, &s->graph, j->model_graph);
}

static bool minor(struct judge *j, bool before) {
    const struct minor_record *m = j->state;
    if (before)
        before_minor(j);
    else if (m->known)
        j->services->walk_inside(j);
    return false;
}

/* Three bits a word, in the byte that it has. */
static bool reset(struct judge *j) {
    struct minor_record *m = j->state;
    size_t bits = j->side->room / 64 + 1;
    m->starts = m->words + j->side->room;
    m->young_starts = m->starts + bits;
    m->recorded = m->young_starts + bits;
    return false;
}

const struct oracle_module oracle_minor_record = {
    .meaning = "the heap before a minor collection",
    .needs = 1u << NEED_walk | 1u << NEED_generations,
    .state = sizeof(struct minor_record),
    .each = sizeof(word) + 1,
    .reset = reset,
    .minor = minor,
};
