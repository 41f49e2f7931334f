/* SPDX-License-Identifier: MIT
 *
 * What the mutator has written, and when all was well: taken down in runs that are looked at
 * closely, for their reports (internal.h).
 *
 * A block is known by its origin and serial, since the model gives its numbers away again.
 */
#include "harness/history.h"

#include <stdlib.h>
#include <string.h>

struct history *history_open(void) {
    return calloc(1, sizeof(struct history));
}

void history_close(struct history *h) {
    if (h)
        free(h->writes);
    free(h);
}

static void take_down_slots(struct runner *r) {
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        memcpy(r->history->slots[m], r->model.slots[m], sizeof r->history->slots[m]);
}

void history_begin(struct runner *r) {
    struct history *h = r->history;
    h->n = 0;
    h->has_agreed = false;
    for (unsigned m = 0; m < GC_MUTATORS; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
            h->set_by[m][s] = OP_INITIAL;
    take_down_slots(r);
}

/* True if there is room for one more. */
static bool make_room(struct history *h) {
    if (h->n < h->capacity)
        return true;
    size_t larger = h->capacity ? 2 * h->capacity : 64;
    struct written *moved = realloc(h->writes, larger * sizeof *moved);
    if (!moved)
        return false;
    h->writes = moved;
    h->capacity = larger;
    return true;
}

/* True if the fields are beside those of the entry, which one operation writes one after the other:
 * they are part of it now. */
static bool joins(struct written *w, size_t field, size_t n) {
    if (w->field + w->n != field && field + n != w->field)
        return false;
    w->field = field < w->field ? field : w->field;
    w->n += n;
    return true;
}

void history_write(struct runner *r, uint32_t object, size_t field, size_t n) {
    struct history *h = r->history;
    const struct model_object *o = &r->model.objects[object];
    struct written *last = h->n ? &h->writes[h->n - 1] : NULL;
    if (last && last->op == r->verdict.op && last->origin == o->origin &&
        last->serial == o->serial && joins(last, field, n))
        return;
    if (make_room(h))
        h->writes[h->n++] = (struct written){
            .origin = o->origin, .serial = o->serial, .op = r->verdict.op, .field = field, .n = n};
}

void history_operation(struct runner *r) {
    struct history *h = r->history;
    for (unsigned m = 0; m < r->mutators; m++)
        for (unsigned s = 0; s < PROGRAM_SLOTS; s++)
            if (h->slots[m][s] != r->model.slots[m][s])
                h->set_by[m][s] = r->verdict.op;
    take_down_slots(r);
}

/* The walks that have just been judged are safe to repeat: what is where now has a name later. */
void history_agreement(struct runner *r) {
    struct snapshot unused;
    r->history->has_agreed = true;
    r->history->agreed = r->verdict.op;
    FOR_SIDES (r, s)
        runner_snapshot(r, s->party, &unused);
    heaps_were_shown(r);
}

const struct written *history_of(const struct history *h, const struct model_object *o,
                                 size_t field) {
    for (size_t i = h->n; i-- > 0;) {
        const struct written *w = &h->writes[i];
        if (w->origin == o->origin && w->serial == o->serial && field - w->field < w->n)
            return w;
    }
    return NULL;
}
