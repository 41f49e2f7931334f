/* SPDX-License-Identifier: MIT
 *
 * Oracle phases, the statements: what the heap must be where a phase has ended, and at a step of
 * marking.
 *
 *   stack       (Figure 15, darken_roots (4), mark requires (2)) exactly the gray blocks are on the
 *               mark stack, each once.  Where a stack is too small: or in what is still to be
 *               scanned for them, as the collector says
 *   roots       (Figure 15, darken_roots (2)) what they lead to is not white
 *   tricolour   no block points at a white one if it is black itself; while the mutator writes
 *               between the steps: what is reachable is not white, or a gray block leads to it
 *               through white ones (sections 4 and 8.1)
 *   marked      (Figure 15, mark (3); Figure 17) nothing is gray, and black is exactly what the
 *               roots reached when they were darkened, and what has been allocated since
 *   swept       (Figure 15, sweep (2), (5)) what was black is white, and nothing else is allocated
 *   omega       (Definition 1; (1) in each contract of Figure 15) every pointer of every allocated
 *               block, reachable or not, leads to an allocated block.  Looked for after marking,
 *               which changes no field, and after sweeping
 *   fields      (Figure 15, darken_roots (3), mark (2), sweep (4)) no field has changed
 *
 * With generations a cycle is about the old one: the fields of young blocks are roots.  A
 * collection that marks both may find what old blocks have of young ones through the remembered
 * set.
 */
#include "collectors/words_copy.h"
#include "oracles/cycles/minor_record.h"
#include "oracles/cycles/phases.h"
#include "oracles/describe.h"

#include <stdio.h>
#include <string.h>

/* What is known of a block in this look: bits of cell.partner, if cell.visit is this run's. */
enum { WAITS = 1, REACHED = 2, PROTECTED = 4 };

enum { RANGES = 8 };
struct range {
    const word *first, *end;
};

struct look {
    struct judge *j;
    struct phases *p;
    const struct graph *g;
    size_t limit; /* blocks from this word of the heap on are not what the marking is about */
    bool marking; /* and no phase has ended */
    size_t old;   /* words of the old generation, or of all */
    struct range ranges[RANGES];
    unsigned n_ranges;
};

/* ---- blocks -----------------------------------------------------------------------------------
 */

static uint32_t *known(struct look *l, uint32_t id) {
    struct graph_cell *cell = &l->g->cells[id];
    if (cell->visit != l->j->iso->run) {
        cell->visit = l->j->iso->run;
        cell->partner = 0;
    }
    return &cell->partner;
}

static unsigned colour_of(const struct look *l, uint32_t id) {
    return header_colour(l->g->base[id - 1]);
}

/* The block from word *at of the heap on, as the last walk has it, and *at behind it; 0: there is
 * no other. */
static uint32_t next_block(const struct look *l, size_t *at) {
    if (*at >= l->limit || !graph_in_use(l->g, *at)) /* most blocks have no gap behind them */
        *at = next_bit(l->g->in_use, *at, l->limit);
    if (*at >= l->limit)
        return 0;
    uint32_t id = (uint32_t)*at + 1;
    *at += header_wosize(l->g->base[*at]) + 1;
    return id;
}

static void clear(const struct look *l, phase_set set) {
    memset(set, 0, (l->g->words / 64 + 1) * sizeof *set);
}

/* The block of the heap that v leads to, if the marking is about it; else 0. */
static uint32_t target(const struct look *l, word v) {
    struct graph_ref ref = graph_resolve(l->g, v);
    return ref.kind == GRAPH_BLOCK && ref.id < l->limit ? ref.id : 0;
}

/* ---- what is wrong ----------------------------------------------------------------------------
 */

/* The first of a run counts.  True if this is it; then the texts are to be filled in. */
static bool note(struct look *l, enum violation v, const char *detail) {
    struct phase_finding *f = &l->p->finding;
    if (f->violation)
        return false;
    l->j->noted = true;
    f->violation = v;
    f->detail = detail;
    f->expected[0] = f->found[0] = 0;
    return true;
}

static void note_block(struct look *l, enum violation v, uint32_t id, const char *expected,
                       const char *detail) {
    struct phase_finding *f = &l->p->finding;
    char block[VERDICT_TEXT / 2];
    if (!note(l, v, detail))
        return;
    describe_block(l->j, id, block, sizeof block);
    snprintf(f->expected, VERDICT_TEXT, "%s", expected);
    snprintf(f->found, VERDICT_TEXT, "%s, %s", block, heap_colour(colour_of(l, id)));
}

static void note_field(struct look *l, enum violation v, uint32_t at, const char *expected,
                       const char *detail) {
    struct phase_finding *f = &l->p->finding;
    char place[VERDICT_TEXT / 4], what[VERDICT_TEXT / 2];
    if (!note(l, v, detail))
        return;
    describe_at(l->j, at, place, sizeof place);
    describe_heap(l->j, l->g->base[at], what, sizeof what);
    snprintf(f->expected, VERDICT_TEXT, "%s", expected);
    snprintf(f->found, VERDICT_TEXT, "in %s %s", place, what);
}

/* ---- the mark stack ---------------------------------------------------------------------------
 */

static void note_entry(struct look *l, const word *header, const char *detail) {
    if (!note(l, VIOLATION_stack_broken, detail))
        return;
    snprintf(l->p->finding.expected, VERDICT_TEXT, "the header of a gray block");
    snprintf(l->p->finding.found, VERDICT_TEXT, "a place %lld bytes from the start of the heap",
             (long long)(pointer_word(header) - pointer_word(l->g->base)));
}

static void visit_gray(void *context, const word *first, const word *end) {
    struct look *l = context;
    if (end) {
        if (l->n_ranges < RANGES)
            l->ranges[l->n_ranges++] = (struct range){first, end};
        return;
    }
    word at = pointer_word(first) - pointer_word(l->g->base);
    uint32_t id = (uint32_t)(at / sizeof(word)) + 1;
    if (at >= l->g->words * sizeof(word) || at % sizeof(word) || !graph_starts(l->g, id)) {
        note_entry(l, first, "an entry of the mark stack leads to no block of the heap");
        return;
    }
    uint32_t *bits = known(l, id);
    if (colour_of(l, id) != GRAY)
        note_block(l, VIOLATION_stack_broken, id, "a gray block",
                   "a block is on the mark stack and not gray");
    else if (*bits & WAITS)
        note_block(l, VIOLATION_stack_broken, id, "one entry",
                   "a block is on the mark stack twice");
    *bits |= WAITS;
}

static bool is_in_range(const struct look *l, uint32_t id) {
    const word *header = l->g->base + id - 1;
    for (unsigned r = 0; r < l->n_ranges; r++)
        if (header >= l->ranges[r].first && header < l->ranges[r].end)
            return true;
    return false;
}

static void check_waiting(struct look *l, uint32_t id) {
    if (!(*known(l, id) & WAITS) && !is_in_range(l, id))
        note_block(l, VIOLATION_stack_broken, id,
                   "on the mark stack, or in a range that is still to be scanned",
                   "a block is gray and waits nowhere");
}

static const char white_after_marking[] =
    "marking has ended, and a block that can be reached is white";

/* ---- fields -----------------------------------------------------------------------------------
 */

struct recorded {
    word block;
    size_t field;
    bool found;
};
static void look_for_field(void *context, word block, size_t i) {
    struct recorded *r = context;
    r->found |= r->block == block && r->field == i;
}

/* A young block that an old one points at is found through the remembered set. */
static bool is_remembered(const struct look *l, uint32_t id, size_t i, uint32_t to) {
    const struct side *s = l->j->side;
    struct recorded r = {pointer_word(graph_fields(l->g, id)), i, false};
    if (id >= l->old || to < l->old || l->p->last != GC_DARKENED)
        return false;
    s->collector->remembered(s->gc, look_for_field, &r);
    return r.found;
}

/* Where omega is asked for; and the strong invariant, of a black block. */
static void check_pointers(struct look *l, uint32_t id, bool omega, bool strong) {
    struct graph_block block = graph_block(l->g, id);
    FOR_POINTERS (i, block.fields, block.first_scanned, block.wosize) {
        struct graph_ref to = graph_resolve(l->g, block.fields[i]);
        if (to.kind == GRAPH_LOST || to.kind == GRAPH_DANGLING) {
            if (omega)
                note_field(l, VIOLATION_contract_broken, id + (uint32_t)i,
                           "an allocated block, or no pointer into the heap",
                           "where a phase ends, a field of an allocated block leads to none");
        } else if (strong && to.kind == GRAPH_BLOCK && to.id < l->limit &&
                   colour_of(l, to.id) == WHITE && !is_remembered(l, id, i, to.id)) {
            note_field(l, omega ? VIOLATION_contract_broken : VIOLATION_tricolour_broken,
                       id + (uint32_t)i, "a block that is not white",
                       omega ? white_after_marking
                             : "while marking, a black block points at a "
                               "white one");
        }
    }
}

/* ---- roots and reachability -------------------------------------------------------------------
 */

/* bit: REACHED, or PROTECTED through white blocks alone. */
static void come_to(struct look *l, uint32_t id, uint32_t bit) {
    struct isomorphism *iso = l->j->iso;
    uint32_t *bits = id ? known(l, id) : NULL;
    if (!bits || *bits & bit || (bit == PROTECTED && colour_of(l, id) != WHITE))
        return;
    *bits |= bit;
    iso->queue[iso->pairs++].a = id;
}

static void come_to_fields(struct look *l, uint32_t id, uint32_t bit) {
    struct graph_block block = graph_block(l->g, id);
    FOR_POINTERS (i, block.fields, block.first_scanned, block.wosize)
        come_to(l, target(l, block.fields[i]), bit);
}

static void go_on(struct look *l, uint32_t bit) {
    struct isomorphism *iso = l->j->iso;
    for (size_t q = 0; q < iso->pairs; q++)
        come_to_fields(l, iso->queue[q].a, bit);
    iso->pairs = 0;
}

/* Slots, and where the marking is about the old generation the fields of young blocks. */
static void each_root(struct look *l, void with(struct look *, word)) {
    const struct graph *g = l->g;
    size_t n = (size_t)g->mutators * GC_SLOTS;
    FOR_POINTERS (i, g->slots, 0, n)
        with(l, g->slots[i]);
    for (size_t at = l->limit; (at = next_bit(g->in_use, at, g->words)) < g->words;) {
        struct graph_block block = graph_block(g, (uint32_t)at + 1);
        FOR_POINTERS (i, block.fields, block.first_scanned, block.wosize)
            with(l, block.fields[i]);
        at += block.wosize + 1;
    }
}

static void reach_root(struct look *l, word v) {
    come_to(l, target(l, v), REACHED);
}

static void check_root(struct look *l, word v) {
    uint32_t id = target(l, v);
    come_to(l, id, REACHED);
    if (id && colour_of(l, id) == WHITE)
        note_block(l, l->marking ? VIOLATION_tricolour_broken : VIOLATION_contract_broken, id,
                   "gray, or black",
                   l->marking ? "while marking, a block that a root leads to is white again"
                              : "roots have been darkened, and a block that one leads to is white");
}

/* The weak invariant, of what the program can reach. */
static void check_protection(struct look *l, enum violation v, const char *detail) {
    uint32_t id;
    for (size_t at = 0; (id = next_block(l, &at)) != 0;)
        if (colour_of(l, id) == GRAY)
            come_to_fields(l, id, PROTECTED);
    go_on(l, PROTECTED);
    each_root(l, reach_root);
    go_on(l, REACHED);
    for (size_t at = 0; (id = next_block(l, &at)) != 0;)
        if (colour_of(l, id) == WHITE && (*known(l, id) & (REACHED | PROTECTED)) == REACHED)
            note_block(l, v, id, "black, gray, or protected by a gray block", detail);
}

/* ---- looks ------------------------------------------------------------------------------------
 */

/* A header in use, and nobody may read what is behind it. */
static bool is_dead(const struct look *l, const word *fields, size_t n) {
    bool (*poisoned)(const word *) = l->j->services->is_poisoned;
    return n > 0 && (poisoned(fields) || poisoned(fields + n - 1));
}

static bool all_readable(struct look *l) {
    const struct graph *g = l->g;
    for (size_t at = 0; (at = next_bit(g->in_use, at, g->words)) < g->words;) {
        size_t n = header_wosize(g->base[at]);
        if (is_dead(l, g->base + at + 1, n)) {
            note(l, VIOLATION_ill_formed_heap,
                 "a block that its header says is in use is dead memory");
            return false;
        }
        at += n + 1;
    }
    return true;
}

/* False if the heap cannot be walked, or read; limit: see struct look. */
static bool begin(struct look *l, struct judge *j) {
    struct side *s = j->side;
    *l = (struct look){.j = j, .p = j->state, .g = &s->graph};
    j->services->walk_inside(j);
    l->old = s->graph.words - s->graph.nursery_words;
    l->limit = l->p->of_cycle ? l->old : s->graph.words;
    if (s->facts.violation) {
        note(l, VIOLATION_ill_formed_heap, s->facts.detail);
        return false;
    }
    if (!all_readable(l))
        return false;
    isomorphism_begin(j->iso, &s->graph, NULL);
    return true;
}

static void visit_stack(struct look *l) {
    const struct side *s = l->j->side;
    s->collector->mark_stack(s->gc, visit_gray, l);
}

static void take_down(struct look *l, uint32_t id) {
    const word *header = graph_fields(l->g, id) - 1;
    words_copy(l->p->words + id - 1, header, header_wosize(*header) + 1);
    set_bit(l->p->allocated, id);
    if (!(*known(l, id) & REACHED))
        set_bit(l->p->unreached, id);
}

void phases_look_darkened(struct judge *j) {
    struct look l;
    uint32_t id;
    if (!begin(&l, j))
        return;
    visit_stack(&l);
    each_root(&l, check_root);
    go_on(&l, REACHED);
    clear(&l, l.p->allocated);
    clear(&l, l.p->unreached);
    for (size_t at = 0; (id = next_block(&l, &at)) != 0;) {
        if (colour_of(&l, id) == GRAY)
            check_waiting(&l, id);
        take_down(&l, id);
    }
}

void phases_look_marking(struct judge *j) {
    struct look l;
    uint32_t id;
    if (!begin(&l, j))
        return;
    visit_stack(&l);
    l.marking = true;
    bool alone = j->side->calls == l.p->darkened;
    for (size_t at = 0; (id = next_block(&l, &at)) != 0;) {
        if (colour_of(&l, id) == GRAY)
            check_waiting(&l, id);
        else if (alone && colour_of(&l, id) == BLACK)
            check_pointers(&l, id, false, true);
    }
    if (alone)
        each_root(&l, check_root);
    else
        check_protection(&l, VIOLATION_tricolour_broken,
                         "while marking, nothing gray leads to a white block that the program can "
                         "reach");
}

/* What has been allocated as it was when roots had been darkened. */
static void check_fields(struct look *l, uint32_t id) {
    const word *fields = graph_fields(l->g, id), *before = l->p->words + id;
    size_t wosize = header_wosize(fields[-1]);
    unsigned tag = header_tag(fields[-1]);
    if (header_recolour(fields[-1], WHITE) != header_recolour(before[-1], WHITE))
        note_block(l, VIOLATION_contract_broken, id, "the size and the tag that it had before",
                   "a phase has changed a header beyond its colour");
    word different = 0; /* most blocks are as they were */
    for (size_t i = 0; i < wosize; i++)
        different |= fields[i] ^ before[i];
    for (size_t i = 0; different && i < wosize; i++)
        if (isomorphism_comparable(fields[i], tag) != isomorphism_comparable(before[i], tag))
            note_field(l, VIOLATION_contract_broken, id + (uint32_t)i, "what stood there before",
                       "a phase has changed a field of an allocated block");
}

static void check_marked(struct look *l, uint32_t id, bool alone) {
    if (colour_of(l, id) == GRAY)
        note_block(l, VIOLATION_contract_broken, id, "no gray block",
                   "marking has ended, and a block is gray");
    bool black = colour_of(l, id) == BLACK;
    if (black)
        set_bit(l->p->black, id);
    if (black && bit_at(l->p->allocated, id) && bit_at(l->p->unreached, id))
        note_block(l, VIOLATION_contract_broken, id, "a white block: no root reaches it",
                   "marking has ended, and a block that nothing reached is black");
    check_pointers(l, id, true, alone && black);
    if (alone && bit_at(l->p->allocated, id))
        check_fields(l, id);
}

void phases_look_marked(struct judge *j) {
    struct look l;
    uint32_t id;
    if (!begin(&l, j))
        return;
    bool alone = j->side->calls == l.p->darkened;
    clear(&l, l.p->black);
    for (size_t at = 0; (id = next_block(&l, &at)) != 0;) {
        check_marked(&l, id, alone);
    }
    visit_stack(&l);
    if (!alone)
        check_protection(&l, VIOLATION_contract_broken, white_after_marking);
}

static void check_swept(struct look *l, uint32_t id, bool alone) {
    if (colour_of(l, id) != WHITE)
        note_block(l, VIOLATION_contract_broken, id, "white, or blue",
                   "sweeping has ended, and a block is neither white nor free");
    if (!alone)
        return;
    if (!bit_at(l->p->black, id))
        note_block(l, VIOLATION_contract_broken, id, "a free block: it was not black",
                   "sweeping has ended, and a block that was white when it began is allocated");
    else if (bit_at(l->p->allocated, id) && l->p->marked == l->p->darkened)
        check_fields(l, id);
}

void phases_look_swept(struct judge *j) {
    struct look l;
    uint32_t id;
    if (!begin(&l, j))
        return;
    l.limit = l.old; /* a young block that could not move may still lead to what is free now */
    bool alone = j->side->calls == l.p->marked;
    for (size_t at = 0; (id = next_block(&l, &at)) != 0;) {
        check_pointers(&l, id, true, false);
        check_swept(&l, id, alone);
    }
    for (size_t at = 0; alone && (at = next_bit(l.p->black, at, l.old)) < l.old; at++)
        if (!graph_starts(l.g, at) &&
            note(&l, VIOLATION_contract_broken, "sweeping has ended, and a black block is gone"))
            snprintf(l.p->finding.found, VERDICT_TEXT, "no live block at word %zu", at - 1);
}
