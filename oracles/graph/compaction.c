/* SPDX-License-Identifier: MIT
 *
 * Oracle compaction: what a compaction promises beyond the graph (traits `compacts` and `slides`).
 *
 * Dense: the reachable blocks, and no others, fill the heap from its start; the rest is one block.
 * Sliding: blocks keep the order of their addresses.  Together they say where every block is.
 */
#include "oracles/describe.h"
#include "oracles/judge.h"

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

static void check_dense(struct judge *j) {
    const struct side *s = j->side;
    size_t dense = words_below_gap(&s->graph), rest = s->graph.words - s->facts.live_words;
    const char *detail = NULL;
    if (dense < s->facts.live_words)
        detail = "after a compaction there are free words below a block";
    else if (s->facts.largest_free + 1 != rest && rest > 1)
        detail = "after a compaction the free words are not one block";
    if (!detail)
        return;
    snprintf(j->expected, VERDICT_TEXT, "%zu words of blocks, and then one free block of %zu words",
             s->facts.live_words, rest);
    snprintf(j->found, VERDICT_TEXT,
             "the first free word is word %zu; the largest free block has %zu words", dense,
             s->facts.largest_free ? s->facts.largest_free + 1 : 0);
    judge_fail(j, VIOLATION_heap_not_dense, detail);
}

/* ---- order -----------------------------------------------------------------------------------
 */

struct places {
    uint64_t collections; /* hooks->collections when they were last taken down */
    uint32_t order[];     /* for every word where a block was before: 1 + the pair of it */
};

static bool reset(struct judge *j) {
    struct places *p = j->state;
    p->collections = 0;
    return false;
}

/* Takes down where the blocks of the last comparison are, and what was where before.  False if none
 * has moved. */
static bool take_down_places(struct judge *j) {
    struct places *p = j->state;
    const struct graph *g = &j->side->graph;
    bool moved = false;
    memset(p->order, 0, g->words * sizeof *p->order);
    for (size_t i = 0; i < j->iso->pairs; i++) {
        const struct pair *pair = &j->iso->queue[i];
        if (pair->a >= g->words)
            continue; /* static */
        word *address = &j->model->objects[pair->b].address[j->side->party],
             now = graph_word(g, pair->a);
        word place = (*address - pointer_word(g->base)) / sizeof(word);
        if (*address && place < g->words) { /* else not known, or in another space */
            p->order[place] = (uint32_t)i + 1;
            moved |= *address != now;
        }
        *address = now;
    }
    return moved;
}

_Noreturn static void fail_order(struct judge *j, const struct pair *lower,
                                 const struct pair *higher) {
    char first[NAME_TEXT], second[NAME_TEXT];
    object_name(j->model, lower->b, first, sizeof first);
    object_name(j->model, higher->b, second, sizeof second);
    snprintf(j->expected, VERDICT_TEXT, "%s below %s, as before", first, second);
    snprintf(j->found, VERDICT_TEXT, "%s at word %u, %s at word %u", first, lower->a - 1, second,
             higher->a - 1);
    judge_fail(j, VIOLATION_order_changed, "a sliding collector changed the order of two blocks");
}

/* After a comparison that has found no difference, for a collector that slides. */
static bool check_order(struct judge *j) {
    const struct side *s = j->side;
    struct places *p = j->state;
    if (!s->paired || p->collections == s->hooks->collections)
        return false;
    p->collections = s->hooks->collections;
    if (!take_down_places(j))
        return false;
    const struct pair *last = NULL;
    for (size_t i = 0; i < s->graph.words; i++) {
        if (!p->order[i])
            continue;
        const struct pair *pair = &j->iso->queue[p->order[i] - 1];
        if (last && pair->a <= last->a)
            fail_order(j, last, pair);
        last = pair;
    }
    return true;
}

/* ---- both -------------------------------------------------------------------------------------
 */

static bool compared(struct judge *j, enum occasion when) {
    bool judged = j->side->traits.slides && check_order(j);
    if (when != AFTER_COMPACTION || !j->side->traits.compacts)
        return judged;
    check_dense(j);
    return true;
}

const struct oracle_module oracle_compaction = {
    .meaning = "dense and, where promised, in the old order after a compaction",
    .source = "none of the papers: docs/compaction.md",
    .classes = {VIOLATION_heap_not_dense, VIOLATION_order_changed},
    .needs = 1u << NEED_walk | 1u << NEED_compacts,
    .state = sizeof(struct places),
    .each = sizeof(uint32_t),
    .reset = reset,
    .compared = compared,
};
