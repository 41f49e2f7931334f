/* SPDX-License-Identifier: MIT
 *
 * Oracle overlap: a new block lies where nothing was in use.
 */
#include "oracles/describe.h"

#include <stdio.h>

static bool placed(struct judge *j, const struct request *request) {
    if (!is_pointer(request->block) || request->block % sizeof(word))
        return false;
    if (request->claimed)
        return true;
    size_t at = (size_t)(word_pointer(request->block) - 1 - j->side->graph.base);
    const struct graph *g = &j->side->graph;
    size_t end = at + request->wosize + 1, taken = at;
    char what[VERDICT_TEXT / 2] = "";
    while (taken < end && taken < g->words && !graph_in_use(g, taken))
        taken++;
    if (at < g->words && taken < end && taken < g->words)
        describe_at(j, (uint32_t)taken, what, sizeof what);
    snprintf(j->found, VERDICT_TEXT, "words %zu to %zu of the heap%s%s", at, end - 1,
             what[0] ? ", in use: there is " : "", what);
    judge_fail(j, VIOLATION_overlap,
               "a new block shares a word with a block that is live, or lies outside the heap");
}

const struct oracle_module oracle_overlap = {
    .meaning = "a new block shares no word with a block that is live",
    .source = "Definition 1 of the verified OCaml collector",
    .classes = {VIOLATION_overlap},
    .needs = 1u << NEED_walk,
    .placed = placed,
};
