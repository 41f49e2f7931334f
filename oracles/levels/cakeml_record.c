/* SPDX-License-Identifier: MIT
 *
 * States of CakeML's collectors (cakeml_record.h).
 */
#include "oracles/levels/cakeml_record.h"

#include <stdio.h>

_Static_assert((int)CAKEML_LIMIT >= (int)PROGRAM_HEAP_WORDS,
               "cakeml takes every heap of a program");

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

static bool built(struct judge *j) {
    struct cakeml_record *r = j->state;
    r->seen = false;
    r->before = j->side->hooks->collections;
    r->lists = false;
    r->kind = (enum cakeml_kind)(j->side->config.kind % CAKEML_KINDS);
    cakeml_begin(&r->oracle);
    return false;
}

/* The state is of what the config names, and of the kind that was shown last. */
static bool as_configured(struct cakeml_record *c, const struct cakeml_view *v,
                          const struct gc_config *config) {
    struct cakeml_rep rep = cakeml_rep_of(config->variant);
    enum cakeml_level level = cakeml_level_of(config->variant);
    bool same = v->limit == config->heap_words && v->words == (level != CAKEML_LIST) &&
                v->lists == (level != CAKEML_WORDS) && v->rep.width == rep.width &&
                v->rep.len_size == rep.len_size && v->rep.len_bits == rep.len_bits &&
                v->rep.tag_bits == rep.tag_bits && v->rep.pad_bits == rep.pad_bits &&
                v->n_gens == 1 + config->promotion_age % CAKEML_GENERATIONS;
    for (unsigned k = 0; k < v->n_gens; k++)
        same &= v->sizes[k] == (uint32_t)(config->nursery_words << k);
    if (!same)
        return cakeml_broken(&c->oracle, VIOLATION_promise_broken, CAKEML_NONE,
                             "another variant or other generations than the config names");
    if (v->lists && v->stage == CAKEML_START && v->kind != c->kind)
        return cakeml_broken(&c->oracle, VIOLATION_promise_broken, CAKEML_NONE,
                             "a switch to another kind is not shown");
    return true;
}

static bool shown(struct judge *j, void *view) {
    struct cakeml_record *c = j->state;
    c->seen = true;
    struct cakeml_view *v = view;
    c->holds = cakeml_holds(&c->oracle, v) && as_configured(c, v, &j->side->config);
    c->comes_last = v->lists && v->stage == CAKEML_DONE;
    c->lists = v->lists;
    c->kind = v->kind;
    return false;
}

bool cakeml_judge(struct judge *j, const struct oracle_module *m, const struct cakeml_view *v) {
    const struct cakeml_record *c = j->record;
    bool mine = false;
    for (unsigned n = 0; m->classes[n]; n++)
        mine |= !c->holds && m->classes[n] == c->oracle.violation;
    if (!mine)
        return c->comes_last;
    describe(j->found, v, c->oracle.where);
    judge_fail(j, c->oracle.violation, c->oracle.broken);
}

const struct oracle_module oracle_cakeml_record = {
    .meaning = "the states that a collector of CakeML shows",
    .needs = 1u << NEED_refines_words,
    .state = sizeof(struct cakeml_record),
    .built = built,
    .shown = shown,
};
