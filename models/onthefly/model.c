/* SPDX-License-Identifier: MIT
 *
 * The on-the-fly model: names, initial states, reading a state (model.h).
 */
#include "models/onthefly/steps.h"

#include <assert.h>
#include <string.h>

static const struct {
    const char *name, *meaning;
} mark_labels[] =
    {
#define X(label, meaning) {#label, meaning},
        MARK_LABELS(X)},
  mutator_labels[] = {MUTATOR_LABELS(X)}, gc_labels[] = {GC_LABELS(X)}, variants[] = {VARIANTS(X)};
#undef X

const char *variant_name(unsigned bit) {
    return bit < VARIANT_COUNT ? variants[bit].name : "";
}

const char *variant_meaning(unsigned bit) {
    return bit < VARIANT_COUNT ? variants[bit].meaning : "";
}

const char *model_label(const struct state *s, unsigned process) {
    const struct agent *a = &s->agent[process];
    if (a->mark_pc != mo_out)
        return mark_labels[a->mark_pc].name;
    return process == GC ? gc_labels[a->pc].name : mutator_labels[a->pc].name;
}

const char *model_label_meaning(const struct state *s, unsigned process) {
    const struct agent *a = &s->agent[process];
    if (a->mark_pc != mo_out)
        return mark_labels[a->mark_pc].meaning;
    return process == GC ? gc_labels[a->pc].meaning : mutator_labels[a->pc].meaning;
}

const char *model_wrong(const struct model *m) {
    if (m->mutators < 1 || m->mutators > MUTATORS_MAX)
        return "the number of mutators must be 1 to 4";
    if (m->refs < 1 || m->refs > REFS_MAX)
        return "the number of references must be 1 to 8";
    if (m->fields < 1 || m->fields > FIELDS_MAX)
        return "the number of fields must be 1 to 4";
    if (m->buffer < 1 || m->buffer > BUFFER_MAX || m->gc_buffer < 1 || m->gc_buffer > BUFFER_MAX)
        return "a store buffer must have 1 to 8 entries";
    if (m->variant >> VARIANT_COUNT)
        return "no such variant";
    return NULL;
}

void model_start(const struct model *m, struct state *s, refset alloc, const oref *fields,
                 const refset *roots) {
    assert(!model_wrong(m));
    memset(s, 0, sizeof *s);
    tso_reset(&s->tso);
    s->alloc = alloc;
    for (unsigned r = 0; r < m->refs; r++)
        for (unsigned f = 0; f < m->fields; f++)
            if (alloc >> r & 1)
                s->tso.memory[cell_field(r, f)] = fields[r * FIELDS_MAX + f];
    for (unsigned i = 0; i < m->mutators; i++) {
        s->agent[i].roots = roots[i];
        s->agent[i].hp = HP_IDLE_MARK_SWEEP;
    }
    collector_enter(m, &s->agent[GC], H_IDLE);
    s->type = HS_ROOTS;
    s->sync = model_all_mutators(m);
    s->hp = HP_IDLE_MARK_SWEEP;
}

refset state_marked(const struct model *m, const struct state *s) {
    unsigned marked = 0;
    for (unsigned r = 0; r < m->refs; r++)
        marked |= (unsigned)(s->tso.memory[cell_mark(r)] == state_fM(s)) << r;
    return (refset)(marked & s->alloc);
}

static unsigned successors(const struct model *m, const struct state *s, unsigned r) {
    unsigned set = 0;
    for (unsigned f = 0; f < m->fields; f++)
        set |= 1U << state_field(s, r, f);
    return set >> 1; /* without NULL */
}

refset state_closure(const struct model *m, const struct state *s, refset from) {
    unsigned reached = from, todo = from & s->alloc;
    for (unsigned r = 0; todo; r = (r + 1) % m->refs) {
        if (!(todo >> r & 1))
            continue;
        unsigned more = successors(m, s, r) & ~reached;
        reached |= more;
        todo = (todo & ~(1U << r)) | (more & s->alloc);
    }
    return (refset)reached;
}

refset state_roots(const struct state *s, unsigned mutator) {
    const struct agent *a = &s->agent[mutator];
    unsigned set = (unsigned)(a->roots | a->root) << 1;
    for (unsigned i = 0; i < s->tso.count[mutator]; i++) {
        struct tso_entry e = s->tso.buffer[mutator][i];
        if (e.cell >= CELL_FIELD)
            set |= 2U << cell_ref(e.cell) | 1U << e.value;
    }
    return (refset)(set >> 1);
}
