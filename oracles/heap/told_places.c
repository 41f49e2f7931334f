/* SPDX-License-Identifier: MIT
 *
 * Oracle told: where the blocks are by what has been told, and by the walk that follows.
 */
#include "oracles/heap/told.h"
#include "views/bits.h"

#include <stdio.h>

/* ---- the table --------------------------------------------------------------------------------
 */

/* Where the value is, or would be: there are always rows that are free. */
static uint16_t *row_for(struct told *t, word value) {
    size_t row = (size_t)(value * 0x9e3779b97f4a7c15 >> 53) % TOLD_TABLE;
    while (t->row_of[row] && t->places[t->row_of[row] - 1].value != value)
        row = (row + 1) % TOLD_TABLE;
    return &t->row_of[row];
}

struct told_place *told_find(struct told *t, word value) {
    uint16_t row = *row_for(t, value);
    return row ? &t->places[row - 1] : NULL;
}

struct told_place *told_place(struct told *t, word value) {
    uint16_t *row = row_for(t, value);
    if (*row)
        return &t->places[*row - 1];
    if (t->n == TOLD_PLACES)
        return NULL;
    t->places[t->n] = (struct told_place){.value = value};
    *row = (uint16_t)++t->n;
    return &t->places[t->n - 1];
}

/* ---- each block of the walk -------------------------------------------------------------------
 */

/* A block that nobody has told of, or told as gone, is one that has just been allocated. */
static void expect_told_of(struct judge *j, const struct told_place *p, const struct request *q) {
    const struct side *s = j->side;
    bool collected = s->hooks->collections != s->collected;
    if ((q && q->answer == GC_OK && q->block == p->value) || s->collector->extras)
        return;
    if (p->swept == s->calls)
        told_note(j, VIOLATION_told_wrong, "a block has been told as swept, and is there",
                  "no block where one was swept", "a block", p->value);
    else if (p->left && p->left >= s->hooks->collections)
        told_note(j, VIOLATION_told_wrong, "a block has been told as moved, and is still there",
                  "no block where one was moved from", "a block", p->value);
    else if (collected && told_without_exception(j, GC_MOVED))
        told_note(j, VIOLATION_told_wrong, "a block has moved, and nobody has told of it",
                  "each block is where it was, or has been told as moved there", "a block",
                  p->value);
}

static void expect_same_block(struct judge *j, const struct told_place *p, word header) {
    if (p->arrived && (header_wosize(header) != header_wosize(p->header) ||
                       header_tag(header) != header_tag(p->header)))
        told_note(j, VIOLATION_told_wrong, "where a block has been told to have moved is another",
                  "a block with the same size and tag", "another one", p->value);
}

/* What a full collection keeps it has found and scanned. */
static void expect_whole_story(struct judge *j, const struct told_place *p) {
    uint64_t call = j->side->calls;
    if (told_without_exception(j, GC_MARKED) && p->found != call)
        told_note(j, VIOLATION_told_wrong,
                  "a full collection has kept a block that it has not told as found",
                  "each block is told as found, for the first time", "a block that was not",
                  p->value);
    if (told_without_exception(j, GC_SCANNED) && p->scanned != call)
        told_note(j, VIOLATION_told_wrong,
                  "a full collection has kept a block that it has not told as scanned",
                  "each block is told as scanned", "a block that was not", p->value);
}

static void meet(struct judge *j, word value, word header, const struct request *q, bool full) {
    struct told *t = j->state;
    const struct side *s = j->side;
    struct told_place *p = told_place(t, value);
    if (!p) {
        t->listens = false;
        return;
    }
    bool known = p->here;
    if (!known && t->walk > 0)
        expect_told_of(j, p, q);
    if (known)
        expect_same_block(j, p, header);
    if (known && full)
        expect_whole_story(j, p);
    if (!known)
        *p = (struct told_place){.value = value, .here = true};
    p->header = header;
    p->met = t->walk + 1;
    p->arrived = p->left = 0;
    p->young = s->collector->young && s->collector->young(s->gc, value);
    t->young += p->young ? header_wosize(header) + 1 : 0;
}

/* ---- what the walk has not shown --------------------------------------------------------------
 */

/* What has moved out of all that walk shows has left dead memory there. */
static void expect_dead_behind(struct judge *j, const struct told_place *p) {
    const struct side *s = j->side;
    word at = p->value - pointer_word(s->graph.base);
    bool outside = at >= s->graph.words * sizeof(word);
    if (p->left && p->left >= s->hooks->collections && outside && s->traits.poisons &&
        !s->collector->shown_at && !j->services->is_poisoned(word_pointer(p->value)))
        told_note(j, VIOLATION_promise_broken,
                  "a word of dead memory is not poisoned: who uses it would not be seen",
                  "a poisoned word where a block has moved from", "one that is not", p->value);
}

/* Of one that has arrived a later collection of the same call may have made garbage. */
static void expect_gone(struct judge *j, const struct told_place *p) {
    const struct side *s = j->side;
    if (p->arrived && p->arrived >= s->hooks->collections)
        told_note(j, VIOLATION_told_wrong, "a block has been told to have moved where none is",
                  "a block where one was told to have moved", "none", p->value);
    else if (!p->arrived && !p->young && told_without_exception(j, GC_SWEPT))
        told_note(j, VIOLATION_told_wrong, "a block is gone, and nobody has told that it was swept",
                  "each block that goes is told as swept", "none where one was", p->value);
}

static void look_for_those_gone(struct judge *j) {
    struct told *t = j->state;
    for (unsigned i = 0; i < t->n; i++) {
        struct told_place *p = &t->places[i];
        if (p->met == t->walk)
            continue;
        if (p->here)
            expect_gone(j, p);
        else
            expect_dead_behind(j, p);
        p->here = p->waits = p->aside = false;
        p->left = p->arrived = 0;
    }
}

/* ---- words ------------------------------------------------------------------------------------
 */

/* The block behind the one with that id; 0: the first.  graph.words if there is none.  The first
 * word in use behind a block is the header of the next one. */
static size_t next_block(const struct graph *g, size_t id) {
    size_t at = id ? id + header_wosize(g->base[id - 1]) : 0;
    at = next_bit(g->in_use, at, g->words);
    return at < g->words ? at + 1 : at;
}

static bool leads_to_block(const struct graph *g, word v) {
    struct graph_ref ref = graph_resolve(g, v);
    return ref.kind == GRAPH_BLOCK && ref.id < g->words;
}

static size_t pointers_of(const struct graph *g, uint32_t id) {
    struct graph_block b = graph_block(g, id);
    size_t n = 0;
    for (uint32_t f = b.first_scanned; f < b.wosize; f++)
        n += leads_to_block(g, b.fields[f]);
    return n;
}

/* Where all that lives has moved, each word that leads to it has been told as the place where it
 * was found, once. */
static void expect_each_word(struct judge *j) {
    const struct told *t = j->state;
    const struct side *s = j->side;
    const struct graph *g = &s->graph;
    size_t n = 0;
    if (!told_without_exception(j, GC_FORWARDED) || s->traits.full_until_exact != 1 ||
        s->collector->young)
        return;
    for (size_t i = 0; i < g->mutators * (size_t)GC_SLOTS; i++)
        n += leads_to_block(g, g->slots[i]);
    for (size_t id = 0; (id = next_block(g, id)) < g->words;)
        n += pointers_of(g, (uint32_t)id);
    size_t found = t->collection + 1 == s->hooks->collections ? t->found : 0;
    if (n == found)
        return;
    char expected[VERDICT_TEXT / 4], text[VERDICT_TEXT / 4];
    snprintf(expected, sizeof expected, "%zu, one for each slot and field that leads to a block",
             n);
    snprintf(text, sizeof text, "%zu", found);
    told_note(j, VIOLATION_told_wrong,
              "a block has been told as found through more or fewer words than lead to it",
              expected, text, 0);
}

void told_compare(struct judge *j, const struct request *request, bool full) {
    struct told *t = j->state;
    const struct graph *g = &j->side->graph;
    if (j->side->facts.violation) { /* others judge that */
        t->listens = false;
        return;
    }
    if (t->n == 0)
        t->walk = 0;
    t->young = 0;
    t->compared = j->side->hooks->collections;
    if (j->side->collector->cycle)
        t->cycle = j->services->cycle(j);
    for (size_t id = 0; t->listens && (id = next_block(g, id)) < g->words;)
        meet(j, pointer_word(g->base + id), g->base[id - 1], request, full);
    t->walk++;
    if (t->listens)
        look_for_those_gone(j);
    if (t->listens && full)
        expect_each_word(j);
}
