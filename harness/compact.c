/* SPDX-License-Identifier: MIT
 *
 * What a compaction promises beyond the graph (traits `compacts` and `slides`).
 *
 * Dense: the reachable blocks, and no others, fill the heap from its start; the rest is one block.
 * Sliding: blocks keep the order of their addresses.  Together they say where every block is.
 */
#include "harness/internal.h"

#include <stdio.h>
#include <string.h>

/* Words in use from the start of the heap on, without a gap. */
static size_t words_below_gap(const struct graph *g) {
    size_t at = 0;
    while (at + 64 <= g->words && !~g->in_use[at / 64])
        at += 64;
    while (at < g->words && graph_in_use(g, at))
        at++;
    return at;
}

static void check_dense(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    size_t dense = words_below_gap(&s->graph), rest = s->graph.words - s->facts.live_words;
    const char *detail = NULL;
    if (dense < s->facts.live_words)
        detail = "after a compaction there are free words below a block";
    else if (s->facts.largest_free + 1 != rest && rest > 1)
        detail = "after a compaction the free words are not one block";
    if (!detail)
        return;
    snprintf(r->verdict.expected, VERDICT_TEXT,
             "%zu words of blocks, and then one free block of %zu words", s->facts.live_words,
             rest);
    snprintf(r->verdict.found, VERDICT_TEXT,
             "the first free word is word %zu; the largest free block has %zu words", dense,
             s->facts.largest_free ? s->facts.largest_free + 1 : 0);
    fail(r, VIOLATION_heap_not_dense, ORACLE_compaction, party, detail);
}

void check_compaction(struct runner *r) {
    for (unsigned p = 0; p < r->n_sides; p++) {
        struct side *s = &r->side[p];
        if (!s->traits.compacts || !s->collector->walk)
            continue;
        check_completeness(r, (enum party)p);
        if (!judges(r, ORACLE_compaction))
            continue;
        r->verdict.counts.oracles[ORACLE_compaction]++;
        check_dense(r, (enum party)p);
    }
}

/* ---- order -----------------------------------------------------------------------------------
 */

/* Takes down where the blocks of the last comparison are, and in r->order, for every word where one
 * was before, 1 + the pair of its new place.  False if none has moved. */
static bool take_down_places(struct runner *r, enum party party) {
    const struct graph *g = &r->side[party].graph;
    bool moved = false;
    memset(r->order, 0, g->words * sizeof *r->order);
    for (size_t i = 0; i < r->iso.pairs; i++) {
        const struct pair *pair = &r->iso.queue[i];
        if (pair->a >= g->words)
            continue; /* static */
        word *address = &r->model.objects[pair->b].address[party], now = graph_word(g, pair->a);
        word place = (*address - pointer_word(g->base)) / sizeof(word);
        if (*address && place < g->words) { /* else not known, or in another space */
            r->order[place] = (uint32_t)i + 1;
            moved |= *address != now;
        }
        *address = now;
    }
    return moved;
}

_Noreturn static void fail_order(struct runner *r, enum party party, const struct pair *lower,
                                 const struct pair *higher) {
    char first[16], second[16];
    object_name(&r->model, lower->b, first, sizeof first);
    object_name(&r->model, higher->b, second, sizeof second);
    snprintf(r->verdict.expected, VERDICT_TEXT, "%s below %s, as before", first, second);
    snprintf(r->verdict.found, VERDICT_TEXT, "%s at word %u, %s at word %u", first, lower->a - 1,
             second, higher->a - 1);
    fail(r, VIOLATION_order_changed, ORACLE_compaction, party,
         "a sliding collector changed the order of two blocks");
}

void check_order(struct runner *r, enum party party) {
    struct side *s = &r->side[party];
    if (s->ordered == s->hooks.collections || !s->collector->walk)
        return;
    s->ordered = s->hooks.collections;
    bool moved = take_down_places(r, party);
    if (!judges(r, ORACLE_compaction) || !moved)
        return;
    r->verdict.counts.oracles[ORACLE_compaction]++;
    const struct pair *last = NULL;
    for (size_t i = 0; i < s->graph.words; i++) {
        if (!r->order[i])
            continue;
        const struct pair *pair = &r->iso.queue[r->order[i] - 1];
        if (last && pair->a <= last->a)
            fail_order(r, party, last, pair);
        last = pair;
    }
}
