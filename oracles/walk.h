/* SPDX-License-Identifier: MIT
 *
 * What the oracles over one heap walk share.  A walk (views/heap.h) stops at the first violation
 * that it meets, and each of these oracles looks whether it is one of its own.
 */
#ifndef ISOHEAP_ORACLE_WALK_H
#define ISOHEAP_ORACLE_WALK_H

#include "oracles/describe.h"

#include <stdio.h>

/* Fails if the last walk has met a violation of this class; else true, for `has judged`. */
static inline bool walk_is_without(struct judge *j, enum violation v) {
    const struct heap_facts *facts = &j->side->facts;
    const struct graph *g = &j->side->graph;
    if (facts->violation != v)
        return true;
    if (facts->where) {
        char name[NAME_TEXT];
        describe_name(j, pointer_word(facts->where + 1), name);
        snprintf(j->found, VERDICT_TEXT, "the header 0x%llx%s%s at word %td of the heap",
                 facts->where < g->base + g->words ? (unsigned long long)*facts->where : 0ULL,
                 name[0] ? " of " : "", name, facts->where - g->base);
    }
    if (facts->due)
        snprintf(j->expected, VERDICT_TEXT,
                 "the header at word %td of the heap, where the last extent ends",
                 facts->due - g->base);
    judge_fail(j, v, facts->detail);
}

#endif
