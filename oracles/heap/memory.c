/* SPDX-License-Identifier: MIT
 *
 * Oracle memory: refusals and successes of allocations against what the collector promises.
 */
#include "oracles/judge.h"

#include <stdio.h>

/* The live words, exactly: what "live + request exceeds the heap" speaks of. */
static size_t live_words(struct judge *j) {
    model_mark(j->model);
    return j->model->live_words;
}

static void expect_sizes(struct judge *j, const char *answer, size_t live, size_t wosize,
                         size_t limit) {
    snprintf(j->expected, VERDICT_TEXT, "%zu live words + %zu for the request, in a heap of %zu",
             live, wosize + 1, limit);
    snprintf(j->found, VERDICT_TEXT, "%s", answer);
}

/* The largest wosize that a full collection would have room for in one piece: gaps between the
 * blocks that are reachable now. */
static size_t largest_gap(const struct graph *g, uint32_t run) {
    size_t gap = 0, largest = 0, end = g->words - g->nursery_words, words = 1;
    for (size_t at = 0; at < end; at += words) {
        words = graph_in_use(g, at) ? header_wosize(g->base[at]) + 1 : 1;
        gap = graph_in_use(g, at) && g->cells[at + 1].visit == run ? 0 : gap + words;
        largest = gap > largest ? gap : largest;
    }
    return largest ? largest - 1 : 0;
}

/* Where free extents are merged and nothing is young, the heap itself says whether there would be a
 * free block after a full collection; in a heap that is as it should be. */
static bool is_predictable(const struct side *s) {
    return s->traits.merged_free_list && s->traits.full_until_exact == 1 && !s->collector->young &&
           !s->traits.grows_to;
}

/* Else the comparison that is about to come says what is wrong. */
static bool is_whole(struct judge *j) {
    isomorphism_allow(j->iso, j->side->collector, &j->side->traits);
    return !isomorphism_compare(j->iso, &j->side->graph, j->model_graph);
}

static bool gap_fits(struct judge *j, size_t wosize) {
    const struct side *s = j->side;
    return live_words(j) + wosize + 1 <= s->config.heap_words && is_whole(j) &&
           largest_gap(&s->graph, j->iso->run) >= wosize;
}

/* The refused block is asked for again, behind a full collection: if a collection has lost
 * something before, this one would crash.  What a runtime may change of its own accord is no loss.
 */
static bool is_granted_later(struct judge *j, size_t wosize) {
    bool steady = !j->model->has_ephemerons && !j->side->traits.forwards;
    if (steady && !is_whole(j))
        return false;
    bool granted = j->services->collect_fully(j) && j->services->allocate(j, wosize) == GC_OK;
    j->side->slots[0][SLOT_NEW] = WORD_UNIT;
    return granted;
}

/* Is a block of that size a young one by the config, and no other block young? */
static bool nursery_fits(struct judge *j, size_t wosize) {
    const struct side *s = j->side;
    if (!s->collector->young || !s->traits.nursery_words || wosize >= s->config.nursery_words ||
        wosize + 1 >= s->config.large_words)
        return false;
    judge_walk(j);
    for (size_t at = s->graph.words - s->graph.nursery_words; at < s->graph.words; at++)
        if (graph_in_use(&s->graph, at))
            return false;
    return true;
}

/* Is there a free block that is large enough, or would there be one after the full collection that
 * is promised?  NULL: there is not. */
static const char *free_block_fits(struct judge *j, size_t wosize) {
    struct side *s = j->side;
    judge_walk(j);
    if (s->facts.largest_free >= wosize)
        return "an allocation was refused although a free block is large enough";
    if (s->facts.words + wosize + 1 <= s->traits.grows_to)
        return "an allocation was refused although the heap may grow by as much";
    if (!s->collector->collect || s->traits.full_until_exact > 1 ||
        live_words(j) + wosize + 1 > most_alive(&s->traits, &s->config))
        return NULL;
    if (is_predictable(s) ? gap_fits(j, wosize) : is_granted_later(j, wosize))
        return "an allocation was refused although a full collection would have made room";
    return nursery_fits(j, wosize)
               ? "an allocation was refused although the nursery is empty and large enough"
               : NULL;
}

/* Myreen, section 4: refused if and only if live + request exceeds the heap; weaker promises refuse
 * only what no free block can hold after a full collection. */
static bool judge_refusal(struct judge *j, size_t wosize) {
    size_t heap = heap_most_words(&j->side->traits, &j->side->config);
    const char *sentence = NULL;
    if (j->side->traits.refusal == REFUSES_NO_FREE_BLOCK)
        sentence = free_block_fits(j, wosize);
    else if (live_words(j) + wosize + 1 <= heap)
        sentence = "an allocation was refused although live + request fits the heap";
    if (!sentence)
        return true;
    expect_sizes(j, "out of memory", live_words(j), wosize, heap);
    judge_fail(j, VIOLATION_false_out_of_memory, sentence);
}

static bool judge_success(struct judge *j, const struct request *q) {
    const struct side *s = j->side;
    size_t more = q->modelled ? 0 : q->wosize + 1;
    if (j->model->bound_words + more <= heap_most_words(&s->traits, &s->config))
        return false; /* no need to know exactly */
    if (s->traits.forwards || s->traits.shares_values)
        return false; /* Forward blocks that pointers were led past are live to the model alone,
                         and equal ones that are one count as several there */
    size_t live = live_words(j) + more, most = most_alive(&s->traits, &s->config);
    if (live <= most)
        return true;
    expect_sizes(j, "a block", live - q->wosize - 1, q->wosize, most);
    judge_fail(j, VIOLATION_missed_out_of_memory,
               "an allocation succeeded although live + request exceeds the heap");
}

static bool answered(struct judge *j, const struct request *request) {
    return request->answer == GC_OK ? judge_success(j, request) : judge_refusal(j, request->wosize);
}

const struct oracle_module oracle_memory = {
    .meaning = "out of memory exactly when promised",
    .source = "Myreen's copying collector, section 4",
    .classes = {VIOLATION_false_out_of_memory, VIOLATION_missed_out_of_memory},
    .needs = 1u << NEED_refusal,
    .follows = true,
    .answered = answered,
};
