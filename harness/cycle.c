/* SPDX-License-Identifier: MIT
 *
 * Watching the cycles of an incremental collector: the change summary of Definition 6, the
 * judgement at the end of a cycle and after every step of one.
 *
 * A cycle may begin or end in any call of the collector.  Nothing else changes in a call, so the
 * model has h0 and the roots as they were when the cycle began; the summary takes them down as
 * addresses and words, and does not depend on the model any more.  Cycles of the old one of two
 * generations: cycle_generations.c.
 */
#include "harness/call.h"

#include <stdio.h>
#include <stdlib.h>

bool cycle_open(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    const struct collector *c = s->collector;
    bool stays = !c->traits.moves || (c->young && c->remembered); /* the old generation does */
    if (!c->cycle || !c->walk || !stays || !judges(r, ORACLE_snapshot))
        return true;
    s->summary = calloc(1, sizeof *s->summary);
    return s->summary;
}

void cycle_close(struct side *s) {
    free(s->summary);
}

/* A cycle that is under way already is not judged: nobody knows its h0. */
void cycle_reset(struct side *s) {
    if (!s->summary)
        return;
    s->cycle = call_cycle(s);
    s->watched = s->summary_due = false;
}

/* ---- the summary ------------------------------------------------------------------------------
 */

/* RG(h0, r), which the model has. */
static void take_snapshot(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    definition6_begin(s->summary);
    model_mark(&r->model);
    for (uint32_t n = 0; n < r->model.n_reached; n++) {
        const struct model_object *o = &r->model.objects[r->model.work[n]];
        const word *fields = model_fields(&r->model, r->model.work[n]);
        if (o->is_static)
            continue;
        word *before =
            definition6_add(s->summary, &s->graph, o->address[party], o->wosize, o->tag, false);
        if (!before)
            harness_fault(r, "a block of the model has no place in the heap");
        for (uint32_t f = 0; f < o->wosize; f++)
            before[f] = f < o->first_scanned ? fields[f] : side_word(&r->model, party, fields[f]);
    }
}

/* new_allocs; false: not one of the heap that the cycle is about. */
static bool add_block(struct side *s, const struct new_block *block) {
    word *before =
        definition6_add(s->summary, &s->graph, block->address, block->wosize, block->tag, true);
    for (size_t i = 0; before && i < block->wosize; i++)
        before[i] = block->content[i];
    return before;
}

void cycle_note_write(struct side *s, word block, size_t i, word value) {
    s->summary_due = true;
    if (s->watched)
        definition6_write(s->summary, &s->graph, block, i, value);
}

/* ---- judgement --------------------------------------------------------------------------------
 */

_Noreturn static void fail_vertex(struct runner *r, enum party party, enum violation violation,
                                  const struct definition6_vertex *v, const char *expected,
                                  const char *detail) {
    const struct side *s = &r->side[party];
    const struct graph *g = &s->graph;
    bool fresh = v >= s->summary->vertices + s->summary->n_snapshot;
    snprintf(r->verdict.expected, VERDICT_TEXT, "%s at word %u of the heap (tag %u, %u fields) %s",
             fresh ? "the block allocated in this cycle" : "the block of the snapshot",
             (unsigned)v->at, v->tag, (unsigned)v->wosize, expected);
    if (graph_starts(g, v->at + 1))
        snprintf(r->verdict.found, VERDICT_TEXT, "the header 0x%llx",
                 (unsigned long long)g->base[v->at]);
    else
        snprintf(r->verdict.found, VERDICT_TEXT, "no live block there");
    fail(r, violation, ORACLE_snapshot, party, detail);
}

static void judge_vertices(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    const struct definition6_vertex *lost = definition6_lost(s->summary, &s->graph);
    if (lost)
        fail_vertex(r, party, VIOLATION_snapshot_lost, lost, "still in use",
                    "a block of the snapshot, or allocated since, did not survive the cycle");
}

/* Definition 6(2b) and (3). */
static void judge_fields(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    const struct definition6_vertex *owner;
    size_t at = definition6_changed(s->summary, &s->graph, &owner);
    if (at == SIZE_MAX)
        return;
    word expected = definition6_expected(s->summary, at), found = s->graph.base[at];
    bool edge = graph_resolve(&s->graph, expected).kind != GRAPH_ATOM ||
                graph_resolve(&s->graph, found).kind != GRAPH_ATOM;
    snprintf(r->verdict.expected, VERDICT_TEXT,
             "the word 0x%llx in field %zu of the block at word %u", (unsigned long long)expected,
             at - owner->at - 1, (unsigned)owner->at);
    snprintf(r->verdict.found, VERDICT_TEXT, "0x%llx", (unsigned long long)found);
    fail(r, edge ? VIOLATION_edge_changed : VIOLATION_data_changed, ORACLE_snapshot, party,
         "after a cycle a block, reachable or not, is not as the mutator left it");
}

/* The end of a cycle: Definition 6.  What was garbage when it began is gone. */
static void judge_end(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    walk_side(&r->side[party], IN_BETWEEN);
    r->verdict.counts.oracles[ORACLE_snapshot]++;
    judge_vertices(r, party);
    judge_fields(r, party);
    const word *extra = definition6_extra(s->summary, &s->graph, cycle_live(s));
    if (!extra)
        return;
    snprintf(r->verdict.expected, VERDICT_TEXT, "%u blocks of the snapshot, %u allocated since",
             (unsigned)s->summary->n_snapshot,
             (unsigned)(s->summary->n_vertices - s->summary->n_snapshot));
    snprintf(r->verdict.found, VERDICT_TEXT, "another one at word %td (tag %u, %llu fields)",
             extra - s->graph.base, header_tag(*extra), (unsigned long long)header_wosize(*extra));
    fail(r, VIOLATION_garbage_retained, ORACLE_snapshot, party,
         "a block that was unreachable when the cycle began survived it");
}

/* A new block must survive as it is: not white while marking, black before the sweep comes. */
static void judge_colour(struct runner *r, enum party party, const struct definition6_vertex *v) {
    const struct side *s = &r->side[party];
    const word *hp = s->graph.base + v->at;
    bool fresh = v >= s->summary->vertices + s->summary->n_snapshot;
    unsigned colour = header_colour(*hp);
    if (!judges(r, ORACLE_colours))
        return;
    if (s->cycle.phase == GC_PHASE_MARK && fresh && colour == WHITE)
        fail_vertex(r, party, VIOLATION_wrong_colour, v, "black, or gray",
                    "a block allocated while marking is white");
    if (s->cycle.phase == GC_PHASE_SWEEP && colour != (hp < s->cycle.cursor ? WHITE : BLACK))
        fail_vertex(r, party, VIOLATION_wrong_colour, v, hp < s->cycle.cursor ? "white" : "black",
                    "a block that must survive the sweep has not the colour that its side of the "
                    "cursor asks for");
}

/* In the middle of a cycle: whatever must survive is still there, and will. */
static void judge_middle(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    s->summary_due = false;
    walk_side(&r->side[party], IN_BETWEEN);
    r->verdict.counts.oracles[ORACLE_snapshot]++;
    judge_vertices(r, party);
    for (uint32_t n = 0; n < s->summary->n_vertices; n++)
        judge_colour(r, party, &s->summary->vertices[n]);
    if (s->cycle.phase != GC_PHASE_MARK)
        return;
    const struct definition6_vertex *v = definition6_unprotected(s->summary, &s->graph);
    if (!v)
        return;
    if (s->summary->n_writes == 0)
        fail_vertex(r, party, VIOLATION_snapshot_lost, v, "marked, or protected by a gray block",
                    "a block was reachable when the cycle began, and nothing protects it");
    fail_vertex(r, party, VIOLATION_barrier_missed, v, "marked, or protected by a gray block",
                "a store has cut the last way from a gray block to a block of the snapshot");
}

/* ---- after calls of the collector -------------------------------------------------------------
 */

bool cycle_moved(const struct side *s) {
    struct gc_cycle now = call_cycle(s);
    return now.begun != s->cycle.begun || now.phase != s->cycle.phase ||
           (now.phase == GC_PHASE_SWEEP && now.cursor != s->cycle.cursor);
}

void cycle_look(struct runner *r, enum party party, const struct new_block *block) {
    struct side *s = &r->side[party];
    struct gc_cycle now = call_cycle(s);
    bool began = now.begun != s->cycle.begun, moved = !block || cycle_moved(s);
    bool young = s->collector->young;
    s->cycle = now;
    if (began && young) {
        s->watched = cycle_begin_old(r, party);
        block = NULL; /* it is in the snapshot, or young */
    } else if (began) {
        take_snapshot(r, party);
        s->watched = true;
    }
    if (!s->watched)
        return;
    bool added = block && add_block(s, block);
    s->watched = now.phase != GC_PHASE_IDLE;
    if (!s->watched)
        judge_end(r, party);
    else if (moved)
        judge_middle(r, party);
    else if (added)
        judge_colour(r, party, &s->summary->vertices[s->summary->n_vertices - 1]);
}

/* Without a mutator Definition 6 is Definition 5: completeness and fields. */
bool cycle_was_whole(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    if (!s->summary || r->over)
        return false;
    struct gc_cycle now = call_cycle(s);
    if (now.begun == s->cycle.begun || now.phase != GC_PHASE_IDLE || !s->traits.full_until_exact ||
        !judges(r, ORACLE_completeness) || !judges(r, ORACLE_fields))
        return false;
    s->cycle = now;
    s->watched = false;
    return true;
}

/* A store may also do work of the cycle, and so begin or end one. */
void cycle_after_operation(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    s->summary_due = false;
    if (cycle_moved(s))
        cycle_look(r, party, NULL);
    else if (s->watched && s->cycle.phase == GC_PHASE_MARK)
        judge_middle(r, party);
}
