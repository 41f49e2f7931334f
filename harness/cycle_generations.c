/* SPDX-License-Identifier: MIT
 *
 * Definition 6 for a cycle of an old generation: what the summary of cycle.c has to know of the
 * young one and of minor collections.
 *
 * h0 is the old generation when the cycle begins, r the slots and the fields of all young blocks.
 * Young blocks may have moved in the same call before it began, so that the model has not their
 * addresses; but nothing is written between the beginning and the end of that call, and the heap
 * itself has h0 (what the collector has lost in between the isomorphism knows).  A minor collection
 * within the cycle allocates (what it promotes) and writes (remembered fields).
 */
#include "harness/call.h"

static bool bit(const uint64_t *bits, size_t at) {
    return bits[at / 64] >> at % 64 & 1;
}

static size_t old_words(const struct side *s) {
    return s->graph.words - s->graph.nursery_words;
}

/* Puts the old block that v leads to into the queue, once. */
static void reach_old(struct runner *r, struct side *s, word v) {
    struct graph_ref ref = graph_resolve(&s->graph, v);
    if (ref.kind != GRAPH_BLOCK || ref.id >= old_words(s) ||
        s->graph.cells[ref.id].visit == r->iso.run)
        return;
    s->graph.cells[ref.id].visit = r->iso.run;
    r->iso.queue[r->iso.pairs++].a = ref.id;
}

static void reach_fields(struct runner *r, struct side *s, uint32_t id) {
    struct graph_block block = graph_block(&s->graph, id);
    for (uint32_t f = block.first_scanned; f < block.wosize; f++)
        reach_old(r, s, block.fields[f]);
}

static word *add(struct side *s, uint32_t id, bool is_new) {
    struct graph_block block = graph_block(&s->graph, id);
    word *before = definition6_add(s->summary, &s->graph, pointer_word(block.fields), block.wosize,
                                   block.tag, is_new);
    for (uint32_t f = 0; before && f < block.wosize; f++)
        before[f] = block.fields[f];
    return before;
}

bool cycle_begin_old(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    if (s->cycle.phase == GC_PHASE_IDLE)
        return false; /* begun and ended in one call, perhaps by marking young blocks too */
    walk_side(&r->side[party], IN_BETWEEN);
    definition6_begin(s->summary);
    isomorphism_begin(&r->iso, &s->graph, NULL);
    for (uint32_t i = 0; i < r->mutators * GC_SLOTS; i++)
        reach_old(r, s, s->slots[0][i]);
    for (size_t id = old_words(s); id < s->graph.words; id++)
        if (graph_starts(&s->graph, id))
            reach_fields(r, s, (uint32_t)id);
    for (size_t q = 0; q < r->iso.pairs; q++)
        reach_fields(r, s, r->iso.queue[q].a);
    for (size_t q = 0; q < r->iso.pairs; q++)
        if (!add(s, r->iso.queue[q].a, false))
            harness_fault(r, "a block of the old generation has no place in it");
    return true;
}

/* A cycle that has ended, or begun, since the last look is no longer the one that is watched. */
static bool is_watched_still(const struct side *s) {
    struct gc_cycle now = call_cycle(s);
    return s->minor.known && now.begun == s->cycle.begun && now.phase != GC_PHASE_IDLE;
}

void cycle_note_minor(struct side *s) {
    const struct minor_record *m = &s->minor;
    uint32_t writes = s->summary->n_writes; /* those of the mutator */
    s->watched = is_watched_still(s);
    for (uint32_t id = 1; s->watched && id < old_words(s); id++) {
        if (!graph_starts(&s->graph, id))
            continue;
        const word *fields = graph_fields(&s->graph, id);
        if (!bit(m->starts, id))
            add(s, id, true);
        for (size_t f = 0; bit(m->starts, id) && f < header_wosize(fields[-1]); f++)
            if (fields[f] != m->words[id + f])
                definition6_write(s->summary, &s->graph, pointer_word(fields), f, fields[f]);
    }
    s->summary->n_writes = writes;
}

size_t cycle_live(const struct side *s) {
    size_t live = s->facts.live;
    for (size_t id = old_words(s); s->graph.nursery_words && id < s->graph.words; id++)
        live -= graph_starts(&s->graph, id);
    return live;
}
