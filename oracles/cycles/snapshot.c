/* SPDX-License-Identifier: MIT
 *
 * Oracle snapshot: watches the cycles of an incremental collector: the change summary of Definition
 * 6, the judgement at the end of a cycle and after every step of one.
 *
 * A cycle may begin or end in any call of the collector.  Nothing else changes in a call, so the
 * model has h0 and the roots as they were when the cycle began; the summary takes them down as
 * addresses and words, and does not depend on the model any more.  Cycles of the old one of two
 * generations: snapshot_generations.c.
 */
#include "oracles/cycles/snapshot.h"
#include "oracles/describe.h"

#include <stdio.h>

/* A cycle that is under way when the run begins is not judged: nobody knows its h0. */
static bool reset(struct judge *j) {
    struct snapshot *n = j->state;
    n->watched = n->due = false;
    definition6_room(&n->summary, n->memory, j->side->room);
    return false;
}
static bool built(struct judge *j) {
    struct snapshot *n = j->state;
    n->cycle = j->services->cycle(j);
    n->due = false;
    return false;
}

/* ---- the summary ------------------------------------------------------------------------------
 */

/* RG(h0, r), which the model has.  False if a block of it has no place that is known: adopt has
 * moved it, or it is not in the heap, which is for others to judge. */
static bool take_snapshot(struct judge *j) {
    struct definition6 *d = &((struct snapshot *)j->state)->summary;
    enum party party = j->side->party;
    definition6_begin(d);
    model_mark(j->model);
    for (uint32_t n = 0; n < j->model->n_reached; n++) {
        const struct model_object *o = &j->model->objects[j->model->work[n]];
        const word *fields = model_fields(j->model, j->model->work[n]);
        if (o->is_static)
            continue;
        word *before =
            definition6_add(d, &j->side->graph, o->address[party], o->wosize, o->tag, false);
        if (!before)
            return false;
        for (uint32_t f = 0; f < o->wosize; f++)
            before[f] = f < o->first_scanned ? model_data(j->model, party, fields[f])
                                             : side_word(j->model, party, fields[f]);
    }
    return true;
}

/* new_allocs; false: not one of the heap that the cycle is about. */
static bool add_block(struct judge *j, const struct request *block) {
    struct snapshot *n = j->state;
    word *before = definition6_add(&n->summary, &j->side->graph, block->block, block->wosize,
                                   block->tag, true);
    for (size_t i = 0; before && i < block->wosize; i++)
        before[i] = block->content[i];
    return before;
}

static bool writing(struct judge *j, word block, size_t i, word value) {
    struct snapshot *n = j->state;
    n->due = true;
    if (n->watched)
        definition6_write(&n->summary, &j->side->graph, block, i, value);
    return false;
}

/* ---- judgement --------------------------------------------------------------------------------
 */

static bool is_fresh(const struct snapshot *n, const struct definition6_vertex *v) {
    return v >= n->summary.vertices + n->summary.n_snapshot;
}

_Noreturn static void fail_vertex(struct judge *j, enum violation violation,
                                  const struct definition6_vertex *v, const char *expected,
                                  const char *detail) {
    const struct graph *g = &j->side->graph;
    bool fresh = is_fresh(j->state, v);
    char name[NAME_TEXT], at[32];
    describe_name(j, graph_word(g, v->at + 1), name);
    snprintf(at, sizeof at, name[0] ? " (at word %u" : " at word %u (", (unsigned)v->at);
    snprintf(j->expected, VERDICT_TEXT, "%s%s%stag %u, %u fields), %s, %s",
             name[0] ? name : "the block", at, name[0] ? ", " : "", v->tag, (unsigned)v->wosize,
             fresh ? "allocated in this cycle" : "of the snapshot", expected);
    if (graph_starts(g, v->at + 1))
        snprintf(j->found, VERDICT_TEXT, "the header 0x%llx, %s",
                 (unsigned long long)g->base[v->at], heap_colour(header_colour(g->base[v->at])));
    else
        snprintf(j->found, VERDICT_TEXT, "no live block there");
    judge_fail(j, violation, detail);
}

static void judge_vertices(struct judge *j) {
    struct snapshot *n = j->state;
    const struct definition6_vertex *lost = definition6_lost(&n->summary, &j->side->graph);
    if (lost)
        fail_vertex(j, VIOLATION_snapshot_lost, lost, "still in use",
                    "a block of the snapshot, or allocated since, did not survive the cycle");
}

/* Definition 6(2b) and (3). */
static void judge_fields(struct judge *j) {
    const struct side *s = j->side;
    const struct definition6 *d = &((struct snapshot *)j->state)->summary;
    const struct definition6_vertex *owner;
    size_t at = definition6_changed(d, &s->graph, &owner);
    if (at == SIZE_MAX)
        return;
    word expected = definition6_expected(d, at), found = s->graph.base[at];
    bool edge = graph_resolve(&s->graph, expected).kind != GRAPH_ATOM ||
                graph_resolve(&s->graph, found).kind != GRAPH_ATOM;
    char place[VERDICT_TEXT / 2], what[VERDICT_TEXT / 2];
    describe_at(j, (uint32_t)at, place, sizeof place);
    describe_heap(j, expected, what, sizeof what);
    int n = snprintf(j->expected, VERDICT_TEXT, "in %s ", place);
    snprintf(j->expected + n, VERDICT_TEXT - (size_t)n, "%s", what);
    describe_heap(j, found, j->found, VERDICT_TEXT);
    judge_fail(j, edge ? VIOLATION_edge_changed : VIOLATION_data_changed,
               "after a cycle a block, reachable or not, is not as the mutator left it");
}

/* The end of a cycle: Definition 6.  What was garbage when it began is gone. */
static void judge_end(struct judge *j) {
    const struct side *s = j->side;
    struct definition6 *d = &((struct snapshot *)j->state)->summary;
    judge_walk(j);
    judge_vertices(j);
    judge_fields(j);
    const word *extra = definition6_extra(d, &s->graph, snapshot_live(s));
    if (!extra)
        return;
    snprintf(j->expected, VERDICT_TEXT, "%u blocks of the snapshot, %u allocated since",
             (unsigned)d->n_snapshot, (unsigned)(d->n_vertices - d->n_snapshot));
    char block[VERDICT_TEXT / 2];
    describe_block(j, (uint32_t)(extra + 1 - s->graph.base), block, sizeof block);
    snprintf(j->found, VERDICT_TEXT, "another one, %s", block);
    judge_fail(j, VIOLATION_garbage_retained,
               "a block that was unreachable when the cycle began survived it");
}

/* A new block must survive as it is: not white while marking, black before the sweep comes. */
static void judge_colour(struct judge *j, const struct definition6_vertex *v) {
    const struct snapshot *n = j->state;
    const word *hp = j->side->graph.base + v->at;
    bool fresh = is_fresh(n, v);
    unsigned colour = header_colour(*hp);
    if (n->cycle.phase == GC_PHASE_MARK && fresh && colour == WHITE)
        fail_vertex(j, VIOLATION_wrong_colour, v, "black, or gray",
                    "a block allocated while marking is white");
    if (n->cycle.phase == GC_PHASE_SWEEP && colour != (hp < n->cycle.cursor ? WHITE : BLACK))
        fail_vertex(j, VIOLATION_wrong_colour, v, hp < n->cycle.cursor ? "white" : "black",
                    "a block that must survive the sweep has not the colour that its side of the "
                    "cursor asks for");
}

/* In the middle of a cycle: whatever must survive is still there, and will. */
static void judge_middle(struct judge *j) {
    struct snapshot *n = j->state;
    n->due = false;
    judge_walk(j);
    judge_vertices(j);
    for (uint32_t i = 0; i < n->summary.n_vertices; i++)
        judge_colour(j, &n->summary.vertices[i]);
    if (n->cycle.phase != GC_PHASE_MARK)
        return;
    const struct definition6_vertex *v = definition6_unprotected(&n->summary, &j->side->graph);
    if (!v)
        return;
    if (n->summary.n_writes == 0)
        fail_vertex(j, VIOLATION_snapshot_lost, v, "marked, or protected by a gray block",
                    "a block was reachable when the cycle began, and nothing protects it");
    fail_vertex(j, VIOLATION_barrier_missed, v, "marked, or protected by a gray block",
                "a store has cut the last way from a gray block to a block of the snapshot");
}

/* ---- after calls of the collector -------------------------------------------------------------
 */

/* Looks where the cycle stands after a call, which has allocated block (or NULL). */
static bool look(struct judge *j, const struct request *block) {
    struct snapshot *n = j->state;
    struct gc_cycle now = j->services->cycle(j);
    bool began = now.begun != n->cycle.begun, moved = !block || cycle_has_moved(n->cycle, now);
    n->cycle = now;
    if (began && j->side->collector->young) {
        n->watched = snapshot_of_old(j);
        block = NULL; /* it is in the snapshot, or young */
    } else if (began) {
        n->watched = take_snapshot(j);
    }
    if (!n->watched)
        return false;
    bool added = block && add_block(j, block);
    n->watched = now.phase != GC_PHASE_IDLE;
    if (!n->watched)
        judge_end(j);
    else if (moved)
        judge_middle(j);
    else if (added)
        judge_colour(j, &n->summary.vertices[n->summary.n_vertices - 1]);
    return !n->watched || moved;
}

/* Did a cycle begin and end in this full collection?  Without a mutator Definition 6 is Definition
 * 5, and the comparison that comes next says all that there is to say. */
static bool was_whole(const struct judge *j, struct gc_cycle now) {
    const struct snapshot *n = j->state;
    return now.begun != n->cycle.begun && now.phase == GC_PHASE_IDLE &&
           j->side->traits.full_until_exact;
}

static bool called(struct judge *j, const struct request *request, bool full) {
    struct snapshot *n = j->state;
    struct gc_cycle now = j->services->cycle(j);
    if (full && was_whole(j, now)) {
        n->cycle = now;
        n->watched = false;
        return false;
    }
    return look(j, request && request->answer == GC_OK ? request : NULL);
}

/* What the mutator wrote is judged once an operation.  A store may also do work of the cycle, and
 * so begin or end one; barriers colour blocks. */
static bool operated(struct judge *j) {
    struct snapshot *n = j->state;
    if (!n->due)
        return false;
    n->due = false;
    if (cycle_has_moved(n->cycle, j->services->cycle(j)))
        return look(j, NULL);
    if (!n->watched || n->cycle.phase != GC_PHASE_MARK)
        return false;
    judge_middle(j);
    return true;
}

static bool minor(struct judge *j, bool before) {
    struct snapshot *n = j->state;
    if (!before && n->watched)
        snapshot_note_minor(j);
    return false;
}

const struct oracle_module oracle_snapshot = {
    .meaning = "Definition 6: a cycle keeps its snapshot and what the mutator made of it",
    .source = "Definition 6 of the long OCaml paper",
    .classes = {VIOLATION_snapshot_lost, VIOLATION_barrier_missed, VIOLATION_wrong_colour,
                VIOLATION_garbage_retained, VIOLATION_edge_changed, VIOLATION_data_changed},
    .needs = 1u << NEED_walk | 1u << NEED_cycle | 1u << NEED_old_stays,
    .state = sizeof(struct snapshot),
    .each = DEFINITION6_EACH,
    .record = RECORD_minor_record,
    .reset = reset,
    .built = built,
    .writing = writing,
    .called = called,
    .operated = operated,
    .minor = minor,
};
