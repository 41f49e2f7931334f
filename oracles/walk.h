/* SPDX-License-Identifier: MIT
 *
 * What the oracles over one heap walk share: a walk (views/heap.h) stops at the first violation
 * that it meets, and that is one of theirs.
 */
#ifndef ISOHEAP_ORACLE_WALK_H
#define ISOHEAP_ORACLE_WALK_H

#include "oracles/judge.h"

#include <stdio.h>

/* Has the last walk met a violation of this class?  True, if not: it has been judged. */
static inline bool walk_is_without(struct judge *j, enum violation v) {
    const struct heap_facts *facts = &j->side->facts;
    const struct graph *g = &j->side->graph;
    if (facts->violation != v)
        return true;
    if (facts->where)
        snprintf(j->found, VERDICT_TEXT, "the header 0x%llx at word %td of the heap",
                 facts->where < g->base + g->words ? (unsigned long long)*facts->where : 0ULL,
                 facts->where - g->base);
    judge_fail(j, v, facts->detail);
}

#endif
