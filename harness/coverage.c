/* SPDX-License-Identifier: MIT
 *
 * Semantic coverage (coverage.h): what is noted after an operation and at a comparison.
 *
 * It runs beside every operation of a campaign, so that it looks at nothing that the oracles do not
 * look at too: its work is linear in the reachable words of a comparison.
 */
#include "harness/coverage.h"

#include "harness/internal.h"

#include <stdlib.h>
#include <string.h>

enum { INFIX_SEEN = 4, MOST_REFERENCES = 3 };

struct coverage {
    uint8_t *table;
    unsigned parts;
    unsigned previous;    /* the last operation that had an effect */
    uint64_t collections; /* of the subject, before the operation */
    uint64_t refusals;
    /* lives: objects by their number in the model */
    uint32_t run;                  /* numbers the runs, so that nothing must be cleared */
    uint32_t n_alive, n_objects;   /* at the last comparison */
    uint32_t alive[MODEL_OBJECTS]; /* what was reachable then */
    uint8_t references[MODEL_OBJECTS];
    struct {
        uint32_t run, born; /* born: collections before it was seen first */
    } life[MODEL_OBJECTS];
};

struct coverage *coverage_open(uint8_t *table, unsigned parts) {
    struct coverage *c = calloc(1, sizeof *c);
    if (!c)
        return NULL;
    c->table = table;
    c->parts = parts ? parts : COVER_DEFAULT;
    return c;
}

unsigned coverage_parts(const char *names) {
    static const struct {
        const char *name;
        unsigned parts;
    } known[] = {{"default", COVER_DEFAULT}, {"all", COVER_ALL},       {"cycles", COVER_CYCLES},
                 {"pairs", COVER_PAIRS},     {"blocks", COVER_BLOCKS}, {"fill", COVER_FILL},
                 {"deaths", COVER_DEATHS}};
    unsigned parts = 0;
    for (;;) {
        size_t length = strcspn(names, ","), k = 0, n = sizeof known / sizeof *known;
        while (k < n &&
               (strlen(known[k].name) != length || strncmp(known[k].name, names, length) != 0))
            k++;
        if (k == n)
            return 0;
        parts |= known[k].parts;
        if (!names[length])
            return parts;
        names += length + 1;
    }
}

/* ---- classes ----------------------------------------------------------------------------------
 */

unsigned coverage_tag(unsigned tag, bool has_infix) {
    if (tag < TAG_LAZY)
        return tag > 0;
    if (tag == TAG_LAZY)
        return 2;
    if (tag == TAG_CLOSURE)
        return has_infix ? 4 : 3;
    if (tag == TAG_OBJECT)
        return 5;
    return tag == TAG_FORWARD ? 6 : tag - TAG_NO_SCAN + 7;
}

/* 0, 1, 2, 3, then a class for each power of 2. */
static unsigned power_class(size_t n, unsigned most) {
    unsigned class = n < 4 ? (unsigned)n : 4;
    for (size_t bound = 8; n >= bound && class < most; bound *= 2)
        class ++;
    return class < most ? class : most;
}

unsigned coverage_distance(size_t used, size_t capacity) {
    if (used > capacity)
        return COVERAGE_DISTANCES - 1;
    return power_class(capacity - used, COVERAGE_DISTANCES - 2);
}

/* ---- operations -------------------------------------------------------------------------------
 */

void coverage_start(struct runner *r) {
    struct coverage *c = r->coverage;
    c->previous = OP_CODES;
    c->collections = c->refusals = 0;
    c->n_alive = c->n_objects = 0;
    c->run++;
}

static void note_fill(struct runner *r, enum coverage_fill what, size_t used, size_t capacity) {
    if (r->coverage->parts & COVER_FILL)
        r->coverage->table[coverage_fill(what, coverage_distance(used, capacity))] = 1;
}

/* What the subject says of its mark stack and nursery; 0: it has none, or it was not used. */
static void note_hooks(struct runner *r) {
    struct side *s = &r->side[PARTY_SUBJECT];
    size_t *fill = s->hooks->fill;
    size_t entries = s->config.mark_stack ? s->config.mark_stack : s->config.heap_words;
    if (fill[GC_FILL_MARK_STACK])
        note_fill(r, FILL_MARK_STACK, fill[GC_FILL_MARK_STACK], entries);
    if (fill[GC_FILL_NURSERY])
        note_fill(r, FILL_NURSERY, fill[GC_FILL_NURSERY], s->config.nursery_words);
    fill[GC_FILL_MARK_STACK] = fill[GC_FILL_NURSERY] = 0;
}

static enum coverage_phase phase(const struct runner *r, bool collected_now) {
    const struct side *s = &r->side[PARTY_SUBJECT];
    if (collected_now)
        return PHASE_COLLECTED;
    if (s->in_cycle)
        return PHASE_CYCLE;
    return s->hooks->collections ? PHASE_REST : PHASE_FRESH;
}

void coverage_operation(struct runner *r, const struct op *op) {
    struct coverage *c = r->coverage;
    uint64_t collections = r->side[PARTY_SUBJECT].hooks->collections;
    bool collected_now = collections != c->collections;
    enum coverage_phase now = phase(r, collected_now);
    if (c->parts & (now == PHASE_CYCLE ? COVER_CYCLES | COVER_PAIRS : COVER_PAIRS))
        c->table[coverage_pair(c->previous, op->code, now)] = 1;
    c->previous = op->code;
    if (collected_now)
        note_fill(r, FILL_COLLECTED, r->model.bound_words, r->heap_words);
    if (r->verdict.counts.refusals != c->refusals)
        note_fill(r, FILL_REFUSED, r->model.bound_words, r->heap_words);
    else if (op_has(op->code, ALLOCATES))
        note_fill(r, FILL_ALLOCATED, r->model.bound_words, r->heap_words);
    c->collections = collections;
    c->refusals = r->verdict.counts.refusals;
    note_hooks(r);
}

/* ---- graphs -----------------------------------------------------------------------------------
 */

static bool has_infix(const struct runner *r, const struct model_object *o) {
    const word *fields = r->model.fields + o->first_field;
    /* the last function takes two or three words, its infix header is before them */
    for (uint32_t back = 3; back <= 4 && back < o->first_scanned; back++)
        if (header_tag(fields[o->first_scanned - back]) == TAG_INFIX)
            return true;
    return false;
}

static unsigned tag_class(const struct runner *r, uint32_t object) {
    const struct model_object *o = &r->model.objects[object];
    return coverage_tag(o->tag, o->tag == TAG_CLOSURE && has_infix(r, o));
}

static void count_reference(struct coverage *c, word v) {
    if (!model_is_pointer(v))
        return;
    uint8_t *n = &c->references[model_object(v)];
    if ((*n & MOST_REFERENCES) < MOST_REFERENCES)
        ++*n;
    if (model_offset(v))
        *n |= INFIX_SEEN;
}

static void count_references(struct runner *r) {
    struct coverage *c = r->coverage;
    for (uint32_t i = 0; i < r->model.n_reached; i++)
        c->references[r->model.work[i]] = 0;
    for (unsigned m = 0; m < r->model.mutators; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
            count_reference(c, r->model.slots[m][s]);
    for (uint32_t i = 0; i < r->model.n_reached; i++) {
        const struct model_object *o = &r->model.objects[r->model.work[i]];
        const word *fields = r->model.fields + o->first_field;
        for (uint32_t f = o->first_scanned; f < o->wosize; f++)
            count_reference(c, fields[f]);
    }
}

static enum coverage_sharing sharing(uint8_t references) {
    if (references & INFIX_SEEN)
        return SHARING_INFIX;
    return references >= MOST_REFERENCES ? SHARING_MANY
           : references == 2             ? SHARING_TWO
                                         : SHARING_ONE;
}

static void note_blocks(struct runner *r) {
    struct coverage *c = r->coverage;
    for (uint32_t i = 0; i < r->model.n_reached; i++) {
        uint32_t object = r->model.work[i];
        unsigned size = power_class(r->model.objects[object].wosize, COVERAGE_SIZES - 1);
        c->table[coverage_block(tag_class(r, object), size, sharing(c->references[object]))] = 1;
    }
}

/* ---- lives ------------------------------------------------------------------------------------
 */

static void note_death(struct runner *r, uint32_t object, uint64_t collections) {
    struct coverage *c = r->coverage;
    uint64_t age = c->life[object].run == c->run ? collections - c->life[object].born : 0;
    c->table[coverage_death(tag_class(r, object), power_class(age, COVERAGE_AGES - 1))] = 1;
}

/* What was there at the last comparison, or has come since, and is not reachable now. */
static void note_deaths(struct runner *r) {
    struct coverage *c = r->coverage;
    const struct model *model = &r->model;
    uint64_t before = r->side[PARTY_SUBJECT].collections; /* a death is seen one collection late */
    uint64_t lived = before > 0 ? before - 1 : 0;
    for (uint32_t i = 0; i < c->n_alive; i++)
        if (model->objects[c->alive[i]].mark != model->epoch)
            note_death(r, c->alive[i], lived);
    for (uint32_t object = c->n_objects; object < model->n_objects; object++)
        if (model->objects[object].mark != model->epoch)
            note_death(r, object, lived);
    for (uint32_t i = 0; i < model->n_reached; i++) {
        uint32_t object = c->alive[i] = model->work[i];
        if (c->life[object].run == c->run)
            continue;
        c->life[object].run = c->run;
        c->life[object].born = (uint32_t)lived;
    }
    c->n_alive = model->n_reached;
    c->n_objects = model->n_objects;
}

void coverage_graph(struct runner *r) {
    if (r->coverage->parts & COVER_BLOCKS) {
        count_references(r);
        note_blocks(r);
    }
    if (r->coverage->parts & COVER_DEATHS)
        note_deaths(r);
}
