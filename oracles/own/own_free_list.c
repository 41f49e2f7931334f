/* SPDX-License-Identifier: MIT
 *
 * Oracle own_free_list: in the own heap of a collector every blue block is on the free list, each
 * entry is a free block and there once, and the list is in order and as long as the collector
 * believes.
 *
 * An entry may be white, where the rest of a small block is not yet swept.
 */
#include "oracles/own/own_record.h"

#include <stdio.h>

_Noreturn static void fail_list(struct judge *j, const struct gc_own_extent *e,
                                const char *detail) {
    if (e)
        own_describe(j, e, j->found, VERDICT_TEXT);
    judge_fail(j, VIOLATION_free_list_corrupt, detail);
}

static size_t judge_entry(struct judge *j, const struct gc_own *own, const word *header) {
    struct gc_own_extent *e = own_at(own, header);
    if (!e)
        fail_list(j, NULL, "an entry of the free list is no block of the heap");
    if (e->young || e->words == 1)
        fail_list(j, e, "an entry of the free list is young, or a header alone");
    if (e->seen & SEEN_REACHED)
        fail_list(j, e, "an entry of the free list can be reached");
    if (header_colour(*header) != BLUE && (own->sorted || header_colour(*header) != WHITE))
        fail_list(j, e, "an entry of the free list is not blue");
    if (e->seen & SEEN_LISTED)
        fail_list(j, e, "a block is on the free list twice");
    e->seen |= SEEN_LISTED;
    return e->words;
}

static void judge_words(struct judge *j, const struct gc_own *own, size_t words) {
    if (words == own->listed_words)
        return;
    snprintf(j->expected, VERDICT_TEXT, "%zu words", words);
    snprintf(j->found, VERDICT_TEXT, "%zu words by the collector's count", own->listed_words);
    judge_fail(j, VIOLATION_free_list_corrupt, "the free list has other words than are counted");
}

static bool operated(struct judge *j) {
    const struct own_record *r = j->record;
    const struct gc_own *own = r->own;
    size_t words = 0;
    if (!own)
        return false;
    const struct gc_own_places *list = &own->lists[GC_OWN_FREE];
    for (size_t n = 0; n < list->n; n++) {
        words += judge_entry(j, own, list->places[n]);
        if (own->sorted && n && list->places[n - 1] > list->places[n])
            fail_list(j, own_at(own, list->places[n]), "the free list is not sorted");
    }
    for (size_t n = 0; n < own->n; n++)
        if (own->extents[n].free && !(own->extents[n].seen & SEEN_LISTED))
            fail_list(j, &own->extents[n], "a blue block is not on the free list");
    judge_words(j, own, words);
    if (own->broken)
        judge_fail(j, VIOLATION_free_list_corrupt, own->broken);
    return true;
}

const struct oracle_module oracle_own_free_list = {
    .meaning = "every blue block is on the free list once, and nothing else; sums and order agree",
    .source = "the long OCaml paper, section 6",
    .classes = {VIOLATION_free_list_corrupt},
    .needs = 1u << NEED_own,
    .record = RECORD_own_record,
    .samples = true,
    .operated = operated,
};
