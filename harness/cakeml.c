/* SPDX-License-Identifier: MIT
 *
 * The oracles of CakeML's collectors: their states as they come, judged by oracles/cakeml.h.
 */
#include "harness/internal.h"

#include <stdio.h>

_Static_assert((int)CAKEML_LIMIT >= (int)PROGRAM_HEAP_WORDS,
               "cakeml takes every heap of a program");

static enum oracle oracle_of(enum violation v) {
    switch (v) {
    case VIOLATION_garbage_retained:
        return ORACLE_completeness;
    case VIOLATION_false_out_of_memory:
        return ORACLE_memory;
    case VIOLATION_refinement_broken:
        return ORACLE_refinement;
    default:
        return ORACLE_layout;
    }
}

/* The heap's element at an address, and the segments, for the report. */
static void describe(char *out, const struct cakeml_view *v, uint32_t at) {
    static const char *const kinds[] = {"no element", "Unused", "ForwardPointer", "DataElement"};
    int n = 0;
    if (at < v->limit) {
        const struct cakeml_element *e = &v->heap->el[at];
        n = snprintf(out, VERDICT_TEXT, "address %u: %s of %u words, tag %u; ", (unsigned)at,
                     kinds[e->kind], (unsigned)cakeml_el_length(e), e->tag);
    }
    snprintf(out + n, VERDICT_TEXT - (size_t)n, "data up to %u, unused %u + %u, references from %u",
             (unsigned)v->a, (unsigned)v->sp, (unsigned)v->sp1, (unsigned)cakeml_refs_start(v));
}

void judge_cakeml(struct gc_hooks *hooks, void *view) {
    struct side *s = side_of(hooks);
    struct runner *r = runner_of(s);
    enum party party = s->party;
    struct cakeml_view *v = view;
    if (!v->lists)
        return; /* the other oracles judge what words alone do */
    if (v->stage == CAKEML_DONE) {
        r->verdict.counts.oracles[ORACLE_refinement] += judges(r, ORACLE_refinement);
        r->verdict.counts.oracles[ORACLE_layout] += judges(r, ORACLE_layout);
    }
    if (cakeml_holds(&s->cakeml, v) || !judges(r, oracle_of(s->cakeml.violation)))
        return;
    describe(r->verdict.found, v, s->cakeml.where);
    fail(r, s->cakeml.violation, oracle_of(s->cakeml.violation), party, s->cakeml.broken);
}
