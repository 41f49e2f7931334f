/* SPDX-License-Identifier: MIT
 *
 * Definition 6 for a cycle of an old generation: what the summary of snapshot.c has to know of the
 * young one and of minor collections.
 *
 * h0 is the old generation when the cycle begins, r the slots and the fields of all young blocks.
 * Young blocks may have moved in the same call before it began, so that the model has not their
 * addresses; but nothing is written between the beginning and the end of that call, and the heap
 * itself has h0 (what the collector has lost in between the isomorphism knows).  A minor collection
 * within the cycle allocates (what it promotes) and writes (remembered fields).
 */
#include "oracles/cycles/minor_record.h"
#include "oracles/cycles/snapshot.h"

static size_t old_words(const struct side *s) {
    return s->graph.words - s->graph.nursery_words;
}

/* Puts the old block that v leads to into the queue, once. */
static void reach_old(struct judge *j, word v) {
    const struct side *s = j->side;
    struct graph_ref ref = graph_resolve(&s->graph, v);
    if (ref.kind != GRAPH_BLOCK || ref.id >= old_words(s) ||
        s->graph.cells[ref.id].visit == j->iso->run)
        return;
    s->graph.cells[ref.id].visit = j->iso->run;
    j->iso->queue[j->iso->pairs++].a = ref.id;
}

static void reach_fields(struct judge *j, uint32_t id) {
    struct graph_block block = graph_block(&j->side->graph, id);
    for (uint32_t f = block.first_scanned; f < block.wosize; f++)
        reach_old(j, block.fields[f]);
}

static word *add(struct judge *j, uint32_t id, bool is_new) {
    const struct graph *g = &j->side->graph;
    struct graph_block block = graph_block(g, id);
    struct snapshot *n = j->state;
    word *before = definition6_add(&n->summary, g, pointer_word(block.fields), block.wosize,
                                   block.tag, is_new);
    for (uint32_t f = 0; before && f < block.wosize; f++)
        before[f] = block.fields[f];
    return before;
}

bool snapshot_of_old(struct judge *j) {
    const struct side *s = j->side;
    struct snapshot *n = j->state;
    if (n->cycle.phase == GC_PHASE_IDLE)
        return false; /* begun and ended in one call, perhaps by marking young blocks too */
    judge_walk(j);
    definition6_begin(&n->summary);
    isomorphism_begin(j->iso, &s->graph, NULL);
    for (uint32_t i = 0; i < s->graph.mutators * GC_SLOTS; i++)
        reach_old(j, s->slots[0][i]);
    for (size_t id = old_words(s); id < s->graph.words; id++)
        if (graph_starts(&s->graph, id))
            reach_fields(j, (uint32_t)id);
    for (size_t q = 0; q < j->iso->pairs; q++)
        reach_fields(j, j->iso->queue[q].a);
    for (size_t q = 0; q < j->iso->pairs; q++)
        if (!add(j, j->iso->queue[q].a, false))
            return false; /* it reaches beyond the old generation, which is for others to judge */
    return true;
}

/* A cycle that has ended, or begun, since the last look is no longer the one that is watched. */
static bool is_watched_still(struct judge *j) {
    const struct snapshot *n = j->state;
    const struct minor_record *m = j->record;
    struct gc_cycle now = j->services->cycle(j);
    return m->known && now.begun == n->cycle.begun && now.phase != GC_PHASE_IDLE;
}

void snapshot_note_minor(struct judge *j) {
    const struct graph *g = &j->side->graph;
    const struct minor_record *m = j->record;
    struct snapshot *n = j->state;
    uint32_t writes = n->summary.n_writes; /* those of the mutator */
    n->watched = is_watched_still(j);
    for (uint32_t id = 1; n->watched && id < old_words(j->side); id++) {
        if (!graph_starts(g, id))
            continue;
        const word *fields = graph_fields(g, id);
        if (!bit_at(m->starts, id))
            add(j, id, true);
        for (size_t f = 0; bit_at(m->starts, id) && f < header_wosize(fields[-1]); f++)
            if (fields[f] != m->words[id + f])
                definition6_write(&n->summary, g, pointer_word(fields), f, fields[f]);
    }
    n->summary.n_writes = writes;
}

size_t snapshot_live(const struct side *s) {
    size_t live = s->facts.live;
    for (size_t id = old_words(s); s->graph.nursery_words && id < s->graph.words; id++)
        live -= graph_starts(&s->graph, id);
    return live;
}
