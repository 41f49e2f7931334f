/* SPDX-License-Identifier: MIT
 *
 * Oracle own_counts: what a collector says of the size of its heap, and of what is live and free in
 * it, is what lies there.
 *
 * A white block counts as live until it is swept, and so does what is left of a small one that is
 * on the free list; where sweeping goes on it is garbage, and free.
 */
#include "oracles/own/own_record.h"

#include <stdio.h>

static bool counts_as_free(const struct gc_own *own, const struct gc_own_extent *e) {
    unsigned colour = header_colour(*e->header);
    if (own->turning)
        return false;
    return colour == BLUE || (colour == WHITE && own->swept && !own_is_below(own, e));
}

static void count(struct gc_own_counts *counts, const struct gc_own *own,
                  const struct gc_own_extent *e) {
    counts->heap_words += e->words;
    if (!own->turning && e->words == 1 && header_colour(*e->header) == WHITE) {
        counts->fragments++;
    } else if (counts_as_free(own, e)) {
        counts->free_words += e->words;
        counts->free_blocks++;
        counts->largest_free = e->words > counts->largest_free ? e->words : counts->largest_free;
    } else {
        counts->live_words += e->words;
        counts->live_blocks++;
    }
}

static void judge_number(struct judge *j, const char *name, size_t found, size_t expected) {
    if (found == expected)
        return;
    snprintf(j->expected, VERDICT_TEXT, "%s: %zu", name, expected);
    snprintf(j->found, VERDICT_TEXT, "%s: %zu", name, found);
    judge_fail(j, VIOLATION_told_wrong,
               "what the collector says of its heap is not what lies there");
}

/* Free slots are no extents. */
static void judge_turning(struct judge *j, const struct gc_own *own, struct gc_own_counts *counts) {
    judge_number(j, "words of the heap", own->counts.heap_words,
                 counts->heap_words + own->free_words);
    judge_number(j, "live words", own->counts.live_words, counts->live_words);
    judge_number(j, "live blocks", own->counts.live_blocks, counts->live_blocks);
    judge_number(j, "free words", own->counts.free_words, own->free_words);
}

static bool operated(struct judge *j) {
    const struct gc_own *own = ((const struct own_record *)j->record)->own;
    if (!own)
        return false;
    const struct gc_own_counts *told = &own->counts;
    struct gc_own_counts counts = {.chunks = own->chunks};
    for (size_t n = 0; n < own->n; n++)
        if (!own->extents[n].young)
            count(&counts, own, &own->extents[n]);
    if (own->turning) {
        judge_turning(j, own, &counts);
        return true;
    }
    judge_number(j, "words of all pieces of the heap", own->heap_words, counts.heap_words);
    judge_number(j, "words of the heap", told->heap_words, counts.heap_words);
    judge_number(j, "pieces of the heap", told->chunks, counts.chunks);
    if (!own->counted)
        return true;
    judge_number(j, "live words", told->live_words, counts.live_words);
    judge_number(j, "live blocks", told->live_blocks, counts.live_blocks);
    judge_number(j, "free words", told->free_words, counts.free_words);
    judge_number(j, "free blocks", told->free_blocks, counts.free_blocks);
    judge_number(j, "words of the largest free block", told->largest_free, counts.largest_free);
    judge_number(j, "fragments", told->fragments, counts.fragments);
    return true;
}

const struct oracle_module oracle_own_counts = {
    .meaning = "what the collector says of the size of its heap, live and free, is so",
    .source = "the manual of OCaml, module Gc",
    .classes = {VIOLATION_told_wrong},
    .needs = 1u << NEED_own,
    .record = RECORD_own_record,
    .samples = true,
    .operated = operated,
};
